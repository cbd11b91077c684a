"""Linear mixed models of replicated crossings: every treatment has a mean, every block its errors.

The model of `lme4::lmer(y ~ a * b + (1|block) + (1|block:a) + (1|block:b), REML = TRUE)`: fixed
means of all cells, and random effects of the block and of the block crossed with each proper
non-empty subset of the factors. Variances maximise the restricted likelihood and are not negative.

Balanced trials need no matrices (all covariances commute; each stratum has one mean square); where
trials were lost, the same is done with matrices.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from scipy.linalg import LinAlgError, cho_factor, cho_solve, qr

from teiten.stats import design, reml

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from numpy.typing import NDArray

    from teiten.stats.observations import Observations

RESIDUAL = "Residual"
# Sums of squares below this share of the response's are rounding, not variation.
_ROUNDING = (64 * np.finfo(np.float64).eps) ** 2
_SINGULAR = 1e-10


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


def fit_mixed_model(observations: Observations) -> MixedFit:
    """Fit the model to the trials.

    Raises:
        NotAnalysableError: see `design.check`; or nothing varies within treatments and blocks.
    """
    design.check(observations)
    counts = _block_counts(observations)
    if counts.min() == counts.max():
        return fit_balanced(observations)
    return fit_by_matrices(observations)


def fit_balanced(observations: Observations) -> MixedFit:
    """Fit trials of which every block has every treatment equally often.

    Raises:
        NotAnalysableError: nothing varies within treatments and blocks.
    """
    shape = _shape(observations)
    blocks, cells = _block_counts(observations).shape
    per_cell = observations.n // cells
    cell = observations.cells()
    block = np.unique(observations.block.codes, return_inverse=True)[1]
    offset = float(observations.response.mean())
    centred = observations.response - offset
    table = np.bincount(block * cells + cell, weights=centred, minlength=blocks * cells)
    table = table.reshape(blocks, cells) * (blocks / per_cell)
    cell_means = table.mean(axis=0)
    within = table - cell_means
    repetition = centred - table[block, cell]

    # One stratum a random term; the interaction of all factors, with what differs between
    # repetitions in a block, is residual.
    terms = _random_terms(observations)
    strata = [*terms, design.varying(observations.factors)]
    projections = design.effect_projections(shape)[[_mask(term, observations) for term in strata]]
    squares = np.sum(within @ projections * within, axis=(1, 2))
    sums = squares * (per_cell / blocks)
    sums[-1] += repetition @ repetition
    _require_error(float(sums[-1]), observations)
    df = np.array([(blocks - 1) * _effect_df(term, observations) for term in strata], dtype=float)
    df[-1] = observations.n - cells - df[:-1].sum()

    coefficients = np.eye(len(strata))
    coefficients[:, -1] = 1
    for j, term in enumerate(terms):
        trials = (
            per_cell
            * math.prod(
                len(column.levels) for column in observations.factors if column.name not in term
            )
            / blocks
        )
        for i, stratum in enumerate(terms):
            coefficients[i, j] = trials if set(stratum) <= set(term) else 0
    variances = _balanced_variances(sums / df, df, coefficients)
    expected = coefficients @ variances

    derivatives = projections / per_cell
    covariance = np.einsum("i,ijk->jk", expected, derivatives)
    deviance = float(np.sum(df * np.log(expected) + sums / expected))
    constant = (observations.n - cells) * math.log(2 * math.pi) + cells * math.log(per_cell)
    return MixedFit(
        factors=tuple(column.name for column in observations.factors),
        levels=tuple(column.levels for column in observations.factors),
        n=observations.n,
        cell_means=cell_means + offset,
        covariance=covariance,
        adjusted_covariance=covariance,
        derivatives=derivatives,
        parameter_covariance=np.diag(2 * expected**2 / df),
        variances=dict(zip(_random_names(observations), variances.tolist(), strict=True)),
        reml_criterion=deviance + constant + _coding(shape),
    )


def _balanced_variances(
    mean_squares: NDArray[np.float64], df: NDArray[np.float64], coefficients: NDArray[np.float64]
) -> NDArray[np.float64]:
    """Variances at the optimum, from the strata's mean squares and what they are expected to be."""
    by_moments: NDArray[np.float64] = np.linalg.solve(coefficients, mean_squares)
    if by_moments.min() >= 0:
        return by_moments
    scale = float(mean_squares @ df / df.sum())
    relative = mean_squares / scale

    def evaluate(variances: NDArray[np.float64]) -> reml.Evaluation:
        expected = coefficients @ variances
        ratio = relative / expected
        weights = df / expected**2
        return reml.Evaluation(
            float(np.sum(df * (np.log(expected) + ratio))),
            coefficients.T @ (df / expected * (1 - ratio)),
            coefficients.T @ (weights[:, None] * coefficients),
            coefficients.T @ ((weights * (2 * ratio - 1))[:, None] * coefficients),
        )

    lowest = np.zeros_like(df)
    lowest[-1] = 1e-6 * relative[-1]
    residual_only = np.zeros_like(df)
    residual_only[-1] = 1
    starts = (
        np.maximum(by_moments / scale, 0) + residual_only * relative[-1],
        residual_only,
        1 / (len(df) * coefficients.max(axis=0)),
    )
    return reml.minimise(evaluate, starts, lowest)[0] * scale


