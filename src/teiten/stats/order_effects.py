"""Does the response depend on when a trial ran, or on what ran before it?

Treatments come in random order within a block, which is what makes these tests valid.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from scipy import special

from teiten.stats.regression import indicators, regress, treatments_and_blocks

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from teiten.stats.observations import Observations

_FEWEST_DF = 3
_FEWEST_BLOCKS = 3
_ORTHOGONAL = 1e-9


@dataclass(frozen=True)
class OrderEffect:
    """The p-value of no effect, and the size of the effect in units of the response."""

    p: float
    size: float


def drift(observations: Observations, order: NDArray[np.float64]) -> OrderEffect | None:
    """Does the response rise or fall along `order`, the place of each trial in the run?

    A block's own effect takes up most of a slow drift, so there are two tests: of the slope within
    blocks beside treatments and blocks, and of the slope of the block effects, with as many degrees
    of freedom as there are blocks, less 2. They are independent, and joined by Fisher's method for
    either direction (Pearson's test: Owen 2009, Annals of Statistics 37:3867). The size is the
    change over the whole run by the slope beside treatments alone.

    None where there are too few trials, or nothing varies.
    """
    y = observations.response
    tests = [_slope(y, order, treatments_and_blocks(observations))]
    cells = indicators(observations.cells())
    blocks = indicators(observations.block.codes)
    if blocks.shape[1] >= _FEWEST_BLOCKS:
        solution = np.linalg.lstsq(np.hstack([cells, blocks]), y, rcond=None)[0]
        effects = np.asarray(solution[cells.shape[1] :], dtype=np.float64)
        places = blocks.T @ order / blocks.sum(axis=0)
        tests.append(_slope(effects, places, np.ones((len(places), 1)), fewest_df=1))
    rising = [test for test in tests if test is not None]
    over_all = _regression_slope(y, order, cells)
    if not rising or over_all is None:
        return None
    p = min(1.0, 2 * min(_fisher(rising), _fisher([1 - p for p in rising])))
    return OrderEffect(p, over_all * float(np.ptp(order)))


def carry_over(observations: Observations, previous: NDArray[np.intp]) -> OrderEffect | None:
    """Does the response depend on which trial ran just before?

    `previous` has shape (n, factors): the codes of the levels of the trial before, -1 in the rows
    of trials that have none. F test of the main effects of these levels beside treatments and
    blocks. The size is the largest difference between the effects of two levels of one factor.

    None where there are too few trials, or nothing varies.
    """
    rows = (previous >= 0).all(axis=1)
    after = [indicators(codes) for codes in previous[rows].T]
    y = observations.response[rows]
    base = treatments_and_blocks(observations)[rows]
    if not rows.any():
        return None
    small = regress(y, base)
    big = regress(y, np.hstack([base, *after]))
    q = small.df - big.df
    if q == 0 or big.df < _FEWEST_DF or big.sum_of_squares == 0:
        return None
    f = (small.sum_of_squares - big.sum_of_squares) / q / (big.sum_of_squares / big.df)
    return OrderEffect(
        float(special.fdtrc(q, big.df, max(f, 0.0))), _largest_effect(y, base, after)
    )


def _largest_effect(
    y: NDArray[np.float64], base: NDArray[np.float64], after: list[NDArray[np.float64]]
) -> float:
    solution = np.linalg.lstsq(np.hstack([base, *after]), y, rcond=None)[0]
    begin = base.shape[1]
    largest = 0.0
    for columns in after:
        effects = solution[begin : begin + columns.shape[1]]
        begin += columns.shape[1]
        largest = max(largest, float(np.ptp(effects)))
    return largest


def _slope(
    y: NDArray[np.float64],
    x: NDArray[np.float64],
    beside: NDArray[np.float64],
    fewest_df: int = _FEWEST_DF,
) -> float | None:
    """The one-sided p-value of a rising slope, by its t test."""
    small, big = regress(y, beside), regress(y, np.column_stack([beside, x]))
    slope = _regression_slope(y, x, beside)
    if slope is None or big.df < fewest_df or big.sum_of_squares == 0:
        return None
    f = max(small.sum_of_squares - big.sum_of_squares, 0.0) / (big.sum_of_squares / big.df)
    return float(special.stdtr(big.df, -np.sign(slope) * np.sqrt(f)))


def _regression_slope(
    y: NDArray[np.float64], x: NDArray[np.float64], beside: NDArray[np.float64]
) -> float | None:
    own = regress(x, beside).residuals
    square = float(own @ own)
    if square <= _ORTHOGONAL * float(np.sum(np.square(x - x.mean()))):
        return None
    return float(own @ y) / square


def _fisher(p: list[float]) -> float:
    """The joint p-value of independent tests (Fisher 1932)."""
    with np.errstate(divide="ignore"):
        return float(special.chdtrc(2 * len(p), -2 * np.sum(np.log(p))))
