"""Tests of what verdicts do not allow for: they keep their level, and find what was planted."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pytest
from scipy import stats
from scipy.optimize import linprog

from teiten.stats.modes import dip_p, dip_statistic
from teiten.stats.observations import Column, Observations
from teiten.stats.order_effects import OrderEffect, carry_over, drift
from teiten.stats.outliers import Outliers, find_outliers
from teiten.stats.regression import regress, treatments_and_blocks
from teiten.stats.unequal_spread import unequal_spread

if TYPE_CHECKING:
    from numpy.typing import NDArray

VERSIONS, CLIENTS, BLOCKS = 2, 4, 5
PER_BLOCK = VERSIONS * CLIENTS


class Made:
    """A run of noise, in random order within blocks; rows are in the order of the run."""

    def __init__(self, seed: int) -> None:
        self.rng = np.random.default_rng(seed)
        cells = np.concatenate([self.rng.permutation(PER_BLOCK) for _ in range(BLOCKS)])
        self.version, self.clients = np.divmod(cells, CLIENTS)
        self.block = np.repeat(np.arange(BLOCKS), PER_BLOCK)
        self.order = np.arange(1.0, len(cells) + 1)
        self.y = self.rng.standard_normal(len(cells)) + 3 * self.version + self.clients
        self.y += 2 * self.rng.standard_normal(BLOCKS)[self.block]
        codes = np.column_stack([self.version, self.clients])
        self.previous = np.vstack([[[-1, -1]], codes[:-1]])

    @property
    def observations(self) -> Observations:
        return Observations(
            self.y,
            (
                Column("version", ("a", "b"), self.version),
                Column("clients", ("1", "2", "4", "8"), self.clients),
            ),
            Column("block", tuple(str(i) for i in range(BLOCKS)), self.block),
        )

    def p(self, test: str) -> float:
        seen = self.observations
        regressors = treatments_and_blocks(seen)
        found: OrderEffect | Outliers | float | None
        if test == "drift":
            found = drift(seen, self.order)
        elif test == "carry-over":
            found = carry_over(seen, self.previous)
        elif test == "outliers":
            found = find_outliers(self.y, regressors)
        elif test == "spread":
            found = unequal_spread(seen)
        else:
            found = dip_p(regress(self.y, regressors).residuals)
        assert found is not None
        return found if isinstance(found, float) else found.p


# The dip test of normal noise, and Levene's of few values, raise fewer alarms than they may.
@pytest.mark.parametrize(
    ("test", "exact"),
    [
        ("drift", True),
        ("carry-over", True),
        ("outliers", True),
        ("spread", False),
        ("modes", False),
    ],
)
def test_pure_noise_raises_alarms_at_the_level(test: str, *, exact: bool) -> None:
    runs = 400
    alarms = sum(Made(seed).p(test) < 0.05 for seed in range(runs))
    kind = "two-sided" if exact else "greater"
    assert stats.binomtest(alarms, runs, 0.05, alternative=kind).pvalue > 0.001


def test_a_drift_over_the_run_is_found_with_its_size() -> None:
    for fall in (8.0, -8.0):
        made = Made(1)
        made.y += fall * made.order / made.order[-1]
        effect = drift(made.observations, made.order)
        assert effect is not None
        assert effect.p < 0.01
        assert effect.size == pytest.approx(fall, abs=4)


def test_the_trial_after_another_treatment_is_seen_to_differ() -> None:
    made = Made(2)
    made.y += 2.5 * (made.previous[:, 0] == 1)
    effect = carry_over(made.observations, made.previous)
    assert effect is not None
    assert effect.p < 0.001
    assert effect.size == pytest.approx(2.5, abs=1)


def test_outliers_are_named_and_do_not_hide_each_other() -> None:
    made = Made(3)
    made.y[[7, 30]] += (9.0, 9.5)
    found = find_outliers(made.y, treatments_and_blocks(made.observations))
    assert found is not None
    assert found.p < 0.001
    assert found.rows == (7, 30)


def test_of_a_pair_in_a_block_neither_can_be_told_the_outlier() -> None:
    rng = np.random.default_rng(4)
    seen = Observations(
        rng.standard_normal(24),
        (Column("version", ("a", "b"), np.arange(24) % 2),),
        Column("block", tuple(str(i) for i in range(12)), np.arange(24) // 2),
    )
    seen.response[9] += 30
    found = find_outliers(seen.response, treatments_and_blocks(seen))
    assert found is not None
    assert found.rows == (8, 9)


def test_a_level_that_spreads_more_is_found() -> None:
    made = Made(5)
    made.y += 6 * made.rng.standard_normal(len(made.y)) * (made.clients == 3)
    assert made.p("spread") < 0.01


def test_levenes_test_of_independent_values_is_scipys() -> None:
    rng = np.random.default_rng(6)
    groups = [rng.standard_normal(n) * sd for n, sd in ((7, 1), (9, 2), (6, 1.5))]
    codes = np.repeat([0, 1, 2], [7, 9, 6])
    seen = Observations(
        np.concatenate(groups) - np.concatenate([np.full(len(g), g.mean()) for g in groups]),
        (Column("version", ("a", "b", "c"), codes),),
        Column("block", tuple(str(i) for i in range(22)), np.arange(22)),
    )
    # Residuals about a mean hardly depend on each other, so the correction is small.
    assert unequal_spread(seen) == pytest.approx(
        stats.levene(*groups, center="median").pvalue, rel=0.2
    )


def test_two_modes_are_found_and_one_is_not() -> None:
    rng = np.random.default_rng(7)
    one = rng.standard_normal(30)
    two = np.concatenate([one[:15], one[15:] + 8])
    below, above = dip_p(one), dip_p(two)
    assert below is not None
    assert above is not None
    assert below > 0.2
    assert above < 0.001
    assert dip_p(one[:11]) is None


@pytest.mark.parametrize("n", [12, 20, 45])
def test_the_table_of_dips_holds_for_uniform_samples(n: int) -> None:
    rng = np.random.default_rng(n)
    runs = 600
    p = np.array([dip_p(rng.random(n)) for _ in range(runs)])
    for level in (0.05, 0.3):
        assert stats.binomtest(int(np.sum(p < level)), runs, level).pvalue > 0.001


@pytest.mark.parametrize("seed", range(6))
def test_the_dip_is_the_distance_to_the_nearest_unimodal_distribution(seed: int) -> None:
    rng = np.random.default_rng(seed)
    apart = 6.0 * (seed % 2)
    values = np.concatenate([rng.standard_normal(4), apart + rng.standard_normal(5)])
    nearest = min(_distance_with_mode_at(np.sort(values), m) for m in range(len(values)))
    assert dip_statistic(values) == pytest.approx(nearest, abs=1e-9)


def _distance_with_mode_at(x: NDArray[np.float64], mode: int) -> float:
    """By linear programming: convex up to the mode, concave from there, an atom allowed at it."""
    n = len(x)
    left, right, distance = mode + 1, n - mode, n + 1
    rows: list[tuple[dict[int, float], float]] = []

    def near(variable: int, low: float, high: float) -> None:
        rows.append(({variable: 1, distance: -1}, low))
        rows.append(({variable: -1, distance: -1}, -high))

    for i in range(n):
        if i == mode:
            near(mode, i / n, i / n)
            near(left, (i + 1) / n, (i + 1) / n)
        else:
            near(i if i < mode else left + i - mode, i / n, (i + 1) / n)
    rows += [({i: 1, i + 1: -1}, 0.0) for i in range(left + right - 1)]
    for i in range(1, n - 1):
        if i == mode:
            continue
        at, sign = (i, 1.0) if i < mode else (left + i - mode, -1.0)
        before, after = x[i] - x[i - 1], x[i + 1] - x[i]
        terms = {at - 1: -after, at: before + after, at + 1: -before}
        rows.append(({k: sign * v for k, v in terms.items()}, 0.0))
    matrix = np.zeros((len(rows), distance + 1))
    for row, (terms, _) in zip(matrix, rows, strict=True):
        row[list(terms)] = list(terms.values())
    cost = np.zeros(distance + 1)
    cost[distance] = 1
    solved = linprog(cost, A_ub=matrix, b_ub=[b for _, b in rows], bounds=[(0, 1)] * len(cost))
    return float(solved.fun)
