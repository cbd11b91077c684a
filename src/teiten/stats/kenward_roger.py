"""F tests and estimates in mixed models with the method of Kenward and Roger (1997).

Kenward & Roger, "Small sample inference for fixed effects from restricted maximum likelihood",
Biometrics 53 (1997), 983-997. Agrees with R's pbkrtest (`KRmodcomp`, `Lb_ddf`): tests and standard
errors use the adjusted covariance of the means, degrees of freedom the unadjusted one.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from scipy.special import fdtrc

from teiten.stats import design
from teiten.stats.results import FTest

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from teiten.stats.mixed_model import MixedFit

_TINY = 1e-10
_LEAST_DF = 0.05
_ROUNDING = 1 + 1e-6


@dataclass(frozen=True)
class LinearEstimate:
    """A linear combination of cell means with its standard error and degrees of freedom."""

    estimate: float
    se: float
    df: float


@dataclass(frozen=True)
class LinearEstimates:
    """The same of k combinations, each array of shape (k,)."""

    estimate: NDArray[np.float64]
    se: NDArray[np.float64]
    df: NDArray[np.float64]


def estimate(fit: MixedFit, weights: NDArray[np.float64]) -> LinearEstimate:
    """The combination of cell means with `weights`, shape (cells,)."""
    many = estimates(fit, weights[None, :])
    return LinearEstimate(float(many.estimate[0]), float(many.se[0]), float(many.df[0]))


def estimates(fit: MixedFit, weights: NDArray[np.float64]) -> LinearEstimates:
    """The combinations of cell means with each row of `weights`, shape (k, cells).

    Raises:
        NotAnalysableError: too many trials are lost to tell the error of one of them.
    """
    variance = np.sum(weights @ fit.covariance * weights, axis=1)
    adjusted = np.sum(weights @ fit.adjusted_covariance * weights, axis=1)
    slopes = np.sum(weights @ fit.derivatives * weights, axis=2).T
    uncertainty = np.sum(slopes @ fit.parameter_covariance * slopes, axis=1)
    # One row in L: the general formula of `f_test` reduces to Satterthwaite's.
    with np.errstate(divide="ignore"):
        df = 2 * variance**2 / uncertainty
    _require_df(fit, float(df.min()), float(df.max()), "a difference")
    return LinearEstimates(weights @ fit.cell_means, np.sqrt(adjusted), df)


def anova(fit: MixedFit) -> tuple[FTest, ...]:
    """Type III F tests of all terms: main effects, then interactions of two factors, and so on."""
    varying = [name for name, size in zip(fit.factors, fit.shape, strict=True) if size > 1]
    return tuple(term_test(fit, term) for term in design.terms(varying))


def term_test(fit: MixedFit, term: tuple[str, ...]) -> FTest:
    """The Type III F test of one term, given by the names of its factors."""
    within = tuple(name in term for name in fit.factors)
    return f_test(fit, design.effect_contrasts(fit.shape, within), ":".join(term))


def f_test(fit: MixedFit, contrasts: NDArray[np.float64], term: str = "") -> FTest:
    """The F test of `contrasts @ cell means = 0`; the rows, shape (q, cells), are independent.

    Formulas and symbols: Kenward & Roger (1997), section 3, with their modification that makes the
    test exact in balanced designs.

    Raises:
        NotAnalysableError: too many trials are lost to tell the error.
    """
    q = contrasts.shape[0]
    means = contrasts @ fit.cell_means
    wald = float(means @ np.linalg.solve(contrasts @ fit.adjusted_covariance @ contrasts.T, means))
    slopes = contrasts @ fit.derivatives @ contrasts.T
    relative = np.linalg.solve(contrasts @ fit.covariance @ contrasts.T, slopes)
    traces = np.trace(relative, axis1=1, axis2=2)
    flat = relative.reshape(len(relative), -1)
    products = flat @ relative.transpose(0, 2, 1).reshape(len(relative), -1).T
    a1 = float(traces @ fit.parameter_covariance @ traces)
    a2 = float(np.sum(fit.parameter_covariance * products))
    df, scaling = _denominator(q, a1, a2)
    _require_df(fit, df, df, term or "a hypothesis")
    f = scaling * wald / q
    return FTest(term, f, float(q), df, float(fdtrc(q, df, f)), scaling)


def _require_df(fit: MixedFit, least: float, most: float, what: str) -> None:
    """Refuse degrees of freedom that cannot be: the sign of variances that nothing is known of.

    An estimate from n - cells errors cannot have more than that many; one that cannot be told has
    none, or a negative number.
    """
    if not (least >= _LEAST_DF and most <= _ROUNDING * (fit.n - fit.cell_means.size)):
        raise design.NotAnalysableError(
            f"too many trials are lost to tell the error of {what}; measure them"
        )


def _denominator(q: int, a1: float, a2: float) -> tuple[float, float]:
    """Denominator degrees of freedom and the scaling of F, from A1 and A2."""
    if q == 1:
        return 2 / a2, 1.0
    b = (a1 + 6 * a2) / (2 * q)
    g = ((q + 1) * a1 - (q + 4) * a2) / ((q + 2) * a2)
    below = 3 * q + 2 * (1 - g)
    v0 = 1 + g / below * b
    v1 = 1 - (q - g) / below * b
    v2 = 1 - (q + 2 - g) / below * b
    mean = 1 - a2 / q
    # Both vanish together at two degrees of freedom.
    ratio = 1.0 if abs(mean) < _TINY and abs(v1) < _TINY else mean / v1
    excess = ratio**2 * v0 - v2
    df = 4 + (q + 2) * v2 / excess
    scaling = 1.0 if math.isclose(df, 2, abs_tol=1e-2) else df * mean / (df - 2)
    return df, scaling
