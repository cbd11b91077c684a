"""Hardware counters over the server's whole process tree, by `perf stat`.

User instructions per transaction are the response that other programs on the host do not touch.
`perf stat` attaches to every process of the tree; backends forked later are inherited.
"""

from __future__ import annotations

import os
import re
import select
import signal
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from teiten import host
from teiten.errors import TeitenError
from teiten.observe.base import Observation
from teiten.observe.processes import process_tree, wait_for_new_to_end

if TYPE_CHECKING:
    import subprocess
    from collections.abc import Mapping, Sequence

    from teiten.observe.base import Window

# perf's event -> the total's name. Where the unit is not in the name it is a plain count.
EVENTS: Mapping[str, str] = {
    "instructions:u": "instructions",
    "instructions:k": "instructions_kernel",
    "cycles:u": "cycles",
    "cycles:k": "cycles_kernel",
    "task-clock": "task_clock_us",
    "context-switches": "context_switches",
    "page-faults": "page_faults",
}
_SCALE = {"task-clock": 1000.0}  # perf prints milliseconds
_HARDWARE = ("instructions:u", "cycles:u")
HARDWARE_EVENTS = ("instructions:u", "instructions:k", "cycles:u", "cycles:k")
"""What a run counts. Software events are left out: perf then has work at every switch of tasks,
which cost 2% to 5% of TPS on a machine without hardware counters, and /proc knows as much."""
# An ordinary user may count in user mode only, and perf then adds `:u` of itself. That is the
# same figure for the task clock; a context switch, however, never happens in user mode.
_SAME_IN_USER_MODE = ("task-clock",)
# How perf names an event where processors have two kinds of cores: cpu_core/instructions/u.
_BY_CORE_KIND = re.compile(r"cpu_\w+/([\w-]+)/:?([uk])")
_FULLY_RUNNING_PCT = 99.5  # perf rounds to two digits
_PERF_WAIT_S = 10.0
_START_ATTEMPTS = 5

State = Literal["counted", "not counted", "not supported"]


@dataclass(frozen=True)
class Count:
    """One line of `perf stat -x --no-scale`: what was counted in `running_pct` of the time."""

    event: str
    value: float
    running_pct: float
    state: State


def parse_perf_csv(text: str) -> list[Count]:
    r"""Read what `perf stat -x,` wrote for whole processes (perf-stat(1), section CSV FORMAT).

    Fields: value, unit, event, run time of the counter in ns, percent of the time it ran; what
    follows (metrics) is not read. Lines that are no counts (comments, metrics alone) are skipped.
    """
    states: Mapping[str, State] = {
        "<not supported>": "not supported",
        "<not counted>": "not counted",
    }
    counts = []
    for line in text.splitlines():
        fields = line.split(",")
        if len(fields) < 5 or line.startswith("#") or not fields[2]:  # noqa: PLR2004 - documented
            continue
        value, event = fields[0], fields[2]
        running_pct = float(fields[4] or 0.0)
        if value in states:
            counts.append(Count(event, 0.0, running_pct, states[value]))
        elif value:
            counts.append(Count(event, float(value), running_pct, "counted"))
    return counts


def observation_of(counts: Sequence[Count]) -> Observation:
    """Turn counts into totals, scaled up where a counter shared its register with others.

    A processor with two kinds of cores counts each event on each kind, one of which runs at a
    time: their counts and their shares of the time add up. The fact `counters_running_pct` is
    the least share of the time that any event was counted.
    """
    values: dict[str, float] = {}
    running: dict[str, float] = {}
    for count in counts:
        asked = asked_event(count.event)
        if asked is None or count.state != "counted":
            continue
        values[asked] = values.get(asked, 0.0) + count.value
        running[asked] = min(running.get(asked, 0.0) + count.running_pct, 100.0)
    totals = {
        EVENTS[event]: value * _SCALE.get(event, 1.0) * 100.0 / running[event]
        for event, value in values.items()
        if running[event] > 0.0
    }
    if not totals:
        return Observation()
    least = min(x for x in running.values() if x > 0.0)
    facts = {"counters_running_pct": least}
    if least >= _FULLY_RUNNING_PCT:
        return Observation(totals=totals, facts=facts)
    note = (
        f"Hardware counters ran {least:.0f}% of the time and are scaled up: other programs "
        "(or the NMI watchdog) use the counters too."
    )
    return Observation(totals=totals, facts=facts, notes=(note,))


def asked_event(printed: str) -> str | None:
    """Return the event of EVENTS that perf's name stands for; None when it means another count."""
    if printed in EVENTS:
        return printed
    if by_core_kind := _BY_CORE_KIND.fullmatch(printed):
        event = f"{by_core_kind[1]}:{by_core_kind[2]}"
        return event if event in EVENTS else None
    base, _, modifier = printed.rpartition(":")
    return base if modifier == "u" and base in _SAME_IN_USER_MODE else None


def usable_events(probe: Sequence[Count]) -> tuple[str, ...]:
    """Return the events that a probing run did count, in the order of EVENTS."""
    counted = {asked_event(c.event) for c in probe if c.state != "not supported"}
    return tuple(event for event in EVENTS if event in counted)


def reason_without_hardware(probe: Sequence[Count], paranoid: int | None) -> str | None:
    """Say why user instructions cannot be counted, and how to allow it; None when they can."""
    seen = {asked_event(c.event): c.state for c in probe}
    if all(seen.get(event, "not supported") != "not supported" for event in _HARDWARE):
        return None
    if any(event in seen for event in _HARDWARE):
        return (
            "Hardware counters are not recorded: this machine offers none (a virtual machine "
            "without vPMU); enable the vPMU, or count instructions with valgrind."
        )
    return (
        "Hardware counters are not recorded: the kernel does not permit it "
        f"(kernel.perf_event_paranoid = {paranoid if paranoid is not None else 'unknown'}); run "
        "`sysctl kernel.perf_event_paranoid=1` as root or give teiten CAP_PERFMON."
    )


