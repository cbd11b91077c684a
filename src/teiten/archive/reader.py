"""Read run folders."""

from __future__ import annotations

import json
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import polars as pl
from polars.exceptions import PolarsError

from teiten.archive import format as layout
from teiten.archive.course import Stop, stop_of
from teiten.archive.journal import Journal
from teiten.archive.writer import plan_document, read_records
from teiten.errors import UsageError
from teiten.plan import Plan, make_plan
from teiten.study import Study, parse_study


@dataclass(frozen=True)
class Run:
    """One run folder, read only. What is expensive is read when it is asked for."""

    folder: Path
    study: Study

    @property
    def name(self) -> str:
        """The folder's name, by which commands refer to the run."""
        return self.folder.name

    @cached_property
    def plan(self) -> Plan:
        """The plan: made again from the study and its seed, and checked against the one kept.

        Raises:
            UsageError: the kept plan differs or is gone, so the run cannot go on as it began.
        """
        plan = make_plan(self.study)
        try:
            kept = json.loads((self.folder / layout.PLAN_FILE).read_bytes())
        except (OSError, ValueError) as error:
            raise UsageError(
                f"{self.folder} has no readable {layout.PLAN_FILE}: restore it."
            ) from error
        if not _holds(json.loads(json.dumps(plan_document(plan))), kept):
            raise UsageError(
                f"{self.folder / layout.PLAN_FILE} is not the plan of {layout.STUDY_FILE} beside "
                "it: one of them was changed after the run began; restore it."
            )
        return plan

    @cached_property
    def environment(self) -> dict[str, Any]:
        """Machine and servers; empty when the run was cut off before they were described.

        Raises:
            UsageError: the file is damaged.
        """
        path = self.folder / layout.ENVIRONMENT_FILE
        if not path.exists():
            return {}
        try:
            environment = json.loads(path.read_bytes())
            _check_environment(environment)
        except (ValueError, TypeError) as error:
            raise UsageError(
                f"{path} is damaged: restore it, or remove it and go without the description of "
                "machine and servers."
            ) from error
        return dict(environment)

    @property
    def journal(self) -> Journal:
        """The events of the run."""
        return Journal(self.folder / layout.JOURNAL_FILE)

    @cached_property
    def records(self) -> list[layout.TrialRecord]:
        """The complete trials, in run order.

        Raises:
            UsageError: the journal, or what is kept of a trial, is damaged.
        """
        records = read_records(self.folder, self.journal.done_trials())
        factors = {f.name for f in self.study.factor}
        for record in records:
            if record.levels.keys() != factors:
                path = self.trial_folder(record.number) / layout.TRIAL_FILE
                raise UsageError(f"{path} is not of this run's study: restore it.")
        return records

    @cached_property
    def trials(self) -> pl.DataFrame:
        """The complete trials as a table, one row a trial (see `format.trials_frame`)."""
        return layout.trials_frame(self.records, [f.name for f in self.study.factor])

    @cached_property
    def stop(self) -> Stop | None:
        """How a run that goes on until decided came to its end before all blocks, if it did."""
        return stop_of(self.journal.events())

    @property
    def planned_trials(self) -> int:
        """How many trials the run has when it is complete.

        Of a run that goes on until decided and did not come to its end nobody knows: then those of
        the blocks that are begun, or must be run in any case.
        """
        if self.stop is not None:
            return len(self.plan.trials_of(self.stop.blocks))
        if not self.may_end_earlier:
            return len(self.plan.trials)
        begun = max((r.block for r in self.records), default=0)
        return len(self.plan.trials_of(max(begun, self.study.blocks)))

    @property
    def is_complete(self) -> bool:
        """Whether every planned trial is there, and whole."""
        return not self.may_end_earlier and len(self.records) == self.planned_trials

    @property
    def may_end_earlier(self) -> bool:
        """Whether this is a run that goes on until decided, and has not come to its end."""
        laid_out = len(self.plan.trials)
        return self.plan.until_decided and self.stop is None and len(self.records) < laid_out

    def trial_folder(self, number: int) -> Path:
        """Where the raw files of a trial are."""
        return self.folder / layout.TRIALS_FOLDER / layout.trial_folder_name(number)

    def raw_frame(self, number: int, file_name: str) -> pl.DataFrame | None:
        """A Parquet file among the raw files of a trial, or None where it was not recorded.

        Raises:
            UsageError: the file is damaged.
        """
        path = self.trial_folder(number) / file_name
        if not path.exists():
            return None
        try:
            return pl.read_parquet(path)
        except PolarsError as error:
            raise UsageError(
                f"{path} is damaged: restore it, or remove it and go without what it recorded."
            ) from error


