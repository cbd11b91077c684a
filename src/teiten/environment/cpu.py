"""The processors: model, topology, frequency control, mitigations."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from teiten.environment.read import parse_cpu_list, read_number, read_text

if TYPE_CHECKING:
    from collections.abc import Iterable

_CPUS = Path("/sys/devices/system/cpu")
_KHZ_PER_MHZ = 1000


def parse_cpuinfo(text: str) -> list[dict[str, str]]:
    """One mapping a processor of /proc/cpuinfo, keys as the kernel prints them."""
    processors = []
    for stanza in text.split("\n\n"):
        pairs = (line.partition(":") for line in stanza.splitlines() if ":" in line)
        fields = {key.strip(): value.strip() for key, _, value in pairs}
        if "processor" in fields:
            processors.append(fields)
    return processors


def model_of(processor: dict[str, str]) -> str | None:
    """The processor's name; on Arm, which prints none, its implementer and part numbers."""
    if name := processor.get("model name"):
        return name
    part = [processor[key] for key in ("CPU implementer", "CPU part") if key in processor]
    return f"implementer {part[0]}, part {part[1]}" if len(part) == 2 else None  # noqa: PLR2004 - the pair above


def summarise_topology(places: Iterable[tuple[int, int]]) -> dict[str, int]:
    """Counts of sockets, cores and threads, from (package, core) of every online CPU."""
    threads = list(places)
    if not threads:
        return {}
    cores = len(set(threads))
    return {
        "sockets": len({package for package, _ in threads}),
        "cores": cores,
        "threads": len(threads),
        "threads_per_core": max(1, round(len(threads) / cores)),
    }


def describe_cpu() -> dict[str, Any]:
    """Describe the processors of this machine; frequencies in MHz."""
    processors = parse_cpuinfo(read_text(Path("/proc/cpuinfo")) or "")
    first = processors[0] if processors else {}
    online = parse_cpu_list(read_text(_CPUS / "online"))
    return {
        "model": model_of(first),
        "microcode": first.get("microcode"),
        **_topology(online),
        "smt": {0: "off", 1: "on"}.get(_or_minus(_CPUS / "smt/active")),
        "numa_nodes": len(parse_cpu_list(read_text(Path("/sys/devices/system/node/online"))))
        or None,
        "hypervisor_flag": "hypervisor" in first["flags"].split() if "flags" in first else None,
        "caches": _caches(),
        **_frequency(online),
        "mitigations": _mitigations(),
    }


def _or_minus(path: Path) -> int:
    number = read_number(path)
    return -1 if number is None else number


def _topology(online: Iterable[int]) -> dict[str, int]:
    places = []
    for cpu in online:
        folder = _CPUS / f"cpu{cpu}/topology"
        package, core = (read_number(folder / x) for x in ("physical_package_id", "core_id"))
        if package is not None and core is not None:
            places.append((package, core))
    return summarise_topology(places)


def _frequency(online: Iterable[int]) -> dict[str, Any]:
    folders = [_CPUS / f"cpu{cpu}/cpufreq" for cpu in online]

    def values(name: str) -> list[str]:
        return sorted({text for folder in folders if (text := read_text(folder / name))})

    limits_mhz = {
        key: [int(x) / _KHZ_PER_MHZ for x in values(f"cpuinfo_{key}_freq")]
        for key in ("min", "max")
    }
    return {
        "governor": ", ".join(values("scaling_governor")) or None,
        "frequency_driver": ", ".join(values("scaling_driver")) or None,
        "energy_preference": ", ".join(values("energy_performance_preference")) or None,
        "turbo": turbo_state(
            read_number(_CPUS / "intel_pstate/no_turbo"), read_number(_CPUS / "cpufreq/boost")
        ),
        "min_mhz": min(limits_mhz["min"], default=None),
        "max_mhz": max(limits_mhz["max"], default=None),
    }


def turbo_state(no_turbo: int | None, boost: int | None) -> str | None:
    """`on`, `off` or None (no control visible), from Intel's and the generic switch."""
    if no_turbo is not None:
        return "off" if no_turbo else "on"
    if boost is not None:
        return "on" if boost else "off"
    return None


def _caches() -> dict[str, str]:
    caches = {}
    for folder in sorted((_CPUS / "cpu0/cache").glob("index*")):
        level, kind, size = (read_text(folder / x) for x in ("level", "type", "size"))
        if level and kind and size:
            caches[f"L{level} {kind.lower()}"] = size
    return caches


def _mitigations() -> dict[str, str]:
    files = sorted((_CPUS / "vulnerabilities").glob("*"))
    return {file.name: text for file in files if (text := read_text(file))}
