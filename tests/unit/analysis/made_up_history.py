"""Make archives of runs with made-up dates and figures: input for tests of histories only."""

from __future__ import annotations

import random
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from teiten.analysis.followed import PastRun
from teiten.archive import Flag, RunWriter, TrialRecord, open_run
from teiten.plan import make_plan
from teiten.study import parse_study

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from pathlib import Path

    from teiten.archive import Run
    from teiten.study import Study

STUDY = """
name = "nightly"
title = {{ en = "Nightly", ja = "夜間測定" }}
blocks = {blocks}
seed = 7
[setup]
data = {{ kind = "pgbench", scale = 10 }}
load = {{ kind = "pgbench", script = "readonly.sql", duration_s = {duration_s} }}
[[factor]]
name = "version"
title = {{ en = "Version", ja = "バージョン" }}
[factor.levels]
{levels}
{more}
[[factor]]
name = "clients"
title = {{ en = "Clients", ja = "クライアント数" }}
levels = {clients}
"""
MACHINE = {
    "cpu": {"model": "Made-up CPU", "threads": 32},
    "memory": {"total_bytes": 128 * 2**30},
    "kernel": {"release": "6.1.0-12"},
}
WORKLOADS = """
[[factor]]
name = "workload"
title = { en = "Workload", ja = "負荷" }
[factor.levels]
read = { load = { script = "readonly.sql" } }
update = { load = { script = "update.sql" } }
"""


@dataclass(frozen=True)
class Made:
    """A run to make up: when, with what, and how far its TPS are from the usual, by version."""

    date: str
    factors: Mapping[str, float] = field(default_factory=dict)
    levels: Mapping[str, str] = field(
        default_factory=lambda: {"17.7": "npm:17.7", "18.1": "npm:18.1"}
    )
    clients: tuple[int, ...] = (1, 8)
    blocks: int = 3
    duration_s: int = 30
    machine: Mapping[str, Any] = field(default_factory=lambda: MACHINE)
    flagged: tuple[int, ...] = ()
    only_trials: int | None = None
    workloads: bool = False
    base_tps: float = 1000.0

    @property
    def at_s(self) -> float:
        """When the run began."""
        return datetime.fromisoformat(self.date).replace(tzinfo=UTC).timestamp()


def past_runs(runs: Iterable[Made], noise: float = 0.005) -> list[PastRun]:
    """The runs in memory, each trial's TPS with `noise` as its relative spread."""
    generator = random.Random(5)  # noqa: S311 - noise, not secrets
    past = []
    for number, made in enumerate(runs):
        study = study_of(made)
        records = records_of(study, made, generator, noise)
        past.append(PastRun(f"run-{number}", study, records, made.machine))
    return past


def made_up_history(archive: Path, runs: Iterable[Made], noise: float = 0.005) -> list[Run]:
    """Write the same runs into `archive`."""
    made_runs = list(runs)
    written = []
    for made, past in zip(made_runs, past_runs(made_runs, noise), strict=True):
        with RunWriter.create(archive, past.study, make_plan(past.study)) as writer:
            writer.write_environment({"machine": dict(made.machine)} if made.machine else {})
            for record in past.records:
                writer.begin_trial(record.number)
                writer.finish_trial(record)
            written.append(open_run(writer.folder))
    return written


def study_of(made: Made) -> Study:
    """The study of a run."""
    levels = "\n".join(f'"{k}" = {{ server = "{v}" }}' for k, v in made.levels.items())
    text = STUDY.format(
        blocks=made.blocks,
        duration_s=made.duration_s,
        levels=levels,
        more=WORKLOADS if made.workloads else "",
        clients=list(made.clients),
    )
    return parse_study(text, where="test")


def records_of(
    study: Study, made: Made, generator: random.Random, noise: float
) -> list[TrialRecord]:
    """The trials of a run."""
    of_run = {label: generator.gauss(1, noise) for label in made.levels}
    records = []
    for trial in make_plan(study).trials[: made.only_trials]:
        labels = trial.treatment.levels
        version, clients = labels["version"], int(labels["clients"])
        tps = made.base_tps * clients**0.8 * made.factors.get(version, 1.0) * of_run[version]
        tps *= generator.gauss(1, noise / 2)
        if labels.get("workload") == "update":
            tps /= 3
        begin_s = made.at_s + 40.0 * trial.number
        flag = Flag("steal", "Time was stolen.")
        responses = {"tps": tps, "latency_mean_ms": 1000 * clients / tps, "failed_tx": 0.0}
        records.append(
            TrialRecord(
                number=trial.number,
                block=trial.block,
                treatment=trial.treatment.number,
                levels=labels,
                values=trial.treatment.values,
                started_at_s=begin_s,
                measured_at_s=begin_s + 5,
                ended_at_s=begin_s + 35,
                responses=responses,
                flags=(flag,) if trial.number in made.flagged else (),
            )
        )
    return records
