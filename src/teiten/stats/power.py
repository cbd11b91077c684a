"""How probable is a decision: power of a t test and of two one-sided tests, together and apart.

An estimate of a difference is normal about the true one with standard error sigma; its estimated
standard error is sigma sqrt(chi2_df / df), independent of it. Everything here integrates over the
latter by Gauss-Legendre quadrature of its quantiles. For a difference alone that is the noncentral
t distribution; for sameness see Phillips (1990), J. Pharmacokinetics and Biopharmaceutics 18:137.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import lru_cache
from typing import TYPE_CHECKING

import numpy as np
from scipy import optimize, special

if TYPE_CHECKING:
    from numpy.typing import NDArray

POWER = 0.8
MOST_BLOCKS = 10_000
_NODES = 64
_NODES_OF_SIGMA = 24


@dataclass(frozen=True)
class Precision:
    """How precisely a contrast is known after `blocks` blocks, and what decides it.

    `se` is its standard error, with `df` degrees of freedom. `difference_level` is the two-sided
    level of its own t test, `equivalence_level` the level of each of its one-sided tests against
    `bounds`; both already allow for the family.
    """

    se: float
    df: float
    blocks: int
    difference_level: float
    equivalence_level: float
    bounds: tuple[float, float]

    def with_blocks(self, blocks: int) -> Precision:
        """The same contrast with another number of blocks, by the same variance components.

        In a balanced design the variance is a sum of components over the number of blocks, and
        all degrees of freedom are multiples of the number of blocks less 1.
        """
        return replace(
            self,
            se=self.se * (self.blocks / blocks) ** 0.5,
            df=self.df * (blocks - 1) / (self.blocks - 1),
            blocks=blocks,
        )


def difference_power(precision: Precision, true: float) -> float:
    """The probability that the interval excludes zero when the difference is `true`."""
    reach, _, _ = _limits(precision, np.ones(1))
    return float(_expected(_outside(true, precision.se, reach))[0])


def equivalence_power(precision: Precision, true: float) -> float:
    """The probability that sameness is shown when the difference is `true`."""
    _, low, high = _limits(precision, np.ones(1))
    return float(_expected(_between(true, precision.se, low, high))[0])


def decision_power(precision: Precision, true: float) -> float:
    """The probability that a difference or sameness is shown when the difference is `true`."""
    return float(_decision_powers(precision, true, np.ones(1))[0])


def blocks_to_decide(precision: Precision, true: float, power: float = POWER) -> int | None:
    """The smallest number of blocks, more than there are, that decides with probability `power`.

    The standard error is itself an estimate: the probability is averaged over what it may truly
    be, sigma^2 = se^2 df / chi2_df (its fiducial distribution), else few blocks that happened to
    agree would promise too much.

    None: more than `MOST_BLOCKS` would be needed.
    """
    true_over_estimated = 1 / _spreads(precision.df, _NODES_OF_SIGMA)
    _, weights = _rule(_NODES_OF_SIGMA)

    def expected(blocks: int) -> float:
        planned = precision.with_blocks(blocks)
        return float(_decision_powers(planned, true, true_over_estimated) @ weights)

    low, high = precision.blocks, precision.blocks + 1
    while expected(high) < power:
        if high >= MOST_BLOCKS:
            return None
        low, high = high, min(MOST_BLOCKS, 2 * high)
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if expected(middle) >= power else (middle, high)
    return high


def detectable_difference(precision: Precision, power: float = POWER) -> float:
    """The smallest difference that is found with probability `power`; 0 where nothing varies."""
    return _detectable_ses(round(precision.df, 6), precision.difference_level, power) * precision.se


@lru_cache(maxsize=256)
def _detectable_ses(df: float, level: float, power: float) -> float:
    """The same in standard errors."""
    unit = Precision(1.0, df, 2, level, level, (0.0, 0.0))
    high = 1.0
    while difference_power(unit, high) < power:
        high *= 2
    return float(optimize.brentq(lambda d: difference_power(unit, d) - power, 0.0, high, rtol=1e-5))


def _decision_powers(
    precision: Precision, true: float, sigma_over_se: NDArray[np.float64]
) -> NDArray[np.float64]:
    """`decision_power` where the true standard error is another than `se`, shape (m,)."""
    reach, low, high = _limits(precision, sigma_over_se)
    sigma = precision.se * sigma_over_se[:, np.newaxis]
    # An interval that excludes zero is a decision already: count what lies in both once.
    same = _between(true, sigma, np.maximum(low, -reach), np.minimum(high, reach))
    return _expected(_outside(true, sigma, reach) + same)


def _limits(
    precision: Precision, sigma_over_se: NDArray[np.float64]
) -> tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.float64]]:
    """What the estimate must exceed to differ, and lie between to be the same, shape (m, nodes)."""
    estimated_se = np.outer(precision.se * sigma_over_se, _spreads(precision.df))
    reach = estimated_se * special.stdtrit(precision.df, 1 - precision.difference_level / 2)
    room = estimated_se * special.stdtrit(precision.df, 1 - precision.equivalence_level)
    return reach, precision.bounds[0] + room, precision.bounds[1] - room


def _outside(
    mean: float, sd: float | NDArray[np.float64], reach: NDArray[np.float64]
) -> NDArray[np.float64]:
    return np.asarray(special.ndtr((-reach - mean) / sd) + special.ndtr((mean - reach) / sd))


def _between(
    mean: float,
    sd: float | NDArray[np.float64],
    low: NDArray[np.float64],
    high: NDArray[np.float64],
) -> NDArray[np.float64]:
    inside = special.ndtr((high - mean) / sd) - special.ndtr((low - mean) / sd)
    return np.asarray(np.maximum(0.0, inside), dtype=np.float64)


def _expected(of_nodes: NDArray[np.float64]) -> NDArray[np.float64]:
    return np.asarray(of_nodes @ _rule(_NODES)[1], dtype=np.float64)


@lru_cache(maxsize=256)
def _spreads(df: float, size: int = _NODES) -> NDArray[np.float64]:
    """Quantiles of sqrt(chi2_df / df) at the nodes of the rule, shape (size,)."""
    nodes, _ = _rule(size)
    return np.asarray(np.sqrt(special.chdtri(df, 1 - nodes) / df), dtype=np.float64)


@lru_cache(maxsize=2)
def _rule(size: int) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Nodes and weights of Gauss-Legendre quadrature over probabilities, each shape (size,)."""
    nodes, weights = np.polynomial.legendre.leggauss(size)
    return (nodes + 1) / 2, weights / 2
