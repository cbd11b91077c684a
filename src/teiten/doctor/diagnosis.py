"""From facts about a host to findings: what would spoil a measurement here, and what to do.

Pure. One function a topic; the thresholds stand beside the reason for them.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from collections.abc import Callable

    from teiten.doctor.facts import Facts

Status = Literal["good", "caution", "bad"]
_GIB = 1 << 30


@dataclass(frozen=True)
class Finding:
    """One topic: what was found, with figures, and in one sentence what to do (empty if good)."""

    topic: str
    status: Status
    found: str
    advice: str = ""


def diagnose(facts: Facts) -> list[Finding]:
    """Judge every topic, always all of them and in the same order.

    `bad` means that figures from here would mislead or a run would fail, `caution` that they are
    noisier or poorer than they could be.
    """
    return [topic(facts) for topic in _TOPICS]


def _graded(value: float, caution_from: float, bad_from: float) -> Status:
    return "bad" if value >= bad_from else "caution" if value >= caution_from else "good"


def _governor(facts: Facts) -> Finding:
    topic = "CPU governor"
    if facts.governor is None:
        return Finding(topic, "good", "no frequency control visible (usual in a virtual machine)")
    if facts.governor == "performance":
        return Finding(topic, "good", "performance")
    advice = "As root, run `cpupower frequency-set -g performance`: the clock follows the load now."
    return Finding(topic, "caution", facts.governor, advice)


def _turbo(facts: Facts) -> Finding:
    topic = "turbo"
    if facts.turbo is None:
        return Finding(topic, "good", "no switch visible (usual in a virtual machine)")
    if facts.turbo == "off":
        return Finding(topic, "good", "off")
    advice = (
        "As root, write 1 to /sys/devices/system/cpu/intel_pstate/no_turbo, or 0 to"
        " /sys/devices/system/cpu/cpufreq/boost: turbo depends on temperature and on how many"
        " cores are busy."
    )
    return Finding(topic, "caution", "on", advice)


def _huge_pages(facts: Facts) -> Finding:
    topic = "transparent huge pages"
    chosen = facts.transparent_huge_pages or "not in this kernel"
    if chosen != "always":
        return Finding(topic, "good", chosen)
    advice = (
        "As root, run `echo madvise > /sys/kernel/mm/transparent_hugepage/enabled`: the kernel"
        " stalls processes while it makes huge pages."
    )
    return Finding(topic, "caution", chosen, advice)


def _swap(facts: Facts) -> Finding:
    topic = "swap"
    if not facts.swap_total_bytes:
        return Finding(topic, "good", "none")
    used, memory = facts.swap_used_bytes or 0, facts.memory_total_bytes or 1
    found = f"{used / _GIB:.2f} of {facts.swap_total_bytes / _GIB:.2f} GiB used"
    # Some MiB are swapped out on any host that is up for long; a tenth of memory is real pressure.
    status = _graded(used / memory, 0.01, 0.1)
    advice = "Free memory, then as root run `swapoff -a`: swapping measures the disk."
    return Finding(topic, status, found, "" if status == "good" else advice)


def _steal(facts: Facts) -> Finding:
    topic = "CPU steal"
    if facts.steal_pct is None:
        return Finding(topic, "good", "not visible")
    status = _graded(facts.steal_pct, 1, 5)
    advice = "Use a dedicated host or instance: other guests take CPU time from this one."
    found = f"{facts.steal_pct:.1f}% over a second"
    return Finding(topic, status, found, "" if status == "good" else advice)


def _foreign_load(facts: Facts) -> Finding:
    topic = "other load"
    found = f"load average {facts.load_average_1min:.2f}"
    status: Status = "good"
    if facts.busy_pct is not None:
        found = f"{facts.busy_pct:.1f}% of the CPUs busy over a second, {found}"
        status = _graded(facts.busy_pct, 5, 20)
    advice = "Stop other programs (see `top`), or trust instructions per transaction and not TPS."
    return Finding(topic, status, found, "" if status == "good" else advice)


def _clock(facts: Facts) -> Finding:
    topic = "clock source"
    found = f"{facts.clock_source or 'not visible'}, {facts.clock_read_ns:.0f} ns a read"
    # Some 20 to 50 ns is a read without a system call (pg_test_timing's documentation); EXPLAIN
    # ANALYZE, track_io_timing and pgbench read the clock all the time.
    status = _graded(facts.clock_read_ns, 150, 500)
    if facts.clock_source in {"hpet", "acpi_pm", "jiffies"}:
        status = "bad"
    elif facts.clock_source == "xen" and status == "good":
        status = "caution"
    advice = (
        "As root, write tsc (if it is in available_clocksource) to"
        " /sys/devices/system/clocksource/clocksource0/current_clocksource."
    )
    return Finding(topic, status, found, "" if status == "good" else advice)


def _counters(facts: Facts) -> Finding:
    topic = "hardware counters"
    if facts.counters_problem is None:
        return Finding(topic, "good", "perf can count instructions")
    return Finding(topic, "caution", "not available", facts.counters_problem)


def _valgrind(facts: Facts) -> Finding:
    topic = "valgrind"
    if facts.valgrind_version is not None:
        return Finding(topic, "good", facts.valgrind_version)
    if facts.counters_problem is None:
        return Finding(topic, "good", "not installed; not needed beside hardware counters")
    advice = "Install the package valgrind: it counts instructions where the hardware cannot."
    return Finding(topic, "caution", "not installed", advice)


def _sysstat(facts: Facts) -> Finding:
    topic = "sysstat"
    if facts.sysstat_problem is None:
        return Finding(topic, "good", "sadc and sadf found")
    return Finding(topic, "caution", "not available", facts.sysstat_problem)


def _disk_room(facts: Facts) -> Finding:
    topic = "disk room"
    free_gib = facts.free_bytes / _GIB
    found = f"{free_gib:.1f} GiB free in {facts.data_path}"
    # A small study needs room for servers, images and a clone; one at pgbench scale 2000 holds
    # some 35 GiB of data, once as image and once as clone.
    status: Status = "bad" if free_gib < 3 else "caution" if free_gib < 80 else "good"  # noqa: PLR2004 - above
    advice = {
        "bad": "Make room, or name a folder on a larger disk by TEITEN_HOME.",
        "caution": "For full-size studies, name a folder on a larger disk by TEITEN_HOME.",
        "good": "",
    }
    return Finding(topic, status, found, advice[status])


def _fsync(facts: Facts) -> Finding:
    topic = "fsync"
    if facts.fsync_median_ms is None or facts.fsync_rate_per_s is None:
        advice = "Make the folder writable, or name another one by TEITEN_HOME."
        return Finding(topic, "bad", f"cannot write in {facts.data_path}", advice)
    found = (
        f"{facts.fsync_rate_per_s:,.0f} flushes/s, median {facts.fsync_median_ms:.3f} ms"
        f" ({facts.file_system or 'unknown file system'})"
    )
    if facts.file_system in {"tmpfs", "ramfs"}:
        advice = "Keep data on a disk if commits are to be durable: this is memory."
        return Finding(topic, "caution", found, advice)
    # Emptying a volatile cache means programming flash (0.1 ms and more) or moving a disk's head.
    # Without such a cache, the fastest drives still take longer than 15 us.
    floor_ms = 0.1 if facts.write_cache == "write back" else 0.015
    if facts.fsync_median_ms < floor_ms:
        advice = (
            "Ask whether the hypervisor or controller really flushes: it is too fast for a drive"
            f" whose cache is {facts.write_cache or 'unknown'}, so commits may cost less than they"
            " would elsewhere."
        )
        return Finding(topic, "caution", found, advice)
    # 7,200 turns a minute allow 120 flushes a second.
    if facts.fsync_rate_per_s < 200:  # noqa: PLR2004 - above
        advice = "Use a faster drive for update loads: they would measure little but its flushes."
        return Finding(topic, "caution", found, advice)
    return Finding(topic, "good", found)


def _cores(facts: Facts) -> Finding:
    topic = "cores"
    cpus = (
        facts.cpus_allowed if facts.cpu_limit is None else min(facts.cpus_allowed, facts.cpu_limit)
    )
    planned = "" if facts.clients is None else f" for up to {facts.clients} clients"
    found = f"{cpus:g} CPUs{planned}"
    if facts.cpu_limit is not None and facts.cpu_limit < facts.cpus_allowed:
        advice = "Give the container whole CPUs (cpuset): a quota stops all processes in bursts."
        return Finding(topic, "caution", f"{found}, by a quota of its control group", advice)
    if cpus < 4:  # noqa: PLR2004 - fewer cannot keep server and client apart
        advice = (
            "Keep to few clients and trust instructions per transaction more than TPS: server and"
            " pgbench share these CPUs."
        )
        return Finding(topic, "caution", found, advice)
    # Throughput stops rising at a few clients a CPU; from here on most of them wait for one.
    if facts.clients is not None and facts.clients > 8 * cpus:
        advice = f"Expect queues beyond {8 * cpus:g} clients: the scheduler is measured as well."
        return Finding(topic, "caution", found, advice)
    return Finding(topic, "good", found)


def _server_user(facts: Facts) -> Finding:
    topic = "server user"
    if facts.server_user_problem is not None:
        return Finding(topic, "bad", "none", facts.server_user_problem)
    why = " (teiten runs as root, PostgreSQL refuses to)" if facts.is_root else ""
    return Finding(topic, "good", f"{facts.server_user}{why}")


def _open_files(facts: Facts) -> Finding:
    topic = "open files"
    if facts.open_files_limit is None:
        return Finding(topic, "good", "unlimited")
    # A socket for each client in pgbench, and some hundred relations in each backend.
    needed = 1000 + (facts.clients or 0)
    found = f"limit {facts.open_files_limit}"
    if facts.open_files_limit >= needed:
        return Finding(topic, "good", found)
    return Finding(topic, "bad", found, f"Run `ulimit -n {max(65536, needed)}` beforehand.")


_TOPICS: tuple[Callable[[Facts], Finding], ...] = (
    _governor,
    _turbo,
    _huge_pages,
    _swap,
    _steal,
    _foreign_load,
    _clock,
    _counters,
    _valgrind,
    _sysstat,
    _disk_room,
    _fsync,
    _cores,
    _server_user,
    _open_files,
)
