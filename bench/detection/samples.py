"""What was measured, as arrays: one row a block."""

from __future__ import annotations

import itertools
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from teiten.archive import open_run
from teiten.archive.format import SECONDS_FILE
from teiten.run.validity import Limits

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from numpy.typing import NDArray

    from teiten.archive import Run

    Array = NDArray[np.float64]

COVARIATES = ("client_cpu_us_per_tx", "fact.steal_pct", "fact.foreign_cpu_pct")
"""What moves with the state of the machine, and what the servers have no part in."""


@dataclass(frozen=True)
class Sample:
    """The trials of a part, of the blocks that are complete: `trials` has a row a trial."""

    run: Run
    factor: str
    trials: pl.DataFrame

    def logs(self, response: str, *levels: str) -> Array:
        """Logarithms of a response, shape (blocks, levels)."""
        return np.log(self.values(response, *levels))

    def values(self, response: str, *levels: str) -> Array:
        """A response, shape (blocks, levels)."""
        wide = self.trials.pivot(on=self.factor, index="block", values=response).sort("block")
        return np.column_stack([wide[x].to_numpy().astype(np.float64) for x in levels])

    def without_foreign_load(self) -> Sample:
        """The blocks in which no trial is flagged for other programs on the machine."""
        flagged = pl.col("fact.foreign_cpu_pct") > Limits().foreign_cpu_pct
        return Sample(self.run, self.factor, self.trials.filter(~flagged.any().over("block")))

    def noise(self, response: str) -> tuple[Array, Array]:
        """Pairs of trials of one block that differ in nothing, and their covariates' differences.

        All pairs of levels, both ways, once the median effect of each level is taken out: shapes
        (pairs, 2) of logarithms, and (pairs, k) with CPU time in logarithms.
        """
        labels = self.run.study.factor[0].labels
        logs = self.logs(response, *labels)
        logs = logs - np.median(logs - logs[:, :1], axis=0)
        covariates = []
        for name in COVARIATES:
            values = self.values(name, *labels)
            covariates.append(np.log(values) if name.endswith("_per_tx") else values)
        pairs, differences = [], []
        for first, second in itertools.permutations(range(len(labels)), 2):
            pairs.append(logs[:, [first, second]])
            differences.append(np.column_stack([x[:, second] - x[:, first] for x in covariates]))
        return np.concatenate(pairs), np.concatenate(differences)

    def pair_s(self) -> float:
        """Machine time of two trials, with all that is done besides measuring."""
        started = self.trials.sort("trial")["started_at"]
        spans = started.diff().drop_nulls().dt.total_milliseconds().to_numpy() / 1000.0
        return 2.0 * float(np.median(spans))  # of a run that was cut off, one span is very long

    def seconds(self) -> list[Array]:
        """TPS by second of every trial."""
        frames = [self.run.raw_frame(number, SECONDS_FILE) for number in self.trials["trial"]]
        return [frame["tps"].to_numpy() for frame in frames if frame is not None]


def load(folder: Path, name: str) -> Sample | None:
    """The part's run, if there is one with a complete block."""
    folders: Sequence[Path] = sorted(x for x in (folder / name).glob("*") if x.is_dir())
    runs = [open_run(x) for x in folders if (x / "plan.json").exists()]
    if not runs:
        return None
    run = runs[-1]
    factor = f"factor.{run.study.factor[0].name}"
    levels = len(run.study.factor[0].labels)
    trials = run.trials.filter(pl.len().over("block") == levels)
    return None if trials.is_empty() else Sample(run, factor, trials)
