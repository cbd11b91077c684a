"""Make run folders with made-up numbers: input for tests of reports, never a result."""

from __future__ import annotations

import math
import random
from typing import TYPE_CHECKING, Any

import polars as pl

from teiten.archive import Flag, Run, RunWriter, TrialRecord, open_run
from teiten.plan import PlannedTrial, make_plan
from teiten.study import load_study

if TYPE_CHECKING:
    from pathlib import Path

    from teiten.study import Study

BEGIN_S = 1_760_000_000.0


def made_up_run(
    archive: Path,
    name: str = "version-readonly",
    overrides: tuple[str, ...] = (),
    *,
    seconds: int = 30,
    cores: int = 4,
    raw: bool = True,
    counters: bool = True,
    only_trials: int | None = None,
    study: Study | None = None,
) -> Run:
    """Write a run of a study; `only_trials` leaves it incomplete."""
    study = study or load_study(name, overrides)
    plan = make_plan(study)
    noise = random.Random(study.seed)  # noqa: S311 - noise, not secrets
    with RunWriter.create(archive, study, plan) as writer:
        writer.write_environment(_environment(study))
        for trial in plan.trials[:only_trials]:
            folder = writer.begin_trial(trial.number)
            responses = _responses(trial, noise, cores, counters=counters)
            if raw:
                for file_name, frame in _raw(responses, noise, seconds, cores).items():
                    frame.write_parquet(folder / file_name)
            writer.finish_trial(_record(trial, responses, seconds))
        writer.write_table([f.name for f in study.factor])
        return open_run(writer.folder)


def _responses(
    trial: PlannedTrial, noise: random.Random, cores: int, *, counters: bool
) -> dict[str, float]:
    labels = list(trial.treatment.levels.values())
    clients = float(trial.treatment.values.get("clients", 4))
    gain = {"18.1": 1.024, "17.2": 0.985, "16.6": 0.97}.get(labels[0], 1.0)
    update = trial.treatment.setup.load.script == "update.sql"
    if update:
        gain = 2 - gain
    full = 300.0 * cores
    tps = full * clients / (clients + 1.5 * cores) * gain * noise.gauss(1, 0.006)
    busy = min(99.0, 100 * clients / (clients + cores))
    instructions = 14_724_529.0 * (1 - (gain - 1) * 2.8) * noise.gauss(1, 0.00005)
    responses = {
        "tps": tps,
        "latency_mean_ms": 1000 * clients / tps,
        "latency_p99_ms": 2600 * clients / tps * noise.gauss(1, 0.05),
        "server_cpu_us_per_tx": 1900 / gain * noise.gauss(1, 0.01),
        "cpu_usr_pct": busy * 0.86,
        "cpu_sys_pct": busy * 0.08,
        "cpu_iowait_pct": 0.4,
        "cpu_soft_pct": busy * 0.06,
        "cpu_steal_pct": 0.0,
        "cpu_idle_pct": 100 - busy - 0.4,
        "memory_used_mib": 45_000 + 9 * clients,
        "disk_write_mib_s": 0.3 + (tps / 90 if update else 0),
        "disk_read_mib_s": 0.0,
        "network_mib_s": tps / 2100,
        "wal_bytes_per_tx": 812.0 + noise.random() if update else 0.4,
        "buffers_hit_per_tx": 188.4 if not update else 6.2,
    }
    if counters:
        responses["instructions_per_tx"] = instructions
        responses["cycles_per_tx"] = instructions / 2.1 * noise.gauss(1, 0.004)
    return responses


