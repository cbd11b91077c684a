"""Clone a data directory: share its blocks where the file system can, else copy in parallel."""

from __future__ import annotations

import errno
import fcntl
import os
import shutil
import stat
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from teiten.errors import TeitenError, UsageError
from teiten.host import sync_folder

if TYPE_CHECKING:
    from pathlib import Path

_FICLONE = 0x40049409  # ioctl_ficlone(2)
_MOST_THREADS = 8
_BLOCK_BYTES = 8 << 20
_LARGE_BYTES = 1 << 20
_SECTOR_BYTES = 512  # the unit of st_blocks, whatever the file system's own is
# Files of a server that runs or ran; a clone starts without them.
_NOT_CLONED = {"postmaster.pid", "postmaster.opts"}
_CANNOT_REFLINK = {errno.EOPNOTSUPP, errno.EINVAL, errno.EXDEV, errno.ENOTTY, errno.ENOSYS}


@dataclass(frozen=True)
class CloneReport:
    """How a tree was cloned: `bytes` are allocated bytes (holes of sparse files not counted)."""

    method: Literal["reflink", "copy"]
    bytes: int
    files: int
    duration_s: float


@dataclass(frozen=True)
class _Entry:
    relative: str
    status: os.stat_result

    @property
    def allocated_bytes(self) -> int:
        return self.status.st_blocks * _SECTOR_BYTES


def clone_tree(src: Path, dst: Path, *, sync: bool = False) -> CloneReport:
    """Clone the directory `src` as `dst` (new, or existing and empty), with owners and modes.

    With `sync` the copy is on the disk when this returns, so that writing it out does not fall
    into what is measured next.

    Raises:
        UsageError: the tree has parts elsewhere (tablespaces, a linked pg_wal).
        TeitenError: the disk is full, or a file cannot be read or written; `dst` is removed.
    """
    began_s = time.perf_counter()
    folders, files = _scan(src)
    total = sum(x.allocated_bytes for x in files)
    made = not dst.exists()
    if not made and any(dst.iterdir()):
        raise TeitenError(f"The directory {dst} is not empty, so nothing is cloned into it.")
    try:
        _make_folders(src, dst, folders)
        method = _choose_method(src, dst, files)
        if method == "copy":
            _check_room(dst, total)
        _clone_files(src, dst, files, method, sync=sync)
        if sync:
            for folder in (dst, *(dst / x.relative for x in folders)):
                sync_folder(folder)
    except BaseException as error:
        _empty(dst, remove=made)
        if isinstance(error, OSError):
            raise _sentence(error, dst, total) from error
        raise
    return CloneReport(method, total, len(files), time.perf_counter() - began_s)


def _scan(src: Path) -> tuple[list[_Entry], list[_Entry]]:
    """List folders (outermost first) and files (largest first) of a tree."""
    folders: list[_Entry] = []
    files: list[_Entry] = []
    pending = [""]
    while pending:
        here = pending.pop()
        with os.scandir(src / here) as listing:
            items = list(listing)
        for item in items:
            entry = _Entry(f"{here}{item.name}", item.stat(follow_symlinks=False))
            if item.is_symlink():
                raise UsageError(
                    f"The data directory {src} cannot be cloned: its {entry.relative} lies "
                    "elsewhere (a tablespace or a linked folder)."
                )
            if item.is_dir():
                folders.append(entry)
                pending.append(f"{entry.relative}/")
            elif stat.S_ISREG(entry.status.st_mode) and item.name not in _NOT_CLONED:
                files.append(entry)
    folders.sort(key=lambda x: x.relative.count("/"))
    files.sort(key=lambda x: x.status.st_size, reverse=True)
    return folders, files


def _make_folders(src: Path, dst: Path, folders: list[_Entry]) -> None:
    dst.mkdir(exist_ok=True)
    _give(dst, src.stat())
    for folder in folders:
        path = dst / folder.relative
        path.mkdir()
        _give(path, folder.status)


def _give(path: Path, status: os.stat_result) -> None:
    """Give a file the owner and mode of another."""
    if os.geteuid() == 0:
        os.chown(path, status.st_uid, status.st_gid)
    path.chmod(stat.S_IMODE(status.st_mode))


