from __future__ import annotations

import json
import os
import platform
from pathlib import Path

from teiten.doctor import diagnose, examine
from teiten.environment import describe_machine
from teiten.environment.fsync import measure_fsync


def test_this_machine_is_described_in_json(tmp_path: Path) -> None:
    planned = tmp_path / "not" / "there" / "yet"
    machine = json.loads(json.dumps(describe_machine([tmp_path, planned])))
    assert machine["cpu"]["threads"] >= len(os.sched_getaffinity(0))
    assert machine["kernel"]["release"] == platform.release()
    assert machine["memory"]["total_bytes"] > 0
    assert machine["virtualisation"]["cpus_allowed"] == len(os.sched_getaffinity(0))
    here, there = (machine["storage"][str(x)] for x in (tmp_path, planned))
    assert here["file_system"] == there["file_system"]
    assert here["total_bytes"] >= here["free_bytes"] > 0
    assert here["fsync"]["p99_ms"] >= here["fsync"]["median_ms"] > 0


def test_the_name_of_this_machine_is_not_recorded() -> None:
    machine = describe_machine([])
    name = platform.node()
    assert name not in machine["kernel"].values()
    assert name not in machine["software"].values()


def test_a_flush_into_memory_leaves_nothing_behind(tmp_path: Path) -> None:
    measured = measure_fsync(tmp_path, duration_s=0.05)
    assert measured is not None
    assert measured["writes"] > 0
    assert list(tmp_path.iterdir()) == []


def test_a_place_that_cannot_be_written_has_no_flush_rate() -> None:
    assert measure_fsync(Path("/proc/self"), duration_s=0.05) is None


def test_the_doctor_examines_this_host(tmp_path: Path) -> None:
    facts = examine(tmp_path, clients=3)
    assert facts.data_path == tmp_path
    assert 0 < facts.clock_read_ns < 100_000
    assert facts.busy_pct is None or 0 <= facts.busy_pct <= 100
    findings = diagnose(facts)
    assert {"fsync", "hardware counters", "sysstat"} <= {x.topic for x in findings}
