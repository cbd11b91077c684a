from __future__ import annotations

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from teiten.load.pgbench import PgbenchResult, parse_progress
from teiten.observe.base import Observation
from teiten.run.derive import Baseline, client_cpu_pct, per_transaction, responses_of

counts = st.integers(1, 10**7)
costs = st.floats(0.001, 1e9)


def result(latencies_us: list[int], *, sampling_rate: float = 1.0) -> PgbenchResult:
    return PgbenchResult(
        transactions=1000,
        failed=2,
        tps=100.0,
        latency_mean_ms=9.999,
        elapsed_s=10.0,
        threads=2,
        client_cpu_s=5.0,
        sampling_rate=sampling_rate,
        seconds=parse_progress(""),
        transactions_log=pl.DataFrame(
            {"latency_us": latencies_us}, schema={"latency_us": pl.Int64}
        ),
    )


@given(clients=counts, further=counts, connect=costs, cost=costs)
def test_connection_costs_cancel_exactly(
    clients: int, further: int, connect: float, cost: float
) -> None:
    """A window costs clients * connect + transactions * cost; the difference leaves the latter."""
    baseline = Baseline({"instructions": clients * (connect + cost)}, clients)
    measured = clients + further
    total = clients * connect + measured * cost
    scale = (clients * connect) / (further * cost)
    found = per_transaction({"instructions": total}, measured, baseline)
    assert found["instructions_per_tx"] == pytest.approx(cost, rel=1e-9 * (1 + scale))


@given(total=costs, transactions=counts)
def test_totals_unknown_to_the_baseline_are_divided_by_all_transactions(
    total: float, transactions: int
) -> None:
    found = per_transaction({"wal_bytes": total}, transactions, Baseline({"instructions": 5.0}, 1))
    assert found == {"wal_bytes_per_tx": total / transactions}


def test_nothing_is_divided_by_zero_transactions() -> None:
    assert per_transaction({"instructions": 5.0}, 3, Baseline({"instructions": 5.0}, 3)) == {}


def test_latency_comes_from_the_log_where_it_is_whole() -> None:
    assert responses_of(result([1000, 2001]), [], None)["latency_mean_ms"] == 1.5005


def test_latency_comes_from_the_summary_where_the_log_is_a_sample() -> None:
    found = responses_of(result([1000, 2001], sampling_rate=0.5), [], None)
    assert found["latency_mean_ms"] == 9.999


def test_values_of_observers_are_taken_and_totals_divided() -> None:
    seen = Observation(totals={"wal_bytes": 5000.0}, values={"cpu_usr_pct": 42.0})
    found = responses_of(result([1]), [seen], None)
    assert found["cpu_usr_pct"] == 42.0
    assert found["wal_bytes_per_tx"] == 5.0
    assert found["failed_tx"] == 2.0


def test_client_cpu_is_in_percent_of_its_threads() -> None:
    assert client_cpu_pct(result([1])) == 25.0
