from __future__ import annotations

import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st

from teiten.report.charts.scales import keep_apart, round_steps, round_top
from teiten.report.numbers import change, change_range, duration, figure, ratio_range


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (13_735_491.3, "13,735,491"),
        (12345.6, "12,346"),
        (1.23456, "1.235"),
        (0.0123456, "0.01235"),
        (146.02, "146.0"),
        (31.0, "31"),
        (0.0, "0"),
        (-2.5, "\N{MINUS SIGN}2.500"),
        (None, "-"),
        (float("nan"), "-"),
    ],
)
def test_figures_keep_four_digits(value: float | None, text: str) -> None:
    assert figure(value) == text


@pytest.mark.parametrize(
    ("ratio", "text"),
    [
        (1.0241, "+2.4%"),
        (0.933, "\N{MINUS SIGN}6.7%"),
        (1.00042, "+0.04%"),
        (1.0, "0.0%"),
        (3.613, "+261.3%"),
    ],
)
def test_changes_are_signed(ratio: float, text: str) -> None:
    assert change(ratio) == text


def test_a_range_too_narrow_for_its_digits_is_given_by_its_half_width() -> None:
    assert change_range(0.93279, 0.93285) == "±0.003%"
    assert change_range(1.016, 1.033).split() == ["+1.6%", "…", "+3.3%"]
    assert change_range(1.5, 1.5) == "±0%"


def test_a_ratio_gets_the_decimals_that_show_its_range() -> None:
    assert ratio_range(0.93284, 0.93281, 0.93291) == "0.9328 (0.9328 … 0.9329)"
    assert ratio_range(1.0241, 1.01, 1.03) == "1.024 (1.010 … 1.030)"


def test_durations() -> None:
    assert [duration(s) for s in (12.4, 200, 3725)] == ["12 s", "3 min 20 s", "1 h 02 min"]


@given(st.floats(1e-6, 1e9))
def test_axis_ends_just_above_what_it_holds(high: float) -> None:
    assert high * 0.999 <= round_top(high) <= 1.5 * high


def test_logarithmic_steps_hold_the_values() -> None:
    assert round_steps(0.3, 41) == pytest.approx([0.2, 0.5, 1, 2, 5, 10, 20, 50])


@given(st.lists(st.floats(0, 1), min_size=1, max_size=6), st.floats(0.01, 0.15))
def test_labels_stay_apart_in_order_and_below_the_top(places: list[float], gap: float) -> None:
    moved = keep_apart(sorted(places), gap)
    assert len(moved) == len(places)
    assert moved[-1] <= 1 + 1e-9
    assert all(b - a >= gap - 1e-9 for a, b in itertools.pairwise(moved))
