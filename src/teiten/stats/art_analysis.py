"""The analysis that the published reports print: Levene, ART, ART-C, and the model of logarithms.

Factors with one level take no part: they can have no effect.
"""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING

import numpy as np

from teiten.stats import aligned_ranks, contrasts, design, kenward_roger
from teiten.stats.levene import levene
from teiten.stats.mixed_fit import coding
from teiten.stats.mixed_model import MixedFit, fit_mixed_model
from teiten.stats.observations import Observations
from teiten.stats.results import ArtAnalysis, ContrastFamily, FitSummary, LogModel

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray

    from teiten.stats.results import FTest


def analyse_art(observations: Observations) -> ArtAnalysis:
    """Analyse one response of crossed factors in blocks.

    Raises:
        NotAnalysableError: see `design.check`; or a model has no error to test against.
    """
    design.check(observations)
    trials = _without_constant_factors(observations)
    names = design.varying(trials.factors)
    aligned = {":".join(term): aligned_ranks.align(trials, term) for term in design.terms(names)}
    ranks = {term: aligned_ranks.ranks(values) for term, values in aligned.items()}
    fits = {term: _fit(trials, values, term) for term, values in ranks.items()}
    all_cells = _fit_joined(trials, names)
    return ArtAnalysis(
        levels={column.name: column.levels for column in trials.factors},
        n=trials.n,
        blocks=int(np.unique(trials.block.codes).size),
        block=trials.block.name,
        block_levels=trials.block.levels,
        levene=_levene(trials),
        aligned=aligned,
        ranks=ranks,
        art_anova=tuple(
            kenward_roger.term_test(fits[":".join(term)], term) for term in design.terms(names)
        ),
        art_fits={term: summary(fit) for term, fit in fits.items()},
        artc_all_cells=contrasts.pairwise(all_cells, names, "tukey"),
        artc_fit=_joined_summary(all_cells),
        artc_main={name: contrasts.pairwise(fits[name], [name], "tukey") for name in names},
        artc_pairs=_joined_families(trials, names),
        log_model=log_model(trials) if trials.response.min() > 0 else None,
    )


def log_model(observations: Observations) -> LogModel:
    """The mixed model of log response: tests, means and the first factor's differences.

    Raises:
        NotAnalysableError: see `design.check`; or nothing varies within treatments and blocks.
    """
    trials = _without_constant_factors(observations)
    fit = fit_mixed_model(trials.with_response(np.log(trials.response)))
    first = fit.factors[0]
    return LogModel(
        variances=fit.variances,
        reml_criterion=fit.reml_criterion,
        anova=kenward_roger.anova(fit),
        means=contrasts.cell_means(fit),
        by_rest=contrasts.within_rest(fit, first, "none"),
        by_rest_tukey=contrasts.within_rest(fit, first, "tukey"),
        marginal=contrasts.pairwise(fit, [first], "none", intervals=True),
        coefficients=summary(fit).coefficients,
    )


def summary(fit: MixedFit) -> FitSummary:
    """What is worth keeping of a fit besides its tests; every factor has two or more levels."""
    effects = design.effect_projections(fit.shape) @ fit.cell_means
    table = effects.reshape(-1, *fit.shape)
    coefficients = []
    for term in ((), *design.terms(fit.factors)):
        within = [name in term for name in fit.factors]
        own = table[sum(1 << i for i, has in enumerate(within) if has)]
        sides = zip(fit.shape, within, strict=True)
        kept = own[tuple(slice(size - 1) if has else 0 for size, has in sides)]
        coefficients += np.atleast_1d(kept).ravel(order="F").tolist()
    return FitSummary(fit.variances, fit.reml_criterion, tuple(coefficients))


def _joined_summary(fit: MixedFit) -> FitSummary:
    """The same with all factors joined into one, whose levels are sorted by their labels."""
    if len(fit.factors) == 1:
        return summary(fit)
    keys = list(itertools.product(*fit.levels))
    order = sorted(range(len(keys)), key=lambda i: ",".join(keys[i]))
    mean = float(fit.cell_means.mean())
    effects = (fit.cell_means[order[:-1]] - mean).tolist()
    criterion = fit.reml_criterion - coding(fit.shape) + coding((len(keys),))
    return FitSummary(fit.variances, criterion, (mean, *effects))


def _without_constant_factors(observations: Observations) -> Observations:
    names = design.varying(observations.factors)
    return Observations(
        observations.response,
        tuple(column for column in observations.factors if column.name in names),
        observations.block,
    )


def _joined_families(
    trials: Observations, names: tuple[str, ...]
) -> Mapping[tuple[str, ...], ContrastFamily]:
    subsets = itertools.chain.from_iterable(
        itertools.combinations(names, size) for size in range(2, len(names))
    )
    return {
        subset: contrasts.pairwise(_fit_joined(trials, subset), subset, "tukey")
        for subset in subsets
    }


def _fit_joined(trials: Observations, names: tuple[str, ...]) -> MixedFit:
    ranks = aligned_ranks.ranks(aligned_ranks.align_joined(trials, names))
    return _fit(trials, ranks, " and ".join(names))


def _fit(trials: Observations, ranks: NDArray[np.float64], what: str) -> MixedFit:
    if np.ptp(ranks) == 0:
        raise design.NotAnalysableError(
            "the responses are equal to 8 decimals, which is as far as aligned ranks look; give "
            "them in a smaller unit"
        )
    try:
        return fit_mixed_model(trials.with_response(ranks))
    except design.NotAnalysableError as error:
        raise design.NotAnalysableError(f"in the aligned ranks of {what} {error}") from error


def _levene(trials: Observations) -> Mapping[str, FTest]:
    tests = {"median": levene(trials, "median"), "mean": levene(trials, "mean")}
    if trials.response.min() > 0:
        tests["log_median"] = levene(trials.with_response(np.log(trials.response)), "median")
    return {name: test for name, test in tests.items() if test is not None}
