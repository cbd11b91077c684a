"""Memory, swap and huge pages, in bytes."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from teiten.environment.read import read_number, read_text

_KIB = 1024


def parse_meminfo(text: str) -> dict[str, int]:
    """/proc/meminfo by name: bytes where the kernel prints kB, plain counts otherwise."""
    values = {}
    for line in text.splitlines():
        name, _, rest = line.partition(":")
        words = rest.split()
        if words and words[0].isdigit():
            values[name.strip()] = int(words[0]) * (_KIB if words[1:] == ["kB"] else 1)
    return values


def parse_swaps(text: str) -> list[str]:
    """The swap devices and files of /proc/swaps."""
    return [line.split()[0] for line in text.splitlines()[1:] if line.split()]


def describe_memory() -> dict[str, Any]:
    """Describe memory, swap and huge pages of this machine."""
    values = parse_meminfo(read_text(Path("/proc/meminfo")) or "")
    folders = sorted(Path("/sys/kernel/mm/hugepages").glob("hugepages-*kB"))
    swap_total, swap_free = values.get("SwapTotal"), values.get("SwapFree")
    return {
        "total_bytes": values.get("MemTotal"),
        "available_bytes": values.get("MemAvailable"),
        "swap_total_bytes": swap_total,
        "swap_used_bytes": None
        if swap_total is None or swap_free is None
        else swap_total - swap_free,
        "swap_devices": parse_swaps(read_text(Path("/proc/swaps")) or ""),
        "huge_page_bytes": values.get("Hugepagesize"),
        "huge_pages": {
            folder.name.removeprefix("hugepages-"): number
            for folder in folders
            if (number := read_number(folder / "nr_hugepages")) is not None
        },
    }
