"""Do some levels of a factor spread more than others? Levene's test, centred at the medians.

Brown & Forsythe (1974), JASA 69:364; R's car::leveneTest. It is applied to residuals, which depend
on each other (of three blocks, those of a treatment add up to zero). Its mean squares are therefore
compared to their expectations under that dependence, with Satterthwaite's (1946) degrees of
freedom; for independent values this is Levene's test itself.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np
from scipy import special

from teiten.stats.regression import Regression, indicators, regress, treatments_and_blocks

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from teiten.stats.observations import Observations

_FEWEST_CELLS = 4
_FEWEST_A_GROUP = 4


def unequal_spread(observations: Observations) -> float | None:
    """The p-value of equal spread at all levels of each factor (the smallest, times the factors).

    Tested on what is left beside treatments and blocks, pooled over the other factor: treatments
    hold too few trials each to compare their spreads. With fewer than four treatments the blocks
    stay in, since without them the residuals of a block would mirror each other; the test is then
    the less sensitive the more blocks differ.

    None where levels have too few trials, or nothing varies.
    """
    cells = indicators(observations.cells())
    beside = treatments_and_blocks(observations) if cells.shape[1] >= _FEWEST_CELLS else cells
    fit = regress(observations.response, beside)
    if fit.sum_of_squares == 0:
        return None
    correlation = _of_magnitudes(fit)
    p = [
        _levene(fit.residuals, column.codes, correlation)
        for column in observations.factors
        if len(column.levels) > 1 and np.bincount(column.codes).min() >= _FEWEST_A_GROUP
    ]
    return min(1.0, len(p) * min(p)) if p else None


def _of_magnitudes(fit: Regression) -> NDArray[np.float64]:
    """The covariance of the residuals' magnitudes, up to a factor, shape (n, n).

    Of two standard normal values with correlation r, the magnitudes have the covariance
    (2/pi) (sqrt(1 - r^2) + r asin r - 1).
    """
    n = len(fit.residuals)
    covariance = np.eye(n) - fit.basis @ fit.basis.T
    sd = np.sqrt(np.clip(np.diag(covariance), 0, None))
    both = np.outer(sd, sd)
    r = np.divide(covariance, both, out=np.zeros_like(both), where=both > 1e-9)  # noqa: PLR2004 - rounding
    r = np.clip(r, -1, 1)
    of_standard = 2 / math.pi * (np.sqrt(1 - r**2) + r * np.arcsin(r) - 1)
    return np.asarray(both * of_standard, dtype=np.float64)


def _levene(
    residuals: NDArray[np.float64], codes: NDArray[np.intp], covariance: NDArray[np.float64]
) -> float:
    groups = indicators(codes)
    averaging = groups / groups.sum(axis=0) @ groups.T
    between = averaging - 1 / len(codes)
    within = np.eye(len(codes)) - averaging
    medians = np.array([np.median(residuals[groups[:, j] > 0]) for j in range(groups.shape[1])])
    magnitudes = np.abs(residuals - groups @ medians)
    expected_between = float(np.sum(between * covariance))
    expected_within = float(np.sum(within * covariance))
    square = float(magnitudes @ within @ magnitudes)
    if square == 0 or expected_between <= 0:
        return 1.0
    f = float(magnitudes @ between @ magnitudes) / square * expected_within / expected_between
    return float(
        special.fdtrc(
            expected_between**2 / _trace_of_square(between @ covariance),
            expected_within**2 / _trace_of_square(within @ covariance),
            f,
        )
    )


def _trace_of_square(matrix: NDArray[np.float64]) -> float:
    return float(np.sum(matrix * matrix.T))