def _check_environment(environment: Any) -> None:  # noqa: ANN401 - JSON
    """Refuse what a reader of the description would stumble over.

    Raises:
        TypeError: a part is of another kind.
    """
    servers = environment.get("servers", {}) if isinstance(environment, dict) else None
    if not isinstance(servers, dict):
        raise TypeError("no table of servers")
    parts = (environment.get("machine", {}), environment.get("client", {}), *servers.values())
    if not all(isinstance(part, dict) for part in parts):
        raise TypeError("machine, client and every server are tables")
    if not isinstance(environment.get("not_recorded", []), list):
        raise TypeError("what was not recorded is a list")


def _holds(made: Any, kept: Any) -> bool:  # noqa: ANN401 - JSON
    """Whether all that was kept is still so; a newer teiten may know more keys of a set-up."""
    if isinstance(made, dict) and isinstance(kept, dict):
        return all(key in made and _holds(made[key], value) for key, value in kept.items())
    if isinstance(made, list) and isinstance(kept, list):
        return len(made) == len(kept) and all(map(_holds, made, kept))
    return bool(made == kept)


class NewerFormatError(UsageError):
    """A run folder was written by a newer teiten than this one."""


def open_run(folder: Path) -> Run:
    """Open a run folder.

    Raises:
        UsageError: it is no run folder, or its study cannot be read.
        NewerFormatError: it has a newer format than this teiten reads.
    """
    try:
        head = json.loads((folder / layout.RUN_FILE).read_bytes())
        written_as = int(head["format"])
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise UsageError(
            f"{folder} is no run folder: it has no readable {layout.RUN_FILE}."
        ) from error
    if written_as > layout.FORMAT_VERSION:
        raise NewerFormatError(
            f"{folder} has format {written_as} (written by teiten {head.get('teiten', '?')}), "
            f"and this teiten reads up to format {layout.FORMAT_VERSION}: use a newer teiten."
        )
    path = folder / layout.STUDY_FILE
    try:
        text = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise UsageError(f"{folder} has no readable {layout.STUDY_FILE}: restore it.") from error
    return Run(folder, parse_study(text, where=str(path)))


def run_names(archive: Path) -> list[str]:
    """Names of the run folders in an archive, oldest first, whatever state they are in.

    Folders that this user may not enter are passed over.
    """
    if not archive.is_dir():
        return []
    return sorted(
        path.name for path in archive.iterdir() if not path.name.startswith(".") and _is_run(path)
    )


def _is_run(folder: Path) -> bool:
    try:
        return (folder / layout.RUN_FILE).is_file()
    except PermissionError:
        return False


def find_run(archive: Path, name: str) -> Path:
    """The folder of a run: a path, a name in the archive, a unique beginning of one, or `latest`.

    Raises:
        UsageError: there is none, or several.
    """
    if (Path(name) / layout.RUN_FILE).is_file():
        return Path(name)
    names = run_names(archive)
    if name == "latest" and names:
        return archive / names[-1]
    matching = [n for n in names if n == name] or [n for n in names if n.startswith(name)]
    if len(matching) != 1:
        problem = "no run" if not matching else "several runs"
        raise UsageError(
            f"{problem} named {name!r} in {archive}"
            f"{': ' + ', '.join(matching) if matching else ''}; `teiten runs` lists them."
        )
    return archive / matching[0]
