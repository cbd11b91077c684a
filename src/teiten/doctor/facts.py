"""What the doctor looks at, as plain values; None is "not visible here"."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path


@dataclass(frozen=True, kw_only=True)
class Facts:
    """One examination of a host; `clients` is what the user plans, if known.

    Percentages are shares of all CPUs over about a second in which teiten itself slept.
    `*_problem` is None when all is well, else the sentence that says what is not.
    """

    governor: str | None
    turbo: str | None
    transparent_huge_pages: str | None
    memory_total_bytes: int | None
    swap_total_bytes: int | None
    swap_used_bytes: int | None
    steal_pct: float | None
    busy_pct: float | None
    load_average_1min: float
    clock_source: str | None
    clock_read_ns: float
    counters_problem: str | None
    sysstat_problem: str | None
    valgrind_version: str | None
    data_path: Path
    file_system: str | None
    write_cache: str | None
    free_bytes: int
    fsync_median_ms: float | None
    fsync_rate_per_s: float | None
    cpus_allowed: int
    cpu_limit: float | None
    clients: int | None
    is_root: bool
    server_user: str | None
    server_user_problem: str | None
    open_files_limit: int | None
