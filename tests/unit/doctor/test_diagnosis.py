from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from teiten.doctor.diagnosis import diagnose
from teiten.doctor.examination import parse_stat
from teiten.doctor.facts import Facts

GIB = 1 << 30
FIT = Facts(
    governor="performance",
    turbo="off",
    transparent_huge_pages="madvise",
    memory_total_bytes=64 * GIB,
    swap_total_bytes=0,
    swap_used_bytes=0,
    steal_pct=0.0,
    busy_pct=0.5,
    load_average_1min=0.1,
    clock_source="tsc",
    clock_read_ns=30.0,
    counters_problem=None,
    sysstat_problem=None,
    valgrind_version="3.22.0",
    data_path=Path("/srv/teiten"),
    file_system="xfs",
    write_cache="write through",
    free_bytes=500 * GIB,
    fsync_median_ms=0.03,
    fsync_rate_per_s=33_000.0,
    cpus_allowed=16,
    cpu_limit=None,
    clients=64,
    is_root=True,
    server_user="postgres",
    server_user_problem=None,
    open_files_limit=65_536,
)


def test_a_fit_host_has_nothing_to_do() -> None:
    assert {x.status for x in diagnose(FIT)} == {"good"}


def test_a_virtual_machine_that_hides_its_controls_is_not_blamed() -> None:
    hidden = replace(FIT, governor=None, turbo=None, steal_pct=None, busy_pct=None)
    assert {x.status for x in diagnose(hidden)} == {"good"}


@pytest.mark.parametrize(
    ("topic", "status", "change"),
    [
        ("CPU governor", "caution", {"governor": "powersave"}),
        ("turbo", "caution", {"turbo": "on"}),
        ("transparent huge pages", "caution", {"transparent_huge_pages": "always"}),
        ("swap", "good", {"swap_total_bytes": 8 * GIB}),
        ("swap", "caution", {"swap_total_bytes": 8 * GIB, "swap_used_bytes": GIB}),
        ("swap", "bad", {"swap_total_bytes": 8 * GIB, "swap_used_bytes": 7 * GIB}),
        ("CPU steal", "caution", {"steal_pct": 2.0}),
        ("CPU steal", "bad", {"steal_pct": 12.0}),
        ("other load", "caution", {"busy_pct": 8.0}),
        ("other load", "bad", {"busy_pct": 60.0}),
        ("clock source", "good", {"clock_source": "kvm-clock"}),
        ("clock source", "bad", {"clock_source": "hpet"}),
        ("clock source", "caution", {"clock_source": "xen"}),
        ("clock source", "bad", {"clock_read_ns": 900.0}),
        ("hardware counters", "caution", {"counters_problem": "Enable the vPMU."}),
        ("sysstat", "caution", {"sysstat_problem": "Install sysstat."}),
        ("valgrind", "good", {"valgrind_version": None}),
        ("valgrind", "caution", {"valgrind_version": None, "counters_problem": "No."}),
        ("disk room", "caution", {"free_bytes": 20 * GIB}),
        ("disk room", "bad", {"free_bytes": GIB}),
        ("fsync", "bad", {"fsync_median_ms": None, "fsync_rate_per_s": None}),
        ("fsync", "caution", {"fsync_median_ms": 9.0, "fsync_rate_per_s": 110.0}),
        ("fsync", "caution", {"write_cache": "write back"}),
        ("fsync", "caution", {"file_system": "tmpfs"}),
        ("cores", "caution", {"cpus_allowed": 2}),
        ("cores", "caution", {"cpu_limit": 1.5}),
        ("cores", "caution", {"clients": 1024}),
        ("server user", "bad", {"server_user": None, "server_user_problem": "Set a user."}),
        ("open files", "bad", {"open_files_limit": 1024}),
        ("open files", "good", {"open_files_limit": 1024, "clients": None}),
        ("open files", "good", {"open_files_limit": None}),
    ],
)
def test_what_a_change_for_the_worse_is_called(
    topic: str, status: str, change: dict[str, Any]
) -> None:
    findings = diagnose(replace(FIT, **change))
    assert {x.topic: x.status for x in findings if x.topic == topic} == {topic: status}
    others = {x.topic for x in findings if x.status != "good"} - {topic}
    assert others <= ({"hardware counters"} if "counters_problem" in change else set())


figures = st.floats(0, 1e9)


@given(
    steal_pct=st.none() | st.floats(0, 100),
    busy_pct=st.none() | st.floats(0, 100),
    clock_read_ns=figures,
    clock_source=st.sampled_from([None, "tsc", "hpet", "xen", "arch_sys_counter"]),
    free_bytes=st.integers(0, 1 << 50),
    fsync_median_ms=st.none() | figures,
    fsync_rate_per_s=st.none() | figures,
    cpus_allowed=st.integers(1, 512),
    cpu_limit=st.none() | st.floats(0.1, 512),
    clients=st.none() | st.integers(1, 5000),
    open_files_limit=st.none() | st.integers(0, 1 << 30),
)
def test_advice_is_given_exactly_where_something_is_not_good(**change: Any) -> None:  # noqa: ANN401 - any facts
    findings = diagnose(replace(FIT, **change))
    assert [x.topic for x in findings] == [x.topic for x in diagnose(FIT)]
    for finding in findings:
        assert finding.found
        assert (finding.advice == "") == (finding.status == "good")
        assert finding.advice == "" or finding.advice.endswith(".")


def test_shares_of_cpu_time_between_two_looks() -> None:
    # user nice system idle iowait irq softirq steal guest guest_nice, in ticks
    before = parse_stat("cpu  100 0 50 800 10 0 5 35 90 0\ncpu0 1 2 3\n")
    after = parse_stat("cpu  130 0 60 910 20 0 5 75 95 0\ncpu0 1 2 3\n")
    assert before is not None
    assert after is not None
    assert after.shares_since(before) == (20.0, 20.0)
    assert parse_stat("") is None
