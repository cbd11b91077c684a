"""A private work area that leaves nothing behind: directories, sockets, server processes.

`home_dir()/work/<id>/` is locked for as long as its owner lives. A work area whose lock is free
belongs to a process that was killed; opening a new one ends its servers and removes it.
"""

from __future__ import annotations

import contextlib
import fcntl
import json
import os
import secrets
import shutil
import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING, Protocol, Self

from teiten import host
from teiten.errors import NotPermittedError, TeitenError
from teiten.server import procfs, store
from teiten.server.interrupt import shielded
from teiten.server.reach import first_untraversable

if TYPE_CHECKING:
    from types import TracebackType

_LOCK = "lock"
_OUTSIDE = "outside.json"
_PREFIX = "teiten-"
_ENDING_S = 1.0


class Stoppable(Protocol):
    """What a work area stops before it removes its directories: a cluster."""

    def kill(self) -> None:
        """End it at once; never raises."""


class Workspace:
    """One work area; use it as a context manager."""

    def __init__(self, path: Path, lock: int) -> None:
        """Take over a directory whose lock is held; use `open` instead."""
        self.path = path
        self._lock = lock
        self._outside: list[str] = []
        self._socket_dir: Path | None = None
        self._adopted: list[Stoppable] = []
        self._count = 0

    @classmethod
    def open(cls) -> Self:
        """Remove what killed processes left, and make a new work area.

        Raises:
            NotPermittedError: the server user cannot enter teiten's folder.
            TeitenError: the folder cannot be written.
        """
        root = host.home_dir() / "work"
        try:
            store.make_public_dir(root)
            check_reachable(root)
            # New work areas appear, and abandoned ones are claimed, one process at a time.
            with store.locked(root / ".lock"):
                abandoned = _claim_abandoned(root)
                path = root / f"{time.strftime('%Y%m%d-%H%M%S')}-{os.getpid()}-{_token()}"
                path.mkdir()
                path.chmod(0o711)
                lock = os.open(path / _LOCK, os.O_RDWR | os.O_CREAT, 0o600)
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as error:
            raise TeitenError(
                f"The work folder {root} cannot be used ({error.strerror}): make it writable, or "
                f"set {host.HOME_VARIABLE} to another folder."
            ) from error
        for left, handle in abandoned:
            _remove(left)
            os.close(handle)
        return cls(path, lock)

    def __enter__(self) -> Self:
        """Give the work area itself."""
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Stop what runs in it and remove it."""
        self.close()

    def close(self) -> None:
        """Stop what runs in it and remove it, delaying signals meanwhile; may be called twice."""
        with shielded():
            for cluster in self._adopted:
                cluster.kill()
            self._adopted.clear()
            if self.path.exists():
                _remove(self.path)
            if self._lock >= 0:
                os.close(self._lock)
                self._lock = -1

    def adopt(self, cluster: Stoppable) -> None:
        """Have `cluster` ended before its directories are removed."""
        self._adopted.append(cluster)

    def new_dir(self, prefix: str, *, under: Path | None = None) -> Path:
        """Make an empty private directory (0700) that belongs to the server user.

        It lies in the work area, or in the existing folder `under` (another disk); it is removed
        with the work area either way.

        Raises:
            NotPermittedError: the server user cannot enter `under`.
            TeitenError: the directory cannot be made.
        """
        if under is None:
            self._count += 1
            return self._make(self.path / f"{prefix}-{self._count}")
        check_reachable(under)
        return self._make_outside(under.absolute() / f"{_PREFIX}{prefix}-{_token()}")

    def socket_dir(self) -> Path:
        """Return this work area's directory for Unix sockets: private, with a short path.

        A socket's path is limited to about 100 bytes, so it lies in the folder for temporary
        files and not in the work area; it is recorded there first.
        """
        if self._socket_dir is None:
            parent = Path(tempfile.gettempdir())
            longest = 90
            if len(os.fsencode(parent)) > longest - 30:
                parent = Path("/tmp")  # noqa: S108 - only its short path helps; 0700 inside it
            self._socket_dir = self._make_outside(parent / f"{_PREFIX}{_token()}")
        return self._socket_dir

    def _make_outside(self, path: Path) -> Path:
        # Recorded before it exists, so that a kill at any point leaves nothing unknown.
        self._outside.append(str(path))
        record = self.path / _OUTSIDE
        written = record.with_suffix(".new")
        written.write_text(json.dumps(self._outside))
        written.replace(record)
        return self._make(path)

    def _make(self, path: Path) -> Path:
        try:
            path.mkdir(mode=0o700)
            host.server_user().own(path)
        except OSError as error:
            raise TeitenError(f"The directory {path} cannot be made: {error.strerror}.") from error
        return path


def check_reachable(path: Path) -> None:
    """Check that the server user can enter `path` and every folder above it.

    Raises:
        NotPermittedError: it cannot; the sentence says which folder and what to do.
    """
    user = host.server_user()
    if user.is_self:
        return
    above = [path, *path.parents]
    stats = [(str(p), s.st_mode, s.st_uid, s.st_gid) for p in above for s in (p.stat(),)]
    if (closed := first_untraversable(stats, user.uid, user.gid)) is not None:
        raise NotPermittedError(
            f"The server user {user.name} cannot enter {closed}, which is on the way to {path}: "
            f"run chmod o+x {closed}, or set {host.HOME_VARIABLE} to a folder it can enter."
        )


def _token() -> str:
    return secrets.token_hex(5)


def _claim_abandoned(root: Path) -> list[tuple[Path, int]]:
    """Lock every work area that nobody holds; return each with its lock."""
    claimed = []
    for path in root.iterdir():
        if path.name.startswith(".") or not path.is_dir():
            continue
        handle = os.open(path / _LOCK, os.O_RDWR | os.O_CREAT, 0o600)
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            os.close(handle)
            continue
        claimed.append((path, handle))
    return claimed


def _remove(path: Path) -> None:
    """End the servers of a work area, then remove it with what it recorded outside itself."""
    outside: list[str] = []
    with contextlib.suppress(OSError, ValueError):
        outside = [str(x) for x in json.loads((path / _OUTSIDE).read_text())]
    folders = [Path(x) for x in outside if Path(x).name.startswith(_PREFIX)]
    for folder in (path, *folders):
        procfs.end_server_processes(folder)
    for folder in folders:
        _remove_for_good(folder)
    # The lock goes last: a work area half removed must still be recognised as one.
    for child in path.iterdir():
        if child.name not in {_LOCK, _OUTSIDE}:
            _remove_tree(child)
    _remove_tree(path)


def _remove_for_good(path: Path) -> None:
    """Remove a directory into which a server that is just ending may still put a file."""
    deadline_s = time.monotonic() + _ENDING_S
    while _remove_tree(path) and path.exists() and time.monotonic() < deadline_s:
        time.sleep(0.05)


def _remove_tree(path: Path) -> bool:
    """Remove a directory or file that is ours or the server user's; never follows a link.

    Returns whether it was ours to remove.
    """
    try:
        status = path.lstat()
    except FileNotFoundError:
        return False
    if status.st_uid not in {os.geteuid(), host.server_user().uid}:
        return False  # somebody else made something of that name in a shared folder
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path, ignore_errors=True)
    else:
        path.unlink(missing_ok=True)
    return True
