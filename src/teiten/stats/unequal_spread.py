"""Do some levels of a factor spread more than others? Levene's test, centred at the medians.

Brown & Forsythe (1974), JASA 69:364; R's car::leveneTest.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from scipy import stats

from teiten.stats.regression import indicators, regress, treatments_and_blocks

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from teiten.stats.observations import Observations

_FEWEST_CELLS = 4
_FEWEST_A_GROUP = 4


def unequal_spread(observations: Observations) -> float | None:
    """The p-value of equal spread at all levels of each factor (the smallest, times the factors).

    Tested on what is left beside treatments and blocks, pooled over the other factor: treatments
    hold too few trials each to compare their spreads. With fewer than four treatments the blocks
    stay in, since without them the residuals of a block would mirror each other.

    None where levels have too few trials, or nothing varies.
    """
    cells = indicators(observations.cells())
    beside = treatments_and_blocks(observations) if cells.shape[1] >= _FEWEST_CELLS else cells
    fit = regress(observations.response, beside)
    if fit.sum_of_squares == 0:
        return None
    p = [
        _levene(fit.residuals, column.codes)
        for column in observations.factors
        if len(column.levels) > 1 and np.bincount(column.codes).min() >= _FEWEST_A_GROUP
    ]
    return min(1.0, len(p) * min(p)) if p else None


def _levene(residuals: NDArray[np.float64], codes: NDArray[np.intp]) -> float:
    groups = [residuals[codes == code] for code in np.unique(codes)]
    return float(stats.levene(*groups, center="median").pvalue)
