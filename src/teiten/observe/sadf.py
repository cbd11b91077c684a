"""From what `sadf -j` prints to tables, one row a sample and CPU, device or interface.

The names of keys are those of sysstat 11.7 to 12.7 (json_stats.c in each): 11 prints one figure
per interrupt (`value`), 12.5 and later one per CPU (`all`, `CPU0`, ...).
"""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

import polars as pl

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterator, Mapping

Row = tuple[Any, ...]
ALL_CPUS = -1
_MODES = ("usr", "nice", "sys", "iowait", "steal", "irq", "soft", "guest", "gnice", "idle")

# For each table: column -> (key that sadf prints, factor). Interrupts and CPU come apart.
_MEMORY = {
    "used_mib": ("memused", 1 / 1024),
    "free_mib": ("memfree", 1 / 1024),
    "available_mib": ("avail", 1 / 1024),
    "cached_mib": ("cached", 1 / 1024),
    "buffers_mib": ("buffers", 1 / 1024),
    "slab_mib": ("slab", 1 / 1024),
    "dirty_mib": ("dirty", 1 / 1024),
    "page_tables_mib": ("pgtbl", 1 / 1024),
}
_DISK = {
    "iops": ("tps", 1.0),
    "read_kib_s": ("rd_sec", 0.5),  # sectors of 512 bytes; exact in every version
    "write_kib_s": ("wr_sec", 0.5),
    "await_ms": ("await", 1.0),
    "queue_length": ("avgqu-sz", 1.0),
    "util_pct": ("util-percent", 1.0),
}
_NETWORK = {
    "receive_packets_s": ("rxpck", 1.0),
    "send_packets_s": ("txpck", 1.0),
    "receive_kib_s": ("rxkB", 1.0),
    "send_kib_s": ("txkB", 1.0),
}


def samples_of(document: Mapping[str, Any]) -> list[tuple[float, Mapping[str, Any]]]:
    """Return (seconds since the first record of the file, what sadf says) of each sample.

    A sample stands for the interval that ends at its time; the file's first record only starts
    the first interval.
    """
    statistics = document["sysstat"]["hosts"][0].get("statistics", [])
    samples = [x for x in statistics if "timestamp" in x]
    if not samples:
        return []
    times = [_epoch_s(x["timestamp"]) for x in samples]
    start = times[0] - float(samples[0]["timestamp"]["interval"])
    return [(t - start, x) for t, x in zip(times, samples, strict=True)]


def _epoch_s(stamp: Mapping[str, Any]) -> float:
    return (
        datetime.fromisoformat(f"{stamp['date']}T{stamp['time']}").replace(tzinfo=UTC).timestamp()
    )


def tables_of(
    document: Mapping[str, Any], devices: Mapping[str, str] | None = None
) -> dict[str, pl.DataFrame]:
    """Make the tables `cpu`, `memory`, `disk`, `network`, `interrupts` (all start with `t_s`).

    `devices` names interrupts (`{"36": "virtio1-req.0"}`). Interrupts that never came on a CPU
    are left out. What sadf does not tell (older versions) is null; a table may be empty.
    """
    samples = samples_of(document)
    names = devices or {}
    shapes: tuple[
        tuple[str, dict[str, type[pl.DataType]], Callable[[Mapping[str, Any]], Iterator[Row]]], ...
    ] = (
        ("cpu", {"cpu": pl.Int32} | dict.fromkeys(_MODES, pl.Float64), _cpu_rows),
        ("memory", dict.fromkeys(_MEMORY, pl.Float64), _memory_rows),
        ("disk", {"device": pl.String} | dict.fromkeys(_DISK, pl.Float64), _disk_rows),
        ("network", {"interface": pl.String} | dict.fromkeys(_NETWORK, pl.Float64), _network_rows),
        (
            "interrupts",
            {"irq": pl.String, "device": pl.String, "cpu": pl.Int32, "per_s": pl.Float64},
            lambda sample: _interrupt_rows(sample, names),
        ),
    )
    return {
        table: pl.DataFrame(
            [(t_s, *row) for t_s, sample in samples for row in rows(sample)],
            schema={"t_s": pl.Float64, **columns},
            orient="row",
        )
        for table, columns, rows in shapes
    }


