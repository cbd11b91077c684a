"""The mixed model of balanced trials: every block has every treatment equally often.

All covariances of the model then commute: the trials fall into strata (block, block by each subset
of the factors, residual), each with one mean square, and the restricted likelihood is a function of
these alone (Nelder 1965). No matrix is inverted.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from teiten.stats import design, reml
from teiten.stats.mixed_fit import (
    MixedFit,
    block_counts,
    coding,
    random_names,
    random_terms,
    require_error,
    shape_of,
)

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from teiten.stats.observations import Observations


def fit_balanced(observations: Observations) -> MixedFit:
    """Fit trials of which every block has every treatment equally often.

    Raises:
        NotAnalysableError: nothing varies within treatments and blocks.
    """
    shape = shape_of(observations)
    blocks, cells = block_counts(observations).shape
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
    terms = random_terms(observations)
    strata = [*terms, design.varying(observations.factors)]
    projections = design.effect_projections(shape)[[_mask(term, observations) for term in strata]]
    # Squared after projecting: what is nothing but rounding then stays as small as rounding.
    squares = np.sum(np.square(within @ projections), axis=(1, 2))
    sums = squares * (per_cell / blocks)
    sums[-1] += repetition @ repetition
    require_error(float(sums[-1]), observations)
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
        variances=dict(zip(random_names(observations), variances.tolist(), strict=True)),
        reml_criterion=deviance + constant + coding(shape),
    )


def _balanced_variances(
    mean_squares: NDArray[np.float64], df: NDArray[np.float64], coefficients: NDArray[np.float64]
) -> NDArray[np.float64]:
    """Variances at the optimum, from the strata's mean squares and what they are expected to be."""
    by_moments = np.asarray(np.linalg.solve(coefficients, mean_squares), dtype=np.float64)
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


def _mask(term: tuple[str, ...], observations: Observations) -> int:
    """The index of the term among the projections of `design.effect_projections`."""
    return sum(1 << i for i, column in enumerate(observations.factors) if column.name in term)


def _effect_df(term: tuple[str, ...], observations: Observations) -> int:
    return math.prod(len(observations.factor(name).levels) - 1 for name in term)
