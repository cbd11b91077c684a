"""How fast a file system makes a page durable: fdatasync of 8 KiB writes, as a commit needs."""

from __future__ import annotations

import os
import tempfile
import time
from typing import TYPE_CHECKING, Any

import numpy as np

from teiten.environment.storage import nearest_existing

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

_PAGE_BYTES = 8192
_PAGES = 128  # rewritten round and round, as a recycled WAL segment is


def summarise_latencies(latencies_s: Sequence[float]) -> dict[str, Any]:
    """Median and 99th percentile in ms, writes per second, and how many writes were seen."""
    seen = np.asarray(latencies_s, dtype=float)
    return {
        "writes": len(seen),
        "median_ms": float(np.median(seen)) * 1000,
        "p99_ms": float(np.percentile(seen, 99)) * 1000,
        "rate_per_s": len(seen) / float(seen.sum()),
    }


def measure_fsync(path: Path, *, duration_s: float = 1.0) -> dict[str, Any] | None:
    """Write pages and flush each for `duration_s` in the folder of `path`.

    The method is that of pg_test_fsync: the file is written once beforehand, so that only data
    and no size has to become durable. The file has no name and vanishes even if we are killed.

    Returns:
        see `summarise_latencies`; None where nothing can be written.
    """
    place = nearest_existing(path)
    page = os.urandom(_PAGE_BYTES)
    latencies_s: list[float] = []
    try:
        with tempfile.TemporaryFile(dir=place if place.is_dir() else place.parent) as file:
            handle = file.fileno()
            os.pwrite(handle, page * _PAGES, 0)
            os.fsync(handle)
            end = time.perf_counter() + duration_s
            while not latencies_s or time.perf_counter() < end:
                offset = len(latencies_s) % _PAGES * _PAGE_BYTES
                start = time.perf_counter()
                os.pwrite(handle, page, offset)
                os.fdatasync(handle)
                latencies_s.append(time.perf_counter() - start)
    except OSError:
        return None
    return summarise_latencies(latencies_s)
