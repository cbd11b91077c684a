"""Power of pairs: against R's figures, against simulation, and optimal on its grid."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import binomtest, ttest_1samp

from teiten.stats.detectable import (
    POWER,
    cheapest_design,
    pairs_needed,
    power,
    smallest_effect,
)


@pytest.mark.parametrize(
    ("effect", "pairs"),
    # R: power.t.test(delta = effect, sd = 1, power = 0.8, type = "paired", strict = TRUE), up.
    [(0.1, 787), (0.5, 34), (1.0, 10), (3.0, 4)],
)
def test_as_many_pairs_as_r_says(effect: float, pairs: int) -> None:
    assert pairs_needed(effect, 1.0) == pairs


def test_what_is_called_detectable_is_found_in_four_of_five_simulated_runs() -> None:
    rng = np.random.default_rng(20)
    for pairs in (2, 3, 8, 40):
        spread = 0.03
        effect = smallest_effect(spread, pairs)
        assert effect is not None
        samples = rng.normal(effect, spread, size=(4000, pairs))
        found = int((ttest_1samp(samples, 0.0, axis=1).pvalue < 0.05).sum())
        assert binomtest(found, 4000, POWER).pvalue > 0.001, pairs


def test_without_an_effect_the_power_is_the_error_rate() -> None:
    for pairs in (2, 5, 100, 20_000):
        assert power(0.0, 1.0, pairs) == pytest.approx(0.05, abs=1e-9)


def test_the_limit_of_many_pairs_joins_smoothly() -> None:
    assert power(0.028, 1.0, 9_999) == pytest.approx(power(0.028, 1.0, 10_000), abs=3e-4)


@settings(deadline=None, max_examples=60)
@given(st.floats(1e-4, 5.0), st.floats(1e-4, 1.0))
def test_the_pairs_needed_suffice_and_one_fewer_does_not(effect: float, spread: float) -> None:
    pairs = pairs_needed(effect, spread)
    assert power(effect, spread, pairs) >= POWER
    assert pairs == 2 or power(effect, spread, pairs - 1) < POWER


def test_no_spread_finds_all_and_one_pair_finds_nothing() -> None:
    assert pairs_needed(0.01, 0.0) == 2
    assert smallest_effect(0.0, 3) == 0.0
    assert smallest_effect(0.02, 1) is None
    with pytest.raises(ValueError, match="cannot be tested"):
        power(0.01, 0.02, 1)


@settings(deadline=None, max_examples=15)
@given(
    st.floats(0, 0.03),
    st.floats(0, 0.2),
    st.floats(0.5, 30),
    st.sampled_from([2, 4]),
)
def test_no_design_on_the_grid_is_cheaper(
    between_sd: float, within_sd: float, overhead_s: float, trials_a_pair: int
) -> None:
    effect, between, within = math.log(1.01), between_sd**2, within_sd**2
    durations = (1, 2, 5, 10, 30, 60, 300, 600)
    best = cheapest_design(
        effect,
        between=between,
        within=within,
        overhead_s=overhead_s,
        durations_s=durations,
        trials_a_pair=trials_a_pair,
    )

    def spread(duration_s: float) -> float:
        return math.sqrt((between + within / duration_s) * 2 / (trials_a_pair / 2))

    assert power(effect, spread(best.duration_s), best.blocks) >= POWER
    for duration in durations:
        a_block_s = trials_a_pair * (duration + overhead_s)
        affordable = math.floor(best.machine_s / a_block_s - 1e-6)  # strictly cheaper
        if affordable >= 2 and spread(duration) > 0:
            assert power(effect, spread(duration), affordable) < POWER


def test_trials_get_longer_where_starting_them_costs_more() -> None:
    def duration(overhead_s: float, between: float) -> float:
        return cheapest_design(
            0.01,
            between=between,
            within=0.05**2,
            overhead_s=overhead_s,
            durations_s=range(1, 601),
        ).duration_s

    # The optimum of (between + within/T)(T + overhead) is T = sqrt(within * overhead / between).
    assert duration(10.0, 0.01**2) == pytest.approx(math.sqrt(25 * 10), abs=2)
    assert duration(40.0, 0.01**2) == pytest.approx(math.sqrt(25 * 40), abs=3)
    assert duration(10.0, 0.03**2) < duration(10.0, 0.01**2)
