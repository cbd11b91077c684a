"""Exact intervals agree with scipy; those of dependent tests hold what they promise."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import binomtest, ttest_1samp

from teiten.stats.proportions import dependent, effective_number, exact


@pytest.mark.parametrize(("count", "of"), [(0, 6), (3, 20), (20, 20), (1, 1)])
def test_the_exact_interval_is_that_of_clopper_and_pearson(count: int, of: int) -> None:
    wanted = binomtest(count, of).proportion_ci(method="exact")
    assert (exact(count, of).lower, exact(count, of).upper) == pytest.approx(tuple(wanted))


def test_nothing_tried_tells_nothing() -> None:
    assert (exact(0, 0).lower, exact(0, 0).upper) == (0, 1)
    assert (dependent(0, 0, 0.0).lower, dependent(0, 0, 0.0).upper) == (0, 1)


def test_independent_tests_count_each_and_copies_count_once() -> None:
    rng = np.random.default_rng(11)
    noise = rng.normal(size=(400, 6))
    assert effective_number(noise) == pytest.approx(6, rel=0.05)
    copies = noise[:, [0, 0, 0, 1, 1, 1]] * [1, -1, 5, 1, 2, -3]
    assert effective_number(copies) == pytest.approx(2, rel=0.05)
    assert effective_number(noise[:, [0, 0, 0]]) == pytest.approx(1)


def test_what_cannot_be_told_apart_counts_as_one() -> None:
    rng = np.random.default_rng(12)
    assert effective_number(rng.normal(size=(4, 6))) == 1
    assert effective_number(np.zeros((20, 3))) == 1


@pytest.mark.parametrize("correlation", [0.0, 0.5, 0.95])
def test_the_interval_covers_the_rate_of_dependent_alarms(correlation: float) -> None:
    """As a calibration does: 8 responses, 10 experiments of 3 pairs, judged by t-tests."""
    rng = np.random.default_rng(13)
    missed, repetitions = 0, 400
    for _ in range(repetitions):
        shared = rng.normal(size=(30, 1))
        own = rng.normal(size=(30, 8))
        samples = np.sqrt(correlation) * shared + np.sqrt(1 - correlation) * own
        p = ttest_1samp(samples.reshape(10, 3, 8), 0.0, axis=1).pvalue
        found = dependent(int((p < 0.05).sum()), 80, 10 * effective_number(samples))
        missed += not found.lower <= 0.05 <= found.upper
    assert binomtest(missed, repetitions, 0.05, alternative="greater").pvalue > 0.001
