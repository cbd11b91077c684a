"""What an observer is: something that watches one window of a trial and reports totals."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path


@dataclass(frozen=True)
class Window:
    """What an observer may know of the trial it watches.

    `postmaster_pid` and `data_dir` are None for a server that teiten does not own (`dsn:`).
    `conninfo` is a libpq connection string with superuser rights where teiten owns the server.
    `raw_dir` is the folder for this observer's raw files.
    """

    raw_dir: Path
    conninfo: str
    postmaster_pid: int | None
    data_dir: Path | None
    version_num: int


@dataclass(frozen=True)
class Observation:
    """What was seen in one window.

    `totals` are amounts over the window that only mean something per transaction (the executor
    divides them by the transactions of the window: `wal_bytes` becomes `wal_bytes_per_tx`).
    `values` are responses as they are. `facts` are for judging validity and are not responses.
    `notes` are sentences for the user (what could not be recorded, and why).
    """

    totals: Mapping[str, float] = field(default_factory=dict)
    values: Mapping[str, float] = field(default_factory=dict)
    facts: Mapping[str, float] = field(default_factory=dict)
    notes: tuple[str, ...] = ()


class Observer(Protocol):
    """Watches a window of a trial. Start and stop are called from the same thread."""

    name: str

    def unavailable(self) -> str | None:
        """None, or one sentence: why this cannot be recorded here and how to allow it."""

    def start(self, window: Window) -> None:
        """Begin to watch; returns once watching is in effect."""

    def stop(self) -> Observation:
        """End the watch, write raw files into `window.raw_dir`, return what was seen."""