def _raw(
    responses: dict[str, float], noise: random.Random, seconds: int, cores: int
) -> dict[str, pl.DataFrame]:
    stall = noise.randrange(seconds) if noise.random() < 0.1 else -1
    tps = [
        responses["tps"] * (0.2 if s == stall else noise.gauss(1, 0.015)) for s in range(seconds)
    ]
    by_second = pl.DataFrame(
        {
            "second": range(seconds),
            "tps": tps,
            "latency_mean_ms": [responses["latency_mean_ms"]] * seconds,
            "latency_stddev_ms": [0.1] * seconds,
            "failures": [0] * seconds,
        }
    )
    cpu_rows: list[dict[str, Any]] = []
    interrupt_rows: list[dict[str, Any]] = []
    for s in range(1, seconds + 1):
        for cpu in range(-1, cores):
            shape = 1 + (0.1 * math.sin(s / 9 + cpu) if cpu >= 0 else 0)
            soft = responses["cpu_soft_pct"] * (3.2 if cpu % 4 == 3 else 0.2)
            row = dict.fromkeys(("nice", "irq", "steal", "guest", "gnice"), 0.0)
            row |= {"sys": responses["cpu_sys_pct"], "iowait": 0.4, "soft": soft}
            row["usr"] = min(responses["cpu_usr_pct"] * shape, 99 - soft - row["sys"])
            row["idle"] = max(0.0, 100 - sum(row.values()))
            cpu_rows.append({"t_s": float(s), "cpu": cpu, **row})
            if cpu >= 0:
                for irq, device in (("24", "virtio0-req.0"), ("LOC", "Local timer interrupts")):
                    rate = 40.0 if irq == "LOC" else 900.0 * (cpu % 4 == 3)
                    interrupt_rows.append(
                        {"t_s": float(s), "irq": irq, "device": device, "cpu": cpu, "per_s": rate}
                    )
    cpu_frame = pl.DataFrame(cpu_rows).with_columns(pl.col("cpu").cast(pl.Int32))
    disks = pl.DataFrame(
        [
            (float(s), device, 0.0, rate * 1024, 12.0, 0.4)
            for s in range(1, seconds + 1)
            for device, rate in (("vda", responses["disk_write_mib_s"]), ("vdb", 0.0))
        ],
        schema=["t_s", "device", "read_kib_s", "write_kib_s", "util_pct", "await_ms"],
        orient="row",
    )
    network = pl.DataFrame(
        [(float(s), "eth0", 100.0, 200.0) for s in range(1, seconds + 1)],
        schema=["t_s", "interface", "receive_kib_s", "send_kib_s"],
        orient="row",
    )
    return {
        "sysstat_disk.parquet": disks,
        "sysstat_network.parquet": network,
        "seconds.parquet": by_second,
        "sysstat_cpu.parquet": cpu_frame,
        "sysstat_interrupts.parquet": pl.DataFrame(interrupt_rows),
    }


def _record(trial: PlannedTrial, responses: dict[str, float], seconds: int) -> TrialRecord:
    begin_s = BEGIN_S + 40.0 * trial.number
    flags: tuple[Flag, ...] = ()
    if trial.number % 11 == 5:
        flags = (Flag("checkpoint", "A checkpoint ran during the measurement (1 requested)."),)
    return TrialRecord(
        number=trial.number,
        block=trial.block,
        treatment=trial.treatment.number,
        levels=trial.treatment.levels,
        values=trial.treatment.values,
        started_at_s=begin_s,
        measured_at_s=begin_s + 5,
        ended_at_s=begin_s + 5 + seconds,
        responses=responses,
        flags=flags,
    )


def _environment(study: Study) -> dict[str, Any]:
    labels = study.factor[0].labels
    return {
        "machine": {
            "cpu": {"model": "Made-up CPU", "threads": 32, "governor": None, "smt": "on"},
            "memory": {"total_bytes": 128 * 2**30, "huge_pages": {"2048kB": 0}},
            "software": {"operating_system": "Made-up Linux 9", "teiten": "0.1.0"},
        },
        "servers": {
            label: {"version": label, "settings": {"shared_buffers": "40GB"}} for label in labels
        },
        "client": {"version": "18.6", "spec": "pypi:18.6"},
        "not_recorded": ["Hardware counters are not recorded: no such counters on this machine."],
    }
