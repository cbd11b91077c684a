"""The cache of downloaded servers: one folder each, complete or absent.

A folder appears by one rename after everything in it was verified, so that a download cut off at
any point leaves nothing that looks like a server. A lock for each entry makes a second process
wait for the first instead of downloading as well.
"""

from __future__ import annotations

import contextlib
import fcntl
import json
import os
import shutil
import tempfile
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

from teiten import host
from teiten.errors import TeitenError, UsageError
from teiten.server.installation import Installation, digest, probe_version

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

_MANIFEST = "manifest.json"


@dataclass(frozen=True)
class Manifest:
    """What one cached server is, as written beside it."""

    spec: str
    package: str
    package_version: str
    integrity: str
    version: str
    version_num: int
    bindir: str
    libdir: str
    fetched_at: str


def servers_dir() -> Path:
    """Return the folder of downloaded servers."""
    return host.home_dir() / "servers"


def make_public_dir(path: Path) -> Path:
    """Make `path` (and what is missing above it) enterable and readable by every user."""
    missing = []
    here = path
    while not here.exists():
        missing.append(here)
        here = here.parent
    for folder in reversed(missing):
        with contextlib.suppress(FileExistsError):
            folder.mkdir()
            folder.chmod(0o755)
    return path


@contextlib.contextmanager
def locked(lock_file: Path) -> Iterator[None]:
    """Hold an exclusive lock on `lock_file`, waiting for whoever has it."""
    make_public_dir(lock_file.parent)
    handle = os.open(lock_file, os.O_RDWR | os.O_CREAT, 0o644)
    try:
        fcntl.flock(handle, fcntl.LOCK_EX)
        yield
    finally:
        os.close(handle)


def _entry(source: str, version: str) -> Path:
    return servers_dir() / source / version


def _installation(entry: Path) -> Installation | None:
    try:
        manifest = Manifest(**json.loads((entry / _MANIFEST).read_text()))
    except (FileNotFoundError, NotADirectoryError):
        return None
    except (ValueError, TypeError) as error:
        raise TeitenError(
            f"The cached server {entry} has an unreadable {_MANIFEST}: remove that folder."
        ) from error
    libdir = {"LD_LIBRARY_PATH": str(entry / manifest.libdir)} if manifest.libdir else {}
    return Installation(
        spec=manifest.spec,
        version=manifest.version,
        version_num=manifest.version_num,
        bindir=entry / manifest.bindir,
        identity=digest(manifest.package, manifest.package_version, manifest.integrity),
        package=f"{manifest.package}@{manifest.package_version}",
        env=libdir,
    )


def find(source: str, version: str) -> Installation | None:
    """Return the cached server, or None; never touches the network."""
    return _installation(_entry(source, version))


def fetch_once(
    source: str, version: str, fetch: Callable[[Path], Mapping[str, str]]
) -> Installation:
    """Return the cached server, calling `fetch` under a lock if there is none yet.

    `fetch` gets an empty folder, fills and verifies it, and returns the manifest's values
    `package`, `package_version`, `integrity`, `bindir`, `libdir` (relative; may be empty) and
    `expected_version`, which the unpacked program itself must confirm.

    Raises:
        TeitenError: whatever `fetch` raises, a full disk, or a program of another version.
    """
    entry = _entry(source, version)
    with locked(entry.with_name(f".{version}.lock")):
        if (found := _installation(entry)) is not None:
            return found
        _sweep_unfinished(entry)
        unpacked = Path(tempfile.mkdtemp(prefix=f".{version}-unfinished-", dir=entry.parent))
        try:
            unpacked.chmod(0o755)
            facts = dict(fetch(unpacked))
            _finish(unpacked, f"{source}:{version}", facts)
            unpacked.rename(entry)
        except OSError as error:
            raise TeitenError(
                f"The server {source}:{version} cannot be stored below {entry.parent}: "
                f"{error.strerror or error}."
            ) from error
        finally:
            shutil.rmtree(unpacked, ignore_errors=True)
        found = _installation(entry)
        if found is None:
            raise TeitenError(f"The cached server {entry} vanished while it was being stored.")
        return found


def _sweep_unfinished(entry: Path) -> None:
    """Remove what a killed download of this entry left (we hold its lock)."""
    for left in entry.parent.glob(f".{entry.name}-unfinished-*"):
        shutil.rmtree(left, ignore_errors=True)


def _finish(unpacked: Path, spec: str, facts: dict[str, str]) -> None:
    libdir = {"LD_LIBRARY_PATH": str(unpacked / facts["libdir"])} if facts["libdir"] else None
    version, version_num = probe_version(unpacked / facts["bindir"], libdir)
    expected = facts.pop("expected_version")
    if version != expected:
        raise TeitenError(
            f"The package {facts['package']} {facts['package_version']} contains PostgreSQL "
            f"{version}, not {expected}: choose another version."
        )
    manifest = Manifest(
        spec=spec,
        version=version,
        version_num=version_num,
        fetched_at=datetime.now(UTC).isoformat(timespec="seconds"),
        **facts,
    )
    path = unpacked / _MANIFEST
    path.write_text(json.dumps(asdict(manifest), indent=2) + "\n")
    path.chmod(0o644)


def list_all() -> list[Installation]:
    """List the cached servers, ordered by source and version."""
    entries = [p.parent for p in servers_dir().glob(f"*/*/{_MANIFEST}")]
    found = [x for p in entries if not p.name.startswith(".") and (x := _installation(p))]
    return sorted(found, key=lambda x: (x.spec.partition(":")[0], x.version_num, x.spec))


def remove(source: str, version: str) -> None:
    """Remove one cached server.

    Raises:
        UsageError: it is not cached.
    """
    entry = _entry(source, version)
    if not (entry / _MANIFEST).exists():
        raise UsageError(
            f"The server {source}:{version} is not cached, so there is nothing to remove."
        )
    lock = entry.with_name(f".{version}.lock")
    with locked(lock):
        doomed = entry.with_name(f".{version}-unfinished-removed")
        entry.rename(doomed)
        shutil.rmtree(doomed)
