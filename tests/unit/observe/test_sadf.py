"""The tables made of sadf's JSON are held to a real capture and to the older format's keys."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from teiten.observe.sadf import ALL_CPUS, interrupt_names, samples_of, summary_of, tables_of

DATA = Path(__file__).parents[2] / "data" / "observe"


@pytest.fixture(scope="module")
def tables() -> dict[str, pl.DataFrame]:
    document = json.loads((DATA / "sadf-12.6.1-vm-2cpu.json").read_text())
    names = interrupt_names((DATA / "interrupts-vm-2cpu.txt").read_text())
    return tables_of(document, names)


def test_cpu_by_core_of_a_real_capture(tables: dict[str, pl.DataFrame]) -> None:
    cpu = tables["cpu"]
    assert cpu.shape == (9, 12)
    busy_core = cpu.filter((pl.col("t_s") == 1.0) & (pl.col("cpu") == 1)).row(0, named=True)
    assert busy_core["usr"] == 92.93
    assert busy_core["iowait"] == 6.06
    modes = cpu.select(pl.sum_horizontal(pl.exclude("t_s", "cpu")))
    assert modes.to_series().to_list() == pytest.approx([100.0] * 9, abs=0.05)


def test_disk_memory_and_network_of_a_real_capture(tables: dict[str, pl.DataFrame]) -> None:
    disk = tables["disk"].row(0, named=True)
    assert (disk["device"], disk["write_kib_s"], disk["iops"]) == ("vda", 204800.0, 207.0)
    assert set(tables["network"]["interface"]) == {"lo", "ifb0", "ifb1", "eth0"}
    assert tables["memory"]["t_s"].to_list() == [1.0, 2.0, 3.0]


def test_interrupts_carry_their_devices_and_leave_out_the_silent(
    tables: dict[str, pl.DataFrame],
) -> None:
    interrupts = tables["interrupts"]
    assert interrupts.filter(pl.col("per_s") <= 0.0).is_empty()
    first = interrupts.filter((pl.col("t_s") == 1.0) & (pl.col("irq") == "36"))
    assert first.rows() == [
        (1.0, "36", "virtio1-req.0", ALL_CPUS, 207.0),
        (1.0, "36", "virtio1-req.0", 1, 207.0),
    ]
    assert "Local timer interrupts" in interrupts["device"].to_list()


def test_means_over_the_window(tables: dict[str, pl.DataFrame]) -> None:
    values = summary_of(tables)
    assert values["cpu_usr_pct"] == pytest.approx(42.2567, abs=1e-3)
    assert values["cpu_busy_pct"] == pytest.approx(44.2533, abs=1e-3)
    assert values["disk_write_mib_s"] == pytest.approx((200.0 + 4 / 1024) / 3)
    assert summary_of(tables, ("lo", "eth0"))["network_mib_s"] == 0.0
    assert "disk_write_mib_s" not in summary_of(tables, ("vda",))


def test_sysstat_11_tells_interrupts_without_cpus() -> None:
    # json_print_irq_stats in sysstat 11.7.3.
    document = _document([{"interrupts": [{"intr": "sum", "value": 571.0}]}])
    assert tables_of(document)["interrupts"].rows() == [(1.0, "sum", None, ALL_CPUS, 571.0)]


def test_no_sample_makes_empty_tables_and_no_value() -> None:
    tables = tables_of(_document([]))
    assert all(table.is_empty() for table in tables.values())
    assert summary_of(tables) == {}


@given(
    st.lists(st.integers(1, 4), min_size=1, max_size=30),
    st.integers(0, 365 * 24 * 3600),
)
def test_time_is_the_sum_of_the_intervals_even_over_midnight(
    intervals: list[int], start: int
) -> None:
    document = _document([{} for _ in intervals], intervals, start)
    times = [t for t, _ in samples_of(document)]
    assert times == [float(sum(intervals[: i + 1])) for i in range(len(intervals))]


@given(st.lists(st.floats(0.0, 100.0), min_size=1, max_size=20))
def test_the_mean_lies_within_the_samples(idle: list[float]) -> None:
    samples = [{"cpu-load": [{"cpu": "all", "idle": x, "iowait": 0.0}]} for x in idle]
    mean = summary_of(tables_of(_document(samples)))["cpu_idle_pct"]
    assert min(idle) - 1e-9 <= mean <= max(idle) + 1e-9


def _document(
    samples: list[dict[str, Any]], intervals: list[int] | None = None, start: int = 1_000_000
) -> dict[str, Any]:
    now = start
    stamped = []
    for sample, interval in zip(samples, intervals or [1] * len(samples), strict=True):
        now += interval
        moment = datetime.fromtimestamp(now, UTC)
        stamp = {"date": f"{moment:%Y-%m-%d}", "time": f"{moment:%H:%M:%S}", "interval": interval}
        stamped.append({"timestamp": stamp, **sample})
    return {"sysstat": {"hosts": [{"statistics": stamped}]}}
