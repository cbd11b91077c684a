"""Error rates and sample sizes of `--until-decided`, by simulation, beside naive looking.

    python bench/until_decided.py [--runs 20000]

A run is a series of up to 200 blocks; each gives one log ratio to the reference (for a family: one
for each of 8 contrasts). After every block from the third on three rules look at it, and each
decides `same` where its interval lies within the margin of 1%, else `higher` or `lower` where it
excludes zero:

- always valid: the interval of `teiten.stats.always_valid` (what teiten does);
- naive: the ordinary 95% t interval, looked at after every block;
- fixed: the same t interval looked at once, after as many blocks as decide rightly in 80% of the
  runs. Nobody knows that number before the run: it is the mark that cannot be reached.

`wrong ever` counts runs in which a wrong decision stood at any of the looks, `wrong at stop` those
whose first decision was wrong. Wrong is a difference where there is none, `same` where the truth is
on the margin or beyond it, and the wrong direction. Intervals are 95%, exact binomial.
"""

from __future__ import annotations

import argparse
import math
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from scipy import stats

from teiten.stats.always_valid import half_width_sds

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

MARGIN = 0.01
ALPHA = 0.05
LOOKS = 200
FIRST_LOOK = 3
POWER = 0.8
SAME, HIGHER, LOWER = 1, 2, 3


@dataclass(frozen=True)
class Scenario:
    """Truth (a ratio less 1), standard deviation of the log ratio, and the form of its noise."""

    name: str
    change: float
    sd: float
    noise: Callable[[np.random.Generator, int], NDArray[np.float64]]
    contrasts: int = 1


def normal(rng: np.random.Generator, runs: int) -> NDArray[np.float64]:
    """Independent and normal, as the method takes it."""
    return rng.standard_normal((runs, LOOKS))


def heavy_tailed(rng: np.random.Generator, runs: int) -> NDArray[np.float64]:
    """Student's t with 3 degrees of freedom."""
    return rng.standard_t(3, (runs, LOOKS)) / math.sqrt(3.0)


def stalls(rng: np.random.Generator, runs: int) -> NDArray[np.float64]:
    """One trial in twenty, of either server, is slowed down by about 5 sd."""
    stalled = rng.random((runs, LOOKS, 2)) < 1 / 20
    slow = (stalled * rng.exponential(5.0, stalled.shape)) @ np.array([1.0, -1.0])
    noise = np.asarray(rng.standard_normal((runs, LOOKS)) + slow, dtype=np.float64)
    return noise / math.sqrt(1 + 2 * 2.5 - 2 * 0.25**2)


def stalls_of_one(rng: np.random.Generator, runs: int) -> NDArray[np.float64]:
    """One trial in twenty of one server only is slowed down (skewed; its mean is part of truth)."""
    slow = (rng.random((runs, LOOKS)) < 1 / 20) * rng.exponential(5.0, (runs, LOOKS))
    return (rng.standard_normal((runs, LOOKS)) + 0.25 - slow) / math.sqrt(1 + 2.5 - 0.25**2)


def machine_drifts(rng: np.random.Generator, runs: int) -> NDArray[np.float64]:
    """Every trial meets a machine that wanders (a random walk), in random order within blocks."""
    walk = np.cumsum(rng.standard_normal((runs, 2 * LOOKS)), axis=1)
    trials = walk + rng.standard_normal((runs, 2 * LOOKS))
    first = rng.choice([-1.0, 1.0], (runs, LOOKS))
    return first * (trials[:, 1::2] - trials[:, ::2]) / math.sqrt(3.0)


def autocorrelated(rng: np.random.Generator, runs: int) -> NDArray[np.float64]:
    """The log ratios themselves are an AR(1) process with coefficient 0.3: the model is wrong."""
    fresh = rng.standard_normal((runs, LOOKS))
    series = np.empty_like(fresh)
    series[:, 0] = fresh[:, 0]
    for i in range(1, LOOKS):
        series[:, i] = 0.3 * series[:, i - 1] + math.sqrt(1 - 0.09) * fresh[:, i]
    return series


SCENARIOS = (
    *(
        Scenario("normal", change, sd, normal)
        for sd in (0.00002, 0.01, 0.03)
        for change in (0.0, 0.005, 0.01, -0.01, 0.02, 0.05)
    ),
    *(Scenario("heavy tails, t(3)", change, 0.03, heavy_tailed) for change in (0.0, 0.01)),
    *(Scenario("stalls of both", change, 0.03, stalls) for change in (0.0, 0.01)),
    *(Scenario("stalls of one", change, 0.03, stalls_of_one) for change in (0.0, 0.01)),
    *(Scenario("machine drifts", change, 0.03, machine_drifts) for change in (0.0, 0.01)),
    *(Scenario("AR(1) 0.3, violated", change, 0.03, autocorrelated) for change in (0.0, 0.01)),
    *(Scenario("8 contrasts", change, 0.01, normal, contrasts=8) for change in (0.0, 0.01)),
)


