"""The mixed model of any trials, such as those that lost some: the same by matrices.

The restricted likelihood is that of error contrasts (Patterson & Thompson 1971); the information on
the variances and the adjusted covariance of the means are those of Kenward & Roger (1997).
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np
from scipy.linalg import qr

from teiten.stats import design, reml
from teiten.stats.mixed_fit import (
    MixedFit,
    coding,
    random_names,
    random_terms,
    require_error,
    shape_of,
)

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from teiten.stats.observations import Observations

_SINGULAR = 1e-10
_DEPENDENT = 1e-9
# Of the whole variance: what is left to the residual where random effects can explain all.
_NEARLY_ZERO = 1e-8


def fit_by_matrices(observations: Observations) -> MixedFit:
    """Fit any trials that have every treatment.

    Raises:
        NotAnalysableError: nothing varies within treatments and blocks.
    """
    shape = shape_of(observations)
    n = observations.n
    cells = math.prod(shape)
    fixed = np.zeros((n, cells))
    fixed[np.arange(n), observations.cells()] = 1
    effects = _random_effects(observations)
    offset = float(observations.response.mean())
    centred = observations.response - offset

    # Error contrasts: the restricted likelihood is the likelihood of what the cell means leave.
    errors = qr(fixed)[0][:, cells:]
    reduced = [errors.T @ effect for effect in effects]
    data = errors.T @ centred
    joined = np.hstack(reduced)
    basis, triangle, _ = qr(joined, mode="economic", pivoting=True)
    sizes = np.abs(np.diag(triangle))
    rank = int(np.sum(sizes > _DEPENDENT * sizes[0]))
    residual_df = n - cells - rank
    leftover = data - basis[:, :rank] @ (basis[:, :rank].T @ data)
    residual_sum = float(leftover @ leftover)
    require_error(residual_sum if residual_df > 0 else float(data @ data), observations)

    scale = float(data @ data) / (n - cells)
    data = data / math.sqrt(scale)
    evaluate = _restricted_likelihood(data, joined, [effect.shape[1] for effect in effects])
    residual_only = np.zeros(len(effects) + 1)
    residual_only[-1] = 1
    lowest = np.zeros_like(residual_only)
    lowest[-1] = 1e-6 * residual_sum / scale / residual_df if residual_df > 0 else _NEARLY_ZERO
    shares = 1 / np.array([*(n / effect.shape[1] for effect in effects), 1.0])
    starts = (residual_only, shares / shares.size, shares - residual_only * 0.99)
    variances, at = reml.minimise(evaluate, starts, lowest)

    # All by error contrasts, which need no inverse of the covariance of the trials: it is singular
    # where the residual variance is zero. With C the weights of the trials in the means, P =
    # K (K'VK)^-1 K' and G = FF', the derivatives are C'GC, and the adjustment sums C'GPGC.
    covariance_y = variances[-1] * np.eye(n)
    for variance, effect in zip(variances, effects, strict=False):
        covariance_y += variance * effect @ effect.T
    whiten = np.linalg.inv(np.linalg.cholesky(errors.T @ covariance_y @ errors))
    ordinary = fixed / design.cell_counts(observations)
    crossed = covariance_y @ ordinary
    weights = ordinary - errors @ (whiten.T @ (whiten @ (errors.T @ crossed)))
    covariance = ordinary.T @ covariance_y @ weights
    images = [effect.T @ weights for effect in effects]
    derivatives = np.stack([*(image.T @ image for image in images), weights.T @ weights])
    parameter_covariance = 2 * _inverse_information(at.expected)
    pushed = [*(part @ image for part, image in zip(reduced, images, strict=True))]
    pushed.append(errors.T @ weights)
    solved = [whiten @ each for each in pushed]
    adjustment = 2 * np.einsum(
        "ij,iak,jal->kl", parameter_covariance, solved, solved, optimize=True
    )
    constant = (n - cells) * math.log(2 * math.pi * scale)
    # log|V| + log|X'V^-1 X| = log|K'VK| + log|X'X| for orthonormal K.
    design_part = float(np.sum(np.log(design.cell_counts(observations))))
    return MixedFit(
        factors=tuple(column.name for column in observations.factors),
        levels=tuple(column.levels for column in observations.factors),
        n=n,
        cell_means=weights.T @ centred + offset,
        covariance=covariance * scale,
        adjusted_covariance=(covariance + adjustment) * scale,
        derivatives=derivatives,
        parameter_covariance=parameter_covariance * scale**2,
        variances=dict(zip(random_names(observations), (variances * scale).tolist(), strict=True)),
        reml_criterion=at.value + constant + design_part + coding(shape),
    )


def _restricted_likelihood(
    data: NDArray[np.float64], joined: NDArray[np.float64], widths: list[int]
) -> Callable[[NDArray[np.float64]], reml.Evaluation]:
    """Minus twice the log-likelihood of `data` with covariance sum of v_i F_i F_i' + v_r I."""
    edges = np.cumsum([0, *widths])
    identity = np.eye(data.size)
    terms = len(widths) + 1

    def evaluate(variances: NDArray[np.float64]) -> reml.Evaluation:
        spread = np.repeat(variances[:-1], widths)
        matrix = (joined * spread) @ joined.T + variances[-1] * identity
        try:
            diagonal = np.diag(np.linalg.cholesky(matrix))
        except np.linalg.LinAlgError:
            nothing = np.zeros((terms, terms))
            return reml.Evaluation(math.inf, nothing[0], nothing, nothing)
        # On busy cores this is many times quicker than two triangular solves, which BLAS threads.
        inverse = np.linalg.inv(matrix)
        solved = inverse @ joined
        gram = joined.T @ solved
        score = inverse @ data
        projected = joined.T @ score
        value = 2 * float(np.sum(np.log(diagonal))) + float(data @ score)
        gradient = np.empty(terms)
        expected = np.empty((terms, terms))
        images = np.empty((data.size, terms))
        images[:, -1] = score
        gradient[-1] = np.trace(inverse) - score @ score
        expected[-1, -1] = np.sum(inverse**2)
        squared = gram**2
        for i in range(terms - 1):
            own = slice(edges[i], edges[i + 1])
            images[:, i] = joined[:, own] @ projected[own]
            gradient[i] = np.trace(gram[own, own]) - projected[own] @ projected[own]
            expected[i, -1] = expected[-1, i] = np.sum(solved[:, own] ** 2)
            for j in range(terms - 1):
                expected[i, j] = squared[own, edges[j] : edges[j + 1]].sum()
        observed = 2 * images.T @ inverse @ images - expected
        return reml.Evaluation(value, gradient, expected, observed)

    return evaluate


def _inverse_information(information: NDArray[np.float64]) -> NDArray[np.float64]:
    """The inverse, or the pseudo-inverse where variances cannot be told apart."""
    scale = 1 / np.sqrt(np.diag(information))
    outer = np.outer(scale, scale)
    if np.abs(np.linalg.eigvalsh(information * outer)).min() <= _SINGULAR:
        inverse = np.linalg.pinv(information, rcond=1e-8, hermitian=True)
    else:
        inverse = np.linalg.inv(information * outer) * outer
    return np.asarray(inverse, dtype=np.float64)


def _random_effects(observations: Observations) -> list[NDArray[np.float64]]:
    """The indicator matrices of the random terms, without levels that no trial has."""
    matrices = []
    for term in random_terms(observations):
        index = observations.block.codes.astype(np.intp)
        for name in term:
            column = observations.factor(name)
            index = index * len(column.levels) + column.codes
        _, groups = np.unique(index, return_inverse=True)
        matrix = np.zeros((observations.n, int(groups.max()) + 1))
        matrix[np.arange(observations.n), groups] = 1
        matrices.append(matrix)
    return matrices
