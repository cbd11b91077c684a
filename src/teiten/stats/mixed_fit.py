"""What a fitted mixed model is, and what both ways of fitting one share."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from teiten.stats import design

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray

    from teiten.stats.observations import Observations

RESIDUAL = "Residual"


@dataclass(frozen=True)
class MixedFit:
    """A fitted model; cells run with the last factor fastest.

    `cell_means` has shape (cells,); `covariance` is theirs at the estimated variances and
    `adjusted_covariance` that of Kenward and Roger (1997), shape (cells, cells). Uncertainty of the
    variances: `derivatives`, shape (r, cells, cells), are those of `covariance` by r parameters,
    whose estimates have the covariance `parameter_covariance`, shape (r, r). The parameters are the
    strata's mean squares for balanced trials, else the variances; results do not depend on which.

    `variances` maps random terms (`block`, `block:version`, …, `Residual`) to their components.
    `reml_criterion` is minus twice the restricted log-likelihood as lme4 states it, with
    sum-to-zero coding of the factors.
    """

    factors: tuple[str, ...]
    levels: tuple[tuple[str, ...], ...]
    n: int
    cell_means: NDArray[np.float64]
    covariance: NDArray[np.float64]
    adjusted_covariance: NDArray[np.float64]
    derivatives: NDArray[np.float64]
    parameter_covariance: NDArray[np.float64]
    variances: Mapping[str, float]
    reml_criterion: float

    @property
    def shape(self) -> tuple[int, ...]:
        """The numbers of levels of the factors."""
        return tuple(len(levels) for levels in self.levels)


def random_terms(observations: Observations) -> tuple[tuple[str, ...], ...]:
    """What the block is crossed with: nothing, and each proper subset of the factors."""
    return ((), *design.terms(design.varying(observations.factors))[:-1])


def random_names(observations: Observations) -> list[str]:
    """The names of the variances: of the random terms in their order, then the residual."""
    block = observations.block.name
    return [*(":".join((block, *term)) for term in random_terms(observations)), RESIDUAL]


def block_counts(observations: Observations) -> NDArray[np.intp]:
    """Trials per block and treatment, shape (blocks, cells)."""
    cells = math.prod(shape_of(observations))
    block = np.unique(observations.block.codes, return_inverse=True)[1]
    blocks = int(block.max()) + 1
    index = block * cells + observations.cells()
    return np.bincount(index, minlength=blocks * cells).reshape(blocks, cells)


def shape_of(observations: Observations) -> tuple[int, ...]:
    """The numbers of levels of the factors."""
    return tuple(len(column.levels) for column in observations.factors)


def require_error(sum_of_squares: float, observations: Observations) -> None:
    """Refuse trials whose residual sum of squares is nothing but rounding.

    Raises:
        NotAnalysableError: it is.
    """
    size = observations.n * float(np.abs(observations.response).max()) ** 2
    if sum_of_squares <= design.ROUNDING**2 * size:
        raise design.NotAnalysableError(
            "nothing varies but by treatment and block, so there is no error to test against; "
            "measure more blocks"
        )


def coding(shape: tuple[int, ...]) -> float:
    """The log determinant, squared, of the step from sum-to-zero coefficients to cell means."""
    cells = math.prod(shape)
    return 2 * sum(cells / size * math.log(size) for size in shape)
