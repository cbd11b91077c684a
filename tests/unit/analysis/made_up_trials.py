"""Records of trials with made-up numbers: input for tests of the analysis, never a result."""

from __future__ import annotations

from typing import TYPE_CHECKING

from teiten.archive import TrialRecord

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    from teiten.plan import PlannedTrial


def record_of(trial: PlannedTrial, responses: Mapping[str, float]) -> TrialRecord:
    """A trial that took half a minute, one begun every minute."""
    return TrialRecord(
        number=trial.number,
        block=trial.block,
        treatment=trial.treatment.number,
        levels=trial.treatment.levels,
        values=trial.treatment.values,
        started_at_s=60.0 * trial.number,
        measured_at_s=60.0 * trial.number + 5,
        ended_at_s=60.0 * trial.number + 35,
        responses=responses,
    )


def records_of(
    trials: Iterable[PlannedTrial], measure: Callable[[PlannedTrial], dict[str, float]]
) -> list[TrialRecord]:
    """Records of planned trials, whose responses `measure` makes up."""
    return [record_of(trial, measure(trial)) for trial in trials]
