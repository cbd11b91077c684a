"""Ways to decide whether two servers differ, and how often each does, from given noise; pure.

All work on logarithms of a response. Arrays of blocks have shape (blocks, 2): the reference and
the other server in the same block.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING

import numpy as np
from scipy import stats

from teiten.stats import aligned_ranks, contrasts, kenward_roger
from teiten.stats.always_valid import interval
from teiten.stats.design import NotAnalysableError
from teiten.stats.mixed_model import fit_mixed_model
from teiten.stats.observations import observations

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from numpy.typing import NDArray

    from teiten.stats.observations import Observations

    Array = NDArray[np.float64]
    Method = Callable[[Array, Array], bool]

ALPHA = 0.05
PUBLISHED_CLIENTS = 8
"""Client counts of the published design: 2 versions x 8 client counts x 3 blocks."""


def welch(pairs: Array, _: Array) -> bool:
    """Welch's t-test of the trials, as if they had no blocks."""
    return bool(stats.ttest_ind(pairs[:, 1], pairs[:, 0], equal_var=False).pvalue < ALPHA)


def threshold(pairs: Array, _: Array) -> bool:
    """Do the medians differ by more than 2.5%?"""
    reference, other = np.exp(np.median(pairs, axis=0))
    return bool(abs(other / reference - 1.0) > 0.025)  # noqa: PLR2004 - the method itself


def paired(pairs: Array, _: Array) -> bool:
    """A t-test of the differences within blocks: what the mixed model is for one pair."""
    return bool(stats.ttest_1samp(pairs[:, 1] - pairs[:, 0], 0.0).pvalue < ALPHA)


def adjusted(pairs: Array, covariates: Array) -> bool:
    """A t-test of the differences within blocks, less what differences of covariates explain.

    `covariates` has shape (blocks, k): differences of what the servers have no part in. The test
    is that of the intercept of the regression on them (analysis of covariance).
    """
    response = pairs[:, 1] - pairs[:, 0]
    design = np.column_stack([np.ones(len(response)), covariates])
    df = len(response) - design.shape[1]
    if df < 1:
        return False
    inverse = np.linalg.pinv(design.T @ design)
    slopes = inverse @ design.T @ response
    rest = response - design @ slopes
    se = math.sqrt(max(float(rest @ rest) / df * inverse[0, 0], 0.0))
    return bool(se > 0 and 2 * stats.t.sf(abs(slopes[0]) / se, df) < ALPHA)


def published_pair(values: Array) -> bool:
    """ART of two versions in three blocks; `values` has shape (3, 2)."""
    return _art_of_ranks(tuple(stats.rankdata(values.T.ravel()).astype(int)))


@cache
def _art_of_ranks(ranks: tuple[int, ...]) -> bool:
    blocks = len(ranks) // 2
    return _art_version(np.array(ranks, dtype=float).reshape(2, 1, blocks))


def published_design(values: Array) -> bool:
    """ART of 2 versions x client counts x blocks: its test of the version."""
    return _art_version(values)


def published_cell(values: Array) -> bool:
    """ART-C of 2 versions x client counts x blocks: the versions at the first client count.

    The contrasts among all cells, adjusted by Tukey: what the published tables mark.
    """
    # Client counts differ by far more than versions do.
    trials = _trials(values + np.arange(values.shape[1])[:, np.newaxis])
    fit = fit_mixed_model(trials.with_response(aligned_ranks.ranks(trials.response)))
    family = contrasts.pairwise(fit, ["version", "clients"], "tukey")
    wanted = {("0", "0"), ("1", "0")}
    return any(c.p < ALPHA for c in family.contrasts if {c.first, c.second} == wanted)


def _trials(values: Array) -> Observations:
    places = list(np.ndindex(values.shape))
    factors = {"version": [str(v) for v, _, _ in places]}
    if values.shape[1] > 1:
        factors["clients"] = [str(c) for _, c, _ in places]
    return observations(list(values.ravel()), factors, [str(b) for _, _, b in places])


