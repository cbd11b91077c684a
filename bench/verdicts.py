"""How often are verdicts wrong? Error rates of runs with a fixed number of blocks, by simulation.

    python bench/verdicts.py [--runs 400]

Simulates whole runs of 2 and 4 versions at 1 and 4 client counts with 3, 5 and 10 blocks, on the
logarithm: normal noise of blocks, block:version, block:clients and residual; the same without the
two interactions (their variances are then estimated as zero in half of the runs); Student's t with
3 degrees of freedom as residual; and a tenth of the trials lost. Prints

- false alarms: runs in which any version is called higher or lower though none differs (the
  intervals of the changes all cover the truth in all other runs, whatever the truth is);
- by clients: runs in which any interval at one client count excludes the truth;
- false same: runs in which any version is called the same though all differ by the margin;
- power: versions found higher (the interval excludes no change) that truly are by 3%;
- more blocks: of undecided runs given the number of blocks that the verdict asked for, those that
  were decided, if the estimate is the truth and if it is what it really was.
"""

from __future__ import annotations

import argparse
import math
import time
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from teiten.analysis.trials import ResponseGroup
from teiten.analysis.verdicts import fixed_verdicts
from teiten.stats.observations import Column, Observations
from teiten.stats.proportions import exact

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from teiten.analysis.conclusions import Verdict

MARGIN = 0.01
MOST_FURTHER_BLOCKS = 100
MOST_BLOCKS = 10


@dataclass(frozen=True)
class Noise:
    """Standard deviations on the logarithm; `heavy` residuals have Student's t with 3 df."""

    name: str
    block: float = 0.02
    block_version: float = 0.006
    block_clients: float = 0.006
    residual: float = 0.01
    heavy: bool = False
    lost: float = 0.0

    def times(self, factor: float) -> Noise:
        """The same noise, louder or quieter."""
        parts = ("block", "block_version", "block_clients", "residual")
        return replace(self, **{part: factor * getattr(self, part) for part in parts})


NOISES = (
    Noise("normal"),
    Noise("no interactions", block_version=0.0, block_clients=0.0),
    Noise("no blocks", block=0.0, block_version=0.0, block_clients=0.0),
    Noise("heavy tails", heavy=True),
    Noise("a tenth lost", lost=0.1),
)


@dataclass(frozen=True)
class Size:
    """How many of what a run has."""

    versions: int
    clients: int
    blocks: int


def log_trials(
    rng: np.random.Generator, size: Size, noise: Noise, changes: Sequence[float]
) -> NDArray[np.float64]:
    """The logarithms of a made-up run, shape (blocks, versions, clients)."""
    shape = (size.blocks, size.versions, size.clients)
    residual = (
        rng.standard_t(3, shape) / math.sqrt(3) if noise.heavy else rng.standard_normal(shape)
    )
    logs: NDArray[np.float64] = noise.residual * residual
    logs += noise.block * rng.standard_normal((size.blocks, 1, 1))
    if size.clients > 1:
        logs += noise.block_version * rng.standard_normal((size.blocks, size.versions, 1))
        logs += noise.block_clients * rng.standard_normal((size.blocks, 1, size.clients))
    logs += np.asarray(changes)[:, np.newaxis] + np.arange(size.clients)
    return logs


def group_of(
    logs: NDArray[np.float64], rng: np.random.Generator | None = None, lost: float = 0.0
) -> ResponseGroup:
    """The trials as they are analysed; a share of them is lost, never all of a treatment."""
    block, version, clients = (index.ravel() for index in np.indices(logs.shape))
    factors = [Column("version", tuple(f"v{i}" for i in range(logs.shape[1])), version)]
    if logs.shape[2] > 1:
        factors.append(Column("clients", tuple(str(i) for i in range(logs.shape[2])), clients))
    names = tuple(str(i) for i in range(logs.shape[0]))
    seen = Observations(np.exp(logs).ravel(), tuple(factors), Column("block", names, block))
    if rng is not None and lost > 0:
        kept = rng.random(seen.n) >= lost
        counts = np.bincount(seen.cells()[kept], minlength=logs[0].size)
        kept |= counts[seen.cells()] == 0
        seen = seen.only(kept)
    return ResponseGroup("tps", {}, seen, np.arange(1, seen.n + 1), "v0")


