"""Minimise a restricted likelihood over variances that cannot be negative.

Newton's method, or Fisher scoring where the observed information is not positive definite; each
step solves its quadratic model under the constraint by non-negative least squares (Lawson & Hanson
1974), so that a component at zero is exactly zero and the step stays one of descent.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from scipy.optimize import nnls

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import NDArray

_STEPS = 60
_HALVINGS = 12
_DECREMENT = 1e-17
_ROUNDING = 1e-13
_RIDGE = 1e-12
_FLAT = 1e-2


@dataclass(frozen=True)
class Evaluation:
    """Minus twice the restricted log-likelihood (without constants) at one point.

    `gradient` has shape (r,); `expected` and `observed`, the second derivatives in expectation and
    as they are, have shape (r, r). `value` is infinite where the covariance is singular.
    """

    value: float
    gradient: NDArray[np.float64]
    expected: NDArray[np.float64]
    observed: NDArray[np.float64]


def minimise(
    evaluate: Callable[[NDArray[np.float64]], Evaluation],
    starts: Sequence[NDArray[np.float64]],
    lowest: NDArray[np.float64],
) -> tuple[NDArray[np.float64], Evaluation]:
    """The best of the minima found from the starts, under `variances >= lowest` (shape (r,))."""
    found = [_descend(evaluate, np.maximum(start, lowest), lowest) for start in starts]
    return min(found, key=lambda pair: pair[1].value)


def _descend(
    evaluate: Callable[[NDArray[np.float64]], Evaluation],
    start: NDArray[np.float64],
    lowest: NDArray[np.float64],
) -> tuple[NDArray[np.float64], Evaluation]:
    here, at = start, evaluate(start)
    for _ in range(_STEPS):
        step = _step(here - lowest, at)
        slope = float(at.gradient @ step)
        if slope > -_DECREMENT:
            break
        length = 1.0
        for _ in range(_HALVINGS):
            there = np.maximum(here + length * step, lowest)
            then = evaluate(there)
            slack = _ROUNDING * abs(at.value) if slope > -_ROUNDING * abs(at.value) else 0.0
            if then.value <= at.value + 1e-4 * length * slope + slack:
                break
            length /= 2
        else:
            break
        here, at = there, then
    return here, at


def _step(above: NDArray[np.float64], at: Evaluation) -> NDArray[np.float64]:
    """The step to the minimum of the quadratic model; `above` is the distance to the bounds."""
    free = (above > 0) | (at.gradient < 0)
    step = np.zeros_like(above)
    if not free.any():
        return step
    chosen = np.flatnonzero(free)
    gradient = at.gradient[chosen]
    # Components differ by orders of magnitude: give each unit curvature before solving.
    scale = 1 / np.sqrt(np.diag(at.expected)[chosen])
    both = np.ix_(chosen, chosen)
    outer = np.outer(scale, scale)
    factor = _root(at.observed[both] * outer, at.expected[both] * outer)
    old = above[chosen] / scale
    target = factor.T @ old - np.linalg.solve(factor, gradient * scale)
    new, _ = nnls(factor.T, target)
    step[chosen] = (new - old) * scale
    return step


def _root(observed: NDArray[np.float64], expected: NDArray[np.float64]) -> NDArray[np.float64]:
    """The lower Cholesky factor of `observed`; of `expected` where Newton would leap or climb."""
    try:
        factor = np.asarray(np.linalg.cholesky(observed), dtype=np.float64)
    except np.linalg.LinAlgError:
        factor = np.zeros_like(observed)
    if np.diag(factor).min() < _FLAT:
        ridge = _RIDGE * np.eye(len(expected))
        factor = np.asarray(np.linalg.cholesky(expected + ridge), dtype=np.float64)
    return factor
