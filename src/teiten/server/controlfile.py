"""The state of a cluster that is not running, read from its control file.

The first fields of pg_control (src/include/catalog/pg_control.h) are the system identifier
(8 bytes), pg_control_version (4), catalog_version_no (4) and the state (4), the same in every
version from 10 to 18.
"""

from __future__ import annotations

import struct
from dataclasses import dataclass
from typing import TYPE_CHECKING

from teiten.errors import TeitenError

if TYPE_CHECKING:
    from pathlib import Path

_HEAD = struct.Struct("=QIII")
_SHUT_DOWN = 1


@dataclass(frozen=True)
class ControlFile:
    """The beginning of pg_control."""

    system_identifier: int
    control_version: int
    catalog_version: int
    state: int

    @property
    def is_shut_down(self) -> bool:
        """Whether the cluster was shut down cleanly (DB_SHUTDOWNED)."""
        return self.state == _SHUT_DOWN


def parse_control(content: bytes) -> ControlFile:
    """Decode the beginning of a control file (in this machine's byte order); pure.

    Raises:
        TeitenError: it is too short.
    """
    if len(content) < _HEAD.size:
        raise TeitenError("The control file of the cluster is cut off.")
    return ControlFile(*_HEAD.unpack_from(content))


def read_control(data_dir: Path) -> ControlFile:
    """Read the control file of a data directory.

    Raises:
        TeitenError: it is missing or cut off.
    """
    path = data_dir / "global" / "pg_control"
    try:
        return parse_control(path.read_bytes())
    except OSError as error:
        raise TeitenError(f"The control file {path} cannot be read: {error.strerror}.") from error