def verdicts_of(
    rng: np.random.Generator, size: Size, noise: Noise, changes: Sequence[float]
) -> tuple[Verdict, ...]:
    """The verdicts of one made-up run."""
    logs = log_trials(rng, size, noise, changes)
    return fixed_verdicts([group_of(logs, rng, noise.lost)], MARGIN)


def claims_difference(verdicts: Sequence[Verdict]) -> bool:
    """Whether any interval excludes no change (a change called `same` may be real as well)."""
    return any(v.overall.lower > 0 or v.overall.upper < 0 for v in verdicts)


def error_rates(runs: int, seed: int) -> None:
    """Print false alarms, false sameness and power."""
    print("versions clients blocks noise            false alarms  by clients  false same  power")
    for versions, clients, blocks in (
        (v, c, b) for v in (2, 4) for c in (1, 4) for b in (3, 5, MOST_BLOCKS)
    ):
        size = Size(versions, clients, blocks)
        for noise in NOISES:
            if clients == 1 and noise.name == "no interactions":
                continue
            if blocks == MOST_BLOCKS and noise.lost:
                continue  # the slowest fits, and a loss that matters least
            rng = np.random.default_rng([seed, versions, clients, blocks, NOISES.index(noise)])
            alarms = by_clients = same = found = 0
            for _ in range(runs):
                verdicts = verdicts_of(rng, size, noise, [0.0] * versions)
                alarms += claims_difference(verdicts)
                by_clients += any(
                    e.lower > 0 or e.upper < 0 for v in verdicts for e in v.by_x.values()
                )
                at_margin = [0.0] + [math.log1p(MARGIN)] * (versions - 1)
                verdicts = verdicts_of(rng, size, noise.times(0.3), at_margin)
                same += any(v.decision == "same" for v in verdicts)
                verdicts = verdicts_of(rng, size, noise, [0.0] + [0.03] * (versions - 1))
                found += sum(v.overall.lower > 0 for v in verdicts)
            print(
                f"{versions:8} {clients:7} {blocks:6} {noise.name:16} "
                f"{_share(alarms, runs)}  {_share(by_clients, runs)}  "
                f"{_share(same, runs)}  {found / runs / (versions - 1):5.1%}",
                flush=True,
            )


def further_blocks(runs: int, seed: int) -> None:
    """Print how many undecided runs are decided by the blocks that they ask for."""
    print("\nclients blocks   asked (median)   decided if the estimate is true   as it really was")
    for clients, blocks in ((c, b) for c in (1, 4) for b in (3, 5, 10)):
        size, noise = Size(2, clients, blocks), NOISES[0]
        rng = np.random.default_rng([seed, clients, blocks])
        asked: list[int] = []
        decided = {"estimate": 0, "truth": 0}
        for run in range(runs):
            change = (0.0, 0.01, 0.02)[run % 3]
            logs = log_trials(rng, size, noise, (0.0, change))
            (verdict,) = fixed_verdicts([group_of(logs)], MARGIN)
            more = verdict.more_blocks
            if verdict.decision != "undecided" or more is None or more > MOST_FURTHER_BLOCKS:
                continue
            asked.append(more)
            for which, true in (
                ("estimate", math.log1p(verdict.overall.change)),
                ("truth", change),
            ):
                further = log_trials(rng, replace(size, blocks=more), noise, (0.0, true))
                (then,) = fixed_verdicts([group_of(np.concatenate([logs, further]))], MARGIN)
                decided[which] += then.decision != "undecided"
        print(
            f"{clients:7} {blocks:6}   {np.median(asked):5.0f} of {len(asked):4}"
            f"         {_share(decided['estimate'], len(asked))}"
            f"              {_share(decided['truth'], len(asked))}",
            flush=True,
        )


def _share(count: int, of: int) -> str:
    found = exact(count, of)
    return f"{count / of:5.1%} ({found.lower:.1%}-{found.upper:.1%})"


def main() -> None:
    """Run both parts."""
    options = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    options.add_argument("--runs", type=int, default=400)
    options.add_argument("--seed", type=int, default=1)
    args = options.parse_args()
    began_s = time.perf_counter()
    print(f"{args.runs} runs a line, margin {MARGIN:.0%}; 95% intervals of shares in brackets\n")
    error_rates(args.runs, args.seed)
    further_blocks(args.runs, args.seed)
    print(f"\n{time.perf_counter() - began_s:.0f} s")


if __name__ == "__main__":
    main()
