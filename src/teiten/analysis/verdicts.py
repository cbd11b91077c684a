"""Verdicts of a run with a fixed number of blocks: estimates, intervals, decisions. Pure.

Error rates. Per response, all verdicts of a run are one family (levels times groups): the
probability that any difference is claimed where there is none is at most 5%, and so is the
probability that sameness is claimed of any that differs by the margin or more. The 95% intervals
hold together. Within a group the contrasts are correlated (they share the reference and the fit)
and the largest |t| is used; the groups' fits are separate and are joined by Sidak's inequality.
The estimates along x are a second family of their own: they say where a difference lies, and
adding client counts to a study must not widen the interval of the question it asks. No decision
is taken from them.

Decisions, in this order. `same`: both one-sided tests against the margin reject, even when the
interval excludes no difference (a real difference smaller than the margin; its interval shows
it). `higher` or `lower`: the interval excludes no difference. Else `undecided`.
"""

from __future__ import annotations

import math
from collections import Counter
from typing import TYPE_CHECKING

from scipy import special

from teiten.analysis.conclusions import Decision, Estimate, Verdict
from teiten.analysis.contrasts import Contrasts, contrasts
from teiten.stats.equivalence import equivalence_p, log_margin
from teiten.stats.power import Precision, blocks_to_decide, detectable_difference
from teiten.stats.simultaneous import MaxT, sidak_level, sidak_p

if TYPE_CHECKING:
    from collections.abc import Sequence

    from teiten.analysis.trials import ResponseGroup

ALPHA = 0.05
_LARGEST_LOG = 700.0


def fixed_verdicts(groups: Sequence[ResponseGroup], margin: float) -> tuple[Verdict, ...]:
    """The verdicts of the groups in their order; those of one response are one family.

    Groups without a reference, or without another level, have none.
    """
    compared = [group for group in groups if group.others]
    groups_of = Counter(group.response for group in compared)
    sizes = Counter[str]()
    for group in compared:
        sizes[group.response] += len(group.others)
    return tuple(
        verdict
        for group in compared
        for verdict in _group_verdicts(
            group, margin, groups_of[group.response], sizes[group.response]
        )
    )


def _group_verdicts(group: ResponseGroup, margin: float, families: int, size: int) -> list[Verdict]:
    overall, by_x = contrasts(group)
    joint = _Joint(overall, families)
    estimates = joint.estimates()
    along_x = list(zip(by_x.levels, by_x.x_labels, _Joint(by_x, families).estimates(), strict=True))
    bounds = log_margin(margin)
    verdicts = []
    for i, level in enumerate(group.others):
        change, se, df = (float(v[i]) for v in (overall.estimate, overall.se, overall.df))
        known = math.isfinite(se)
        p_equivalence = equivalence_p(change, se, df, bounds, tests=size) if known else 1.0
        decision = _decision(estimates[i], p_equivalence)
        more_blocks = detectable = None
        if known:
            precision = Precision(
                se=se,
                df=df,
                blocks=group.blocks,
                difference_level=joint.level_of_each(i),
                equivalence_level=ALPHA / size,
                bounds=bounds,
            )
            detectable = _change(detectable_difference(precision))
            if decision == "undecided":
                enough = blocks_to_decide(precision, change)
                more_blocks = None if enough is None else enough - group.blocks
        verdicts.append(
            Verdict(
                response=group.response,
                group=group.group,
                level=level,
                decision=decision,
                overall=estimates[i],
                by_x={x: e for other, x, e in along_x if other == level and x is not None},
                p_difference=joint.p_difference(i),
                p_equivalence=p_equivalence,
                family_size=size,
                blocks=group.blocks,
                more_blocks=more_blocks,
                detectable=detectable,
                method="mixed model",
            )
        )
    return verdicts


def _decision(estimate: Estimate, p_equivalence: float) -> Decision:
    if p_equivalence <= ALPHA:
        return "same"
    if estimate.lower > 0:
        return "higher"
    return "lower" if estimate.upper < 0 else "undecided"


class _Joint:
    """What holds for all contrasts of a group together, which is one of so many `families`."""

    def __init__(self, found: Contrasts, families: int) -> None:
        self._found = found
        self._families = families
        self._level = sidak_level(ALPHA, families)
        self._largest = MaxT(found.correlation) if found.levels else None
        self._criticals: dict[float, float] = {}

    def estimates(self) -> list[Estimate]:
        """The ratios less 1 with intervals that hold together."""
        return [self._estimate(i) for i in range(len(self._found.levels))]

    def p_difference(self, i: int) -> float:
        """The p-value of no difference, adjusted."""
        change, se, df = self._one(i)
        if se == 0:
            return 0.0 if change else 1.0
        if self._largest is None or math.isinf(se):
            return 1.0
        return sidak_p(self._largest.tail(change / se, df), self._families)

    def level_of_each(self, i: int) -> float:
        """The level of a t test by itself that has the critical value of all together."""
        df = self._one(i)[2]
        return 2 * float(special.stdtr(df, -self._critical(df)))

    def _one(self, i: int) -> tuple[float, float, float]:
        found = self._found
        return float(found.estimate[i]), float(found.se[i]), float(found.df[i])

    def _critical(self, df: float) -> float:
        # Contrasts of balanced trials have the same degrees of freedom, but for rounding.
        key = round(df, 6)
        if self._largest is not None and key not in self._criticals:
            self._criticals[key] = self._largest.critical(self._level, df)
        return self._criticals[key]

    def _estimate(self, i: int) -> Estimate:
        change, se, df = self._one(i)
        if math.isinf(se):
            return Estimate(_change(change), -math.inf, math.inf, 0.0)
        half = self._critical(df) * se
        return Estimate(_change(change), _change(change - half), _change(change + half), df)


def _change(log_ratio: float) -> float:
    """The ratio less 1; infinite where it is beyond all numbers."""
    return math.expm1(log_ratio) if log_ratio < _LARGEST_LOG else math.inf
