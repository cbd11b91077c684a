"""The spread of A/A pairs, and how much of it longer trials would take away.

A trial of T seconds has on the logarithm the variance between + within / T: what differs from
trial to trial whatever their length, and what averages out over the seconds of a trial.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from scipy.stats import chi2, f

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

_TAIL = 0.025
_FEWEST = 2


@dataclass(frozen=True)
class Spread:
    """A standard deviation with its 95% interval, from `df` degrees of freedom."""

    value: float
    lower: float
    upper: float
    df: int


@dataclass(frozen=True)
class VariancePart:
    """A variance with its 95% interval; neither is below 0."""

    value: float
    lower: float
    upper: float


@dataclass(frozen=True)
class VarianceParts:
    """var(trial of T seconds) = `between` + `within` / T; `within` has the unit of seconds."""

    between: VariancePart
    within: VariancePart


def spread_of(differences: NDArray[np.float64]) -> Spread | None:
    """The standard deviation of n values, its interval from the chi-square distribution.

    None where there are fewer than two.
    """
    df = differences.size - 1
    if df < 1:
        return None
    value = float(np.std(differences, ddof=1))
    lower, upper = (value * math.sqrt(df / chi2.isf(tail, df)) for tail in (_TAIL, 1 - _TAIL))
    return Spread(value, lower, upper, df)


def long_run_variance(series: Sequence[NDArray[np.float64]]) -> tuple[float, int] | None:
    """The variance that a mean over one second adds to the mean of a trial, and its df.

    `series` has one array of values by second for each trial. Each is divided by its mean and cut
    into batches of about sqrt(n) seconds, as many whole ones as fit (the first seconds are left
    out); the variance of the batch means, times the length of a batch, allows for the
    autocorrelation within a batch (Flegal and Jones, Annals of Statistics 38, 2010, 1034-1070).
    Trials are pooled, weighted by their degrees of freedom. Autocorrelation that is longer than a
    batch is not seen. None where no trial has two batches.
    """
    squares, df = 0.0, 0
    for values in series:
        n = values.size
        if n < _FEWEST or not (mean := float(values.mean())) > 0:
            continue
        length = max(1, math.isqrt(n))
        if n // length < _FEWEST:
            length = 1
        count = n // length
        batches = (values[n - count * length :] / mean).reshape(count, length).mean(axis=1)
        squares += length * float(((batches - batches.mean()) ** 2).sum())
        df += count - 1
    return (squares / df, df) if df else None


def variance_parts(
    trial_variance: float, trial_df: int, within: float, within_df: int, duration_s: float
) -> VarianceParts:
    """Split the variance of trials of `duration_s` by what their seconds explain.

    `within` is the `long_run_variance`. Its interval is from the chi-square distribution; that of
    `between`, a difference of two independent mean squares, is by Ting, Burdick, Graybill,
    Jeyaratnam and Lu (Journal of Statistical Computation and Simulation 35, 1990, 135-143; as in
    Burdick and Graybill, *Confidence Intervals on Variance Components*, 1992, sec. 3.3). Where
    the seconds explain more than there is, `between` is 0.
    """
    s1, s2 = trial_variance, within / duration_s
    difference = s1 - s2
    g1, h1 = _one_less(_TAIL, trial_df), _one_less(1 - _TAIL, trial_df)
    g2, h2 = _one_less(_TAIL, within_df), _one_less(1 - _TAIL, within_df)
    low_f, high_f = (f.isf(tail, trial_df, within_df) for tail in (_TAIL, 1 - _TAIL))
    g12 = ((low_f - 1) ** 2 - (g1 * low_f) ** 2 - h2**2) / low_f
    h12 = ((1 - high_f) ** 2 - (h1 * high_f) ** 2 - g2**2) / high_f
    below = (g1 * s1) ** 2 + (h2 * s2) ** 2 + g12 * s1 * s2
    above = (h1 * s1) ** 2 + (g2 * s2) ** 2 + h12 * s1 * s2
    return VarianceParts(
        VariancePart(
            max(0.0, difference),
            max(0.0, difference - math.sqrt(max(0.0, below))),
            max(0.0, difference + math.sqrt(max(0.0, above))),
        ),
        VariancePart(
            within,
            within * within_df / float(chi2.isf(_TAIL, within_df)),
            within * within_df / float(chi2.isf(1 - _TAIL, within_df)),
        ),
    )


def _one_less(tail: float, df: int) -> float:
    """1 - 1/F(tail; df, infinity)."""
    return 1 - df / float(chi2.isf(tail, df))
