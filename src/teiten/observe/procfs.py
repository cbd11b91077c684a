"""CPU used by the server, and by strangers, from /proc: works everywhere and needs no rights."""

from __future__ import annotations

import json
import os
import time
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from teiten.observe.base import Observation
from teiten.observe.processes import (
    CpuTime,
    cpu_time,
    process_tree,
    read_processes,
    subtree,
    wait_for_new_to_end,
)

if TYPE_CHECKING:
    from teiten.observe.base import Window

_US_PER_S = 1e6
_STAT_FIELDS = ("user", "nice", "system", "idle", "iowait", "irq", "softirq", "steal")


@dataclass(frozen=True)
class Snapshot:
    """CPU times up to one moment, in seconds: of the machine by mode, and of groups of processes.

    `own` is teiten with all its children but the server; `kernel` is the kernel's threads, which
    write back what the server wrote and are nobody's foreign load.
    """

    time_s: float
    machine: dict[str, float]
    server: CpuTime
    own: CpuTime
    kernel: CpuTime


def parse_machine(text: str, tick_s: float) -> dict[str, float]:
    """Read seconds by mode over all CPUs from the content of `/proc/stat` (guest is in user)."""
    line = next(x for x in text.splitlines() if x.startswith("cpu "))
    ticks = [int(x) for x in line.split()[1:]]
    # Kernels that do not count a mode (steal) leave the column out.
    ticks += [0] * (len(_STAT_FIELDS) - len(ticks))
    return {name: n * tick_s for name, n in zip(_STAT_FIELDS, ticks, strict=False)}


def compare(before: Snapshot, after: Snapshot, *, cpus: int, has_server: bool) -> Observation:
    """Judge what the machine's CPUs did between two snapshots.

    Foreign load is the time in user and system mode that neither the server nor teiten nor the
    kernel's threads account for; interrupts are left out, since the load's own traffic raises them.
    """
    available_s = max(after.time_s - before.time_s, 1e-9) * cpus
    machine = {k: max(after.machine[k] - before.machine[k], 0.0) for k in after.machine}
    facts = {"steal_pct": 100.0 * machine["steal"] / available_s}
    if not has_server:
        return Observation(
            facts=facts,
            notes=(
                "Server CPU and foreign load are not recorded: the server is not teiten's own.",
            ),
        )
    server = after.server - before.server
    if server.total_s < 0.0:
        return Observation(
            facts=facts,
            notes=("Server CPU and foreign load are not recorded: the server ended meanwhile.",),
        )
    known_s = sum(x.total_s for x in (server, after.own - before.own, after.kernel - before.kernel))
    foreign_s = machine["user"] + machine["nice"] + machine["system"] - known_s
    facts["foreign_cpu_pct"] = min(max(100.0 * foreign_s / available_s, 0.0), 100.0)
    return Observation(
        totals={
            "server_cpu_us": server.total_s * _US_PER_S,
            "server_cpu_user_us": server.user_s * _US_PER_S,
            "server_cpu_sys_us": server.system_s * _US_PER_S,
        },
        values={"server_cpu_pct": 100.0 * server.total_s / available_s},
        facts=facts,
    )


def take_snapshot(postmaster_pid: int | None) -> Snapshot:
    """Read the machine's and the processes' CPU times as of now."""
    processes = read_processes()
    parents = {pid: p.parent for pid, p in processes.items()}
    server = subtree(parents, postmaster_pid) if postmaster_pid is not None else frozenset()
    own = subtree(parents, os.getpid()) - server
    return Snapshot(
        time_s=time.monotonic(),
        machine=parse_machine(Path("/proc/stat").read_text(), 1.0 / os.sysconf("SC_CLK_TCK")),
        server=cpu_time(processes[pid] for pid in server),
        own=cpu_time(processes[pid] for pid in own),
        kernel=cpu_time(p for p in processes.values() if p.kernel_thread),
    )


class ProcfsObserver:
    """Server CPU time (totals `server_cpu_us`, `..._user_us`, `..._sys_us`) and foreign load."""

    name = "procfs"

    def __init__(self) -> None:
        """Watch nothing yet."""
        self._window: Window | None = None
        self._before: Snapshot | None = None
        self._known: frozenset[int] = frozenset()

    def unavailable(self) -> str | None:
        """None on Linux."""
        if Path("/proc/stat").exists():
            return None
        return "Server CPU time is not recorded: /proc is not mounted on this machine."

    def start(self, window: Window) -> None:
        """Take the first snapshot."""
        self._window = window
        if window.postmaster_pid is not None:
            self._known = process_tree(window.postmaster_pid)
        self._before = take_snapshot(window.postmaster_pid)

    def stop(self) -> Observation:
        """Take the second snapshot once the load's backends have ended; write `procfs.json`."""
        if self._window is None or self._before is None:
            raise RuntimeError("stop() without start()")
        window, before = self._window, self._before
        self._window = self._before = None
        if window.postmaster_pid is not None:
            wait_for_new_to_end(window.postmaster_pid, self._known)
        after = take_snapshot(window.postmaster_pid)
        raw = {"before": asdict(before), "after": asdict(after)}
        (window.raw_dir / "procfs.json").write_text(json.dumps(raw) + "\n")
        return compare(
            before,
            after,
            cpus=os.cpu_count() or 1,
            has_server=window.postmaster_pid is not None,
        )
