"""The kernel and those of its switches that change what PostgreSQL's speed is."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

from teiten.environment.read import read_number, read_text, selected

_CLOCK = Path("/sys/devices/system/clocksource/clocksource0")
_HUGE = Path("/sys/kernel/mm/transparent_hugepage")
_SYSCTLS = (
    "vm.swappiness",
    "vm.dirty_ratio",
    "vm.dirty_background_ratio",
    "vm.dirty_bytes",
    "vm.dirty_background_bytes",
    "vm.dirty_expire_centisecs",
    "vm.dirty_writeback_centisecs",
    "vm.overcommit_memory",
    "vm.overcommit_ratio",
    "vm.zone_reclaim_mode",
    "kernel.numa_balancing",
    "kernel.perf_event_paranoid",
    "kernel.kptr_restrict",
    "kernel.nmi_watchdog",
    "kernel.randomize_va_space",
    "kernel.sched_autogroup_enabled",
)


def kernel_parameters(cmdline: str) -> str:
    """The kernel's own part of its command line: what follows `--` is for init, not for it."""
    return cmdline.partition(" -- ")[0].strip()


def describe_kernel() -> dict[str, Any]:
    """Describe the running kernel; the machine's name is left out on purpose."""
    system = os.uname()
    cmdline = read_text(Path("/proc/cmdline"))
    return {
        "release": system.release,
        "version": system.version,
        "architecture": system.machine,
        "cmdline": kernel_parameters(cmdline) if cmdline else None,
        "clock_source": read_text(_CLOCK / "current_clocksource"),
        "clock_sources_available": (read_text(_CLOCK / "available_clocksource") or "").split(),
        "transparent_huge_pages": selected(read_text(_HUGE / "enabled")),
        "transparent_huge_pages_defrag": selected(read_text(_HUGE / "defrag")),
        "isolated_cpus": read_text(Path("/sys/devices/system/cpu/isolated")),
        "nohz_full_cpus": read_text(Path("/sys/devices/system/cpu/nohz_full")),
        "sysctl": {
            name: value
            for name in _SYSCTLS
            if (value := read_number(Path("/proc/sys", *name.split(".")))) is not None
        },
    }
