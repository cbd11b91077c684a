"""What /proc says about processes: the server processes of a directory, children of a process."""

from __future__ import annotations

import contextlib
import os
import signal
import time
from pathlib import Path

_SERVER_PROGRAMS = ("postgres", "postmaster", "initdb")
_VALGRIND_TOOL = "callgrind-"  # the program that /proc shows for a server run under valgrind


def _link(pid: int, name: str) -> str:
    try:
        return str(Path(f"/proc/{pid}/{name}").readlink()).removesuffix(" (deleted)")
    except OSError:
        return ""


def _pids() -> list[int]:
    return [int(x.name) for x in Path("/proc").iterdir() if x.name.isdigit()]


def command_line(pid: int) -> list[str]:
    """Return the words of a process's command line; empty when it is gone."""
    try:
        return [os.fsdecode(x) for x in Path(f"/proc/{pid}/cmdline").read_bytes().split(b"\0") if x]
    except OSError:
        return []


def is_server_of(pid: int, directory: Path) -> bool:
    """Whether `pid` runs a PostgreSQL program that works in `directory` or below it.

    Every server process changes into its data directory, so that its working directory tells
    whose it is, also for backends that have outlived their postmaster. Before that (and for
    initdb) the directory stands on the command line.
    """
    program = Path(_link(pid, "exe")).name
    if program not in _SERVER_PROGRAMS and not program.startswith(_VALGRIND_TOOL):
        return False
    words = [_link(pid, "cwd"), *command_line(pid)]
    return any(Path(x) == directory or directory in Path(x).parents for x in words if x)


def server_processes(directory: Path) -> list[int]:
    """List the PostgreSQL processes that work in `directory` or below it."""
    return [pid for pid in _pids() if is_server_of(pid, directory)]


def children(pid: int) -> list[int]:
    """List the direct children of a process; empty when it is gone."""
    try:
        # Only this file is exact and cheap; it exists where the kernel has CONFIG_PROC_CHILDREN.
        found = Path(f"/proc/{pid}/task/{pid}/children").read_text()
        return [int(x) for x in found.split()]
    except OSError:
        return [x for x in _pids() if _parent(x) == pid]


def _parent(pid: int) -> int:
    try:
        after_name = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2]
        return int(after_name.split()[1])
    except (OSError, IndexError, ValueError):
        return 0


def checkpointer_pid(postmaster_pid: int) -> int | None:
    """Find the checkpointer of a running server; it is replaced only when the server crashed."""
    for pid in children(postmaster_pid):
        if "checkpointer" in " ".join(command_line(pid)):
            return pid
    return None


def end_server_processes(directory: Path, *, grace_s: float = 5.0) -> int:
    """End every PostgreSQL process that works below `directory`; return how many there were.

    First an immediate shutdown (SIGQUIT), which lets a postmaster end its backends and free its
    shared memory, then SIGKILL for what is left.
    """
    seen: set[int] = set()
    deadline = time.monotonic() + grace_s
    sent = False
    while left := server_processes(directory):
        seen.update(left)
        overdue = time.monotonic() > deadline
        if overdue or not sent:
            for pid in left:
                # Checked a second time: a process id can be reused between the two calls.
                if is_server_of(pid, directory):
                    with contextlib.suppress(ProcessLookupError):
                        os.kill(pid, signal.SIGKILL if overdue else signal.SIGQUIT)
            sent = True
        time.sleep(0.02)
        if time.monotonic() > deadline + grace_s:
            break
    return len(seen)
