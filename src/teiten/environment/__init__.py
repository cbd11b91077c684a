"""What a run was made on: everything about machine and server that may explain a figure.

All is JSON-able. What this machine does not show is None or left out; nothing here raises because
a file of /proc or /sys is missing.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from teiten.environment.cpu import describe_cpu
from teiten.environment.fsync import measure_fsync
from teiten.environment.identity import describe_identity
from teiten.environment.kernel import describe_kernel
from teiten.environment.memory import describe_memory
from teiten.environment.server import describe_server
from teiten.environment.software import describe_limits, describe_software
from teiten.environment.storage import describe_storage
from teiten.environment.virtualisation import describe_virtualisation

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

__all__ = ["describe_machine", "describe_server"]


def describe_machine(data_paths: Sequence[Path]) -> dict[str, Any]:
    """Describe this machine in sections; takes about a second for each of `data_paths`.

    The second goes into measuring how fast each path makes a page durable (`fsync`).
    """
    return {
        "cpu": describe_cpu(),
        "kernel": describe_kernel(),
        "memory": describe_memory(),
        "storage": {
            str(path): {**describe_storage(path), "fsync": measure_fsync(path)}
            for path in dict.fromkeys(data_paths)
        },
        "virtualisation": describe_virtualisation(),
        "identity": describe_identity(),
        "software": describe_software(),
        "limits": describe_limits(),
    }
