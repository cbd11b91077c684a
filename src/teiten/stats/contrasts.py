"""Differences of marginal means in a fitted model, alone and adjusted for their family."""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING, Literal

import numpy as np
from scipy.special import stdtrit

from teiten.stats import design, kenward_roger, tukey
from teiten.stats.results import Contrast, ContrastFamily, MarginalMean

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from teiten.stats.mixed_model import MixedFit

Adjustment = Literal["none", "tukey"]
_ALPHA = 0.05


def pairwise(
    fit: MixedFit, names: Sequence[str], adjustment: Adjustment, *, intervals: bool = False
) -> ContrastFamily:
    """All pairs of the combinations of the levels of `names`, means over the other factors.

    One factor's levels come in their own order; combinations of several in that of their labels
    joined by commas, which is how R sorts them.
    """
    keys, margins = _margins(fit, names)
    order = list(range(len(keys)))
    if len(names) > 1:
        order.sort(key=lambda i: ",".join(keys[i]))
    pairs = list(itertools.combinations(order, 2))
    first = [i for i, _ in pairs]
    second = [j for _, j in pairs]
    contrasts = _contrasts(
        fit,
        [(keys[i], keys[j], None) for i, j in pairs],
        margins[first] - margins[second],
        len(keys) if adjustment == "tukey" else 2,
        intervals=intervals,
    )
    return ContrastFamily(tuple(names), contrasts, adjustment, len(keys))


def within_rest(fit: MixedFit, name: str, adjustment: Adjustment) -> ContrastFamily:
    """All pairs of the levels of one factor within each combination of the others, with intervals.

    Each combination is a family of its own, as `emmeans(fit, pairwise ~ a | b)` has it. Of the
    others, the first one's levels run fastest.
    """
    rest = [other for other in fit.factors if other != name]
    keys, margins = _margins(fit, fit.factors)
    place = {key: i for i, key in enumerate(keys)}
    own = fit.factors.index(name)
    labels = []
    rows = []
    for combination in itertools.product(*(fit.levels[fit.factors.index(r)] for r in rest[::-1])):
        others = combination[::-1]
        for one, other in itertools.combinations(fit.levels[own], 2):
            here, there = (place[(*others[:own], level, *others[own:])] for level in (one, other))
            labels.append(((one,), (other,), dict(zip(rest, others, strict=True))))
            rows.append(margins[here] - margins[there])
    size = len(fit.levels[own])
    contrasts = _contrasts(
        fit, labels, np.array(rows), size if adjustment == "tukey" else 2, intervals=True
    )
    return ContrastFamily((name,), contrasts, adjustment, size)


def cell_means(fit: MixedFit) -> tuple[MarginalMean, ...]:
    """The mean of every treatment with its 95% interval; the first factor's levels run fastest."""
    keys, margins = _margins(fit, fit.factors)
    order = sorted(range(len(keys)), key=lambda i: np.unravel_index(i, fit.shape)[::-1])
    found = kenward_roger.estimates(fit, margins[order])
    reach = -stdtrit(found.df, _ALPHA / 2) * found.se
    return tuple(
        MarginalMean(
            dict(zip(fit.factors, keys[i], strict=True)), mean, se, df, mean - half, mean + half
        )
        for i, mean, se, df, half in zip(
            order,
            found.estimate.tolist(),
            found.se.tolist(),
            found.df.tolist(),
            reach.tolist(),
            strict=True,
        )
    )


def _margins(
    fit: MixedFit, names: Sequence[str]
) -> tuple[list[tuple[str, ...]], NDArray[np.float64]]:
    """The combinations of levels, and the weights of their means: shape (combinations, cells)."""
    kept = [name in names for name in fit.factors]
    levels = [own for own, keep in zip(fit.levels, kept, strict=True) if keep]
    return list(itertools.product(*levels)), design.margin(fit.shape, kept)


def _contrasts(
    fit: MixedFit,
    labels: Sequence[tuple[tuple[str, ...], tuple[str, ...], dict[str, str] | None]],
    weights: NDArray[np.float64],
    means: int,
    *,
    intervals: bool,
) -> tuple[Contrast, ...]:
    found = kenward_roger.estimates(fit, weights)
    t = found.estimate / found.se
    p = tukey.adjusted_p(t, found.df, means)
    reach: Sequence[float | None] = [None] * len(labels)
    if intervals:
        reach = (_critical(found.df, means) * found.se).tolist()
    columns = zip(
        labels,
        found.estimate.tolist(),
        found.se.tolist(),
        found.df.tolist(),
        t.tolist(),
        p.tolist(),
        reach,
        strict=True,
    )
    return tuple(
        Contrast(
            first=first,
            second=second,
            estimate=estimate,
            se=se,
            df=df,
            t=ratio,
            p=min(p_value, 1.0),
            lower=None if half is None else estimate - half,
            upper=None if half is None else estimate + half,
            within=within,
        )
        for (first, second, within), estimate, se, df, ratio, p_value, half in columns
    )


def _critical(df: NDArray[np.float64], means: int) -> NDArray[np.float64]:
    if means == 2:  # noqa: PLR2004 - a single pair needs no adjustment
        alone: NDArray[np.float64] = -stdtrit(df, _ALPHA / 2)
        return alone
    # Contrasts of a balanced design share their df but for rounding.
    distinct, where = np.unique(np.round(df, 9), return_inverse=True)
    return np.array([tukey.critical_t(_ALPHA, each, means) for each in distinct])[where]
