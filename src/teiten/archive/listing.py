"""List the runs of an archive; one that cannot be read hides no other."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from teiten.archive.reader import NewerFormatError, open_run, run_names
from teiten.errors import UsageError

if TYPE_CHECKING:
    from pathlib import Path

    from teiten.archive.course import Stop

State = Literal["complete", "can be resumed", "damaged", "newer format"]


@dataclass(frozen=True)
class RunSummary:
    """A run in a list. What could not be read is None, and `problem` says why in a sentence.

    `began_at_s` is seconds since the epoch; `done` and `flagged` count its complete trials.
    `may_end_earlier`: how many trials it will have is open; `stop` says how such a run ended.
    """

    folder: Path
    state: State
    title: dict[str, str] | None = None
    began_at_s: float | None = None
    planned: int | None = None
    done: int | None = None
    flagged: int | None = None
    problem: str | None = None
    stop: Stop | None = None
    may_end_earlier: bool = False

    @property
    def name(self) -> str:
        """The folder's name, by which commands refer to the run."""
        return self.folder.name


def list_runs(archive: Path) -> list[RunSummary]:
    """All runs in an archive, oldest first."""
    return [_summary(archive / name) for name in run_names(archive)]


def _summary(folder: Path) -> RunSummary:
    try:
        run = open_run(folder)
    except NewerFormatError as error:
        return RunSummary(folder, "newer format", problem=str(error))
    except UsageError as error:
        return RunSummary(folder, "damaged", problem=str(error))
    try:
        events = run.journal.events()
        began_at_s = events[0].at_s if events else None
        planned, records = run.planned_trials, run.records
        _ = run.environment  # a report needs it
    except UsageError as error:
        return RunSummary(folder, "damaged", title=run.study.title, problem=str(error))
    except OSError as error:
        problem = f"{error.filename or folder} cannot be read: {error.strerror or error}."
        return RunSummary(folder, "damaged", title=run.study.title, problem=problem)
    return RunSummary(
        folder,
        "complete" if run.is_complete else "can be resumed",
        title=run.study.title,
        began_at_s=began_at_s,
        planned=planned,
        done=len(records),
        flagged=sum(bool(r.flags) for r in records),
        stop=run.stop,
        may_end_earlier=run.may_end_earlier,
    )
