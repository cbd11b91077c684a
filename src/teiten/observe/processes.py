"""Process times from /proc: who ran on the CPUs, and for how long (proc(5))."""

from __future__ import annotations

import os
import time
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

_PROC = Path("/proc")
_TICK_S = 1.0 / os.sysconf("SC_CLK_TCK")
_PF_KTHREAD = 0x00200000  # include/linux/sched.h
_NS_PER_S = 1e9


@dataclass(frozen=True)
class Process:
    """One process and its CPU times; `reaped` are those of its ended and waited-for children."""

    pid: int
    parent: int
    kernel_thread: bool
    user_s: float
    system_s: float
    reaped_user_s: float
    reaped_system_s: float


@dataclass(frozen=True)
class CpuTime:
    """CPU time of a set of processes with all their ended children.

    `total_s` comes from the scheduler's clock where the kernel offers it, and is then finer than
    the clock ticks that `user_s` and `system_s` are counted in.
    """

    total_s: float
    user_s: float
    system_s: float

    def __sub__(self, other: CpuTime) -> CpuTime:
        """Return what was used since `other`."""
        return CpuTime(
            self.total_s - other.total_s, self.user_s - other.user_s, self.system_s - other.system_s
        )


def parse_stat(text: str, tick_s: float = _TICK_S) -> Process:
    """Read the content of `/proc/PID/stat`; the name within may hold spaces and parentheses."""
    head, _, tail = text.rpartition(")")
    rest = tail.split()
    user, system, reaped_user, reaped_system = (int(x) * tick_s for x in rest[11:15])
    return Process(
        pid=int(head.split(" ", 1)[0]),
        parent=int(rest[1]),
        kernel_thread=bool(int(rest[6]) & _PF_KTHREAD),
        user_s=user,
        system_s=system,
        reaped_user_s=reaped_user,
        reaped_system_s=reaped_system,
    )


def read_processes() -> dict[int, Process]:
    """Read all processes of this machine (those that end meanwhile are left out)."""
    found: dict[int, Process] = {}
    for entry in _PROC.iterdir():
        if not entry.name.isdecimal():
            continue
        try:
            text = (entry / "stat").read_text(errors="replace")
        except (FileNotFoundError, ProcessLookupError):
            continue
        found[int(entry.name)] = parse_stat(text)
    return found


def subtree(parents: Mapping[int, int], root: int) -> frozenset[int]:
    """Return `root` and all its descendants; empty when `root` is not among `parents`' keys."""
    if root not in parents:
        return frozenset()
    children: dict[int, list[int]] = {}
    for pid, parent in parents.items():
        children.setdefault(parent, []).append(pid)
    seen = {root}
    todo = [root]
    while todo:
        for child in children.get(todo.pop(), ()):
            if child not in seen:
                seen.add(child)
                todo.append(child)
    return frozenset(seen)


def process_tree(root: int) -> frozenset[int]:
    """Return the processes that now descend from `root`, with `root`; empty when it has ended."""
    return subtree({pid: p.parent for pid, p in read_processes().items()}, root)


def wait_for_new_to_end(root: int, known: frozenset[int], timeout_s: float = 0.5) -> None:
    """Wait until no descendant of `root` is left that is not `known`: the load's backends."""
    deadline = time.monotonic() + timeout_s
    while process_tree(root) - known and time.monotonic() < deadline:
        time.sleep(0.005)


def cpu_time(processes: Iterable[Process]) -> CpuTime:
    """Add up the CPU time of processes and of their ended children.

    When a process ends and is waited for, its time moves into its parent's, so that the sum over
    a tree only grows: the difference of two sums is what the tree used in between.
    """
    total = user = system = 0.0
    for process in processes:
        user += process.user_s + process.reaped_user_s
        system += process.system_s + process.reaped_system_s
        own = _scheduler_time_s(process.pid)
        total += process.reaped_user_s + process.reaped_system_s
        total += own if own is not None else process.user_s + process.system_s
    return CpuTime(total, user, system)


def _scheduler_time_s(pid: int) -> float | None:
    """Time on CPU in the scheduler's resolution; None where the kernel does not tell.

    The file speaks of the main thread only. PostgreSQL's processes have one thread; those that
    have more are not asked.
    """
    try:
        if sum(1 for _ in (_PROC / str(pid) / "task").iterdir()) != 1:
            return None
        text = (_PROC / str(pid) / "schedstat").read_text()
    except OSError:
        return None
    return int(text.split()[0]) / _NS_PER_S
