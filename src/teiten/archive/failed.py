"""Keep what a failed trial left, so that its cause can be looked for."""

from __future__ import annotations

import contextlib
import shutil
from typing import TYPE_CHECKING

import zstandard

from teiten.host import sync_folder

if TYPE_CHECKING:
    from pathlib import Path

_LONG_BYTES = 64 << 10
_COMPRESSED = {".parquet", ".zst"}


def keep_failed(partial: Path, failed: Path, trial_name: str) -> Path | None:
    """Move a failed trial's folder to `failed/TRIAL-K` (K = 1, 2, … attempts); compress long text.

    Returns the folder, or None where there was nothing to keep.

    Raises:
        OSError: it cannot be moved.
    """
    if not partial.is_dir():
        return None
    if not any(path.is_file() for path in partial.rglob("*")):
        shutil.rmtree(partial)
        return None
    failed.mkdir(exist_ok=True)
    attempt = 1
    while (kept := failed / f"{trial_name}-{attempt}").exists():
        attempt += 1
    partial.rename(kept)
    sync_folder(failed)
    for path in [p for p in kept.rglob("*") if p.is_file() and not p.is_symlink()]:
        # A full disk may be why the trial failed: the text then stays as it is.
        with contextlib.suppress(OSError):
            if path.stat().st_size > _LONG_BYTES and _is_text(path):
                _compress(path)
    return kept


def _is_text(path: Path) -> bool:
    if path.suffix in _COMPRESSED:
        return False
    with path.open("rb") as file:
        return b"\0" not in file.read(_LONG_BYTES)


def _compress(path: Path) -> None:
    compressed = path.with_name(f"{path.name}.zst")
    try:
        with path.open("rb") as source, compressed.open("wb") as target:
            zstandard.ZstdCompressor().copy_stream(source, target)
    except OSError:
        compressed.unlink(missing_ok=True)
        raise
    path.unlink()