def _picked(entry: Mapping[str, Any], columns: Mapping[str, tuple[str, float]]) -> Row:
    return tuple(
        float(entry[key]) * factor if key in entry else None for key, factor in columns.values()
    )


def _cpu_number(name: str) -> int:
    return ALL_CPUS if name == "all" else int(name)


def _cpu_rows(sample: Mapping[str, Any]) -> Iterator[Row]:
    for entry in sample.get("cpu-load", ()):
        yield (_cpu_number(entry["cpu"]), *(entry.get(mode) for mode in _MODES))


def _memory_rows(sample: Mapping[str, Any]) -> Iterator[Row]:
    if "memory" in sample:
        yield _picked(sample["memory"], _MEMORY)


def _disk_rows(sample: Mapping[str, Any]) -> Iterator[Row]:
    for entry in sample.get("disk", ()):
        yield (entry["disk-device"], *_picked(entry, _DISK))


def _network_rows(sample: Mapping[str, Any]) -> Iterator[Row]:
    for entry in sample.get("network", {}).get("net-dev", ()):
        yield (entry["iface"], *_picked(entry, _NETWORK))


def _interrupt_rows(sample: Mapping[str, Any], devices: Mapping[str, str]) -> Iterator[Row]:
    for entry in sample.get("interrupts", ()):
        irq = entry["intr"]
        for key, per_s in entry.items():
            if key == "intr" or not per_s:
                continue
            cpu = ALL_CPUS if key in {"all", "value"} else int(key.removeprefix("CPU"))
            yield (irq, devices.get(irq), cpu, float(per_s))


def interrupt_names(proc_interrupts: str) -> dict[str, str]:
    """Read the interrupts' names from `/proc/interrupts` (`36`: `virtio1-req.0`).

    A numbered line ends in the chip, its line and the device's name; a lettered one
    (`LOC: ... Local timer interrupts`) in a description.
    """
    lines = proc_interrupts.splitlines()
    cpus = len(lines[0].split()) if lines else 0
    names = {}
    for line in lines[1:]:
        irq, _, rest = line.partition(":")
        words = rest.split()[cpus:]
        if words:
            names[irq.strip()] = words[-1] if irq.strip().isdecimal() else " ".join(words)
    return names


def summary_of(
    tables: Mapping[str, pl.DataFrame], repeated: Collection[str] = ("lo",)
) -> dict[str, float]:
    """Return means over the window: CPU of all cores in percent, memory, disk and network rates.

    `repeated` names the devices and interfaces whose traffic appears on others too (LVM, RAID,
    bridges) or never leaves the host, so that nothing is counted twice.
    """
    values: dict[str, float] = {}
    cpu = tables["cpu"].filter(pl.col("cpu") == ALL_CPUS)
    for mode in ("usr", "sys", "iowait", "soft", "steal", "idle"):
        _put(values, f"cpu_{mode}_pct", cpu[mode].mean())
    if {"cpu_idle_pct", "cpu_iowait_pct"} <= values.keys():
        values["cpu_busy_pct"] = 100.0 - values["cpu_idle_pct"] - values["cpu_iowait_pct"]
    _put(values, "memory_used_mib", tables["memory"]["used_mib"].mean())
    _put(values, "memory_cached_mib", tables["memory"]["cached_mib"].mean())
    disk = tables["disk"].filter(~pl.col("device").is_in(list(repeated)))
    per_s = disk.group_by("t_s").agg(pl.col("read_kib_s", "write_kib_s").sum())
    _put(values, "disk_read_mib_s", per_s["read_kib_s"].mean(), 1 / 1024)
    _put(values, "disk_write_mib_s", per_s["write_kib_s"].mean(), 1 / 1024)
    network = tables["network"].filter(~pl.col("interface").is_in(list(repeated)))
    both = (pl.col("receive_kib_s") + pl.col("send_kib_s")).sum().alias("kib_s")
    rates = network.group_by("t_s").agg(both)
    _put(values, "network_mib_s", rates["kib_s"].mean(), 1 / 1024)
    return values


def _put(values: dict[str, float], name: str, value: Any, factor: float = 1.0) -> None:  # noqa: ANN401 - what polars returns
    if value is not None:
        values[name] = float(value) * factor
