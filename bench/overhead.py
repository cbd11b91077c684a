"""What watching costs: observers on and off as a factor of an interleaved run.

    python bench/overhead.py [--blocks 30] [--duration 5] [--clients 2]

Prints, for each workload, the ratio of TPS with all observers to TPS with none, as the median of
the ratios of pairs in the same block with a distribution-free 95% interval (the sign test's, from
order statistics), and the difference in user instructions per transaction where the host can count
them.
"""

from __future__ import annotations

import argparse
import math
import statistics
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

import polars as pl

from teiten.archive import open_run
from teiten.cli.progress import shown_progress
from teiten.observe.counters import CountersObserver
from teiten.run.executor import start_run
from teiten.study import parse_study

if TYPE_CHECKING:
    from collections.abc import Sequence

STUDY = """
name = "overhead"
title = { en = "What watching costs" }
blocks = 30
seed = 1
[setup]
server = "npm:18.1"
data = { kind = "pgbench", scale = 10 }
load = { kind = "pgbench", script = "readonly.sql", duration_s = 5, warmup_s = 1 }
reset = "study"
[setup.settings]
shared_buffers = "512MB"
autovacuum = false
checkpoint_timeout = "60min"
max_wal_size = "16GB"
[[factor]]
name = "workload"
[factor.levels]
"read" = { load = { script = "readonly.sql" } }
"update" = { load = { script = "update.sql" } }
[[factor]]
name = "observers"
reference = "none"
[factor.levels]
"none" = { observe = [] }
"all" = { observe = ["sysstat", "procfs", "counters", "pgstat"] }
"""

LEVELS_WITH_COUNTERS = (
    '{ none = { observe = [] }, counters = { observe = ["counters"] }, '
    'all = { observe = ["sysstat", "procfs", "counters", "pgstat"] } }'
)


def median_interval(values: Sequence[float], confidence: float = 0.95) -> tuple[float, float]:
    """Distribution-free confidence interval of a median, from order statistics.

    The widest pair of order statistics that the sign test does not reject (Conover, Practical
    Nonparametric Statistics, section 3.2).
    """
    ordered = sorted(values)
    n = len(ordered)
    tail, rank = 0.0, 0
    while rank < n // 2:
        tail += math.comb(n, rank) / 2**n
        if tail > (1 - confidence) / 2:
            break
        rank += 1
    if rank == 0:
        raise SystemExit(f"{n} blocks are too few for a {confidence:.0%} interval: take 6 or more.")
    return ordered[rank - 1], ordered[n - rank]


def paired_ratios(trials: pl.DataFrame, response: str, level: str) -> list[float]:
    """Ratios of a response at `level` to that with no observers, one a block."""
    if response not in trials.columns:
        return []
    wide = trials.pivot(on="factor.observers", index="block", values=response).drop_nulls()
    if level not in wide.columns or "none" not in wide.columns:
        return []
    return (wide[level] / wide["none"]).to_list()


def report(trials: pl.DataFrame) -> None:
    """Print the figures of one workload."""
    ratios = paired_ratios(trials, "tps", "all")
    low, high = median_interval(ratios)
    print(
        f"  TPS with all observers / without: {statistics.median(ratios):.4f} "
        f"(95% interval {low:.4f} to {high:.4f}, {len(ratios)} blocks)"
    )
    if "instructions_per_tx" not in trials.columns:
        print("  instructions per transaction: this host has no hardware counters")
        return
    counted = trials.pivot(
        on="factor.observers", index="block", values="instructions_per_tx"
    ).drop_nulls(["counters", "all"])
    differences = (counted["all"] - counted["counters"]).to_list()
    low, high = median_interval(differences)
    print(
        f"  instructions per transaction, all observers minus counters alone: "
        f"{statistics.median(differences):+,.0f} (95% interval {low:+,.0f} to {high:+,.0f})"
    )


def main() -> None:
    """Run the study and print the ratios."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--blocks", type=int, default=30)
    parser.add_argument("--duration", type=int, default=5, help="seconds a trial")
    parser.add_argument("--clients", type=int, default=2)
    parser.add_argument("--archive", type=Path, help="keep the run here")
    asked = parser.parse_args()
    overrides = [
        f"blocks={asked.blocks}",
        f"setup.load.duration_s={asked.duration}",
        f"setup.clients={asked.clients}",
    ]
    if CountersObserver().unavailable() is None:
        # Counted alone, for the difference that the other observers make to the counts.
        overrides.append(f"factor.observers.levels={LEVELS_WITH_COUNTERS}")
    study = parse_study(STUDY, where="overhead", overrides=overrides)
    with tempfile.TemporaryDirectory() as scratch, shown_progress() as progress:
        folder = start_run(study, asked.archive or Path(scratch), progress)
        trials = open_run(folder).trials
    for workload in ("read", "update"):
        print(f"{workload}, {asked.clients} clients, {asked.duration} s a trial:")
        report(trials.filter(pl.col("factor.workload") == workload))


if __name__ == "__main__":
    main()
