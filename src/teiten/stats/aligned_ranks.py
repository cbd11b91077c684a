"""The aligned rank transform for any number of crossed factors.

Wobbrock, Findlater, Gergle & Higgins, "The aligned rank transform for nonparametric factorial
analyses using only ANOVA procedures", CHI 2011; for contrasts, Elkin, Kay, Higgins & Wobbrock, "An
aligned rank transform procedure for multifactor contrast tests", UIST 2021.
"""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING

import numpy as np
from scipy.stats import rankdata

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from teiten.stats.observations import Observations

_DECIMALS = 8


def align(observations: Observations, term: Sequence[str]) -> NDArray[np.float64]:
    """The response stripped of all effects but that of `term`, shape (n,).

    What the cell means leave, plus the estimated effect of the term; means are over trials, and
    the block plays no part.
    """
    aligned = _residuals(observations)
    for size in range(len(term) + 1):
        sign = (-1) ** (len(term) - size)
        for subset in itertools.combinations(term, size):
            aligned = aligned + sign * _means(observations, subset)
    return aligned


def align_joined(observations: Observations, names: Sequence[str]) -> NDArray[np.float64]:
    """The same for the factors `names` joined into one (ART-C), shape (n,)."""
    return _residuals(observations) + _means(observations, names) - _means(observations, ())


def ranks(aligned: NDArray[np.float64]) -> NDArray[np.float64]:
    """Ascending ranks of the values rounded to 8 decimals; ties share their mean rank."""
    ranked: NDArray[np.float64] = rankdata(np.round(aligned, _DECIMALS))
    return ranked


def _residuals(observations: Observations) -> NDArray[np.float64]:
    everything = [column.name for column in observations.factors]
    return observations.response - _means(observations, everything)


def _means(observations: Observations, names: Sequence[str]) -> NDArray[np.float64]:
    """For each trial, the mean of the trials with the same levels of the factors `names`."""
    group = np.zeros(observations.n, dtype=np.intp)
    for name in names:
        column = observations.factor(name)
        group = group * len(column.levels) + column.codes
    totals = np.bincount(group, weights=observations.response)
    counts = np.bincount(group)
    means: NDArray[np.float64] = totals[group] / counts[group]
    return means
