"""When a run that goes on until decided ends, and what its looks say."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from teiten.analysis.conclusions import Decision, Estimate, Verdict
from teiten.archive import TrialRecord
from teiten.errors import UsageError
from teiten.plan import make_plan
from teiten.run.progress import OVERHEAD_S
from teiten.run.stopping import (
    Budget,
    figures,
    look_sentence,
    predicted_s,
    refuse_undecidable,
    stop_reason,
)
from teiten.study import go_on_until_decided, load_study

if TYPE_CHECKING:
    from teiten.study import Study


def study_of(*overrides: str) -> Study:
    return go_on_until_decided(load_study("demo", ("blocks=3", *overrides)))


def verdict(decision: Decision, change: float = 0.021, half_width: float = 0.025) -> Verdict:
    return Verdict(
        response="tps",
        group={"workload": "read"},
        level="18.1",
        decision=decision,
        overall=Estimate(change, change - half_width, change + half_width, 3.0),
        by_x={},
        p_difference=None,
        p_equivalence=None,
        family_size=1,
        blocks=4,
        more_blocks=12 if decision == "undecided" else None,
        detectable=None,
        method="always valid",
    )


DECIDED = (verdict("higher"), verdict("same"))
OPEN = (verdict("higher"), verdict("undecided"))


@pytest.mark.parametrize(
    ("verdicts", "blocks", "spent_s", "expected"),
    [
        (OPEN, 5, 100.0, None),
        (DECIDED, 5, 100.0, "run_decided"),
        (DECIDED, 3, 100.0, "run_decided"),
        (DECIDED, 2, 100.0, None),  # too early to look
        (OPEN, 5, 150.0, None),  # the next block just fits
        (OPEN, 5, 151.0, "budget_spent"),
        (OPEN, 5, 900.0, "budget_spent"),
        (DECIDED, 5, 900.0, "run_decided"),
        (DECIDED, 2, 151.0, "budget_spent"),
        (OPEN, 0, 900.0, None),  # one block is always run
    ],
)
def test_a_run_ends_when_all_is_decided_or_no_block_fits_into_the_budget(
    verdicts: tuple[Verdict, ...], blocks: int, spent_s: float, expected: str | None
) -> None:
    reason = stop_reason(
        verdicts, blocks=blocks, least_blocks=3, budget=Budget(200.0, spent_s), next_block_s=50.0
    )
    assert reason == expected


def test_what_a_look_says_and_what_the_journal_keeps_of_it() -> None:
    assert look_sentence(4, OPEN, 3) == (
        "After block 4: tps, read, 18.1: +2.1% (-0.4% to +4.6%), higher; "
        "tps, read, 18.1: +2.1% (-0.4% to +4.6%), undecided (about 12 more)."
    )
    fine = look_sentence(3, [verdict("lower", -0.08297, 0.00046)], 3)
    assert "-8.30% (-8.34% to -8.25%), lower" in fine
    unbounded = verdict("undecided", 0.021, math.inf)
    early = look_sentence(1, [unbounded], 3)
    assert "After block 1 (decided after 3 blocks at the earliest)" in early
    assert "+2.1% (no bounds yet), undecided" in early
    (kept,) = figures([unbounded])
    assert (kept["lower"], kept["upper"], kept["change"]) == (None, None, 0.021)


def test_the_next_block_is_predicted_from_what_the_same_treatments_took() -> None:
    plan = make_plan(study_of("factor.workload=read"))
    first, second = plan.trials_of(1), plan.trials_of(2)[4:]
    load_s = 5.0
    assert predicted_s(first, []) == pytest.approx(4 * (load_s + OVERHEAD_S))
    records = [
        TrialRecord(
            number=t.number,
            block=1,
            treatment=t.treatment.number,
            levels=t.treatment.levels,
            values=t.treatment.values,
            started_at_s=100.0,
            measured_at_s=105.0,
            ended_at_s=100.0 + 10 * t.treatment.number,
            responses={},
        )
        for t in first
    ]
    assert predicted_s(second, records) == pytest.approx(10 + 20 + 30 + 40)
    slower = [replace(r, ended_at_s=r.ended_at_s + 6) for r in records]
    assert predicted_s(second, records + slower) == pytest.approx(100 + 4 * 3)
    assert predicted_s(second, records[:1]) == pytest.approx(
        10 * records[0].treatment + 3 * (load_s + OVERHEAD_S)
    )


def test_a_run_with_nothing_to_decide_or_no_time_for_a_block_is_refused() -> None:
    study = study_of()
    refuse_undecidable(study, make_plan(study), 40.0)  # 8 trials of 5 s
    with pytest.raises(UsageError, match=r"budget of 39s is not enough .* takes 40s"):
        refuse_undecidable(study, make_plan(study), 39.0)
    alone = study_of("factor.version=17.7")
    with pytest.raises(UsageError, match="factor version has one level only"):
        refuse_undecidable(alone, make_plan(alone), 7200.0)
