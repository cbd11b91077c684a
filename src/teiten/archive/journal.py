"""The journal of a run: append-only, one JSON line a state change, fsynced.

A run that is killed leaves at worst one torn last line; reading passes over it and appending
first cuts it off.
"""

from __future__ import annotations

import json
import os
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

from teiten.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

EventKind = Literal[
    "run_started",
    "run_resumed",
    "trial_started",
    "trial_done",
    "trial_failed",
    "run_stopped",
    "run_decided",
    "budget_spent",
    "run_finished",
]
"""A run that ends before all its blocks has `run_decided` or `budget_spent`, with `blocks`."""


@dataclass(frozen=True)
class Event:
    """One state change. `at_s` is seconds since the epoch; `details` depend on the kind."""

    kind: EventKind
    at_s: float
    details: Mapping[str, Any]


class Journal:
    """Reads and appends the events of one run."""

    def __init__(self, path: Path) -> None:
        """Use the journal at `path`; it is made by the first append."""
        self.path = path

    def events(self) -> list[Event]:
        """All whole lines, in order.

        Raises:
            UsageError: a whole line is damaged.
        """
        if not self.path.exists():
            return []
        whole = self.path.read_bytes().split(b"\n")[:-1]
        events = []
        for number, line in enumerate(whole, start=1):
            try:
                events.append(_parse(line))
            except (ValueError, KeyError, TypeError) as error:
                raise UsageError(
                    f"{self.path} is damaged in line {number}: restore it, or delete that line "
                    "(a trial that it has as done is then run again by `teiten run --resume`)."
                ) from error
        return events

    def append(self, kind: EventKind, **details: object) -> None:
        """Add one event; it is on disk when this returns.

        Raises:
            OSError: it could not be written whole (the disk is full); it then does not count.
        """
        line = json.dumps({"event": kind, "at_s": round(time.time(), 3), **details}, default=str)
        descriptor = os.open(self.path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o644)
        try:
            os.ftruncate(descriptor, self._whole_bytes())
            os.lseek(descriptor, 0, os.SEEK_END)
            rest = line.encode() + b"\n"
            while rest:  # a disk that fills up takes a part and refuses only the next
                rest = rest[os.write(descriptor, rest) :]
            os.fsync(descriptor)
        finally:
            os.close(descriptor)

    def done_trials(self) -> set[int]:
        """Numbers of the trials that are complete."""
        return {e.details["trial"] for e in self.events() if e.kind == "trial_done"}

    def _whole_bytes(self) -> int:
        return self.path.read_bytes().rfind(b"\n") + 1


def _parse(line: bytes) -> Event:
    """Read one line; an event that a newer teiten knows is kept as it is."""
    data = json.loads(line)
    if not isinstance(data, dict):
        raise TypeError("an event is a table")
    event = Event(kind=data.pop("event"), at_s=float(data.pop("at_s")), details=data)
    if event.kind == "trial_done" and not isinstance(data["trial"], int):
        raise TypeError("a trial is known by its number")
    if event.kind in {"run_decided", "budget_spent"} and not isinstance(data["blocks"], int):
        raise TypeError("blocks are counted")
    if not isinstance(data.get("budget_s"), int | float | None):
        raise TypeError("a budget is a number of seconds")
    return event
