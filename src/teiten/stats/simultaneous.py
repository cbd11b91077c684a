"""Several contrasts at once: critical values and p-values that hold for all of them together.

Within one fit the contrasts are correlated (they share the reference), and the exact answer is the
distribution of the largest |t| (Dunnett 1955; Hothorn, Bretz & Westfall 2008, Biometrical Journal
50:346, section 3; R's emmeans adjust = "mvt"). Between independent fits it is Sidak's (1967).
"""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING

import numpy as np
from scipy import optimize, special, stats

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

_DIRECTIONS_LOG2 = 10
_RANK_TOLERANCE = 1e-9


class MaxT:
    """The distribution of max |T_j| for a multivariate t of a given correlation matrix.

    T = Z / sqrt(chi2_df / df) with Z normal of rank r. Written as Z = A u R (u uniform on the unit
    sphere, R^2 chi-squared with r degrees of freedom), R^2 df / (r chi2_df) has the F(r, df)
    distribution whatever u is. So the radius is integrated exactly, and only the direction is
    averaged, over a fixed Sobol sequence: results are the same at every call and smooth far into
    the tail. With one contrast it is Student's t.
    """

    def __init__(self, correlation: NDArray[np.float64]) -> None:
        """Prepare for a correlation matrix of shape (k, k), of any rank."""
        self.size = int(correlation.shape[0])
        if self.size == 1:
            self.rank = 1
            self._largest_squared = np.ones(1)
            return
        values, vectors = np.linalg.eigh(correlation)
        kept = values > _RANK_TOLERANCE * values[-1]
        self.rank = int(kept.sum())
        root = vectors[:, kept] * np.sqrt(values[kept])
        self._largest_squared = np.square(_directions(self.rank) @ root.T).max(axis=1)

    def tail(self, t: float, df: float) -> float:
        """P(max |T_j| >= |t|): the adjusted two-sided p-value of a contrast with statistic `t`."""
        if t == 0:
            return 1.0
        ratio = t * t / (self.rank * self._largest_squared)
        return float(special.fdtrc(self.rank, df, ratio).mean())

    def critical(self, alpha: float, df: float) -> float:
        """The value that max |T_j| exceeds with probability `alpha`."""
        low = float(special.stdtrit(df, 1 - alpha / 2))
        if self.size == 1:
            return low
        high = float(special.stdtrit(df, 1 - alpha / (2 * self.size)))
        # Sampled directions may put the root a little outside its exact bounds.
        return float(
            optimize.brentq(lambda c: self.tail(c, df) - alpha, 0.98 * low, 1.02 * high, xtol=1e-4)
        )


@lru_cache(maxsize=64)
def _directions(dimension: int) -> NDArray[np.float64]:
    """Directions evenly over the sphere in `dimension` dimensions, shape (points, dimension)."""
    # Without its first point, the corner; half a step inward, so that no quantile is infinite.
    sequence = stats.qmc.Sobol(dimension, scramble=False).random_base2(_DIRECTIONS_LOG2)[1:]
    normal = special.ndtri(sequence + 0.5 / (len(sequence) + 1))
    return np.asarray(normal / np.linalg.norm(normal, axis=1, keepdims=True), dtype=np.float64)


def sidak_level(alpha: float, families: int) -> float:
    """The level for each of `families` independent families that keeps `alpha` for all."""
    return float(-np.expm1(np.log1p(-alpha) / families))


def sidak_p(p: float, families: int) -> float:
    """A p-value adjusted for `families` independent families (Sidak 1967)."""
    if p >= 1:
        return 1.0
    return float(-np.expm1(families * np.log1p(-p)))


def holm(p: Sequence[float]) -> NDArray[np.float64]:
    """Adjusted p-values that hold whatever the dependence (Holm 1979; R's p.adjust)."""
    values = np.asarray(p, dtype=np.float64)
    order = np.argsort(values, kind="stable")
    steps = values[order] * np.arange(len(values), 0, -1)
    adjusted = np.empty_like(values)
    adjusted[order] = np.minimum(1.0, np.maximum.accumulate(steps))
    return adjusted
