"""What paired trials can find: power of the paired t-test, and what follows from it.

Every block holds a pair (a trial of either level), so the log ratios of the pairs are a sample
with a standard deviation `spread`, and their mean over it has a noncentral t distribution (Cohen,
*Statistical Power Analysis*, 1988, ch. 2; R: power.t.test(type = "paired", strict = TRUE)). All
tests are two-sided at 5%; effects and spreads are on the natural logarithm.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING

import numpy as np
from scipy.optimize import brentq
from scipy.special import nctdtr
from scipy.stats import norm, t

if TYPE_CHECKING:
    from collections.abc import Iterable

ALPHA = 0.05
POWER = 0.80
FEWEST_PAIRS = 2
_MOST_NONCENTRALITY = 50.0
"""Beyond it the power differs from 1 by less than 0.0001 even for two pairs."""
_MANY = 10_000
"""From so many pairs on the normal distribution stands for the t distributions."""


@dataclass(frozen=True)
class Design:
    """Trials of `duration_s` in so many `blocks`, and the machine time of all of them."""

    duration_s: float
    blocks: int
    machine_s: float


def power(effect: float, spread: float, pairs: int) -> float:
    """Probability that so many pairs show an `effect` at 5%, two-sided.

    Raises:
        ValueError: fewer than two pairs have no spread to test against.
    """
    if pairs < FEWEST_PAIRS:
        raise ValueError(f"{pairs} pair(s) cannot be tested")
    if spread == 0:
        return 1.0 if effect else 0.0
    return _power(abs(effect) / spread * math.sqrt(pairs), pairs)


def smallest_effect(spread: float, pairs: int) -> float | None:
    """The smallest effect that so many pairs find with 80% power; None below two pairs."""
    if pairs < FEWEST_PAIRS:
        return None
    return _noncentrality(min(pairs, _MANY)) * spread / math.sqrt(pairs)


def pairs_needed(effect: float, spread: float) -> int:
    """The fewest pairs that find an effect other than 0 with 80% power; at least two."""
    if spread == 0:
        return FEWEST_PAIRS
    ratio = abs(effect) / spread
    # The t-test needs a few pairs more than the test with a known spread, never fewer.
    known = (_noncentrality(_MANY) / ratio) ** 2
    pairs = max(FEWEST_PAIRS, math.floor(known))
    while _power(ratio * math.sqrt(pairs), pairs) < POWER and pairs < known + _MANY:
        pairs += 1
    return pairs


def cheapest_design(
    effect: float,
    *,
    between: float,
    within: float,
    overhead_s: float,
    durations_s: Iterable[float],
    trials_a_pair: int = 2,
) -> Design:
    """The trial length and number of blocks that find `effect` in the least machine time.

    A trial of length T has variance `between` + `within` / T, a pair twice that (a pair of means
    over c cells of either level has `trials_a_pair` = 2 c trials and 2/c of it), and a trial takes
    T + `overhead_s` (warm-up included). Of designs that take as long, that of shorter trials.
    """

    def design(duration_s: float) -> Design:
        variance = 4 / trials_a_pair * (between + within / duration_s)
        blocks = pairs_needed(effect, math.sqrt(variance))
        return Design(duration_s, blocks, blocks * trials_a_pair * (duration_s + overhead_s))

    return min(map(design, durations_s), key=lambda d: (d.machine_s, d.duration_s))


def _power(noncentrality: float, pairs: int) -> float:
    if pairs >= _MANY:
        limit = norm.isf(ALPHA / 2)
        return float(norm.sf(limit - noncentrality) + norm.sf(limit + noncentrality))
    df = pairs - 1
    limit = t.isf(ALPHA / 2, df)
    # scipy gives NaN for probabilities that are too small for it.
    tails = nctdtr(df, min(noncentrality, _MOST_NONCENTRALITY), [limit, -limit])
    missed, wrong_side = np.nan_to_num(tails)
    return float(1 - missed + wrong_side)


@lru_cache(maxsize=1024)
def _noncentrality(pairs: int) -> float:
    """The noncentrality at which so many pairs have 80% power."""
    return float(brentq(lambda nc: _power(nc, pairs) - POWER, 0.0, _MOST_NONCENTRALITY))
