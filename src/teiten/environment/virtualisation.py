"""Whether this is a virtual machine or a container, and what it is allowed to use."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

from teiten.environment.read import read_text
from teiten.errors import TeitenError
from teiten.host import run_program

if TYPE_CHECKING:
    from collections.abc import Iterable

_CGROUP = Path("/sys/fs/cgroup")
_DMI = Path("/sys/class/dmi/id")
_UNLIMITED_BYTES = 1 << 60  # version 1 prints a number near 2^63 for "no limit"


def parse_cgroup(text: str) -> dict[str, str]:
    """Path by controller of /proc/self/cgroup; version 2's single hierarchy has the name ''."""
    paths = {}
    for line in text.splitlines():
        _, _, rest = line.partition(":")
        controllers, colon, path = rest.partition(":")
        if colon:
            paths.update(dict.fromkeys(controllers.split(","), path))
    return paths


def quota_cpus(quota: str | None, period: str | None) -> float | None:
    """CPUs that a quota allows: microseconds of CPU time per period; None is no limit."""
    if quota is None or period is None or not quota.isdigit() or not period.isdigit():
        return None
    return int(quota) / int(period) if int(quota) > 0 and int(period) > 0 else None


def limit_bytes(text: str | None) -> int | None:
    """A memory limit of either cgroup version; None is no limit."""
    if text is None or not text.isdigit() or int(text) >= _UNLIMITED_BYTES:
        return None
    return int(text)


def _lineage(hierarchy: Path, path: str) -> Iterable[Path]:
    # A limit of any ancestor holds too. In a container the path may not exist here; its root does.
    folder = hierarchy / path.lstrip("/")
    while folder != hierarchy:
        yield folder
        folder = folder.parent
    yield hierarchy


def cgroup_limits() -> dict[str, float | int | None]:
    """The tightest CPU and memory limit of our control group and its ancestors."""
    paths = parse_cgroup(read_text(Path("/proc/self/cgroup")) or "")
    cpus: list[float | None] = []
    memory_bytes: list[int | None] = []
    for folder in _lineage(_CGROUP, paths.get("", "/")):
        words = (read_text(folder / "cpu.max") or "").split()
        cpus.append(quota_cpus(*words) if len(words) == 2 else None)  # noqa: PLR2004 - quota, period
        memory_bytes.append(limit_bytes(read_text(folder / "memory.max")))
    for folder in _lineage(_CGROUP / "cpu", paths.get("cpu", "/")):
        quota = read_text(folder / "cpu.cfs_quota_us")
        cpus.append(quota_cpus(quota, read_text(folder / "cpu.cfs_period_us")))
    memory_bytes += [
        limit_bytes(read_text(folder / "memory.limit_in_bytes"))
        for folder in _lineage(_CGROUP / "memory", paths.get("memory", "/"))
    ]
    return {
        "cpu_limit": min((x for x in cpus if x is not None), default=None),
        "memory_limit_bytes": min((x for x in memory_bytes if x is not None), default=None),
    }


def _detect() -> str | None:
    try:
        return run_program(["systemd-detect-virt"], check=False, timeout_s=5).stdout.strip() or None
    except TeitenError:
        return None


def describe_virtualisation() -> dict[str, Any]:
    """What systemd and the firmware say, and what our control group and affinity allow."""
    return {
        "detected": _detect(),
        "hypervisor": read_text(Path("/sys/hypervisor/type")),
        "firmware": {
            name: text
            for name in ("sys_vendor", "product_name", "product_version", "bios_version")
            if (text := read_text(_DMI / name))
        },
        **cgroup_limits(),
        "cpus_allowed": len(os.sched_getaffinity(0)),
    }
