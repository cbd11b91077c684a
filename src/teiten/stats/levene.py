"""Levene's test of equal spread among treatments (Levene 1960; Brown & Forsythe 1974)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

import numpy as np
from scipy import stats

from teiten.stats.design import cell_counts
from teiten.stats.results import FTest

if TYPE_CHECKING:
    from teiten.stats.observations import Observations

_ROUNDING = 1e-12


def levene(observations: Observations, center: Literal["mean", "median"]) -> FTest | None:
    """The test over the cells of the full crossing, as `car::leveneTest`.

    None where deviations do not vary within cells, as with two trials a cell: they lie equally far
    from their centre, so the test has nothing to compare spread with.
    """
    cells = observations.cells()
    groups = [observations.response[cells == cell] for cell in np.unique(cells)]
    middle = np.mean if center == "mean" else np.median
    deviations = [np.abs(group - middle(group)) for group in groups]
    within = sum(float(np.sum((each - each.mean()) ** 2)) for each in deviations)
    size = observations.n * float(np.abs(observations.response).max()) ** 2
    if len(groups) < 2 or within <= _ROUNDING**2 * size:  # noqa: PLR2004 - one group has no other
        return None
    test = stats.levene(*groups, center=center)
    df_residual = float(observations.n - np.count_nonzero(cell_counts(observations)))
    return FTest(
        "cell", float(test.statistic), float(len(groups) - 1), df_residual, float(test.pvalue)
    )
