"""Least squares with treatments and blocks: what is left when both are taken out."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from teiten.stats.observations import Observations

_RANK_TOLERANCE = 1e-9
_ROUNDING = 1e-12


@dataclass(frozen=True)
class Regression:
    """`residuals` and `leverages` of n trials, and the residual degrees of freedom.

    `basis` spans the regressors: orthonormal columns, shape (n, rank).
    """

    residuals: NDArray[np.float64]
    leverages: NDArray[np.float64]
    basis: NDArray[np.float64]
    df: int

    @property
    def sum_of_squares(self) -> float:
        """That of the residuals; 0 where they are only rounding."""
        largest = float(np.max(np.abs(self.residuals), initial=0.0))
        return float(self.residuals @ self.residuals) if largest > _ROUNDING else 0.0


def regress(response: NDArray[np.float64], regressors: NDArray[np.float64]) -> Regression:
    """Regress n values on columns of shape (n, p), of any rank."""
    left, singular, _ = np.linalg.svd(regressors, full_matrices=False)
    rank = int(np.sum(singular > _RANK_TOLERANCE * singular[0])) if singular.size else 0
    basis = left[:, :rank]
    # Twice, for what rounding left of a large mean.
    residuals = response - basis @ (basis.T @ response)
    residuals -= basis @ (basis.T @ residuals)
    leverages = np.sum(np.square(basis), axis=1)
    return Regression(residuals, leverages, basis, len(response) - rank)


def indicators(codes: NDArray[np.intp]) -> NDArray[np.float64]:
    """One column of 0 and 1 for each code that occurs, shape (n, codes)."""
    used, inverse = np.unique(codes, return_inverse=True)
    return np.asarray(np.eye(len(used))[inverse], dtype=np.float64)


def treatments_and_blocks(observations: Observations) -> NDArray[np.float64]:
    """The regressors of a randomised block design, shape (n, cells + blocks)."""
    return np.hstack([indicators(observations.cells()), indicators(observations.block.codes)])
