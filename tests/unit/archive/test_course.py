"""What the journal tells of a run that goes on until decided."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from teiten.archive import RunWriter, Stop, TrialRecord, list_runs, open_run
from teiten.archive.course import last_budget_s, spent_s, stop_of
from teiten.archive.journal import Event, EventKind
from teiten.errors import UsageError
from teiten.plan import make_plan
from teiten.study import go_on_until_decided, load_study

if TYPE_CHECKING:
    from pathlib import Path


def event(kind: EventKind, at_s: float, **details: Any) -> Event:  # noqa: ANN401 - JSON
    return Event(kind, at_s, details)


BUDGET_SPENT = [
    event("run_started", 100.0),
    event("trial_done", 160.0, trial=1),
    # Killed; a night later:
    event("run_resumed", 9000.0),
    event("trial_done", 9030.0, trial=2),
    event("budget_spent", 9040.0, blocks=1, budget_s=110.0),
    event("run_finished", 9041.0),
]


def test_time_between_sessions_is_not_spent() -> None:
    assert spent_s(BUDGET_SPENT) == pytest.approx(60 + 41)
    assert spent_s(BUDGET_SPENT[:4]) == pytest.approx(60 + 30)
    assert spent_s(BUDGET_SPENT[:3]) == pytest.approx(60)
    assert spent_s([]) == 0
    set_back = [event("run_started", 100.0), event("run_finished", 40.0)]
    assert spent_s(set_back) == 0, "a clock that was set back gives no time"


def test_a_run_is_stopped_until_it_is_gone_on_with() -> None:
    assert stop_of([]) is None
    assert stop_of(BUDGET_SPENT[:4]) is None
    assert stop_of(BUDGET_SPENT) == Stop("budget spent", 1)
    resumed = [*BUDGET_SPENT, event("run_resumed", 10_000.0, budget_s=500.0)]
    assert stop_of(resumed) is None
    assert stop_of([*resumed, event("run_decided", 10_100.0, blocks=4)]) == Stop("decided", 4)


def test_the_last_budget_given_counts() -> None:
    assert last_budget_s(BUDGET_SPENT) is None
    first = [*BUDGET_SPENT, event("run_resumed", 10_000.0, budget_s=500.0)]
    assert last_budget_s(first) == 500
    assert last_budget_s([*first, event("run_resumed", 11_000.0)]) == 500
    assert last_budget_s([*first, event("run_resumed", 11_000.0, budget_s=90)]) == 90


def run_with(archive: Path, trials: int, *, laid_out: int = 5) -> RunWriter:
    """A run of 2 treatments with 2 blocks before the first look, of which some trials are done."""
    study = load_study("demo", ("blocks=2", "factor.workload=read", "factor.clients=4"))
    study = go_on_until_decided(study)
    assert study.until_decided is not None
    table = study.until_decided.model_copy(update={"most_blocks": laid_out})
    study = study.model_copy(update={"until_decided": table})
    plan = make_plan(study)
    writer = RunWriter.create(archive, study, plan)
    writer.journal.append("run_started")
    for planned in plan.trials[:trials]:
        writer.begin_trial(planned.number)
        writer.finish_trial(
            TrialRecord(
                number=planned.number,
                block=planned.block,
                treatment=planned.treatment.number,
                levels=planned.treatment.levels,
                values=planned.treatment.values,
                started_at_s=1.7e9,
                measured_at_s=1.7e9 + 1,
                ended_at_s=1.7e9 + 6,
                responses={"tps": 100.0},
            )
        )
    return writer


def test_a_run_that_was_cut_off_is_not_complete_whatever_the_trial(tmp_path: Path) -> None:
    for trials, planned in ((0, 4), (3, 4), (4, 4), (5, 6), (6, 6), (9, 10)):
        with run_with(tmp_path / str(trials), trials) as writer:
            run = open_run(writer.folder)
            assert not run.is_complete
            assert run.planned_trials == planned
        (listed,) = list_runs(tmp_path / str(trials))
        assert (listed.state, listed.done, listed.stop) == ("can be resumed", trials, None)
        assert listed.may_end_earlier


def test_a_run_that_was_decided_or_spent_its_budget_is_complete(tmp_path: Path) -> None:
    with run_with(tmp_path, 6) as writer:
        writer.journal.append("budget_spent", blocks=3, budget_s=60.0)
        run = open_run(writer.folder)
        assert run.is_complete
        assert run.planned_trials == 6
        (listed,) = list_runs(tmp_path)
        assert (listed.state, listed.done, listed.planned) == ("complete", 6, 6)
        assert listed.stop == Stop("budget spent", 3)
        writer.journal.append("run_resumed", budget_s=600.0)
        assert not open_run(writer.folder).is_complete
        writer.journal.append("run_decided", blocks=3)
        writer.journal.append("run_finished")
        assert open_run(writer.folder).is_complete
        assert open_run(writer.folder).stop == Stop("decided", 3)


def test_a_run_whose_blocks_are_all_run_is_complete(tmp_path: Path) -> None:
    with run_with(tmp_path, 10) as writer:
        run = open_run(writer.folder)
    assert run.is_complete
    assert (run.planned_trials, run.stop) == (10, None)


def test_a_trial_lost_from_a_decided_run_is_to_be_run_again(tmp_path: Path) -> None:
    with run_with(tmp_path, 6) as writer:
        writer.journal.append("run_decided", blocks=3)
        lines = writer.journal.path.read_bytes().splitlines(keepends=True)
        writer.journal.path.write_bytes(b"".join(lines[:2] + lines[3:]))
        run = open_run(writer.folder)
    assert not run.is_complete
    assert len(run.records) == 5


@pytest.mark.parametrize(
    "line",
    [
        '{"event": "run_decided", "at_s": 1}',
        '{"event": "budget_spent", "at_s": 1, "blocks": "two"}',
        '{"event": "run_resumed", "at_s": 1, "budget_s": "2h"}',
    ],
)
def test_a_damaged_end_is_told(tmp_path: Path, line: str) -> None:
    with run_with(tmp_path, 2) as writer:
        with writer.journal.path.open("a") as journal:
            journal.write(f"{line}\n")
        with pytest.raises(UsageError, match="is damaged in line 4"):
            _ = open_run(writer.folder).is_complete
