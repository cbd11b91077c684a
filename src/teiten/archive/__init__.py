"""The run folder: format, writing, reading across runs."""

from teiten.archive.course import Stop
from teiten.archive.format import FORMAT_VERSION, Flag, TrialRecord
from teiten.archive.journal import Event, EventKind, Journal
from teiten.archive.listing import RunSummary, list_runs
from teiten.archive.reader import Run, open_run
from teiten.archive.writer import RunWriter

__all__ = [
    "FORMAT_VERSION",
    "Event",
    "EventKind",
    "Flag",
    "Journal",
    "Run",
    "RunSummary",
    "RunWriter",
    "Stop",
    "TrialRecord",
    "list_runs",
    "open_run",
]
