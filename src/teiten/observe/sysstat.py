"""The host second by second, as sysstat's `sadc` records it: CPU by core, memory, disk, network."""

from __future__ import annotations

import json
import os
import shutil
import time
from pathlib import Path
from typing import TYPE_CHECKING

import zstandard

from teiten import host
from teiten.archive.format import sysstat_file
from teiten.errors import TeitenError
from teiten.observe.base import Observation
from teiten.observe.sadf import interrupt_names, summary_of, tables_of

if TYPE_CHECKING:
    import subprocess

    from teiten.observe.base import Window

# Debian and its kin, Red Hat and SUSE and theirs, Arch; asked in this order.
_SADC_PLACES = (
    "/usr/lib/sysstat",
    "/usr/lib64/sa",
    "/usr/lib/sa",
    "/usr/libexec/sysstat",
    "/usr/libexec/sa",
    "/usr/local/lib/sa",
)
# -p: sysstat 11 would call sda dev8-0 without it.
_ACTIVITIES = ("-u", "ALL", "-P", "ALL", "-r", "ALL", "-d", "-p", "-n", "DEV")
_START_WAIT_S = 5.0
_SADF_WAIT_S = 120.0
# Samples x CPUs x interrupts beyond which only the sum of interrupts by CPU is read: sadf would
# print some 15 bytes for each.
_MOST_INTERRUPT_CELLS = 2_000_000


def find_sadc() -> Path | None:
    """Find sysstat's collector, which no distribution puts on PATH."""
    for place in _SADC_PLACES:
        program = Path(place) / "sadc"
        if os.access(program, os.X_OK):
            return program
    return Path(found) if (found := shutil.which("sadc")) else None


def interrupt_option(samples: float, proc_interrupts: str) -> tuple[str, str]:
    """Choose between every interrupt and the sum alone, so that the output stays small."""
    lines = proc_interrupts.splitlines()
    cells = samples * len(lines) * (len(lines[0].split()) + 1 if lines else 0)
    return ("-I", "ALL" if cells <= _MOST_INTERRUPT_CELLS else "SUM")


def stacked_devices() -> frozenset[str]:
    """Name the block devices whose traffic appears again on a device (or file) below them."""
    names = set()
    for device in Path("/sys/block").glob("*"):
        if device.name.startswith(("loop", "ram", "zram")) or any(device.glob("slaves/*")):
            names.add(device.name)
            mapped = device / "dm" / "name"
            if mapped.exists():
                names.add(mapped.read_text().strip())
    return frozenset(names)


def virtual_interfaces() -> frozenset[str]:
    """Name the interfaces with no hardware behind them; within a container only the loopback."""
    interfaces = list(Path("/sys/class/net").glob("*"))
    virtual = frozenset(x.name for x in interfaces if not (x / "device").exists())
    return virtual if len(virtual) < len(interfaces) else frozenset({"lo"})


class SysstatObserver:
    """Records the host at 1 s; writes `sysstat_*.parquet` and the compressed `sysstat.sa.zst`."""

    name = "sysstat"

    def __init__(self) -> None:
        """Record nothing yet."""
        self._sadc: subprocess.Popen[bytes] | None = None
        self._raw_dir: Path | None = None
        self._started_s = 0.0

    def unavailable(self) -> str | None:
        """Say that sysstat is missing."""
        if find_sadc() is not None and shutil.which("sadf") is not None:
            return None
        return (
            "CPU by core, memory, disk and network are not recorded: "
            "install the package sysstat (its programs sadc and sadf are not found)."
        )

    def start(self, window: Window) -> None:
        """Start sadc; returns once its first record is written.

        Raises:
            TeitenError: sadc does not begin to record.
        """
        program = find_sadc()
        self._raw_dir = window.raw_dir
        if program is None:
            return
        file = window.raw_dir / "sysstat.sa"
        file.unlink(missing_ok=True)
        self._sadc = host.spawn([program, "-S", "DISK", "-S", "INT", "1", file])
        self._started_s = time.monotonic()
        # Header and first record come in several writes, the record last, within milliseconds.
        last_size = 0
        while True:
            size = file.stat().st_size if file.exists() else 0
            if size and size == last_size:
                return
            if self._sadc.poll() is not None or time.monotonic() - self._started_s > _START_WAIT_S:
                host.stop_process(self._sadc)
                self._sadc = None
                raise TeitenError(f"{program} does not record into {file}.")
            last_size = size
            time.sleep(0.01)

    def stop(self) -> Observation:
        """Stop sadc, make the tables, compress the raw file."""
        sadc, raw_dir = self._sadc, self._raw_dir
        self._sadc = self._raw_dir = None
        if sadc is None or raw_dir is None:
            missing = self.unavailable()
            return Observation(notes=(missing,) if missing else ())
        duration_s = time.monotonic() - self._started_s
        host.stop_process(sadc)
        file = raw_dir / "sysstat.sa"
        interrupts = Path("/proc/interrupts").read_text()
        option = interrupt_option(duration_s, interrupts)
        argv: list[str | Path] = ["sadf", "-j", file, "--", *_ACTIVITIES, *option]
        try:
            printed = host.run_program(argv, timeout_s=_SADF_WAIT_S)
        except TeitenError as error:
            return Observation(notes=(f"The host's activity cannot be read from {file}. {error}",))
        tables = tables_of(json.loads(printed.stdout), interrupt_names(interrupts))
        for name, table in tables.items():
            table.write_parquet(raw_dir / sysstat_file(name), compression="zstd")
        compressor = zstandard.ZstdCompressor(level=9)
        with file.open("rb") as source, (raw_dir / "sysstat.sa.zst").open("wb") as target:
            compressor.copy_stream(source, target)
        file.unlink()
        values = summary_of(tables, stacked_devices() | virtual_interfaces())
        if not values:
            return Observation(
                notes=("CPU, memory, disk and network are not recorded in windows below 2 s.",)
            )
        steal = values.get("cpu_steal_pct")
        return Observation(values=values, facts={} if steal is None else {"cpu_steal_pct": steal})