def decisions(
    values: NDArray[np.float64], half_widths_sds: NDArray[np.float64]
) -> NDArray[np.int8]:
    """What a rule says after each look, shape of `values` (runs, looks); 0 is undecided."""
    n = np.arange(1, LOOKS + 1)
    mean = np.cumsum(values, axis=1) / n
    # About the run's own mean, so that a spread of 1e-5 around 0.05 keeps its digits.
    centred = values - values.mean(axis=1, keepdims=True)
    sums, squares = np.cumsum(centred, axis=1), np.cumsum(centred**2, axis=1)
    variance = np.maximum(squares - sums**2 / n, 0.0) / np.maximum(n - 1, 1)
    with np.errstate(invalid="ignore"):
        half_width = np.where(np.isinf(half_widths_sds), np.inf, half_widths_sds * variance**0.5)
    said = np.zeros(values.shape, dtype=np.int8)
    said[mean - half_width > 0] = HIGHER
    said[mean + half_width < 0] = LOWER
    within = (mean - half_width > math.log1p(-MARGIN)) & (mean + half_width < math.log1p(MARGIN))
    said[within] = SAME
    said[:, : FIRST_LOOK - 1] = 0
    return said


def wrong(said: NDArray[np.int8], change: float) -> NDArray[np.bool_]:
    """Where a decision contradicts the truth."""
    if change == 0:
        contradicts = said >= HIGHER
    else:
        against = LOWER if change > 0 else HIGHER
        contradicts = (said == against) | ((said == SAME) & (abs(change) >= MARGIN))
    return np.asarray(contradicts, dtype=np.bool_)


@dataclass(frozen=True)
class Outcome:
    """Of one rule: runs with a wrong decision, and after how many blocks it stops (or LOOKS + 1).

    `rightly` is the share of runs with a right decision (of all contrasts) at each look.
    """

    wrong_ever: int
    wrong_at_stop: int
    blocks: NDArray[np.int64]
    rightly: NDArray[np.float64]


def outcome(said: NDArray[np.int8], change: float, contrasts: int) -> Outcome:
    """Judge a rule; rows of one family stand together, and all must be decided to stop."""
    families = said.reshape(-1, contrasts, LOOKS)
    bad: NDArray[np.bool_] = np.any(wrong(families, change), axis=1)
    decided: NDArray[np.bool_] = np.all(families > 0, axis=1)
    stops = np.where(np.any(decided, axis=1), np.argmax(decided, axis=1), LOOKS)
    at_stop = bad[np.arange(len(stops)), np.minimum(stops, LOOKS - 1)] & (stops < LOOKS)
    return Outcome(
        int(np.count_nonzero(np.any(bad, axis=1))),
        int(np.count_nonzero(at_stop)),
        stops + 1,
        np.mean(decided & ~bad, axis=0, dtype=np.float64),
    )


def rate(count: int, runs: int) -> str:
    """A share in percent with its interval."""
    bounds = stats.binomtest(count, runs).proportion_ci(method="exact")
    return f"{100 * count / runs:5.2f} ({100 * bounds.low:4.2f}-{100 * bounds.high:5.2f})"


def blocks_text(blocks: NDArray[np.int64], share: float) -> str:
    """The number of blocks by which this share of the runs had stopped."""
    n = int(np.quantile(blocks, share, method="higher"))
    return f">{LOOKS}" if n > LOOKS else str(n)


def main() -> None:
    """Simulate all scenarios and print the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--runs", type=int, default=20_000, help="simulated runs a scenario")
    parser.add_argument("--seed", type=int, default=20260101)
    arguments = parser.parse_args()
    began_s = time.monotonic()
    n = np.arange(1, LOOKS + 1)
    print(
        f"{'noise':20} {'truth':>6} {'sd':>7} | {'always valid: wrong ever, %':26} "
        f"{'at stop, %':>20} {'median':>6} {'80%':>5} | {'naive: wrong ever, %':20} "
        f"{'at stop':>7} {'median':>6} | {'fixed':>5}"
    )
    for number, scenario in enumerate(SCENARIOS):
        rng = np.random.default_rng([arguments.seed, number])
        runs = arguments.runs // scenario.contrasts
        noise = scenario.noise(rng, runs * scenario.contrasts)
        values = math.log1p(scenario.change) + scenario.sd * noise
        alpha = ALPHA / scenario.contrasts
        valid_widths = np.array([half_width_sds(int(i), alpha) for i in n])
        t_widths = np.full(LOOKS, np.inf)
        t_widths[1:] = stats.t.isf(alpha / 2, n[1:] - 1) / np.sqrt(n[1:])
        valid = outcome(decisions(values, valid_widths), scenario.change, scenario.contrasts)
        naive = outcome(decisions(values, t_widths), scenario.change, scenario.contrasts)
        enough = np.flatnonzero(naive.rightly >= POWER)
        print(
            f"{scenario.name:20} {100 * scenario.change:+5.1f}% {100 * scenario.sd:6.3f}% | "
            f"{rate(valid.wrong_ever, runs):26} {rate(valid.wrong_at_stop, runs):>20} "
            f"{blocks_text(valid.blocks, 0.5):>6} {blocks_text(valid.blocks, 0.8):>5} | "
            f"{rate(naive.wrong_ever, runs):20} {100 * naive.wrong_at_stop / runs:7.2f} "
            f"{blocks_text(naive.blocks, 0.5):>6} | "
            f"{int(enough[0]) + 1 if enough.size else f'>{LOOKS}':>5}",
            flush=True,
        )
    print(f"{arguments.runs} runs a scenario, {time.monotonic() - began_s:.0f} s")


if __name__ == "__main__":
    main()
