"""Write a run folder.

Nothing half-written can be taken for whole: files and trial folders get their final names only
when they are complete and on disk.
"""

from __future__ import annotations

import fcntl
import json
import os
import shutil
import time
from typing import TYPE_CHECKING, Any, Self

import tomli_w

from teiten import __version__
from teiten.archive import format as layout
from teiten.archive.journal import Journal
from teiten.errors import TeitenError, UsageError

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path
    from types import TracebackType

    from teiten.plan import Plan
    from teiten.study import Study


class RunWriter:
    """The one writer of a run folder; a lock keeps a second one out."""

    def __init__(self, folder: Path) -> None:
        """Open `folder` for writing; use `create` for a new run."""
        self.folder = folder
        self.journal = Journal(folder / layout.JOURNAL_FILE)
        self._lock = os.open(folder / layout.RUN_FILE, os.O_RDONLY | os.O_CLOEXEC)
        try:
            fcntl.flock(self._lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError as error:
            os.close(self._lock)
            raise UsageError(f"Run {folder} is being written by another teiten.") from error

    @classmethod
    def create(cls, archive: Path, study: Study, plan: Plan) -> RunWriter:
        """Make the folder of a new run in `archive` and write what is known before it starts.

        The folder appears under its final name only when all of this is in it.

        Raises:
            TeitenError: the archive folder cannot be written.
        """
        name = f"{time.strftime('%Y%m%dT%H%M%SZ', time.gmtime())}-{study.name}"
        partial = archive / f".{name}.{os.getpid()}.partial"
        try:
            archive.mkdir(parents=True, exist_ok=True)
            (partial / layout.TRIALS_FOLDER).mkdir(parents=True)
            # Not as JSON, which has no infinity; TOML has.
            document = study.model_dump(exclude_none=True)
            layout.write_durably(partial / layout.STUDY_FILE, tomli_w.dumps(document).encode())
            layout.write_json(partial / layout.PLAN_FILE, plan_document(plan))
            layout.write_json(
                partial / layout.RUN_FILE,
                {"format": layout.FORMAT_VERSION, "teiten": __version__, "study": study.name},
            )
            # There from the start, so that its name is as durable as the folder's.
            layout.write_durably(partial / layout.JOURNAL_FILE, b"")
            final = archive / name
            attempt = 1
            while final.exists():
                attempt += 1
                final = archive / f"{name}-{attempt}"
            partial.rename(final)
            layout.sync_folder(archive)
        except OSError as error:
            shutil.rmtree(partial, ignore_errors=True)
            raise TeitenError(
                f"Cannot write a run into {archive}: {error.strerror}; "
                "choose another folder with --archive."
            ) from error
        return cls(final)

    def begin_trial(self, number: int) -> Path:
        """Make an empty folder for the raw files of a trial, under a name that is not final."""
        folder = self._partial(number)
        if folder.exists():
            shutil.rmtree(folder)
        folder.mkdir()
        return folder

    def finish_trial(self, record: layout.TrialRecord) -> None:
        """Keep a complete trial: its folder gets its final name, then the journal says so."""
        partial = self._partial(record.number)
        layout.write_json(partial / layout.TRIAL_FILE, record.to_json())
        for path in partial.iterdir():
            descriptor = os.open(path, os.O_RDONLY)
            os.fsync(descriptor)
            os.close(descriptor)
        final = self.folder / layout.TRIALS_FOLDER / layout.trial_folder_name(record.number)
        if final.exists():  # complete, but the journal did not come to say so
            shutil.rmtree(final)
        partial.rename(final)
        layout.sync_folder(final.parent)
        self.journal.append("trial_done", trial=record.number)

    def write_environment(self, environment: Mapping[str, Any]) -> None:
        """Write (or replace) the description of machine and servers."""
        layout.write_json(self.folder / layout.ENVIRONMENT_FILE, environment)

    def write_table(self, factors: list[str]) -> None:
        """Write `trials.parquet` from the complete trials."""
        records = read_records(self.folder, self.journal.done_trials())
        path = self.folder / layout.TRIALS_TABLE
        partial = path.with_name(f".{path.name}.partial")
        layout.trials_frame(records, factors).write_parquet(partial)
        partial.rename(path)

    def discard_partial_trials(self) -> None:
        """Remove what a killed run left of the trial it was in."""
        for path in (self.folder / layout.TRIALS_FOLDER).glob(".*.partial"):
            shutil.rmtree(path)

    def __enter__(self) -> Self:
        """Hold the lock."""
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Release the lock."""
        os.close(self._lock)

    def _partial(self, number: int) -> Path:
        name = f".{layout.trial_folder_name(number)}.partial"
        return self.folder / layout.TRIALS_FOLDER / name


def read_records(folder: Path, numbers: set[int]) -> list[layout.TrialRecord]:
    """The records of the trials in `numbers`.

    Raises:
        UsageError: the journal has a trial as done that is not there (any more).
    """
    trials = folder / layout.TRIALS_FOLDER
    paths = [trials / layout.trial_folder_name(n) / layout.TRIAL_FILE for n in sorted(numbers)]
    try:
        return [layout.TrialRecord.from_json(json.loads(path.read_bytes())) for path in paths]
    except FileNotFoundError as error:
        raise UsageError(
            f"{error.filename} is missing, though {layout.JOURNAL_FILE} has that trial as done: "
            "restore it."
        ) from error


def plan_document(plan: Plan) -> dict[str, Any]:
    """The plan as plain JSON values."""
    return {
        "seed": plan.seed,
        "treatments": [
            {
                "number": t.number,
                "levels": dict(t.levels),
                "setup": t.setup.model_dump(mode="json", exclude_none=True),
            }
            for t in plan.treatments
        ],
        "trials": [
            {"number": t.number, "block": t.block, "treatment": t.treatment.number}
            for t in plan.trials
        ],
    }
