"""What pgbench prints and logs, read back. The texts were printed by pgbench 18.6."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from teiten.errors import ClientFailedError
from teiten.load.pgbench import (
    MAX_LOGGED_TRANSACTIONS,
    latency_percentiles_ms,
    log_rate_for,
    parse_progress,
    parse_summary,
    read_logs,
)

if TYPE_CHECKING:
    from pathlib import Path

SUMMARY = """\
transaction type: script.sql
scaling factor: 1
query mode: simple
number of clients: 4
number of threads: 2
maximum number of tries: 1
duration: 2 s
number of transactions actually processed: 5234
number of failed transactions: 3 (0.057%)
latency average = 1.528 ms
latency stddev = 0.911 ms
initial connection time = 5.377 ms
tps = 2617.731428 (without initial connection time)
"""

PROGRESS = """\
pgbench (18.6, server 17.7)
progress: 1.0 s, 2640.0 tps, lat 1.511 ms stddev 0.899, 0 failed
progress: 2.0 s, 2594.1 tps, lat 1.540 ms stddev 0.922, 3 failed
"""


def test_the_summary_gives_counts_rates_and_latency() -> None:
    assert parse_summary(SUMMARY) == {
        "transactions": 5234,
        "failed": 3,
        "tps": 2617.731428,
        "latency_mean_ms": 1.528,
    }


def test_a_summary_without_any_transaction_has_no_rate() -> None:
    text = "number of transactions actually processed: 0\nnumber of failed transactions: 0 (NaN%)\n"
    assert parse_summary(text)["tps"] == 0


@pytest.mark.parametrize("kept_lines", range(7))
def test_a_summary_that_was_cut_off_is_refused(kept_lines: int) -> None:
    with pytest.raises(ClientFailedError, match="cut off"):
        parse_summary("".join(SUMMARY.splitlines(keepends=True)[:kept_lines]))


def test_progress_lines_become_one_row_a_second() -> None:
    assert parse_progress(PROGRESS).rows() == [
        (1, 2640.0, 1.511, 0.899, 0),
        (2, 2594.1, 1.540, 0.922, 3),
    ]


def test_a_second_without_transactions_is_kept_as_such() -> None:
    frame = parse_progress("progress: 3.0 s, 0.0 tps, lat -nan ms stddev -nan, 0 failed\n")
    assert frame["tps"].to_list() == [0.0]
    assert math.isnan(frame["latency_mean_ms"][0])


def test_logs_of_several_threads_are_merged_in_completion_order(tmp_path: Path) -> None:
    (tmp_path / "log.1").write_text("0 1 1500 0 1700000000 900000\n0 2 failed 0 1700000002 5\n")
    (tmp_path / "log.1.1").write_text("1 1 2500 0 1700000001 100\n")
    (tmp_path / "log.1.2").write_text("")
    log = read_logs(sorted(tmp_path.iterdir()))
    assert log.rows() == [
        (1700000000900000, 1500, 0),
        (1700000001000100, 2500, 1),
        (1700000002000005, None, 0),
    ]


def test_no_log_gives_an_empty_table_and_no_percentiles() -> None:
    assert latency_percentiles_ms(read_logs([])) == {}


@given(latencies=st.lists(st.integers(1, 10_000_000), min_size=1, max_size=300))
def test_percentiles_are_observed_latencies_in_order(
    latencies: list[int], tmp_path_factory: pytest.TempPathFactory
) -> None:
    path = tmp_path_factory.mktemp("log") / "log"
    path.write_text("".join(f"0 {i} {x} 0 1700000000 {i}\n" for i, x in enumerate(latencies)))
    found = latency_percentiles_ms(read_logs([path]))
    observed = [x / 1000 for x in latencies]
    assert set(found.values()) <= set(observed)
    assert list(found.values()) == sorted(found.values())
    assert found["latency_max_ms"] == max(observed)


@given(tps=st.floats(0.1, 1e6), duration_s=st.integers(1, 86400))
def test_the_log_is_bounded_and_whole_where_it_can_be(tps: float, duration_s: int) -> None:
    rate = log_rate_for(tps, duration_s)
    assert 0 < rate <= 1
    # Also when the load turns out twice as fast as its warm-up.
    assert rate * 2 * tps * duration_s <= MAX_LOGGED_TRANSACTIONS * 1.000001
    assert (rate == 1) == (2 * tps * duration_s <= MAX_LOGGED_TRANSACTIONS)
