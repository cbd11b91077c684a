"""Read across runs: all runs of one study in an archive; one that cannot be read hides no other."""

from __future__ import annotations

import json
from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING

from teiten.archive import format as layout
from teiten.archive.reader import open_run, run_names
from teiten.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from teiten.archive.reader import Run


@dataclass(frozen=True)
class StudyRuns:
    """The runs of a study with at least one complete trial, in the order in which they began.

    `unread` maps the names of those that cannot be read to the sentence that says why, `empty`
    names those without a complete trial.
    """

    study: str
    runs: tuple[Run, ...]
    unread: Mapping[str, str]
    empty: tuple[str, ...]


def studies_in(archive: Path) -> Counter[str]:
    """How many runs of each study the archive holds, by what the run folders say of themselves."""
    heads = (_study_name(archive / name) for name in run_names(archive))
    return Counter(name for name in heads if name is not None)


def newest_study(archive: Path) -> str | None:
    """The study of the newest run; None where there is no run."""
    for name in reversed(run_names(archive)):
        study = _study_name(archive / name)
        if study is not None:
            return study
    return None


def runs_of(archive: Path, study: str) -> StudyRuns:
    """All runs of `study`.

    Raises:
        UsageError: there is none; says of which studies there are runs.
    """
    names = [name for name in run_names(archive) if _study_name(archive / name) == study]
    if not names:
        counts = studies_in(archive)
        known = ", ".join(f"{name} ({n})" for name, n in sorted(counts.items()))
        remedy = (
            f"it has runs of {known}; name one of these studies"
            if known
            else "it has no runs; make one by `teiten run`"
        )
        raise UsageError(
            f"There is no run of the study {study!r} in {archive}: {remedy}, or choose another "
            "folder with --archive."
        )
    runs: list[Run] = []
    unread: dict[str, str] = {}
    empty: list[str] = []
    for name in names:
        try:
            run = open_run(archive / name)
            records = run.records
            _ = run.environment
        except UsageError as error:
            unread[name] = str(error)
        except OSError as error:
            where = error.filename or archive / name
            unread[name] = f"{where} cannot be read: {error.strerror or error}."
        else:
            if records:
                runs.append(run)
            else:
                empty.append(name)
    runs.sort(key=lambda run: run.records[0].started_at_s)
    return StudyRuns(study, tuple(runs), unread, tuple(empty))


def _study_name(folder: Path) -> str | None:
    """The name of the study that a run folder says it is of."""
    try:
        name = json.loads((folder / layout.RUN_FILE).read_bytes())["study"]
    except (OSError, ValueError, KeyError, TypeError):
        return None
    return name if isinstance(name, str) else None
