"""The always-valid t-test against its definition, its laws, and simulated looking."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import integrate, stats

from teiten.stats.always_valid import (
    EFFECT_VARIANCES,
    WEIGHTS,
    half_width_sds,
    interval,
    log_evidence,
    p_value,
)

SAMPLES = st.lists(st.floats(-5, 5), min_size=2, max_size=12).filter(
    lambda values: float(np.std(values)) > 1e-3
)


@pytest.mark.parametrize(("t", "n"), [(0.0, 2), (0.7, 3), (2.5, 5), (4.0, 12), (1.5, 60)])
def test_the_evidence_is_the_likelihood_ratio_of_t_under_normal_effect_sizes(
    t: float, n: int
) -> None:
    def ratio(variance: float) -> float:
        def integrand(z: float) -> float:
            effect = math.sqrt(variance) * z
            alternative = stats.nct.pdf(t, n - 1, math.sqrt(n) * effect)
            return float(alternative * stats.norm.pdf(z) / stats.t.pdf(t, n - 1))

        # Where the likelihood is within a few units of t; elsewhere it adds nothing.
        reach = min(9.0, (abs(t) + 45.0) / math.sqrt(n * variance))
        points = sorted({0.0, t / math.sqrt(n * variance)})
        return float(integrate.quad(integrand, -reach, reach, limit=400, points=points)[0])

    expected = sum(w * ratio(g) for w, g in zip(WEIGHTS, EFFECT_VARIANCES, strict=True))
    assert math.exp(float(log_evidence(t**2, n))) == pytest.approx(expected, rel=1e-5)


@pytest.mark.parametrize("n", [2, 3, 7, 50, 200])
def test_the_evidence_has_mean_one_where_there_is_no_effect(n: int) -> None:
    def at(log_t: float) -> float:
        t = math.exp(log_t)
        log_density = float(stats.t.logpdf(t, n - 1))
        return 2 * math.exp(float(log_evidence(t**2, n)) + log_density + log_t)

    mean = integrate.quad(at, -30, 60, limit=1000, points=[-5, 0, 2, 5, 10])[0]
    assert mean == pytest.approx(1.0, rel=1e-6)


def test_the_mean_stays_inside_at_all_looks_and_a_plain_t_interval_does_not_hold_it() -> None:
    runs, looks, alpha, mean = 4000, 100, 0.05, 0.3
    values = np.random.default_rng(20260101).normal(mean, 1.0, (runs, looks))
    n = np.arange(1, looks + 1)
    means = values.cumsum(axis=1) / n
    sds = np.sqrt(((values**2).cumsum(axis=1) - n * means**2)[:, 1:] / (n[1:] - 1))
    off = np.abs(means[:, 1:] - mean) / sds

    def ever_outside(widths: list[float]) -> int:
        return int((off > np.array(widths)).any(axis=1).sum())

    missed = ever_outside([half_width_sds(int(i), alpha) for i in n[1:]])
    assert missed > 0
    assert stats.binomtest(missed, runs).proportion_ci(0.999, "exact").high < alpha
    naive = [float(stats.t.isf(alpha / 2, i - 1)) / math.sqrt(i) for i in n[1:]]
    assert ever_outside(naive) > 0.25 * runs


@settings(deadline=None)
@given(SAMPLES, st.floats(-6, 6), st.sampled_from([0.05, 0.01, 0.3]))
def test_a_mean_is_outside_the_interval_exactly_where_its_p_value_is_at_most_alpha(
    values: list[float], mean: float, alpha: float
) -> None:
    seen = interval(values, alpha)
    p = p_value(seen, mean)
    if abs(p - alpha) > 1e-6 * alpha:
        assert (p < alpha) == (not seen.lower <= mean <= seen.upper)


@settings(deadline=None)
@given(SAMPLES, st.floats(-10, 10), st.floats(1e-3, 1e3))
def test_the_interval_moves_and_stretches_with_the_observations(
    values: list[float], shift: float, factor: float
) -> None:
    seen = interval(values, 0.05)
    moved = interval(shift + factor * np.array(values), 0.05)
    if math.isinf(seen.half_width):
        assert math.isinf(moved.half_width)
    else:
        assert moved.half_width == pytest.approx(factor * seen.half_width, rel=1e-6)
        assert moved.mean == pytest.approx(shift + factor * seen.mean, abs=1e-9, rel=1e-6)


def test_it_is_wider_than_a_t_interval_and_narrows_with_every_observation() -> None:
    for alpha in (0.05, 0.05 / 8):
        widths = [half_width_sds(n, alpha) for n in range(3, 201)]
        assert all(a > b for a, b in itertools.pairwise(widths))
        for n, width in zip(range(3, 201), widths, strict=True):
            assert width > stats.t.isf(alpha / 2, n - 1) / math.sqrt(n)


def test_too_few_observations_bound_nothing() -> None:
    assert math.isinf(interval([0.4], 0.05).half_width)
    assert math.isinf(interval([0.4, 0.4001], 0.05).half_width)
    assert math.isinf(interval([0.4, 0.4], 0.05).half_width)
    assert p_value(interval([0.4], 0.05), 0.0) == 1.0
    assert math.isfinite(interval([0.4, 0.4001, 0.4], 0.05).half_width)


def test_observations_that_are_all_alike_leave_their_value_alone() -> None:
    seen = interval([0.25] * 3, 0.05)
    assert (seen.lower, seen.upper) == (0.25, 0.25)
    assert p_value(seen, 0.25) == 1.0
    assert p_value(seen, 0.0) < 0.05
