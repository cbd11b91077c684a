"""Verdicts while looking after every block: what counts, what is asked, what is said."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.unit.analysis import made_up_trials

from teiten.analysis.deciding import (
    ALPHA,
    asked_verdicts,
    blocks_to_decide,
    conclude_always_valid,
    decision,
    undecided,
)
from teiten.errors import UsageError
from teiten.plan import PlannedTrial, make_plan
from teiten.stats.always_valid import Interval, half_width_sds, interval
from teiten.study import go_on_until_decided, load_study

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from teiten.archive import TrialRecord
    from teiten.study import Study

COUNTED = "callgrind_instructions_per_tx"


def study_of(blocks: int, *overrides: str, responses: Sequence[str] = ()) -> Study:
    """The demo (version, workload, clients) with so many blocks; 17.7 is the reference."""
    study = load_study("demo", (f"blocks={blocks}", *overrides))
    return go_on_until_decided(study, responses=responses)


def records_of(
    study: Study, measure: Callable[[PlannedTrial], dict[str, float]]
) -> list[TrialRecord]:
    return made_up_trials.records_of(make_plan(study).trials_of(study.blocks), measure)


def noisy(
    change: dict[str, float], spread: float, seed: int = 1
) -> Callable[[PlannedTrial], dict[str, float]]:
    """TPS of 18.1 that differ by `change[workload]`, with noise, in blocks that differ a lot."""
    rng = np.random.default_rng(seed)

    def measure(trial: PlannedTrial) -> dict[str, float]:
        levels = trial.treatment.levels
        factor = 1 + change[levels["workload"]] * (levels["version"] == "18.1")
        clients = 100.0 * float(levels["clients"])
        return {"tps": clients * trial.block**2 * factor * math.exp(rng.normal(0, spread))}

    return measure


def test_each_block_gives_the_mean_log_ratio_over_the_levels_along_x() -> None:
    study = study_of(4, "factor.workload=read")
    records = records_of(study, noisy({"read": 0.03}, 0.05))
    (verdict,) = conclude_always_valid(study, records, ["tps"])
    value = {
        (r.block, r.levels["version"], r.levels["clients"]): r.responses["tps"] for r in records
    }
    differences = [
        np.mean([math.log(value[b, "18.1", c] / value[b, "17.7", c]) for c in ("1", "4")])
        for b in (1, 2, 3, 4)
    ]
    expected = interval(differences, ALPHA)
    assert verdict.blocks == 4
    assert verdict.method == "always valid"
    assert verdict.overall.change == pytest.approx(math.expm1(expected.mean))
    assert verdict.overall.lower == pytest.approx(math.expm1(expected.lower))
    assert verdict.overall.upper == pytest.approx(math.expm1(expected.upper))
    at_four = [math.log(value[b, "18.1", "4"] / value[b, "17.7", "4"]) for b in (1, 2, 3, 4)]
    assert list(verdict.by_x) == ["1", "4"]
    assert verdict.by_x["4"].upper == pytest.approx(
        math.expm1(interval(at_four, ALPHA / 2).upper), rel=1e-6
    )


@settings(deadline=None, max_examples=20)
@given(st.lists(st.floats(0.01, 100), min_size=5, max_size=5), st.randoms())
def test_what_a_block_has_in_common_and_the_order_of_records_change_nothing(
    factors: list[float], shuffler: object
) -> None:
    study = study_of(5)
    records = records_of(study, noisy({"read": 0.02, "update": -0.1}, 0.02))
    moved = [
        replace(r, responses={"tps": r.responses["tps"] * factors[r.block - 1]}) for r in records
    ]
    shuffler.shuffle(moved)  # type: ignore[attr-defined]
    for one, other in zip(
        conclude_always_valid(study, records), conclude_always_valid(study, moved), strict=True
    ):
        assert (one.group, one.level, one.decision) == (other.group, other.level, other.decision)
        assert one.overall.change == pytest.approx(other.overall.change, abs=1e-9)
        assert one.overall.upper == pytest.approx(other.overall.upper, abs=1e-9)


def test_higher_lower_same_and_undecided() -> None:
    study = study_of(6)
    found = conclude_always_valid(
        study, records_of(study, noisy({"read": 0.05, "update": 0.0}, 0.0005))
    )
    assert [(v.group["workload"], v.decision) for v in found] == [
        ("read", "higher"),
        ("update", "same"),
    ]
    turned = conclude_always_valid(
        study, records_of(study, noisy({"read": -0.05, "update": 0.0}, 0.05))
    )
    assert [v.decision for v in turned] == ["undecided", "undecided"]
    assert undecided(turned) == turned
    assert all(v.more_blocks is not None and v.more_blocks >= 1 for v in turned)
    lower = conclude_always_valid(
        study, records_of(study, noisy({"read": -0.05, "update": 0.0}, 0.002))
    )
    assert lower[0].decision == "lower"
    assert lower[0].more_blocks is None


@settings(deadline=None)
@given(st.floats(-0.03, 0.03), st.floats(1e-4, 0.03))
def test_the_decision_says_what_the_interval_says(mean: float, half_width: float) -> None:
    said = decision(Interval(mean, half_width, 9, half_width), margin=0.01)
    lower, upper = math.exp(mean - half_width), math.exp(mean + half_width)
    if lower > 0.99 and upper < 1.01:
        assert said == "same"
    else:
        assert said == ("higher" if lower > 1 else "lower" if upper < 1 else "undecided")


@pytest.mark.parametrize("spread", [0.001, 0.004, 0.02])
def test_p_values_say_what_the_interval_says(spread: float) -> None:
    study = study_of(6)
    for seed in range(10):
        for v in conclude_always_valid(
            study, records_of(study, noisy({"read": 0.008, "update": 0.0}, spread, seed))
        ):
            assert v.p_difference is not None
            assert v.p_equivalence is not None
            outside = v.overall.lower > 0 or v.overall.upper < 0
            assert (v.p_difference <= ALPHA) == outside
            within = -study.margin < v.overall.lower and v.overall.upper < study.margin
            assert (v.p_equivalence <= ALPHA) == within


def test_all_contrasts_of_a_response_are_one_family() -> None:
    levels = ("factor.version=17.7,18.1,16.6", "factor.workload=read,update")
    study = study_of(5, *levels)
    records = records_of(study, noisy({"read": 0.0, "update": 0.0}, 0.01))
    found = conclude_always_valid(study, records)
    assert {v.family_size for v in found} == {4}
    assert {v.level for v in found} == {"18.1", "16.6"}
    alone = study_of(5, "factor.workload=read")
    (single,) = conclude_always_valid(
        alone,
        [r for r in records if r.levels["workload"] == "read" and r.levels["version"] != "16.6"],
    )
    same = next(v for v in found if v.level == "18.1" and v.group["workload"] == "read")
    assert same.overall.change == pytest.approx(single.overall.change)
    widths = [math.log1p(v.overall.upper) - math.log1p(v.overall.change) for v in (same, single)]
    assert widths[0] / widths[1] == pytest.approx(
        half_width_sds(5, ALPHA / 4) / half_width_sds(5, ALPHA)
    )


def test_a_block_with_a_lost_trial_does_not_count_for_its_contrast() -> None:
    study = study_of(5)
    records = records_of(study, noisy({"read": 0.0, "update": 0.0}, 0.01))
    lost = next(r for r in records if r.block == 3 and r.levels["workload"] == "read")
    rest = [r for r in records if r.number != lost.number]
    read, update = conclude_always_valid(study, rest)
    assert (read.blocks, update.blocks) == (4, 5)
    without = [r for r in records if r.block != 3]
    assert read.overall == conclude_always_valid(study, without)[0].overall


def test_a_response_that_is_counted_at_one_client_alone_is_compared_there() -> None:
    study = study_of(3)

    def measure(trial: PlannedTrial) -> dict[str, float]:
        counted = 1000.0 - 80 * (trial.treatment.levels["version"] == "18.1")
        alone = trial.treatment.levels["clients"] == "1"
        return {"tps": 5.0 + trial.number} | (
            {COUNTED: counted + trial.block / 100} if alone else {}
        )

    found = conclude_always_valid(study, records_of(study, measure), [COUNTED])
    assert [v.decision for v in found] == ["lower", "lower"]
    assert [v.blocks for v in found] == [3, 3]
    assert all(v.overall.change == pytest.approx(-0.08, abs=1e-4) for v in found)


def test_before_a_complete_block_nothing_is_known() -> None:
    study = study_of(3)
    records = records_of(study, noisy({"read": 0.0, "update": 0.0}, 0.01))
    for count in range(2, 9):
        for v in conclude_always_valid(study, records[:count]):
            assert v.decision == "undecided"
            assert (v.overall.lower, v.overall.upper) == (-math.inf, math.inf)
            assert v.p_difference == 1.0
            assert v.detectable is None


@pytest.mark.parametrize("mean", [0.0, 0.004, 0.02])
def test_as_many_blocks_as_projected_decide_in_four_runs_of_five(mean: float) -> None:
    sd, margin, runs = 0.012, 0.01, 3000
    half_width = half_width_sds(5, ALPHA) * sd
    n = blocks_to_decide(Interval(mean, sd, 5, half_width), ALPHA, margin)
    assert n is not None
    values = np.random.default_rng(7).normal(mean, sd, (runs, n))
    said = [decision(interval(row, ALPHA), margin) for row in values]
    decided = sum(d != "undecided" for d in said) / runs
    assert 0.74 < decided < 0.9


def test_a_run_is_decided_on_speed_and_on_what_was_counted_unless_it_is_told() -> None:
    def measure(trial: PlannedTrial) -> dict[str, float]:
        return {"tps": 9.0 + trial.number, "latency_mean_ms": 3.0, COUNTED: 1000.0}

    study = study_of(3)
    records = records_of(study, measure)
    assert {v.response for v in asked_verdicts(study, records)} == {"tps", COUNTED}
    told = study_of(3, responses=["latency_mean_ms"])
    assert {v.response for v in asked_verdicts(told, records)} == {"latency_mean_ms"}


def test_what_was_not_recorded_cannot_be_decided() -> None:
    study = study_of(3, responses=["tps", "instructions_per_tx"])
    records = records_of(study, lambda _: {"tps": 9.0})
    with pytest.raises(UsageError, match=r"instructions_per_tx, of which.*--decide-on tps"):
        asked_verdicts(study, records)
    with pytest.raises(UsageError, match="anything, of which"):
        asked_verdicts(study_of(3), records_of(study, lambda _: {}))


def test_a_group_with_a_zero_is_asked_about_and_stays_undecided() -> None:
    """A zero must not count as decided, nor make the family of the others smaller."""
    study = study_of(6, responses=["tps"])
    records = records_of(study, noisy({"read": 0.3, "update": 0.0}, 0.01))
    i = next(i for i, r in enumerate(records) if r.levels["workload"] == "update")
    zeroed = [*records]
    zeroed[i] = replace(records[i], responses={"tps": 0.0})
    read, update = asked_verdicts(study, zeroed)
    whole, _ = asked_verdicts(study, records)
    assert read == whole
    assert (update.group, update.decision) == ({"workload": "update"}, "undecided")
    assert update.overall.upper == math.inf
