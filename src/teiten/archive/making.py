"""Make a new run folder: under a name that is not final until all is in it.

A process that is killed meanwhile leaves such a folder; the next one that makes a run removes it.
"""

from __future__ import annotations

import contextlib
import errno
import fcntl
import os
import secrets
import shutil
import time
from contextlib import contextmanager
from typing import TYPE_CHECKING

from teiten.host import sync_folder

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

_ABANDONED = ".*Z-*.partial"
_LOCK_FILE = ".being-made"
_LEAST_AGE_S = 60.0
"""A younger folder is left alone: its maker may be between making it and locking it."""
_TAKEN = {errno.ENOTEMPTY, errno.EEXIST, errno.ENOTDIR}


@contextmanager
def folder_in_making(archive: Path, name: str) -> Iterator[Path]:
    """Give an empty folder in `archive`, locked while this lasts, and removed if it stays there.

    Raises:
        OSError: it cannot be made.
    """
    # Neither process id nor time of day tell makers apart on hosts that share the archive.
    partial = archive / f".{name}.{secrets.token_hex(4)}.partial"
    with contextlib.ExitStack() as held:
        partial.mkdir()
        held.callback(shutil.rmtree, partial, ignore_errors=True)
        lock = os.open(partial / _LOCK_FILE, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        held.callback(os.close, lock)
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield partial


def give_final_name(partial: Path, archive: Path, name: str) -> Path:
    """Rename a folder in making to `name`, or `name-2`, … where that is taken; durably.

    Raises:
        OSError: it cannot be renamed.
    """
    final, attempt = archive / name, 1
    while True:
        try:
            partial.rename(final)
            break
        except OSError as error:
            if error.errno not in _TAKEN:
                raise
        attempt += 1
        final = archive / f"{name}-{attempt}"
    # Only now, so that the folder was locked as long as it could be taken for abandoned.
    (final / _LOCK_FILE).unlink()
    sync_folder(final)
    sync_folder(archive)
    return final


def sweep_abandoned(archive: Path) -> None:
    """Remove the folders that killed makers left in `archive`, as far as that is permitted.

    A maker's lock ends with its process, whatever its number and its host.
    """
    for folder in archive.glob(_ABANDONED):
        with contextlib.suppress(OSError):
            if time.time() - folder.stat().st_mtime >= _LEAST_AGE_S:
                _remove_unless_locked(folder)


def _remove_unless_locked(folder: Path) -> None:
    try:
        lock = os.open(folder / _LOCK_FILE, os.O_RDWR | os.O_CLOEXEC)
    except FileNotFoundError:  # killed before it came to lock
        shutil.rmtree(folder, ignore_errors=True)
        return
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        shutil.rmtree(folder, ignore_errors=True)
    finally:
        os.close(lock)
