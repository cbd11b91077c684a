"""What the journal tells of a run that goes on until decided: time spent, budget, how it ended.

Pure.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from collections.abc import Sequence

    from teiten.archive.journal import Event

_BEGINNINGS = ("run_started", "run_resumed")


@dataclass(frozen=True)
class Stop:
    """Why the run ended before the blocks that were laid out, and after how many."""

    reason: Literal["decided", "budget spent"]
    blocks: int


def stop_of(events: Sequence[Event]) -> Stop | None:
    """How the run ended; None where it did not, or was gone on with since."""
    for event in reversed(events):
        if event.kind in _BEGINNINGS:
            return None
        if event.kind == "run_decided":
            return Stop("decided", event.details["blocks"])
        if event.kind == "budget_spent":
            return Stop("budget spent", event.details["blocks"])
    return None


def spent_s(events: Sequence[Event]) -> float:
    """Wall time of all sessions of the run.

    A session lasts to its last event: the time that a killed one spent on the trial it was in is
    not known.
    """
    total_s = 0.0
    began_s: float | None = None
    last_s = 0.0
    for event in events:
        if event.kind in _BEGINNINGS:
            if began_s is not None:
                total_s += max(0.0, last_s - began_s)
            began_s = event.at_s
        last_s = event.at_s
    return total_s if began_s is None else total_s + max(0.0, last_s - began_s)


def last_budget_s(events: Sequence[Event]) -> float | None:
    """The budget that was last given on the command line; None where none was."""
    given = [
        float(e.details["budget_s"])
        for e in events
        if e.kind in _BEGINNINGS and e.details.get("budget_s") is not None
    ]
    return given[-1] if given else None