def _choose_method(src: Path, dst: Path, files: list[_Entry]) -> Literal["reflink", "copy"]:
    """Try to share the blocks of the largest file."""
    if not files:
        return "copy"
    probe = dst / ".teiten-reflink-probe"
    try:
        with (src / files[0].relative).open("rb") as source, probe.open("wb") as target:
            fcntl.ioctl(target.fileno(), _FICLONE, source.fileno())
    except OSError as error:
        if error.errno in _CANNOT_REFLINK:
            return "copy"
        raise
    finally:
        probe.unlink(missing_ok=True)
    return "reflink"


def _check_room(dst: Path, needed: int) -> None:
    free = shutil.disk_usage(dst).free
    if needed > free:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))


def _clone_files(
    src: Path, dst: Path, files: list[_Entry], method: Literal["reflink", "copy"], *, sync: bool
) -> None:
    """Clone the large files in several threads, and all small ones in one.

    Small files are little but system calls, for which Python threads only wait for each other.
    """
    large = [x for x in files if x.status.st_size > _LARGE_BYTES]
    small = files[len(large) :]  # `files` are ordered by size
    jobs = [*([x] for x in large), small]

    def clone_some(entries: list[_Entry]) -> None:
        for entry in entries:
            names = f"{src}/{entry.relative}", f"{dst}/{entry.relative}"
            _clone_file(*names, entry, method, sync=sync)

    # More threads than CPUs would only delay the largest file, which takes longest.
    threads = min(max(2, os.cpu_count() or 2), _MOST_THREADS)
    with ThreadPoolExecutor(threads) as pool:
        futures = [pool.submit(clone_some, job) for job in jobs]
        try:
            for future in futures:
                future.result()
        except BaseException:
            # What is copying finishes its file; what has not begun never does.
            pool.shutdown(wait=True, cancel_futures=True)
            raise


def _clone_file(
    source_path: str,
    target_path: str,
    entry: _Entry,
    method: Literal["reflink", "copy"],
    *,
    sync: bool,
) -> None:
    source = os.open(source_path, os.O_RDONLY)
    try:
        target = os.open(target_path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        try:
            if method == "reflink":
                fcntl.ioctl(target, _FICLONE, source)
            else:
                _copy_data(source, target, entry)
            if os.geteuid() == 0:
                os.fchown(target, entry.status.st_uid, entry.status.st_gid)
            os.fchmod(target, stat.S_IMODE(entry.status.st_mode))
            if sync:
                os.fsync(target)
        finally:
            os.close(target)
    finally:
        os.close(source)


def _copy_data(source: int, target: int, entry: _Entry) -> None:
    """Copy the data of a file and leave its holes as holes."""
    size = entry.status.st_size
    os.ftruncate(target, size)
    if entry.allocated_bytes >= size:
        _copy_range(source, target, 0, size)
        return
    end = 0
    while end < size:
        try:
            start = os.lseek(source, end, os.SEEK_DATA)
        except OSError as error:
            if error.errno == errno.ENXIO:  # nothing but a hole up to the end
                return
            raise
        end = os.lseek(source, start, os.SEEK_HOLE)
        _copy_range(source, target, start, end)


def _copy_range(source: int, target: int, start: int, end: int) -> None:
    while start < end:
        try:
            done = os.copy_file_range(source, target, min(_BLOCK_BYTES, end - start), start, start)
        except OSError as error:
            if error.errno not in _CANNOT_REFLINK:
                raise
            done = os.pwrite(target, os.pread(source, min(_BLOCK_BYTES, end - start), start), start)
        if done == 0:
            raise OSError(errno.EIO, "the file became shorter while it was copied")
        start += done


def _empty(dst: Path, *, remove: bool) -> None:
    shutil.rmtree(dst, ignore_errors=True)
    if not remove:
        dst.mkdir(mode=0o700, exist_ok=True)


def _sentence(error: OSError, dst: Path, needed: int) -> TeitenError:
    if error.errno in {errno.ENOSPC, errno.EDQUOT}:
        parent = dst if dst.exists() else dst.parent
        free = shutil.disk_usage(parent).free
        return TeitenError(
            f"The disk of {dst} is full: the clone needs {needed} bytes and {free} are free; make "
            "room, or use a smaller scale."
        )
    where = error.filename or dst
    return TeitenError(f"Cloning into {dst} failed at {where}: {error.strerror or error}.")
