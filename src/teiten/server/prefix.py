"""Any installation that is already on this machine: `prefix:/opt/pg`."""

from __future__ import annotations

from pathlib import Path

from teiten.errors import UsageError
from teiten.server.installation import Installation, digest, probe_version


def from_bindir(spec: str, bindir: Path) -> Installation:
    """Describe the installation whose programs are in `bindir`.

    Its identity is the path, the version and the time stamp of the server program, so that a
    rebuilt or upgraded installation counts as another one.
    """
    version, version_num = probe_version(bindir)
    program = (bindir / "postgres").resolve()
    changed_at_ns = program.stat().st_mtime_ns
    return Installation(
        spec=spec,
        version=version,
        version_num=version_num,
        bindir=bindir,
        identity=digest(str(program), version, str(changed_at_ns)),
        package=str(bindir.parent),
    )


def resolve(path: str) -> Installation:
    """Return the installation below `path` (its `bin` folder, or that folder itself).

    Raises:
        UsageError: there is no server program.
        TeitenError: the server program cannot be run.
    """
    folder = Path(path).expanduser().absolute()
    for bindir in (folder / "bin", folder):
        if (bindir / "postgres").is_file():
            return from_bindir(f"prefix:{path}", bindir)
    raise UsageError(
        f"prefix:{path} is no PostgreSQL installation: there is no program "
        f"{folder / 'bin' / 'postgres'}."
    )
