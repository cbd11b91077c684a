from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from teiten.stats.change_points import (
    LEAST,
    change_points,
    locate,
    p_no_change,
    serial_correlation,
    shift_of,
    smallest_p,
)

SERIES = 400


def most_false_alarms(series: int) -> int:
    """The number of alarms, at 5% each, that is exceeded once in 10,000 sets of series."""
    return int(stats.binom.ppf(1 - 1e-4, series, 0.05))


@pytest.mark.parametrize("n", [12, 30])
@pytest.mark.parametrize("heavy_tails", [False, True])
def test_noise_raises_an_alarm_no_more_often_than_stated(n: int, heavy_tails: bool) -> None:  # noqa: FBT001 - a parameter of the test
    generator = np.random.default_rng(n)
    draw = generator.standard_cauchy if heavy_tails else generator.standard_normal
    alarms = sum(bool(locate(draw(n))) for _ in range(SERIES))
    assert alarms <= most_false_alarms(SERIES)


def test_noise_with_ties_raises_an_alarm_no_more_often_than_stated() -> None:
    generator = np.random.default_rng(3)
    alarms = sum(bool(locate(generator.standard_normal(12).round())) for _ in range(30))
    assert alarms <= most_false_alarms(30)


def test_p_values_of_noise_are_uniform() -> None:
    generator = np.random.default_rng(5)
    p = [p_no_change(generator.standard_normal(25)) for _ in range(SERIES)]
    assert stats.kstest(p, "uniform").pvalue > 1e-4


def test_the_p_value_is_that_of_counting_all_orders() -> None:
    """Eight values have 70 orders of low and high: the two perfect steps are 2 of them."""
    assert smallest_p(8) == pytest.approx(2 / 70, abs=0.004)
    assert smallest_p(7) > 0.05
    assert [smallest_p(n) for n in (2, 5)] == [1.0, 1.0]


@pytest.mark.parametrize(
    ("levels", "expected"),
    [
        ((0, 1), [20]),  # a step
        ((0, 1, 0), [20, 40]),  # there and back
        ((0, 1, 2, 0), [20, 40, 60]),
        ((1, 0, 1, 0), [20, 40, 60]),
    ],
)
def test_clear_steps_are_found_where_they_are(levels: tuple[int, ...], expected: list[int]) -> None:
    noise = np.random.default_rng(4).standard_normal(20 * len(levels))
    values = 5.0 * np.repeat(levels, 20) + noise
    found = change_points(values, alpha=0.01)
    assert [point.index for point in found] == expected
    for point, (before, after) in zip(found, itertools.pairwise(levels), strict=True):
        assert point.shift == pytest.approx(5 * (after - before), abs=1.0)
        assert point.lower < point.shift < point.upper
        assert point.earliest <= point.index <= point.latest


def test_a_short_excursion_amid_a_long_history_is_found() -> None:
    noise = np.random.default_rng(1).standard_normal(60)
    noise[25:32] += 5
    assert [at for at, _ in locate(noise)] == [25, 32]


def test_intervals_cover_the_true_place_and_size() -> None:
    generator = np.random.default_rng(11)
    found, placed, sized = 0, 0, 0
    for _ in range(120):
        values = generator.standard_normal(24) + 3.0 * (np.arange(24) >= 14)
        points = change_points(values)
        if len(points) != 1:
            continue
        found += 1
        placed += points[0].earliest <= 14 <= points[0].latest
        sized += points[0].lower <= 3.0 <= points[0].upper
    assert found > 80
    assert stats.binomtest(placed, found, 0.95, "less").pvalue > 1e-3
    # A size is that of a found step at its found place, so a little below what is nominal.
    assert sized / found > 0.85


@settings(max_examples=40, deadline=None)
@given(st.integers(8, 16).flatmap(lambda n: st.permutations(range(n))))
def test_only_the_order_of_the_values_decides(numbers: list[int]) -> None:
    values = np.array(numbers, dtype=np.float64)
    p = p_no_change(values)
    assert p_no_change(values * 3 + 7) == p
    assert p_no_change(np.exp(values / 5)) == p
    # The same orders upside down or backwards are other ones of the simulation.
    assert p_no_change(-values) == pytest.approx(p, abs=0.03)
    assert p_no_change(values[::-1]) == pytest.approx(p, abs=0.03)


def test_values_that_are_all_alike_do_not_change() -> None:
    assert change_points(np.full(40, 7.0)) == ()
    assert serial_correlation(np.full(40, 7.0)) is None


def test_no_part_is_shorter_than_what_can_be_a_level() -> None:
    generator = np.random.default_rng(8)
    for _ in range(40):
        values = np.cumsum(generator.standard_normal(30))
        borders = [0, *(at for at, _ in locate(values)), 30]
        assert min(b - a for a, b in itertools.pairwise(borders)) >= LEAST


def test_the_interval_of_the_shift_is_that_of_the_exact_rank_sum_test() -> None:
    before, after = np.array([1.1, 2.2, 3.3, 4.4]), np.array([2.5, 5.1, 6.2, 7.7, 8.1])
    shift, lower, upper = shift_of(before, after)
    # A shift is in the interval if and only if the test does not reject it.
    for trial in np.linspace(-3, 9, 241) + 1e-6:
        p = stats.mannwhitneyu(after - trial, before, method="exact").pvalue
        assert (lower < trial < upper) == (p > 0.05), trial
    assert lower < shift < upper
    large = shift_of(np.arange(60.0), np.arange(60.0) + 20)
    assert large == pytest.approx((20, 14, 26), abs=1.01)


def test_too_few_values_do_not_bound_the_size_of_a_step() -> None:
    assert shift_of(np.arange(3.0), np.arange(3.0) + 9) == (9.0, -math.inf, math.inf)


def test_serial_correlation_is_noticed_and_noise_is_not() -> None:
    generator = np.random.default_rng(2)
    noise = generator.standard_normal(120)
    independent = serial_correlation(noise)
    for i in range(1, 120):
        noise[i] += 0.5 * noise[i - 1]
    dependent = serial_correlation(noise)
    assert independent is not None
    assert dependent is not None
    assert independent.p > 0.05
    assert dependent.p < 0.01
    assert dependent.r == pytest.approx(0.5, abs=0.2)
    step = np.repeat([0.0, 40.0], 60) + generator.standard_normal(120)
    across = serial_correlation(step, [60])
    assert across is not None
    assert across.r < 0.2