@cache
def _probe() -> tuple[Count, ...] | TeitenError:
    """Count each event once over a trifle; events that are refused are not in the result."""
    try:
        host.find_program("perf", hint="install the package linux-perf or perf")
        everything = _try_events(tuple(EVENTS))
        if everything is not None:
            return everything
        # perf gives up altogether when one event is refused: ask for them one by one.
        single = [_try_events((event,)) for event in EVENTS]
        return tuple(count for counts in single for count in counts or ())
    except TeitenError as error:
        return error


def _try_events(events: Sequence[str]) -> tuple[Count, ...] | None:
    argv = ["perf", "stat", "-x,", "--no-scale", "-e", ",".join(events), "--", "true"]
    done = host.run_program(argv, timeout_s=_PERF_WAIT_S, check=False)
    if done.returncode != 0:
        return None
    return tuple(parse_perf_csv(done.stderr))


def _paranoid() -> int | None:
    try:
        return int(Path("/proc/sys/kernel/perf_event_paranoid").read_text())
    except OSError:
        return None


class CountersObserver:
    """Counts `events` over the server's process tree (totals: their values in EVENTS)."""

    name = "counters"

    def __init__(self, events: Sequence[str] = HARDWARE_EVENTS) -> None:
        """Count nothing yet."""
        self._events = events
        self._perf: subprocess.Popen[bytes] | None = None
        self._output: Path | None = None
        self._postmaster_pid = 0
        self._known: frozenset[int] = frozenset()

    def unavailable(self) -> str | None:
        """Say why no event at all can be counted here."""
        probe = _probe()
        if isinstance(probe, TeitenError):
            return f"Hardware counters are not recorded. {probe}"
        if self._usable(probe):
            return None
        return reason_without_hardware(probe, _paranoid())

    def _usable(self, probe: Sequence[Count]) -> tuple[str, ...]:
        return tuple(event for event in usable_events(probe) if event in self._events)

    def limitation(self) -> str | None:
        """Say why hardware events, as opposed to software events, cannot be counted here."""
        probe = _probe()
        if isinstance(probe, TeitenError):
            return self.unavailable()
        return reason_without_hardware(probe, _paranoid())

    def start(self, window: Window) -> None:
        """Attach to the server's processes; returns once the counters run.

        Raises:
            TeitenError: perf is not usable, or the server has ended.
        """
        self._output = None
        probe = _probe()
        if window.postmaster_pid is None or isinstance(probe, TeitenError):
            return
        events = self._usable(probe)
        if not events:
            return
        self._output = window.raw_dir / "perf_stat.csv"
        self._postmaster_pid = window.postmaster_pid
        self._known = process_tree(window.postmaster_pid)
        self._perf = _attach(window.postmaster_pid, events, self._output)

    def stop(self) -> Observation:
        """Detach, once the load's backends have ended, and read the counts."""
        perf, output = self._perf, self._output
        self._perf = self._output = None
        if perf is None or output is None:
            why = self.unavailable()
            return Observation(
                notes=(
                    why or "Hardware counters are not recorded: the server is not teiten's own.",
                )
            )
        wait_for_new_to_end(self._postmaster_pid, self._known)
        host.stop_process(perf, with_signal=signal.SIGINT)
        text = output.read_text() if output.exists() else ""
        seen = observation_of(parse_perf_csv(text))
        if not seen.totals:
            return Observation(notes=(f"perf stat counted nothing; see {output}.",))
        return seen


def _attach(postmaster_pid: int, events: Sequence[str], output: Path) -> subprocess.Popen[bytes]:
    """Start perf on every process of the server's tree and wait until it has begun to count.

    Raises:
        TeitenError: the server has ended, or perf cannot attach.
    """
    error = ""
    for _ in range(_START_ATTEMPTS):
        pids = sorted(process_tree(postmaster_pid))
        if not pids:
            raise TeitenError(f"The server process {postmaster_pid} has ended.")
        control_read, control_write = os.pipe()
        ack_read, ack_write = os.pipe()
        argv = ["perf", "stat", "-x,", "--no-scale", "-D", "-1"]
        argv += [
            "--control",
            f"fd:{control_read},{ack_write}",
            "-o",
            os.fspath(output),
            "-e",
            ",".join(events),
            "-p",
            ",".join(map(str, pids)),
        ]
        with output.with_suffix(".err").open("w+b") as errors:
            perf = host.spawn(
                argv, stdout=errors, stderr=errors, pass_fds=(control_read, ack_write)
            )
            try:
                os.close(control_read)
                os.close(ack_write)
                os.write(control_write, b"enable\n")
                ready, _, _ = select.select([ack_read], [], [], _PERF_WAIT_S)
                if ready and os.read(ack_read, 16).startswith(b"ack"):
                    return perf
            except BaseException:
                host.stop_process(perf)
                raise
            finally:
                os.close(ack_read)
                os.close(control_write)
            host.stop_process(perf)
            errors.seek(0)
            words = errors.read().decode(errors="replace").split("\n")
            error = next((w for w in words if w.strip()), "no answer")
        # A process may have ended between the look and the attachment: look again.
    raise TeitenError(f"perf stat cannot attach to the server's processes: {error.strip()}")
