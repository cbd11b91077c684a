"""Confidence intervals of proportions: of independent trials, and of dependent ones."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from scipy.stats import beta

if TYPE_CHECKING:
    from numpy.typing import NDArray

_FEWEST_ROWS = 5


@dataclass(frozen=True)
class Proportion:
    """`count` of `of`, with the ends of its confidence interval (0 to 1 where `of` is 0)."""

    count: int
    of: int
    lower: float
    upper: float


def exact(count: int, of: int, confidence: float = 0.95) -> Proportion:
    """`count` of `of` independent trials: the interval of Clopper and Pearson (1934).

    R: binom.test.
    """
    return Proportion(count, of, *_clopper_pearson(count, of, confidence))


def effective_number(samples: NDArray[np.float64]) -> float:
    """How many independent two-sided tests the M columns of `samples` (n, M) are worth: 1 to M.

    M^2 / sum(rho^2) over all pairs of columns, rho their correlation. The alarms of two tests
    correlate by at most rho^2 if their data are normal, since an alarm does not depend on the
    sign of the data (Mehler's expansion has only even powers); so the share of alarms among M
    tests varies at most as that among so many independent ones (the formula: Bretherton et al.,
    Journal of Climate 12, 1999, 1990-2009, eq. 7). Squared sample correlations are corrected for
    their mean under chance. Fewer than five rows tell nothing: 1.
    """
    n, columns = samples.shape
    if n < _FEWEST_ROWS or columns <= 1:
        return 1.0
    centred = samples - samples.mean(axis=0)
    size = np.sqrt((centred**2).sum(axis=0))
    # A column without spread can raise no alarm of its own: it counts as agreeing with all.
    standard = np.divide(centred, size, out=np.zeros_like(centred), where=size > 0)
    squares = (standard.T @ standard) ** 2
    squares[size == 0, :] = squares[:, size == 0] = 1.0
    unbiased = 1 - (1 - squares) * (n - 1) / (n - 2)
    np.fill_diagonal(unbiased, 1.0)
    return float(columns**2 / np.clip(unbiased.sum(), columns, columns**2))


def dependent(count: int, of: int, effective: float, confidence: float = 0.95) -> Proportion:
    """`count` of `of` trials that are worth `effective` independent ones.

    The interval of Clopper and Pearson with the effective number in place of the actual one, as
    Korn and Graubard do (Survey Methodology 24, 1998, 193-201).
    """
    share = count / of if of else 0.0
    return Proportion(count, of, *_clopper_pearson(share * effective, effective, confidence))


def _clopper_pearson(count: float, of: float, confidence: float) -> tuple[float, float]:
    """By quantiles of the beta distribution, which need no whole numbers."""
    tail = (1 - confidence) / 2
    lower = float(beta.ppf(tail, count, of - count + 1)) if count > 0 else 0.0
    upper = float(beta.isf(tail, count + 1, of - count)) if count < of else 1.0
    return lower, upper
