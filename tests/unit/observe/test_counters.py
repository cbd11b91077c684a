"""What `perf stat -x,` writes, read back."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from teiten.observe.counters import (
    EVENTS,
    Count,
    observation_of,
    parse_perf_csv,
    reason_without_hardware,
    usable_events,
)

DATA = Path(__file__).parents[2] / "data" / "observe"


def test_supported_hardware_counts() -> None:
    seen = observation_of(parse_perf_csv((DATA / "perf-stat-documented.csv").read_text()))
    assert seen.totals["instructions"] == 14724529000
    assert seen.totals["cycles"] == 9089215432
    assert seen.totals["task_clock_us"] == pytest.approx(6011220)
    assert seen.totals["context_switches"] == 2911
    assert "page_faults" not in seen.totals


def test_shared_counters_are_scaled_up_and_said_so() -> None:
    seen = observation_of(parse_perf_csv((DATA / "perf-stat-documented.csv").read_text()))
    assert seen.totals["instructions_kernel"] == 2 * 2105331000
    assert seen.facts["counters_running_pct"] == 50.0
    assert "50%" in seen.notes[0]


def test_a_machine_without_counters_keeps_its_software_events() -> None:
    counts = parse_perf_csv((DATA / "perf-stat-6.1-vm-no-pmu.csv").read_text())
    assert usable_events(counts) == ("task-clock", "context-switches", "page-faults")
    assert set(observation_of(counts).totals) == {
        "task_clock_us",
        "context_switches",
        "page_faults",
    }
    reason = reason_without_hardware(counts, 2)
    assert reason is not None
    assert "vPMU" in reason


def test_an_ordinary_user_is_told_how_to_get_the_events_that_were_refused() -> None:
    # perf 6.1 under perf_event_paranoid = 4: hardware events refused, not unsupported.
    counts = parse_perf_csv("0.22,msec,task-clock:u,223821,100.00,0.572,CPUs utilized\n")
    reason = reason_without_hardware(counts, 4)
    assert reason is not None
    assert "kernel.perf_event_paranoid" in reason


def test_user_mode_alone_does_not_pass_for_all_context_switches() -> None:
    text = "0,,context-switches:u,223821,100.00,,\n0.22,msec,task-clock:u,223821,100.00,,\n"
    counts = parse_perf_csv(text)
    assert usable_events(counts) == ("task-clock",)
    assert set(observation_of(counts).totals) == {"task_clock_us"}


def test_two_kinds_of_cores_add_up() -> None:
    text = "300,,cpu_core/instructions/u,9,75.00,,\n100,,cpu_atom/instructions/u,3,25.00,,\n"
    seen = observation_of(parse_perf_csv(text))
    assert seen.totals == {"instructions": 400.0}
    assert not seen.notes


def test_no_reason_where_user_instructions_and_cycles_are_counted() -> None:
    counts = [Count("instructions:u", 1, 100, "counted"), Count("cycles:u", 1, 100, "counted")]
    assert reason_without_hardware(counts, 2) is None


@given(
    st.sampled_from(sorted(set(EVENTS) - {"task-clock"})),
    st.integers(0, 10**15),
    st.sampled_from([1.0, 12.5, 33.33, 100.0]),
)
def test_a_count_is_never_below_what_was_counted(event: str, value: int, pct: float) -> None:
    seen = observation_of(parse_perf_csv(f"{value},,{event},1,{pct:.2f},,\n"))
    assert seen.totals[EVENTS[event]] == pytest.approx(value * 100.0 / pct)
    assert bool(seen.notes) == (pct < 99.5)
