"""What the analyses give: plain values that reports and files are made of."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from collections.abc import Mapping

    import numpy as np
    from numpy.typing import NDArray


@dataclass(frozen=True)
class FTest:
    """An F test of a term, such as `version:clients`.

    `scaling` is what Kenward and Roger's method multiplied the Wald statistic over `df` with.
    """

    term: str
    f: float
    df: float
    df_residual: float
    p: float
    scaling: float = 1.0


@dataclass(frozen=True)
class Contrast:
    """The difference of two (marginal) means, `first` minus `second`, each a tuple of levels.

    `within` holds the levels of other factors that are the same on both sides, by factor. `p` is
    adjusted as the family says; `lower` and `upper` are the ends of the confidence interval,
    None where none was asked for.
    """

    first: tuple[str, ...]
    second: tuple[str, ...]
    estimate: float
    se: float
    df: float
    t: float
    p: float
    lower: float | None = None
    upper: float | None = None
    within: Mapping[str, str] | None = None


@dataclass(frozen=True)
class ContrastFamily:
    """Contrasts among the levels of `factors` (several: of their combinations).

    `size` is the number of means that Tukey's adjustment counts.
    """

    factors: tuple[str, ...]
    contrasts: tuple[Contrast, ...]
    adjustment: Literal["none", "tukey"]
    size: int


@dataclass(frozen=True)
class MarginalMean:
    """An estimated mean of a treatment with its 95% confidence interval."""

    levels: Mapping[str, str]
    mean: float
    se: float
    df: float
    lower: float
    upper: float


@dataclass(frozen=True)
class FitSummary:
    """A fitted mixed model besides its tests.

    `variances` maps random terms (`block`, `block:version`, …, `Residual`) to their components.
    `reml_criterion` is minus twice the restricted log-likelihood, as lme4 states it.
    `coefficients` are the fixed effects under sum-to-zero coding in R's order: the mean, the main
    effects, the interactions of two factors and so on, the first factor's levels running fastest.
    """

    variances: Mapping[str, float]
    reml_criterion: float
    coefficients: tuple[float, ...]


@dataclass(frozen=True)
class LogModel:
    """The mixed model of the response's logarithm.

    `variances` maps random terms (`block`, `block:version`, …, `Residual`) to their components.
    `coefficients` are those of `FitSummary`.
    `by_rest` compares the levels of the first factor within each combination of the others, and
    `marginal` over all of them.
    """

    variances: Mapping[str, float]
    reml_criterion: float
    anova: tuple[FTest, ...]
    means: tuple[MarginalMean, ...]
    by_rest: ContrastFamily
    by_rest_tukey: ContrastFamily
    marginal: ContrastFamily
    coefficients: tuple[float, ...]


@dataclass(frozen=True)
class ArtAnalysis:
    """The analysis that the published reports print, of one response.

    `levels` has the factors with two or more levels (others take no part), `block` is the name of
    the block, `block_levels` its labels.
    `levene` has the keys `median`, `mean` and (where all values are positive) `log_median`; a test
    that the trials are too few for is missing.
    `aligned` and `ranks` map each term to an array of shape (n,). `artc_pairs` has, with three or
    more factors, one family for each proper subset of two or more factors. `log_model` is None
    where a value is not positive.
    """

    levels: Mapping[str, tuple[str, ...]]
    n: int
    blocks: int
    block: str
    block_levels: tuple[str, ...]
    levene: Mapping[str, FTest]
    aligned: Mapping[str, NDArray[np.float64]]
    ranks: Mapping[str, NDArray[np.float64]]
    art_anova: tuple[FTest, ...]
    art_fits: Mapping[str, FitSummary]
    artc_all_cells: ContrastFamily
    artc_fit: FitSummary
    artc_main: Mapping[str, ContrastFamily]
    artc_pairs: Mapping[tuple[str, ...], ContrastFamily]
    log_model: LogModel | None
