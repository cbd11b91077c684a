"""Where data lies: the file system and the block device below a path."""

from __future__ import annotations

import os
import re
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from teiten.environment.read import read_number, read_text, selected

if TYPE_CHECKING:
    from collections.abc import Sequence

_MIN_FIELDS = 10
# Layers of a container's file system: long, and paths of another machine.
_OVERLAY_OPTIONS = ("lowerdir", "upperdir", "workdir")


@dataclass(frozen=True)
class Mount:
    """One line of /proc/self/mountinfo (proc(5))."""

    device: str
    point: str
    options: str
    file_system: str
    source: str


def _unescape(text: str) -> str:
    return re.sub(r"\\([0-7]{3})", lambda x: chr(int(x[1], 8)), text)


def parse_mountinfo(text: str) -> list[Mount]:
    """All mounts in the order in which they were made; options of mount and file system joined."""
    mounts = []
    for line in text.splitlines():
        left, separator, right = line.partition(" - ")
        fields, details = left.split(" "), right.split(" ")
        if not separator or len(fields) + len(details) < _MIN_FIELDS - 1:
            continue
        options = dict.fromkeys([*fields[5].split(","), *details[-1].split(",")])
        kept = [x for x in options if x.partition("=")[0] not in _OVERLAY_OPTIONS]
        mounts.append(
            Mount(
                device=fields[2],
                point=_unescape(fields[4]),
                options=",".join(kept),
                file_system=details[0],
                source=_unescape(details[1]),
            )
        )
    return mounts


def mount_of(path: Path, mounts: Sequence[Mount]) -> Mount | None:
    """The mount that an absolute path without symbolic links lies on: the deepest, then newest."""
    holding = [x for x in mounts if path.is_relative_to(x.point)]
    return max(
        enumerate(holding), key=lambda x: (len(Path(x[1].point).parts), x[0]), default=(0, None)
    )[1]


def nearest_existing(path: Path) -> Path:
    """`path` without symbolic links, or the closest folder above it that exists."""
    place = path.absolute().resolve()
    while not place.exists():
        place = place.parent
    return place


def describe_storage(path: Path) -> dict[str, Any]:
    """Describe file system and block device of `path` (which need not exist yet)."""
    place = nearest_existing(path)
    mount = mount_of(place, parse_mountinfo(read_text(Path("/proc/self/mountinfo")) or ""))
    room = os.statvfs(place)
    return {
        "file_system": mount.file_system if mount else None,
        "source": mount.source if mount else None,
        "mount_point": mount.point if mount else None,
        "mount_options": mount.options if mount else None,
        "total_bytes": room.f_blocks * room.f_frsize,
        "free_bytes": room.f_bavail * room.f_frsize,
        "device": _describe_device(mount) if mount else None,
    }


def _describe_device(mount: Mount) -> dict[str, Any] | None:
    device = Path("/sys/dev/block", mount.device)
    if not device.exists() and mount.source.startswith("/dev/"):
        # Btrfs and ZFS report anonymous device numbers; their source still names a device.
        device = Path("/sys/class/block", Path(mount.source).resolve().name)
    if not device.exists():
        return None
    device = device.resolve()
    disk = device if (device / "queue").is_dir() else device.parent  # a partition has no queue
    queue = disk / "queue"
    return {
        "name": device.name,
        "disk": disk.name,
        "model": read_text(disk / "device/model"),
        "below": sorted(x.name for x in (device / "slaves").glob("*")),  # LVM, md, dm-crypt
        "rotational": {0: False, 1: True}.get(_or_minus(queue / "rotational")),
        "scheduler": selected(read_text(queue / "scheduler")),
        "write_cache": read_text(queue / "write_cache"),
        "read_ahead_kb": read_number(queue / "read_ahead_kb"),
        "queue_depth": read_number(queue / "nr_requests"),
        "physical_block_bytes": read_number(queue / "physical_block_size"),
    }


def _or_minus(path: Path) -> int:
    number = read_number(path)
    return -1 if number is None else number
