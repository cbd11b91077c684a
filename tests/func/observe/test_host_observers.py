"""sysstat, /proc and perf watching a real server under a real load."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
import time
from typing import TYPE_CHECKING

import polars as pl
import pytest

from teiten import host
from teiten.observe import Window, choose_observers
from teiten.observe.counters import EVENTS, CountersObserver
from teiten.observe.processes import process_tree, read_processes
from teiten.observe.procfs import ProcfsObserver
from teiten.observe.sysstat import SysstatObserver, find_sadc

if TYPE_CHECKING:
    from pathlib import Path

    from tests.func.observe.conftest import Server

needs_sysstat = pytest.mark.skipif(find_sadc() is None, reason="sysstat is not installed")
needs_perf = pytest.mark.skipif(shutil.which("perf") is None, reason="perf is not installed")
SELECT_ONLY = ("-n", "-S", "-c", "2")


@needs_sysstat
def test_sysstat_records_each_second_by_core(tmp_path: Path) -> None:
    observer = SysstatObserver()
    observer.start(_window_without_server(tmp_path))
    _use_cpu(3.3)
    seen = observer.stop()
    cpu = pl.read_parquet(tmp_path / "sysstat_cpu.parquet")
    assert cpu["t_s"].unique().to_list() in ([1.0, 2.0, 3.0], [1.0, 2.0, 3.0, 4.0])
    assert cpu["cpu"].n_unique() == (os.cpu_count() or 1) + 1
    assert seen.values["cpu_busy_pct"] > 0
    assert seen.values["memory_used_mib"] > 0
    assert (tmp_path / "sysstat.sa.zst").stat().st_size < 100_000
    assert not (tmp_path / "sysstat.sa").exists()


@needs_sysstat
def test_sysstat_in_a_window_too_short_says_so(tmp_path: Path) -> None:
    observer = SysstatObserver()
    observer.start(_window_without_server(tmp_path))
    seen = observer.stop()
    assert not seen.values
    assert len(seen.notes) == 1


@needs_sysstat
def test_sadc_dies_with_teiten(tmp_path: Path) -> None:
    program = (
        "import sys, time; from pathlib import Path\n"
        "from teiten.observe.base import Window\n"
        "from teiten.observe.sysstat import SysstatObserver\n"
        "observer = SysstatObserver()\n"
        "observer.start(Window(Path(sys.argv[1]), '', None, None, 0))\n"
        "print(observer._sadc.pid, flush=True); time.sleep(600)\n"
    )
    argv = [sys.executable, "-c", program, os.fspath(tmp_path)]
    with subprocess.Popen(argv, stdout=subprocess.PIPE) as child:
        assert child.stdout is not None
        sadc = int(child.stdout.readline())
        assert sadc in read_processes()
        child.send_signal(signal.SIGKILL)
    deadline = time.monotonic() + 10
    while (found := read_processes().get(sadc)) is not None and time.monotonic() < deadline:
        time.sleep(0.01)
    assert found is None


def test_server_cpu_is_told_apart_from_the_client_and_from_strangers(
    server: Server, tmp_path: Path
) -> None:
    observer = ProcfsObserver()
    observer.start(server.window(tmp_path))
    started_s = time.monotonic()
    server.run(*SELECT_ONLY, "-T", "2")
    elapsed_us = (time.monotonic() - started_s) * 1e6
    busy = observer.stop()
    cpus = os.cpu_count() or 1
    assert 0.02 * elapsed_us < busy.totals["server_cpu_us"] < cpus * elapsed_us
    parts = busy.totals["server_cpu_user_us"] + busy.totals["server_cpu_sys_us"]
    # The parts come in clock ticks of each process.
    assert parts == pytest.approx(busy.totals["server_cpu_us"], rel=0.1, abs=100_000)

    observer.start(server.window(tmp_path))
    _use_cpu(0.5)  # our own work is neither the server's nor foreign
    idle = observer.stop()
    assert idle.totals["server_cpu_us"] < 0.1 * busy.totals["server_cpu_us"]


def test_a_stranger_that_uses_the_cpu_is_foreign_load(server: Server, tmp_path: Path) -> None:
    # A double fork takes the stranger out of our tree of processes.
    spin = "while :; do :; done"
    command = f"timeout 30 sh -c '{spin}' >/dev/null 2>&1 & echo $!"
    stranger = int(host.run_program(["sh", "-c", command]).stdout)
    try:
        observer = ProcfsObserver()
        observer.start(server.window(tmp_path))
        time.sleep(1.0)  # the duration of the window itself
        seen = observer.stop()
    finally:
        for pid in process_tree(stranger):
            os.kill(pid, signal.SIGKILL)
    share = 100.0 / (os.cpu_count() or 1)
    assert seen.facts["foreign_cpu_pct"] > 0.3 * share


@needs_perf
def test_perf_counts_the_whole_tree_with_backends_that_come_later(
    server: Server, tmp_path: Path
) -> None:
    counters, procfs = CountersObserver(tuple(EVENTS)), ProcfsObserver()
    window = server.window(tmp_path)
    procfs.start(window)
    counters.start(window)
    server.run(*SELECT_ONLY, "-t", "3000")
    counted, cpu = counters.stop(), procfs.stop()
    assert counted.totals["task_clock_us"] == pytest.approx(
        cpu.totals["server_cpu_us"], rel=0.15, abs=30_000
    )
    if os.geteuid() == 0:
        assert counted.totals["page_faults"] > 100
    limitation = counters.limitation()
    assert ("instructions" in counted.totals) == (limitation is None)


@needs_perf
def test_perf_counts_nothing_of_what_was_before_the_window(server: Server, tmp_path: Path) -> None:
    observer = CountersObserver(tuple(EVENTS))
    totals = []
    for transactions in ("2000", "1"):
        observer.start(server.window(tmp_path))
        server.run(*SELECT_ONLY, "-t", transactions)
        totals.append(observer.stop().totals["task_clock_us"])
    assert totals[1] < 0.5 * totals[0]


@needs_perf
def test_what_cannot_be_counted_is_said_in_one_sentence() -> None:
    observers, missing = choose_observers(["counters", "procfs"])
    names = [o.name for o in observers]
    assert "procfs" in names
    assert len(missing) <= 1
    if missing:
        assert missing[0].endswith(".")
        assert "not recorded" in missing[0]


def _window_without_server(raw_dir: Path) -> Window:
    return Window(raw_dir, "", None, None, 0)


def _use_cpu(duration_s: float) -> None:
    end = time.monotonic() + duration_s
    while time.monotonic() < end:
        sum(range(1000))
