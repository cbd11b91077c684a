"""Collect the doctor's facts from this host; takes about two seconds and changes nothing."""

from __future__ import annotations

import gc
import os
import time
import timeit
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from teiten import host
from teiten.doctor.facts import Facts
from teiten.environment.cpu import describe_cpu
from teiten.environment.fsync import measure_fsync
from teiten.environment.kernel import describe_kernel
from teiten.environment.memory import describe_memory
from teiten.environment.read import read_text
from teiten.environment.software import describe_limits, program_version
from teiten.environment.storage import describe_storage
from teiten.environment.virtualisation import describe_virtualisation
from teiten.errors import TeitenError
from teiten.observe.counters import CountersObserver
from teiten.observe.sysstat import SysstatObserver

if TYPE_CHECKING:
    from collections.abc import Callable

_WATCH_S = 1.0
_CLOCK_READS = 100_000
_CLOCK_ROUNDS = 5
_STAT_FIELDS = 8  # user nice system idle iowait irq softirq steal; guest time is part of user


@dataclass(frozen=True)
class CpuTimes:
    """Clock ticks of all CPUs since boot (proc_stat(5))."""

    total: int
    idle: int
    steal: int

    def shares_since(self, before: CpuTimes) -> tuple[float, float]:
        """Percent of all CPU time that was busy here, and that was stolen by other guests."""
        total = max(1, self.total - before.total)
        steal, idle = self.steal - before.steal, self.idle - before.idle
        return 100 * (total - idle - steal) / total, 100 * steal / total


def parse_stat(text: str) -> CpuTimes | None:
    """The first line of /proc/stat, the sum over all CPUs."""
    words = text.partition("\n")[0].split()[1 : 1 + _STAT_FIELDS]
    if len(words) < _STAT_FIELDS:
        return None
    user, nice, system, idle, iowait, irq, softirq, steal = map(int, words)
    total = user + nice + system + idle + iowait + irq + softirq + steal
    return CpuTimes(total=total, idle=idle + iowait, steal=steal)


def clock_read_ns() -> float:
    """What one clock read costs, in ns, without what the interpreter adds to any call.

    The purpose is that of pg_test_timing; a function that does nothing is subtracted.
    """

    def fastest_s(function: Callable[[], object]) -> float:
        return min(timeit.repeat(function, number=_CLOCK_READS, repeat=_CLOCK_ROUNDS))

    net_s = fastest_s(time.perf_counter_ns) - fastest_s(gc.isenabled)
    return max(0.0, net_s / _CLOCK_READS * 1e9)


def examine(data_path: Path | None = None, *, clients: int | None = None) -> Facts:
    """Examine this host, for data in `data_path` (teiten's own folder if None)."""
    path = data_path or host.home_dir()
    busy_pct, steal_pct = _watch_cpus()
    cpu, kernel, memory = describe_cpu(), describe_kernel(), describe_memory()
    storage, virtual, limits = describe_storage(path), describe_virtualisation(), describe_limits()
    device, flush = storage["device"] or {}, measure_fsync(path) or {}
    server_user, server_user_problem = _server_user()
    return Facts(
        governor=cpu["governor"],
        turbo=cpu["turbo"],
        transparent_huge_pages=kernel["transparent_huge_pages"],
        memory_total_bytes=memory["total_bytes"],
        swap_total_bytes=memory["swap_total_bytes"],
        swap_used_bytes=memory["swap_used_bytes"],
        steal_pct=steal_pct,
        busy_pct=busy_pct,
        load_average_1min=os.getloadavg()[0],
        clock_source=kernel["clock_source"],
        clock_read_ns=clock_read_ns(),
        counters_problem=CountersObserver().limitation(),
        sysstat_problem=SysstatObserver().unavailable(),
        valgrind_version=program_version("valgrind"),
        data_path=path,
        file_system=storage["file_system"],
        write_cache=device.get("write_cache"),
        free_bytes=storage["free_bytes"],
        fsync_median_ms=flush.get("median_ms"),
        fsync_rate_per_s=flush.get("rate_per_s"),
        cpus_allowed=virtual["cpus_allowed"],
        cpu_limit=virtual["cpu_limit"],
        clients=clients,
        is_root=limits["user_is_root"],
        server_user=server_user,
        server_user_problem=server_user_problem,
        open_files_limit=limits["open_files"],
    )


def _watch_cpus() -> tuple[float, float] | tuple[None, None]:
    before = parse_stat(read_text(Path("/proc/stat")) or "")
    time.sleep(_WATCH_S)
    after = parse_stat(read_text(Path("/proc/stat")) or "")
    return (None, None) if before is None or after is None else after.shares_since(before)


def _server_user() -> tuple[str | None, str | None]:
    try:
        return host.server_user().name, None
    except TeitenError as error:
        return None, str(error)
