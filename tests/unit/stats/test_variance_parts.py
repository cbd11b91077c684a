"""Planted spreads are found again, and intervals hold what they promise."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np
import pytest
from scipy.stats import binomtest

from teiten.stats.variance_parts import long_run_variance, spread_of, variance_parts

if TYPE_CHECKING:
    from numpy.typing import NDArray


def test_the_spread_of_pairs_and_its_interval() -> None:
    found = spread_of(np.array([1.0, 2.0, 3.0, 4.0]))
    assert found is not None
    assert found.value == pytest.approx(math.sqrt(5 / 3))
    # Chi-square quantiles of 3 df from tables: 0.2158 and 9.348.
    assert found.lower == pytest.approx(math.sqrt(5 / 9.348), rel=1e-3)
    assert found.upper == pytest.approx(math.sqrt(5 / 0.2158), rel=1e-3)
    assert spread_of(np.array([1.0])) is None


def test_the_interval_of_the_spread_covers_it() -> None:
    rng = np.random.default_rng(5)
    held = 0
    for _ in range(2000):
        found = spread_of(rng.normal(0, 0.02, 6))
        assert found is not None
        held += found.lower <= 0.02 <= found.upper
    assert binomtest(held, 2000, 0.95).pvalue > 0.001


def seconds(rng: np.random.Generator, trials: int, n: int, phi: float) -> list[NDArray[np.float64]]:
    """Series of AR(1) noise of 5% around a level of their own, long past their beginning."""
    noise = rng.normal(0, 0.05, size=(trials, n + 50))
    for i in range(1, n + 50):
        noise[:, i] += phi * noise[:, i - 1]
    return [700.0 * rng.normal(1, 0.1) * (1 + row) for row in noise[:, 50:]]


@pytest.mark.parametrize("n", [2, 3, 5, 30, 300])
def test_independent_seconds_give_back_their_variance(n: int) -> None:
    found = long_run_variance(seconds(np.random.default_rng(6), 400, n, 0.0))
    assert found is not None
    variance, df = found
    assert df >= 400
    # Four standard errors of a variance with df degrees of freedom.
    assert variance == pytest.approx(0.05**2, rel=4 * math.sqrt(2 / df) + 0.01)


def test_seconds_that_depend_on_each_other_count_for_less() -> None:
    phi = 0.5
    truth = (0.05 / (1 - phi)) ** 2
    found = long_run_variance(seconds(np.random.default_rng(7), 200, 400, phi))
    assert found is not None
    # Batches of 20 miss 2 phi / (1 - phi^2) / 20, 7%, of it; and chance.
    assert found[0] == pytest.approx(truth, rel=0.12)
    assert found[0] > 0.8 * truth > 2.5 * 0.05**2


def test_without_two_seconds_nothing_is_known_within() -> None:
    assert long_run_variance([np.array([700.0])] * 9) is None
    assert long_run_variance([np.array([0.0, 0.0])]) is None
    assert long_run_variance([]) is None


def test_parts_add_up_to_what_was_planted() -> None:
    rng = np.random.default_rng(17)
    between, within, duration_s = 0.02**2, 0.06**2, 5
    means = rng.normal(0, math.sqrt(between), 4000)
    series = [700 * (1 + mean + rng.normal(0, math.sqrt(within), duration_s)) for mean in means]
    logs = np.log([s.mean() for s in series])
    found = long_run_variance(series)
    assert found is not None
    parts = variance_parts(float(np.var(logs, ddof=1)), 3999, *found, duration_s)
    # Four standard errors of the difference of the two mean squares.
    error = math.sqrt(2 / 3999) * math.hypot(between + within / duration_s, within / duration_s)
    assert parts.between.value == pytest.approx(between, abs=4 * error)
    assert 4 * error < between / 3
    assert parts.within.value == pytest.approx(within, rel=0.1)
    assert parts.between.lower <= between <= parts.between.upper
    assert parts.within.lower <= within <= parts.within.upper


@pytest.mark.parametrize(("between", "within"), [(1.0, 0.5), (0.2, 1.0)])
def test_the_interval_of_the_part_between_covers_it(between: float, within: float) -> None:
    rng = np.random.default_rng(9)
    held = 0
    for _ in range(1500):
        trial = (between + within) * rng.chisquare(19) / 19
        part = within * rng.chisquare(40) / 40
        found = variance_parts(trial, 19, 5 * part, 40, 5.0).between
        held += found.lower <= between <= found.upper
    assert binomtest(held, 1500, 0.95).pvalue > 0.001


def test_nothing_is_left_between_where_seconds_explain_more_than_there_is() -> None:
    parts = variance_parts(0.01, 19, 0.1, 40, 5.0)
    assert parts.between.value == 0
    assert parts.between.lower == 0
    assert parts.between.upper > 0
