"""Names and shapes in a run folder.

RUN/
  run.json           format version, teiten's version, name of the study
  study.toml         the study as resolved, with the text of the load scripts it names
  plan.json          seed, treatments, order
  environment.json   the machine and every server
  journal.jsonl      append-only, one line a state change, fsynced
  trials/NNNN/       trial.json and the raw files of load and observers
  failed/NNNN-K/     what the K-th failed attempt at a trial left; .zst where it was long text
  trials.parquet     one row a trial
  report.html        written by `teiten report`
"""

from __future__ import annotations

import json
import os
from dataclasses import asdict, dataclass, field
from typing import TYPE_CHECKING, Any

import polars as pl

from teiten.host import sync_folder

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from pathlib import Path
    from types import UnionType

    from teiten.study.model import Scalar

FORMAT_VERSION = 1

RUN_FILE = "run.json"
STUDY_FILE = "study.toml"
PLAN_FILE = "plan.json"
ENVIRONMENT_FILE = "environment.json"
JOURNAL_FILE = "journal.jsonl"
TRIALS_FOLDER = "trials"
TRIAL_FILE = "trial.json"
FAILED_FOLDER = "failed"
TRIALS_TABLE = "trials.parquet"
REPORT_FILE = "report.html"

# Raw files in a trial's folder that a reader looks into.
SECONDS_FILE = "seconds.parquet"
TRANSACTIONS_FILE = "transactions.parquet"
SERVER_LOG_FILE = "server.log.zst"


def sysstat_file(subject: str) -> str:
    """The raw file that holds what sysstat saw of `subject`, such as `cpu` or `disk`."""
    return f"sysstat_{subject}.parquet"


@dataclass(frozen=True)
class Flag:
    """Why a trial should be read with care: a short code, and the sentence with its figures."""

    code: str
    sentence: str


@dataclass(frozen=True)
class TrialRecord:
    """What is kept of one trial besides its raw files. Times are seconds since the epoch (UTC)."""

    number: int
    block: int
    treatment: int
    levels: Mapping[str, str]
    values: Mapping[str, Scalar]
    started_at_s: float
    measured_at_s: float
    ended_at_s: float
    responses: Mapping[str, float]
    facts: Mapping[str, float] = field(default_factory=dict)
    flags: Sequence[Flag] = ()
    notes: Sequence[str] = ()

    def to_json(self) -> dict[str, Any]:
        """The record as plain JSON values."""
        return asdict(self)

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> TrialRecord:
        """Read back what `to_json` gave.

        Raises:
            ValueError, KeyError, TypeError: it is something else.
        """
        flags = tuple(Flag(**flag) for flag in data["flags"])
        record = cls(**{**data, "flags": flags, "notes": tuple(data["notes"])})
        times = (record.started_at_s, record.measured_at_s, record.ended_at_s)
        texts = (t for flag in flags for t in (flag.code, flag.sentence))
        _check_kind(int, (record.number, record.block, record.treatment))
        _check_kind(int | float, (*times, *record.responses.values(), *record.facts.values()))
        _check_kind(str, (*record.levels.values(), *record.notes, *texts))
        _check_kind(bool | int | float | str, record.values.values())
        if record.levels.keys() != record.values.keys():
            raise ValueError("each level has a label and a value")
        return record


def _check_kind(kind: type | UnionType, values: Iterable[object]) -> None:
    for value in values:
        if not isinstance(value, kind):
            raise TypeError(f"{value!r} is no {kind}")


def trial_folder_name(number: int) -> str:
    """Folder of trial `number` below `trials/`."""
    return f"{number:04d}"


def trials_frame(records: Iterable[TrialRecord], factors: Sequence[str]) -> pl.DataFrame:
    """One row a trial, in run order.

    Columns: `trial`, `block`, `treatment`, `started_at` (UTC), `duration_s`, one `factor.NAME` a
    factor (numbers where all its levels are numbers, else labels), `flags` (list of codes),
    `notes` (list of sentences), then one column a response and one `fact.NAME` a fact by which
    the trial was judged (null where it was not recorded).
    """
    ordered = sorted(records, key=lambda r: r.number)
    columns: dict[str, pl.Series] = {
        "trial": pl.Series([r.number for r in ordered], dtype=pl.Int64),
        "block": pl.Series([r.block for r in ordered], dtype=pl.Int64),
        "treatment": pl.Series([r.treatment for r in ordered], dtype=pl.Int64),
        "started_at": pl.Series(
            [round(r.started_at_s * 1e6) for r in ordered], dtype=pl.Int64
        ).cast(pl.Datetime("us", "UTC")),
        "duration_s": pl.Series([r.ended_at_s - r.started_at_s for r in ordered], dtype=pl.Float64),
    }
    for factor in factors:
        columns[f"factor.{factor}"] = _factor_column(ordered, factor)
    columns["flags"] = pl.Series(
        [[f.code for f in r.flags] for r in ordered], dtype=pl.List(pl.String)
    )
    columns["notes"] = pl.Series([list(r.notes) for r in ordered], dtype=pl.List(pl.String))
    for name in dict.fromkeys(name for r in ordered for name in r.responses):
        columns[name] = pl.Series([r.responses.get(name) for r in ordered], dtype=pl.Float64)
    for name in dict.fromkeys(name for r in ordered for name in r.facts):
        columns[f"fact.{name}"] = pl.Series([r.facts.get(name) for r in ordered], dtype=pl.Float64)
    return pl.DataFrame(columns)


def _factor_column(records: Sequence[TrialRecord], factor: str) -> pl.Series:
    values = [r.values[factor] for r in records]
    if all(_is_whole(v) for v in values):
        return pl.Series(values, dtype=pl.Int64)
    if all(_is_whole(v) or isinstance(v, float) for v in values):
        return pl.Series(values, dtype=pl.Float64)
    return pl.Series([r.levels[factor] for r in records], dtype=pl.String)


def _is_whole(value: Scalar) -> bool:
    """Whether this is a number of 64 bits; a larger one is kept by its label."""
    return isinstance(value, int) and not isinstance(value, bool) and -(2**63) <= value < 2**63


def write_durably(path: Path, content: bytes) -> None:
    """Write a file so that after a crash it is there whole or not at all."""
    partial = path.with_name(f".{path.name}.partial")
    with partial.open("wb") as file:
        file.write(content)
        file.flush()
        os.fsync(file.fileno())
    partial.rename(path)
    sync_folder(path.parent)


def write_json(path: Path, value: object) -> None:
    """Write `value` as readable JSON, durably."""
    text = json.dumps(value, ensure_ascii=False, indent=1, default=str)
    write_durably(path, text.encode() + b"\n")
