"""Does a sample have more than one mode? The dip test.

J. A. Hartigan & P. M. Hartigan, "The dip test of unimodality", Annals of Statistics 13 (1985)
70-84; the algorithm is that of its section 4.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray


SIZES = (12, 16, 24, 36, 60, 120, 300)
"""Below 12 values even the clearest two modes could not pass among the tests of a whole run."""
TAILS = (0.5, 0.3, 0.2, 0.1, 0.05, 0.02, 0.01, 0.005, 0.002, 0.001, 0.0005, 0.0002, 0.0001)
# The dip of n uniform values times sqrt(n): a row a size, a column an upper tail, from 100,000
# samples each (scripts/dip_table.py).
_QUANTILES = (
    (
        0.3156,
        0.3566,
        0.3812,
        0.4157,
        0.4505,
        0.4894,
        0.5146,
        0.5378,
        0.5656,
        0.5844,
        0.6040,
        0.6278,
        0.6400,
    ),
    (
        0.3253,
        0.3619,
        0.3891,
        0.4289,
        0.4623,
        0.5027,
        0.5310,
        0.5543,
        0.5839,
        0.6098,
        0.6307,
        0.6577,
        0.6716,
    ),
    (
        0.3327,
        0.3722,
        0.3995,
        0.4397,
        0.4758,
        0.5182,
        0.5477,
        0.5749,
        0.6073,
        0.6333,
        0.6564,
        0.6857,
        0.7114,
    ),
    (
        0.3400,
        0.3811,
        0.4090,
        0.4499,
        0.4869,
        0.5321,
        0.5635,
        0.5914,
        0.6241,
        0.6489,
        0.6755,
        0.6990,
        0.7238,
    ),
    (
        0.3478,
        0.3904,
        0.4190,
        0.4628,
        0.5013,
        0.5486,
        0.5803,
        0.6085,
        0.6450,
        0.6661,
        0.7019,
        0.7278,
        0.7533,
    ),
    (
        0.3569,
        0.4004,
        0.4296,
        0.4746,
        0.5143,
        0.5612,
        0.5931,
        0.6240,
        0.6610,
        0.6855,
        0.7134,
        0.7437,
        0.7675,
    ),
    (
        0.3652,
        0.4097,
        0.4395,
        0.4848,
        0.5260,
        0.5758,
        0.6084,
        0.6375,
        0.6733,
        0.6983,
        0.7243,
        0.7496,
        0.7693,
    ),
)


def dip_p(values: NDArray[np.float64]) -> float | None:
    """The p-value of one mode: the probability of a larger dip in a uniform sample.

    The uniform distribution is the hardest to tell from two modes, so noise of one mode gives
    false alarms more seldom than the level says. Interpolated in the table of uniform samples,
    which ends at 0.0001: a smaller p is given as that. None with fewer than 12 values, or when all
    are equal.
    """
    n = len(values)
    if n < SIZES[0] or np.ptp(values) == 0:
        return None
    table = np.array(_QUANTILES)
    # sqrt(n) times the dip has a limit in distribution, reached about as 1/sqrt(n).
    places = [1 / np.sqrt(size) for size in reversed(SIZES)]
    own = [np.interp(1 / np.sqrt(n), places, column[::-1]) for column in table.T]
    scaled = np.sqrt(n) * dip_statistic(values)
    return float(np.exp(np.interp(scaled, [0, *own], [0, *np.log(TAILS)])))


def dip_statistic(values: NDArray[np.float64]) -> float:
    """The distance from the empirical distribution of `values`, shape (n,), to a unimodal one.

    It is the smallest maximal difference of the two distribution functions, from 1/(2n) to 1/4.
    The modal interval shrinks to where the greatest convex minorant of the distribution function
    (as long as it rises faster and faster) and its least concave majorant are furthest apart,
    until what is gained there is less than what was lost outside.
    """
    x, counts = np.unique(values, return_counts=True)
    reached = np.cumsum(counts).astype(np.float64)
    below = reached - counts
    low, high = 0, len(x) - 1
    distance = 1.0  # twice the dip, in units of 1/n
    while low < high:
        part = slice(low, high + 1)
        convex, convex_knots = _convex_minorant(x[part], below[part])
        negative, concave_knots = _convex_minorant(x[part], -reached[part])
        concave = -negative
        gap = concave - convex
        # At a knot: between them the gap may be as large, but the interval would not shrink.
        knots = np.union1d(convex_knots, concave_knots)
        at = int(knots[np.argmax(gap[knots])])
        if gap[at] <= distance:
            break
        left = int(convex_knots[convex_knots <= at][-1])
        right = int(concave_knots[concave_knots >= at][0])
        distance = max(
            distance,
            float(np.max((reached[part] - convex)[: left + 1])),
            float(np.max((concave - below[part])[right:])),
        )
        low, high = low + left, low + right
    return distance / (2 * len(values))


def _convex_minorant(
    x: NDArray[np.float64], y: NDArray[np.float64]
) -> tuple[NDArray[np.float64], NDArray[np.intp]]:
    """The greatest convex function below the points, at each x, and the indices of its knots."""
    knots: list[int] = []
    xs, ys = x.tolist(), y.tolist()
    for i in range(len(xs)):
        while len(knots) > 1:
            a, b = knots[-2], knots[-1]
            if (ys[b] - ys[a]) * (xs[i] - xs[a]) < (ys[i] - ys[a]) * (xs[b] - xs[a]):
                break
            knots.pop()
        knots.append(i)
    indices = np.array(knots, dtype=np.intp)
    return np.interp(x, x[indices], y[indices]), indices
