"""Which trials stand out: the generalised extreme studentised deviate of regression residuals.

The most deviant value is taken away again and again, and the number of outliers is the largest
number of removals whose last was significant, so that two outliers do not hide each other (Rosner
1983, Technometrics 25:165). Each step is the test of the largest externally studentised residual
with Bonferroni's factor (Cook & Weisberg 1982, section 2.2.2; R's car::outlierTest), which with a
mean alone is Rosner's critical value.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from scipy import special

from teiten.stats.regression import regress

if TYPE_CHECKING:
    from numpy.typing import NDArray

MOST = 10
_SHARE = 10
_FEWEST_DF = 4
_ALONE = 1e-9


@dataclass(frozen=True)
class Outliers:
    """The p-value of "there is none", and the `rows` that stand out at 5% (maybe none).

    A row that cannot be told from another (two treatments in a block deviate alike, in opposite
    directions) comes with it.
    """

    p: float
    rows: tuple[int, ...]


def find_outliers(
    response: NDArray[np.float64], regressors: NDArray[np.float64], level: float = 0.05
) -> Outliers | None:
    """Look for outliers among n values, given the regressors of their means, shape (n, p).

    At most `MOST`, and at most a tenth of the residual degrees of freedom: of few values, a second
    look would raise the level. None where too few of these are left to tell an outlier, or nothing
    varies.
    """
    left = np.arange(len(response))
    steps: list[tuple[float, list[int]]] = []
    most = min(MOST, max(1, regress(response, regressors).df // _SHARE))
    for _ in range(most):
        fit = regress(response[left], regressors[left])
        total = fit.sum_of_squares
        if fit.df < _FEWEST_DF or total == 0:
            break
        own = 1 - fit.leverages
        free = own > _ALONE
        # Of trials that are alone in a block or treatment the residual is zero.
        share = np.where(free, np.square(fit.residuals) / np.where(free, own, 1), 0) / total
        largest = float(share.max())
        t_squared = (fit.df - 1) * largest / max(1 - largest, _ALONE)
        p = float(special.fdtrc(1, fit.df - 1, t_squared))
        alike = np.flatnonzero(share >= largest * (1 - _ALONE))
        distinct = int(free.sum())
        steps.append((min(1.0, distinct * p), left[alike].tolist()))
        left = np.delete(left, alike)
    if not steps:
        return None
    found = max((i + 1 for i, (p, _) in enumerate(steps) if p <= level), default=0)
    rows = sorted(row for _, alike in steps[:found] for row in alike)
    return Outliers(min(p for p, _ in steps), tuple(rows))