def _art_version(values: Array) -> bool:
    """The version term of the aligned rank transform; `values`: (versions, clients, blocks)."""
    trials = _trials(values)
    ranks = aligned_ranks.ranks(aligned_ranks.align(trials, ("version",)))
    try:
        fit = fit_mixed_model(trials.with_response(ranks))
        return kenward_roger.term_test(fit, ("version",)).p < ALPHA
    except NotAnalysableError:  # every block shows the same difference: R would print p = 0
        return True


def rate(decide: Callable[[], bool], repetitions: int) -> float:
    """How often it is found."""
    return sum(decide() for _ in range(repetitions)) / repetitions


def resampled(
    method: Method,
    pairs: Array,
    covariates: Array,
    blocks: int,
    *,
    draw: np.random.Generator,
    repetitions: int = 1000,
) -> float:
    """How often a method finds a difference in as many blocks, drawn with replacement."""

    def once() -> bool:
        chosen = draw.integers(len(pairs), size=blocks)
        return method(pairs[chosen], covariates[chosen])

    return rate(once, repetitions)


def fewest(power: Callable[[int], float], wanted: float, candidates: Iterable[int]) -> int | None:
    """The first number of blocks with the wanted power; None where none of them has it."""
    return next((n for n in candidates if power(n) >= wanted), None)


@dataclass(frozen=True)
class Stop:
    """Where a repetition stopped looking, and whether it had found a difference."""

    blocks: int
    found: bool


def repetitions(
    differences: Sequence[float], most_blocks: int, *, alpha: float = ALPHA
) -> list[Stop]:
    """Split a series of differences into repetitions that look after every block.

    Each begins where the one before ended, so that none shares a block with another. It ends when
    the always-valid interval leaves zero out, or after `most_blocks`. What remains at the end and
    is cut off undecided counts for nothing.
    """
    stops: list[Stop] = []
    begun = 0
    for end in range(1, len(differences) + 1):
        seen = interval(differences[begun:end], alpha)
        found = seen.lower > 0.0 or seen.upper < 0.0
        if found or seen.n == most_blocks:
            stops.append(Stop(seen.n, found))
            begun = end
    return stops


@dataclass(frozen=True)
class NoiseParts:
    """Variance of a trial's log TPS: `between / 1 + within / duration_s`."""

    between: float
    within: float

    def sd(self, duration_s: float) -> float:
        """The standard deviation of a trial of that length within its block."""
        return math.sqrt(self.between + self.within / duration_s)


def noise_parts(
    short_differences: Array, short_s: float, series: Sequence[Array], window: int
) -> NoiseParts:
    """Split the variance of short trials by the seconds within long ones.

    `series` are TPS by second of the long trials. Differences of neighbouring windows as long as
    a short trial have twice the variance that comes from within; what short trials have beyond
    that, they have from being started anew.
    """
    steps = []
    for tps in series:
        windows = np.log(tps[: len(tps) // window * window].reshape(-1, window).mean(axis=1))
        steps.extend(np.diff(windows))
    within = float(np.mean(np.square(steps))) / 2.0 * short_s
    total = float(np.var(short_differences, ddof=1)) / 2.0
    return NoiseParts(max(total - within / short_s, 0.0), min(within, total * short_s))


def simulated(
    method: Callable[[Array], bool],
    shape: tuple[int, ...],
    sd: float,
    change: float,
    *,
    draw: np.random.Generator,
    repetitions: int = 400,
) -> float:
    """How often a method finds `change` in normal noise; the versions are the axis of length 2."""
    axis = shape.index(2)
    effect = np.zeros(shape)
    np.moveaxis(effect, axis, 0)[1] = math.log1p(change)

    def once() -> bool:
        return method(effect + draw.normal(0.0, sd, shape))

    return rate(once, repetitions)
