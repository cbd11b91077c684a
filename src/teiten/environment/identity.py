"""Which host this is, as far as its speed and noise go: what must agree for figures to carry over.

The machine's own id is never kept, only a keyed hash of it that tells hosts apart.
"""

from __future__ import annotations

import hashlib
import hmac
import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

from teiten.environment.read import read_text

if TYPE_CHECKING:
    from collections.abc import Mapping

HostIdentity = dict[str, str | int | None]
"""A property of the host by name; None: it could not be read."""

_MACHINE_ID_FILES = (Path("/etc/machine-id"), Path("/var/lib/dbus/machine-id"))
_KEY = b"teiten host identity"
_HASH_DIGITS = 16
_GIB = 1 << 30
_UNSET = "uninitialized"


def hashed_machine_id(text: str | None) -> str | None:
    """A keyed hash of the text of machine-id(5), as that page asks of those who publish it."""
    if text is None or text == _UNSET:
        return None
    return hmac.new(_KEY, text.encode(), hashlib.sha256).hexdigest()[:_HASH_DIGITS]


def describe_identity() -> dict[str, str | None]:
    """What tells this host from others that are built alike; None where it has no id."""
    found = (text for file in _MACHINE_ID_FILES if (text := read_text(file)) is not None)
    return {"machine_id_hash": hashed_machine_id(next(found, None))}


def host_identity(machine: Mapping[str, Any]) -> HostIdentity:
    """The identity of a host from its description (`describe_machine`, or read from a run).

    Memory counts in whole GiB and the kernel by its first two numbers, so that an update that
    fixes a bug makes no new host.
    """

    def value(section: str, key: str) -> Any:  # noqa: ANN401 - JSON
        part = machine.get(section)
        return part.get(key) if isinstance(part, dict) else None

    release = re.match(r"\d+\.\d+", str(value("kernel", "release") or ""))
    memory_bytes = value("memory", "total_bytes")
    return {
        "processor": value("cpu", "model"),
        "cpus": value("cpu", "threads"),
        "cpus_allowed": value("virtualisation", "cpus_allowed"),
        "memory_gib": round(memory_bytes / _GIB) if isinstance(memory_bytes, int) else None,
        "kernel": release[0] if release else None,
        "virtualisation": value("virtualisation", "detected"),
        "machine_id_hash": value("identity", "machine_id_hash"),
    }


def same_host(one: Mapping[str, object], other: Mapping[str, object]) -> bool:
    """Whether two identities agree in all that is known of both, at least in the processor."""
    if one.get("processor") is None or other.get("processor") is None:
        return False
    known = [k for k in one if one[k] is not None and other.get(k) is not None]
    return all(one[k] == other[k] for k in known)
