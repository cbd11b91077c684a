"""The published analysis as a document: plain values under the names that R's packages give them.

The keys, the order of rows and the names of contrasts are those of a fit with lme4, tests with
pbkrtest and car, contrasts with ARTool and emmeans; columns are lists of equal length.
"""

from __future__ import annotations

import math
import re
from typing import TYPE_CHECKING

from teiten.stats.mixed_model import RESIDUAL

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from teiten.stats.results import (
        ArtAnalysis,
        Contrast,
        ContrastFamily,
        FitSummary,
        FTest,
        LogModel,
    )

_NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?")
# Below this ratio to the residual's deviation a random effect counts as absent (lme4 `isSingular`).
_SINGULAR = 1e-4


def analysis_document(analysis: ArtAnalysis, response: str = "y") -> dict[str, object]:
    """The analysis of the column `response`, ready for JSON: finite numbers, texts, lists, dicts.

    `log_lmm` and `levene.log_median` are missing where a value is not positive; so is a Levene's
    test that the trials are too few for, and `artc_pairs` with fewer than three factors.
    """
    factors = list(analysis.levels)
    document: dict[str, object] = {
        "n": analysis.n,
        "factors": factors,
        "levels": {
            analysis.block: list(analysis.block_levels),
            **{name: list(levels) for name, levels in analysis.levels.items()},
        },
        "formula": _formula(analysis, response),
        "levene": {
            center: {"F": test.f, "df": test.df, "df_res": test.df_residual, "p": test.p}
            for center, test in analysis.levene.items()
        },
        "aligned": {term: values.tolist() for term, values in analysis.aligned.items()},
        "aligned_ranks": {term: values.tolist() for term, values in analysis.ranks.items()},
        "aligned_col_sums": {
            term: math.fsum(values.tolist()) for term, values in analysis.aligned.items()
        },
        "art_anova": {
            **_anova(analysis.art_anova),
            "reml_criterion": [fit.reml_criterion for fit in analysis.art_fits.values()],
            "singular": [_fit(fit, analysis)["singular"] for fit in analysis.art_fits.values()],
        },
        "art_fits": {term: _fit(fit, analysis) for term, fit in analysis.art_fits.items()},
        "artc_all_cells": _family(analysis.artc_all_cells, analysis.levels),
        "artc_fit": _fit(analysis.artc_fit, analysis),
        "artc_family": analysis.artc_all_cells.size,
        "artc_main": {
            name: _family(family, analysis.levels) for name, family in analysis.artc_main.items()
        },
    }
    if analysis.artc_pairs:
        document["artc_pairs"] = {
            ":".join(names): _family(family, analysis.levels)
            for names, family in analysis.artc_pairs.items()
        }
    if analysis.log_model is not None:
        document["log_lmm"] = _log_model(analysis.log_model, analysis)
    return document


def contrast_name(contrast: Contrast, factors: Sequence[str], levels: Sequence[str]) -> str:
    """`16.6,1 - 17.2,1`, or of one factor `off - on`; `version16.6 - version17.2` if numeric.

    `levels` are all levels of that one factor: emmeans puts the factor's name before them when all
    of them read as numbers.
    """
    prefix = factors[0] if len(factors) == 1 and all(map(_NUMBER.fullmatch, levels)) else ""
    return " - ".join(prefix + ",".join(side) for side in (contrast.first, contrast.second))


def _formula(analysis: ArtAnalysis, response: str) -> str:
    random = [name for name in analysis.artc_fit.variances if name != RESIDUAL]
    return f"{response} ~ " + " + ".join(
        [" * ".join(analysis.levels), *(f"(1 | {name})" for name in random)]
    )


def _anova(tests: Iterable[FTest]) -> dict[str, object]:
    rows = list(tests)
    return {
        "term": [row.term for row in rows],
        "F": [row.f for row in rows],
        "df": [row.df for row in rows],
        "df_res": [row.df_residual for row in rows],
        "p": [row.p for row in rows],
        "F_scaling": [row.scaling for row in rows],
    }


def _fit(fit: FitSummary | LogModel, analysis: ArtAnalysis) -> dict[str, object]:
    residual = fit.variances[RESIDUAL]
    sizes = {analysis.block: analysis.blocks} | {
        name: len(levels) for name, levels in analysis.levels.items()
    }
    # lme4 orders random terms by their number of groups.
    names = sorted(
        (name for name in fit.variances if name != RESIDUAL),
        key=lambda name: math.prod(sizes[part] for part in name.split(":")),
    )[::-1]
    theta = [math.sqrt(fit.variances[name] / residual) for name in names]
    return {
        "variance": {name: fit.variances[name] for name in [*names, RESIDUAL]},
        "theta": theta,
        "theta_names": [f"{name}.(Intercept)" for name in names],
        "sigma": math.sqrt(residual),
        "reml_criterion": fit.reml_criterion,
        "singular": min(theta) < _SINGULAR,
        "beta": list(fit.coefficients),
    }


def _family(family: ContrastFamily, levels: Mapping[str, Sequence[str]]) -> dict[str, object]:
    rows = family.contrasts
    own = levels[family.factors[0]]
    columns: dict[str, object] = {
        "contrast": [contrast_name(row, family.factors, own) for row in rows]
    }
    for name in rows[0].within or {}:
        columns[name] = [row.within[name] for row in rows if row.within]
    columns["estimate"] = [row.estimate for row in rows]
    columns["SE"] = [row.se for row in rows]
    columns["df"] = [row.df for row in rows]
    if rows[0].lower is not None:
        columns["lower_CL"] = [row.lower for row in rows]
        columns["upper_CL"] = [row.upper for row in rows]
    columns["t_ratio"] = [row.t for row in rows]
    columns["p_value"] = [row.p for row in rows]
    return columns


def _log_model(model: LogModel, analysis: ArtAnalysis) -> dict[str, object]:
    first = next(iter(analysis.levels))
    means = model.means
    return {
        "formula": _formula(analysis, "y"),
        "fit": _fit(model, analysis),
        "anova": _anova(model.anova),
        "emmeans": {
            **{name: [row.levels[name] for row in means] for name in analysis.levels},
            "emmean": [row.mean for row in means],
            "SE": [row.se for row in means],
            "df": [row.df for row in means],
            "lower_CL": [row.lower for row in means],
            "upper_CL": [row.upper for row in means],
        },
        f"{first}_by_rest": _family(model.by_rest, analysis.levels),
        f"{first}_by_rest_tukey": _family(model.by_rest_tukey, analysis.levels),
        f"{first}_marginal": _family(model.marginal, analysis.levels),
    }
