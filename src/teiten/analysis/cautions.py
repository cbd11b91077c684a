"""What the trials show that verdicts do not allow for: tested, reported, never removed. Pure.

Every test looks at the logarithms of one response in one group, beside treatments and blocks. The
p-values of all tests of a run are adjusted together (Holm), so that a run of pure noise raises any
caution at all with a probability of about 5%.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from teiten.analysis.conclusions import Caution, CautionKind
from teiten.analysis.trials import without_ratio
from teiten.stats.modes import dip_p
from teiten.stats.order_effects import carry_over, drift
from teiten.stats.outliers import find_outliers
from teiten.stats.regression import regress, treatments_and_blocks
from teiten.stats.simultaneous import holm
from teiten.stats.unequal_spread import unequal_spread

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from numpy.typing import NDArray

    from teiten.analysis.trials import ResponseGroup
    from teiten.archive import TrialRecord
    from teiten.study import Study

ALPHA = 0.05


def find_cautions(
    study: Study, records: Sequence[TrialRecord], groups: Sequence[ResponseGroup]
) -> tuple[Caution, ...]:
    """The cautions of a run, by group, those below 5% after adjustment for all tests of the run.

    `records` are all trials of the run: the one before a trial may be of another group.
    """
    before = _Before.of(study, records)
    tested = [caution for group in groups for caution in _tests(group, before)]
    adjusted = holm([caution.p for caution in tested])
    found = tuple(
        replace(caution, p=float(p))
        for caution, p in zip(tested, adjusted, strict=True)
        if p <= ALPHA
    )
    left_out = tuple(
        Caution("not positive", x.response, x.group, 0.0, trials=x.trials)
        for x in without_ratio(study, records)
    )
    return left_out + found


@dataclass(frozen=True)
class _Before:
    """By a trial's number, the codes of the levels of the trial that ran just before it."""

    codes: Mapping[int, tuple[int, ...]]
    factors: int

    @classmethod
    def of(cls, study: Study, records: Sequence[TrialRecord]) -> _Before:
        varied = [f for f in study.factor if len(f.labels) > 1]
        codes = {
            record.number + 1: tuple(f.labels.index(record.levels[f.name]) for f in varied)
            for record in records
        }
        return cls(codes, len(varied))

    def all_of(self, trials: NDArray[np.intp]) -> NDArray[np.intp]:
        """Shape (n, factors); -1 where the trial before is not known."""
        none = (-1,) * self.factors
        rows = [self.codes.get(int(number), none) for number in trials]
        return np.array(rows, dtype=np.intp).reshape(len(trials), self.factors)


def _tests(group: ResponseGroup, before: _Before) -> Iterator[Caution]:
    """Every test that the group's trials allow, as a caution with its own p-value."""
    logs = group.observations.with_response(np.log(group.observations.response))
    regressors = treatments_and_blocks(logs)
    fit = regress(logs.response, regressors)
    if fit.sum_of_squares == 0:
        return

    def caution(
        kind: CautionKind, p: float, size: float | None = None, rows: Sequence[int] = ()
    ) -> Caution:
        figure = None if size is None else math.expm1(size)
        numbers = tuple(int(group.trials[row]) for row in rows)
        return Caution(kind, group.response, group.group, p, figure, numbers)

    # The residuals of two treatments mirror each other: one of them has all there is to see.
    mirrored = len(np.unique(logs.cells())) == 2  # noqa: PLR2004 - a pair
    modes = dip_p(fit.residuals[logs.cells() == 0] if mirrored else fit.residuals)
    if modes is not None:
        yield caution("several modes", modes)
    outliers = find_outliers(logs.response, regressors)
    if outliers is not None:
        yield caution("outlier", outliers.p, rows=outliers.rows)
    over_run = drift(logs, group.trials.astype(np.float64))
    if over_run is not None:
        yield caution("drift", over_run.p, over_run.size)
    after_others = carry_over(logs, before.all_of(group.trials))
    if after_others is not None:
        yield caution("carry-over", after_others.p, after_others.size)
    spread = unequal_spread(logs)
    if spread is not None:
        yield caution("unequal spread", spread)