def fit_by_matrices(observations: Observations) -> MixedFit:
    """Fit any trials that have every treatment.

    Raises:
        NotAnalysableError: nothing varies within treatments and blocks.
    """
    shape = _shape(observations)
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
    left, singular, _ = np.linalg.svd(joined, full_matrices=False)
    rank = int(np.sum(singular > 1e-9 * singular[0]))
    residual_df = n - cells - rank
    leftover = data - left[:, :rank] @ (left[:, :rank].T @ data)
    residual_sum = float(leftover @ leftover)
    _require_error(residual_sum if residual_df > 0 else float(data @ data), observations)

    scale = float(data @ data) / (n - cells)
    data = data / math.sqrt(scale)
    evaluate = _restricted_likelihood(data, joined, [effect.shape[1] for effect in effects])
    residual_only = np.zeros(len(effects) + 1)
    residual_only[-1] = 1
    lowest = np.zeros_like(residual_only)
    mean_square = residual_sum / scale / residual_df if residual_df > 0 else 1e-6
    lowest[-1] = 1e-6 * mean_square
    sizes = np.array([n / effect.shape[1] for effect in effects] + [1.0])
    starts = (residual_only, 1 / (len(sizes) * sizes), 1 / sizes - residual_only * 0.99)
    variances, at = reml.minimise(evaluate, starts, lowest)

    covariance_y = variances[-1] * np.eye(n)
    for variance, effect in zip(variances, effects, strict=False):
        covariance_y += variance * effect @ effect.T
    inverse = np.linalg.inv(covariance_y)
    weighted = inverse @ fixed
    covariance = np.linalg.inv(fixed.T @ weighted)
    cell_means = covariance @ (weighted.T @ centred)
    parameter_covariance = 2 * _inverse_information(at.expected)
    halves = [effect.T @ weighted for effect in effects] + [weighted]
    derivatives = np.stack([covariance @ (half.T @ half) @ covariance for half in halves])
    adjustment = _kenward_roger_adjustment(
        covariance, parameter_covariance, halves, [*effects, np.eye(n)], inverse
    )
    constant = (n - cells) * math.log(2 * math.pi * scale)
    # log|V| + log|X'V^-1 X| = log|K'VK| + log|X'X| for orthonormal K.
    design_part = float(np.sum(np.log(design.cell_counts(observations))))
    return MixedFit(
        factors=tuple(column.name for column in observations.factors),
        levels=tuple(column.levels for column in observations.factors),
        n=n,
        cell_means=cell_means + offset,
        covariance=covariance * scale,
        adjusted_covariance=(covariance + adjustment) * scale,
        derivatives=derivatives,
        parameter_covariance=parameter_covariance * scale**2,
        variances=dict(zip(_random_names(observations), (variances * scale).tolist(), strict=True)),
        reml_criterion=at.value + constant + design_part + _coding(shape),
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
            factor = cho_factor(matrix, lower=True)
        except LinAlgError:
            nothing = np.zeros((terms, terms))
            return reml.Evaluation(math.inf, nothing[0], nothing, nothing)
        inverse = cho_solve(factor, identity)
        solved = inverse @ joined
        gram = joined.T @ solved
        score = inverse @ data
        projected = joined.T @ score
        value = 2 * float(np.sum(np.log(np.diag(factor[0])))) + float(data @ score)
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


def _kenward_roger_adjustment(
    covariance: NDArray[np.float64],
    parameter_covariance: NDArray[np.float64],
    halves: list[NDArray[np.float64]],
    effects: list[NDArray[np.float64]],
    inverse: NDArray[np.float64],
) -> NDArray[np.float64]:
    """What to add to the covariance of the means: Kenward & Roger (1997), equation (5).

    Without the second derivatives of the covariance, which are zero for variance components.
    """
    total = np.zeros_like(covariance)
    solved = [inverse @ effect for effect in effects]
    for i, half_i in enumerate(halves):
        for j, half_j in enumerate(halves):
            between = effects[i].T @ solved[j]
            fixed_part = half_i.T @ half_i @ covariance @ half_j.T @ half_j
            total += parameter_covariance[i, j] * (half_i.T @ between @ half_j - fixed_part)
    adjustment: NDArray[np.float64] = 2 * covariance @ (total + total.T) / 2 @ covariance
    return adjustment


def _inverse_information(information: NDArray[np.float64]) -> NDArray[np.float64]:
    """The inverse, or the pseudo-inverse where variances cannot be told apart."""
    scale = 1 / np.sqrt(np.diag(information))
    outer = np.outer(scale, scale)
    if np.abs(np.linalg.eigvalsh(information * outer)).min() <= _SINGULAR:
        return np.linalg.pinv(information, rcond=1e-8, hermitian=True)
    return np.linalg.inv(information * outer) * outer


def _random_effects(observations: Observations) -> list[NDArray[np.float64]]:
    """The indicator matrices of the random terms, without levels that no trial has."""
    matrices = []
    for term in _random_terms(observations):
        index = observations.block.codes.astype(np.intp)
        for name in term:
            column = observations.factor(name)
            index = index * len(column.levels) + column.codes
        _, groups = np.unique(index, return_inverse=True)
        matrix = np.zeros((observations.n, int(groups.max()) + 1))
        matrix[np.arange(observations.n), groups] = 1
        matrices.append(matrix)
    return matrices


def _random_terms(observations: Observations) -> tuple[tuple[str, ...], ...]:
    """What the block is crossed with: nothing, and each proper subset of the factors."""
    return ((), *design.terms(design.varying(observations.factors))[:-1])


def _random_names(observations: Observations) -> list[str]:
    block = observations.block.name
    return [*(":".join((block, *term)) for term in _random_terms(observations)), RESIDUAL]


def _mask(term: tuple[str, ...], observations: Observations) -> int:
    """The index of the term among the projections of `design.effect_projections`."""
    return sum(1 << i for i, column in enumerate(observations.factors) if column.name in term)


def _effect_df(term: tuple[str, ...], observations: Observations) -> int:
    return math.prod(len(observations.factor(name).levels) - 1 for name in term)


def _block_counts(observations: Observations) -> NDArray[np.intp]:
    """Trials per block and treatment, shape (blocks, cells)."""
    cells = math.prod(_shape(observations))
    block = np.unique(observations.block.codes, return_inverse=True)[1]
    blocks = int(block.max()) + 1
    index = block * cells + observations.cells()
    return np.bincount(index, minlength=blocks * cells).reshape(blocks, cells)


def _shape(observations: Observations) -> tuple[int, ...]:
    return tuple(len(column.levels) for column in observations.factors)


def _require_error(sum_of_squares: float, observations: Observations) -> None:
    size = observations.n * float(np.abs(observations.response).max()) ** 2
    if sum_of_squares <= _ROUNDING * size:
        raise design.NotAnalysableError(
            "nothing varies but by treatment and block, so there is no error to test against; "
            "compare the values themselves, or measure more blocks"
        )


def _coding(shape: tuple[int, ...]) -> float:
    """The log determinant, squared, of the step from sum-to-zero coefficients to cell means."""
    cells = math.prod(shape)
    return 2 * sum(cells / size * math.log(size) for size in shape)
