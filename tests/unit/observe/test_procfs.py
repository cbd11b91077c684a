"""CPU accounting from /proc, as arithmetic on made-up numbers."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from teiten.observe.processes import CpuTime, parse_stat, subtree
from teiten.observe.procfs import Snapshot, compare, parse_machine

# proc(5): pid (comm) state ppid pgrp session tty tpgid flags minflt cminflt majflt cmajflt
# utime stime cutime cstime ...
STAT = "812 (post gres: (a) b) S 7 812 812 0 -1 4194560 9 0 0 0 150 50 1000 500 20 0 1 0 99 1 1\n"


def test_a_process_whose_name_holds_spaces_and_parentheses() -> None:
    process = parse_stat(STAT, tick_s=0.01)
    assert (process.pid, process.parent, process.kernel_thread) == (812, 7, False)
    assert (process.user_s, process.system_s) == (1.5, 0.5)
    assert (process.reaped_user_s, process.reaped_system_s) == (10.0, 5.0)


def test_kernel_threads_are_known_by_their_flag() -> None:
    line = "15 (kworker/0:1) I 2 0 0 0 -1 69238880 0 0 0 0 0 7 0 0 20 0 1 0 1 0 0\n"
    assert parse_stat(line, tick_s=0.01).kernel_thread


def test_machine_times_of_a_kernel_without_steal() -> None:
    machine = parse_machine("cpu  100 10 50 800 20 5 15\ncpu0 1 1 1 1 1 1 1\n", tick_s=0.01)
    assert machine["user"] == 1.0
    assert machine["softirq"] == 0.15
    assert machine["steal"] == 0.0


def test_foreign_load_is_what_nobody_known_used() -> None:
    idle = _snapshot(0.0, user=0.0, system=0.0)
    after = _snapshot(10.0, user=9.0, system=3.0, server=5.0, own=2.0, kernel=1.0)
    seen = compare(idle, after, cpus=2, has_server=True)
    assert seen.facts["foreign_cpu_pct"] == pytest.approx(100.0 * 4.0 / 20.0)
    assert seen.totals["server_cpu_us"] == pytest.approx(5e6)
    assert seen.values["server_cpu_pct"] == pytest.approx(25.0)


def test_a_server_of_others_and_a_server_that_ended_give_no_server_time() -> None:
    before, after = _snapshot(0.0, server=5.0), _snapshot(10.0, server=0.0)
    for seen in (
        compare(before, after, cpus=2, has_server=False),
        compare(before, after, cpus=2, has_server=True),
    ):
        assert not seen.totals
        assert "foreign_cpu_pct" not in seen.facts
        assert len(seen.notes) == 1


@given(
    st.floats(0.001, 1e4),
    st.integers(1, 256),
    st.tuples(*(st.floats(0.0, 1e6) for _ in range(5))),
)
def test_percentages_stay_percentages(
    duration_s: float, cpus: int, used: tuple[float, ...]
) -> None:
    user, system, server, own, kern = used
    after = _snapshot(duration_s, user=user, system=system, server=server, own=own, kernel=kern)
    facts = compare(_snapshot(0.0), after, cpus=cpus, has_server=True).facts
    assert 0.0 <= facts["foreign_cpu_pct"] <= 100.0


@given(st.dictionaries(st.integers(1, 40), st.integers(0, 40), max_size=40), st.integers(1, 40))
def test_a_subtree_holds_its_root_and_is_closed_under_children(
    parents: dict[int, int], root: int
) -> None:
    tree = subtree(parents, root)
    assert (root in tree) == (root in parents)
    assert all(pid in tree for pid, parent in parents.items() if parent in tree)
    assert all(pid == root or parents[pid] in tree for pid in tree)


def _snapshot(
    time_s: float,
    *,
    user: float = 0.0,
    system: float = 0.0,
    server: float = 0.0,
    own: float = 0.0,
    kernel: float = 0.0,
) -> Snapshot:
    machine = dict.fromkeys(("nice", "idle", "iowait", "irq", "softirq", "steal"), 0.0)
    return Snapshot(
        time_s,
        machine | {"user": user, "system": system},
        *(CpuTime(x, x, 0.0) for x in (server, own, kernel)),
    )
