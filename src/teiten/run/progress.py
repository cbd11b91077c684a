"""How far a run is: what the executor tells, and how much time is left. Prints nothing."""

from __future__ import annotations

import statistics
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from teiten.archive import TrialRecord
    from teiten.plan import Plan, PlannedTrial
    from teiten.study import Setup

OVERHEAD_S = 4.0
"""First guess of a trial's time besides warm-up and measurement, until one has been seen."""


class Progress(Protocol):
    """Told by the executor what happens; the command line shows it."""

    def say(self, sentence: str) -> None:
        """Something worth a line: a download, an image being built, what is not recorded."""

    def run_created(self, folder: Path) -> None:
        """The run has its folder: it can be named, and resumed."""

    def trial_started(self, trial: PlannedTrial, plan: Plan, seconds_left: float) -> None:
        """A trial begins; `seconds_left` is the estimate for it and all after it."""

    def stage(self, name: str, expected_s: float = 0.0) -> None:
        """The trial enters a stage, such as `warm-up`."""

    def trial_done(self, trial: PlannedTrial, record: TrialRecord) -> None:
        """A trial is complete and kept."""


def seconds_left(remaining: Sequence[PlannedTrial], overheads_s: Sequence[float]) -> float:
    """Estimate the time that `remaining` trials take.

    `overheads_s` are the times that the trials of this session took besides their load.
    """
    overhead_s = statistics.fmean(overheads_s) if overheads_s else OVERHEAD_S
    return sum(load_s(t.treatment.setup) + overhead_s for t in remaining)


def load_s(setup: Setup) -> float:
    """Seconds of warm-up and measurement in one trial, as far as they are known beforehand.

    How long a given number of transactions takes is seen as the trials' other time is.
    """
    if setup.load.transactions_per_client is not None:
        return 0.0
    return float(setup.load.warmup_s + setup.load.duration_s)
