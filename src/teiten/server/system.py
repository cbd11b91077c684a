"""What the distribution installed: `system:15`."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING

from teiten.errors import UsageError
from teiten.server.prefix import from_bindir

if TYPE_CHECKING:
    from teiten.server.installation import Installation

# Debian family, RHEL family (PGDG packages), Alpine, Homebrew; * is the major version.
_PATTERNS = (
    "/usr/lib/postgresql/*/bin",
    "/usr/pgsql-*/bin",
    "/usr/libexec/postgresql*",
    "/opt/homebrew/opt/postgresql@*/bin",
    "/usr/local/opt/postgresql@*/bin",
)


def installed() -> dict[str, Path]:
    """Find the distribution's servers: {"15": folder of its programs}."""
    found: dict[str, Path] = {}
    for pattern in _PATTERNS:
        before, after = pattern.split("*")
        for bindir in sorted(Path("/").glob(pattern.lstrip("/"))):
            major = str(bindir).removeprefix(before).removesuffix(after)
            if major.isdigit() and (bindir / "postgres").is_file():
                found.setdefault(major, bindir)
    # Distributions with a single version put it on the plain path.
    plain = Path("/usr/bin")
    if (plain / "postgres").is_file() and (plain / "initdb").is_file():
        installation = from_bindir("system", plain)
        found.setdefault(str(installation.major), plain)
    return found


def resolve(version: str) -> Installation:
    """Return the distribution's server `system:<major>` (a full version must match exactly).

    Raises:
        UsageError: it is not installed; the sentence says which are.
    """
    if not re.fullmatch(r"\d+(\.\d+)?", version):
        raise UsageError(
            f"system:{version} is not a version: write system:<major>, such as system:15."
        )
    have = installed()
    major, _, minor = version.partition(".")
    if major not in have:
        raise UsageError(
            f"There is no PostgreSQL {major} of the distribution on this machine (found: "
            f"{', '.join(have) or 'none'}): install it, or use npm:."
        )
    installation = from_bindir(f"system:{version}", have[major])
    if minor and installation.version != version:
        raise UsageError(
            f"The distribution's PostgreSQL {major} is {installation.version}, not {version}: "
            f"write system:{major} or system:{installation.version}."
        )
    return installation
