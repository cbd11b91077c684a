"""Power formulas against scipy and against simulation, and what is derived from them."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest
from scipy import stats

from teiten.stats.equivalence import equivalence_p, log_margin
from teiten.stats.power import (
    Precision,
    blocks_to_decide,
    decision_power,
    detectable_difference,
    difference_power,
    equivalence_power,
)

THREE_BLOCKS = Precision(0.01, 2, 3, 0.05, 0.05, log_margin(0.02))


@pytest.mark.parametrize("df", [1, 2, 6, 50])
@pytest.mark.parametrize("true", [0.0, 0.5, 2.0, 6.0])
def test_power_of_a_difference_is_the_noncentral_t(df: float, true: float) -> None:
    critical = stats.t.isf(0.025, df)
    expected = stats.nct.sf(critical, df, true) + stats.nct.cdf(-critical, df, true)
    design = Precision(1.0, df, 3, 0.05, 0.05, (-3.0, 3.0))
    assert difference_power(design, true) == pytest.approx(expected, abs=2e-5)


@pytest.mark.parametrize("df", [1, 2, 5, 20])
@pytest.mark.parametrize("true", [0.0, 0.007, 0.02])
def test_powers_agree_with_simulation(df: int, true: float) -> None:
    design = replace(THREE_BLOCKS, df=df)
    noise = np.random.default_rng([df, round(true * 1000)])
    n = 40_000
    estimates = true + design.se * noise.standard_normal(n)
    errors = design.se * np.sqrt(noise.chisquare(df, n) / df)
    differs = np.abs(estimates) > stats.t.isf(0.025, df) * errors
    room = stats.t.isf(0.05, df) * errors
    same = (estimates - room > design.bounds[0]) & (estimates + room < design.bounds[1])
    for power, seen in (
        (difference_power(design, true), differs),
        (equivalence_power(design, true), same),
        (decision_power(design, true), differs | same),
    ):
        assert stats.binomtest(int(seen.sum()), n, power).pvalue > 1e-4


def test_the_detectable_difference_is_detected_with_80_percent() -> None:
    found = detectable_difference(THREE_BLOCKS)
    assert difference_power(THREE_BLOCKS, found) == pytest.approx(0.8, abs=1e-4)
    assert detectable_difference(replace(THREE_BLOCKS, se=0.0)) == 0.0


def test_more_blocks_narrow_what_is_detectable() -> None:
    found = [detectable_difference(THREE_BLOCKS.with_blocks(n)) for n in (2, 3, 5, 10, 100)]
    assert found == sorted(found, reverse=True)


@pytest.mark.parametrize("true", [0.0, 0.004, 0.03])
def test_the_blocks_to_decide_are_the_fewest_with_80_percent(true: float) -> None:
    enough = blocks_to_decide(THREE_BLOCKS, true)
    assert enough is not None
    assert enough > 3
    assert decision_power(THREE_BLOCKS.with_blocks(enough), true) >= 0.8
    assert decision_power(THREE_BLOCKS.with_blocks(enough - 1), true) < 0.8


def test_what_no_run_could_decide_has_no_number_of_blocks() -> None:
    assert blocks_to_decide(replace(THREE_BLOCKS, se=50.0), 0.001) is None


def test_equivalence_needs_both_one_sided_tests() -> None:
    low, high = log_margin(0.01)
    assert math.isclose(math.exp(low), 0.99)
    assert math.isclose(math.exp(high), 1.01)
    p = equivalence_p(0.004, 0.002, 6, (low, high))
    assert p == pytest.approx(stats.t.sf((high - 0.004) / 0.002, 6))
    assert equivalence_p(-0.004, 0.002, 6, (low, high)) == pytest.approx(
        stats.t.sf((-0.004 - low) / 0.002, 6)
    )
    assert equivalence_p(0.004, 0.002, 6, (low, high), tests=3) == pytest.approx(3 * p)
    assert equivalence_p(0.5, 0.002, 6, (low, high), tests=3) == 1.0
    assert equivalence_p(0.0, 0.0, 2, (low, high)) == 0.0
    assert equivalence_p(0.02, 0.0, 2, (low, high)) == 1.0
