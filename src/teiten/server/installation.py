"""An installed PostgreSQL: where its programs are and what exactly it is."""

from __future__ import annotations

import hashlib
import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from teiten import host
from teiten.errors import TeitenError

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

_VERSION = re.compile(r"\(PostgreSQL\) (\d+)(?:\.(\d+))?(?:\.(\d+))?(\w*)")


def say_nothing(_: str) -> None:
    """Be the listener that ignores progress messages."""


@dataclass(frozen=True)
class Installation:
    """One PostgreSQL installation.

    `spec` is the user's word for it ("npm:17.7"), `version_num` is PostgreSQL's own number
    (170007), `identity` a short digest of what it is, `env` what its programs need in their
    environment, and `package` what it was unpacked from (or the folder it was found in).
    """

    spec: str
    version: str
    version_num: int
    bindir: Path
    identity: str
    package: str
    env: Mapping[str, str] = field(default_factory=dict, hash=False)

    @property
    def major(self) -> int:
        """The major version, such as 17."""
        return self.version_num // 10000

    def has_program(self, name: str) -> bool:
        """Whether this installation contains the program."""
        return (self.bindir / name).is_file()

    def program(self, name: str) -> Path:
        """Return the path of one of its programs.

        Raises:
            TeitenError: the installation lacks it.
        """
        if not self.has_program(name):
            raise TeitenError(
                f"{self.spec} has no program {name} in {self.bindir}: use another source for it, "
                "such as pypi:18.6, which contains every client program."
            )
        return self.bindir / name


def parse_version(printed: str) -> tuple[str, int]:
    """Turn what `postgres -V` prints into ("17.7", 170007); pure.

    Development versions ("19devel", "18beta1") count as minor 0, as in PG_VERSION_NUM.

    Raises:
        TeitenError: that is not PostgreSQL's version line.
    """
    match = _VERSION.search(printed)
    if match is None:
        raise TeitenError(f"This is not PostgreSQL's version line: {printed.strip()!r}.")
    major, minor, patch, suffix = match.groups()
    first_two_part = 10
    if int(major) < first_two_part:
        number = int(major) * 10000 + int(minor or 0) * 100 + int(patch or 0)
        return f"{major}.{minor or 0}.{patch or 0}", number
    version = f"{major}{suffix}" if minor is None else f"{major}.{minor}"
    return version, int(major) * 10000 + int(minor or 0)


def probe_version(bindir: Path, env: Mapping[str, str] | None = None) -> tuple[str, int]:
    """Ask the server program which version it is: ("17.7", 170007).

    Raises:
        TeitenError: the program cannot be run by the server user.
    """
    postgres = bindir / "postgres"
    try:
        done = host.run_program([postgres, "-V"], as_server_user=True, env=env, timeout_s=30)
    except TeitenError as error:
        raise TeitenError(
            f"The server program {postgres} cannot be run as user {host.server_user().name}: "
            f"{error}"
        ) from error
    return parse_version(done.stdout)


def digest(*parts: str) -> str:
    """Give a short stable name to what `parts` describe."""
    return hashlib.sha256("\0".join(parts).encode()).hexdigest()[:16]
