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
from teiten.archive.failed import keep_failed
from teiten.archive.journal import Journal
from teiten.archive.making import folder_in_making, give_final_name, sweep_abandoned
from teiten.errors import NotPermittedError, TeitenError, UsageError
from teiten.host import sync_folder, sync_tree

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path
    from types import TracebackType

    from teiten.plan import Plan
    from teiten.study import Study


class RunWriter:
    """The one writer of a run folder; a lock keeps a second one out."""

    def __init__(self, folder: Path) -> None:
        """Open `folder` for writing; use `create` for a new run.

        Raises:
            NotPermittedError: this user may only read it.
            UsageError: another teiten is writing it.
        """
        _check_writable(folder)
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
        # Not as JSON, which has no infinity; TOML has.
        document = tomli_w.dumps(study.model_dump(exclude_none=True)).encode()
        head = {"format": layout.FORMAT_VERSION, "teiten": __version__, "study": study.name}
        try:
            archive.mkdir(parents=True, exist_ok=True)
            sweep_abandoned(archive)
            with folder_in_making(archive, name) as partial:
                (partial / layout.TRIALS_FOLDER).mkdir()
                layout.write_durably(partial / layout.STUDY_FILE, document)
                layout.write_json(partial / layout.PLAN_FILE, plan_document(plan))
                layout.write_json(partial / layout.RUN_FILE, head)
                # There from the start, so that its name is as durable as the folder's.
                layout.write_durably(partial / layout.JOURNAL_FILE, b"")
                final = give_final_name(partial, archive, name)
        except OSError as error:
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
        sync_tree(partial)
        final = self.folder / layout.TRIALS_FOLDER / layout.trial_folder_name(record.number)
        if final.exists():  # complete, but the journal did not come to say so
            shutil.rmtree(final)
        partial.rename(final)
        sync_folder(final.parent)
        self.journal.append("trial_done", trial=record.number)

    def keep_failed_trial(self, number: int) -> Path | None:
        """Keep the raw files of a trial that failed, as `failed/NNNN-K/`; None if it left none.

        Raises:
            OSError: they cannot be moved there.
        """
        failed = self.folder / layout.FAILED_FOLDER
        return keep_failed(self._partial(number), failed, layout.trial_folder_name(number))

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


def _check_writable(folder: Path) -> None:
    journal = folder / layout.JOURNAL_FILE
    for path in (folder, folder / layout.TRIALS_FOLDER, journal):
        if path.exists() and not os.access(path, os.W_OK, effective_ids=True):
            raise NotPermittedError(
                f"Run {folder} cannot be gone on with, since {path} may not be written: do it as "
                "the user who began the run, or resume a copy of its folder."
            )


def read_records(folder: Path, numbers: set[int]) -> list[layout.TrialRecord]:
    """The records of the trials in `numbers`, in run order.

    Raises:
        UsageError: a trial that the journal has as done is not there (any more), or damaged.
    """
    return [_read_record(folder, number) for number in sorted(numbers)]


def _read_record(folder: Path, number: int) -> layout.TrialRecord:
    trial = folder / layout.TRIALS_FOLDER / layout.trial_folder_name(number)
    path = trial / layout.TRIAL_FILE
    remedy = (
        f"restore it, or delete the line of trial {number} from {layout.JOURNAL_FILE} and run "
        "that trial again by `teiten run --resume`."
    )
    try:
        record = layout.TrialRecord.from_json(json.loads(path.read_bytes()))
    except FileNotFoundError as error:
        raise UsageError(
            f"{path} is missing, though {layout.JOURNAL_FILE} has that trial as done: {remedy}"
        ) from error
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise UsageError(f"{path} is damaged: {remedy}") from error
    if record.number != number:
        raise UsageError(f"{path} is of trial {record.number} and not {number}: {remedy}")
    return record


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
