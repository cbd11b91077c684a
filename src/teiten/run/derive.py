"""From what load and observers saw to the responses of a trial. Pure."""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import TYPE_CHECKING

from teiten.load.pgbench import latency_percentiles_ms

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from teiten.load.pgbench import PgbenchResult
    from teiten.observe.base import Observation


@dataclass(frozen=True)
class Baseline:
    """A short window with the same clients, whose totals are subtracted.

    A client's connection and first statement cost the server work that has nothing to do with
    the transactions counted. A window with one transaction a client holds just that, so that the
    difference of two windows is the cost of the further transactions alone.
    """

    totals: Mapping[str, float]
    transactions: int


def per_transaction(
    totals: Mapping[str, float], transactions: int, baseline: Baseline | None = None
) -> dict[str, float]:
    """Divide totals of a window by its transactions: `wal_bytes` becomes `wal_bytes_per_tx`.

    Totals that the baseline has too are divided as differences, (total - baseline total) /
    (transactions - baseline transactions). With no transaction left to divide by, nothing is
    given.
    """
    result = {}
    for name, total in totals.items():
        amount, count = total, transactions
        if baseline is not None and name in baseline.totals:
            amount -= baseline.totals[name]
            count -= baseline.transactions
        if count > 0:
            result[f"{name}_per_tx"] = amount / count
    return result


def responses_of(
    load: PgbenchResult,
    observations: Sequence[Observation],
    baseline: Baseline | None,
) -> dict[str, float]:
    """All responses of a trial, by name."""
    logged = load.transactions_log["latency_us"].drop_nulls()
    # The log holds microseconds where pgbench's summary has three decimals of a millisecond.
    exact = load.sampling_rate == 1.0 and not logged.is_empty()
    mean_us = logged.mean() if exact else None
    responses = {
        "tps": load.tps,
        "transactions": float(load.transactions),
        "failed_tx": float(load.failed),
        "latency_mean_ms": mean_us / 1000 if isinstance(mean_us, float) else load.latency_mean_ms,
        **latency_percentiles_ms(load.transactions_log),
        "client_cpu_us_per_tx": load.client_cpu_s * 1e6 / load.transactions,
        "client_cpu_pct": client_cpu_pct(load),
    }
    for observation in observations:
        responses |= observation.values
        responses |= per_transaction(observation.totals, load.transactions, baseline)
    return responses


def client_cpu_pct(load: PgbenchResult) -> float:
    """CPU time of pgbench in percent of what its threads could use (100: every thread busy).

    More threads than CPUs can use no more than the CPUs.
    """
    usable = min(load.threads, os.cpu_count() or load.threads)
    return 100 * load.client_cpu_s / (load.elapsed_s * usable)
