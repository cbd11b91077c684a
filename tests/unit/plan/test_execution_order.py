"""The order of trials and nothing else: what makes a comparison fair is asserted here.

The checks of uniformity look at a fixed set of seeds, so that they always give the same answer;
were the order drawn anew, a right one would fail a check once in `1 / FALSE_ALARM`.
"""

from __future__ import annotations

import itertools
import math
from collections import Counter
from functools import cache
from statistics import NormalDist
from typing import TYPE_CHECKING

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from teiten.plan import make_plan
from teiten.study import go_on_until_decided, load_study, parse_study

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from teiten.plan import Plan
    from teiten.study import Study

FALSE_ALARM = 1e-6

GOLDEN_SMALL = [(4, 3, 6, 1, 2, 5), (5, 3, 2, 1, 4, 6), (1, 3, 6, 2, 5, 4)]
GOLDEN_VERSION_UPDATE = (3, 1, 4, 10, 15, 17, 12, 6, 14, 9, 18, 8, 16, 7, 13, 11, 2, 5)


@cache
def study_of(*level_counts: int) -> Study:
    """A study with one factor of each number of levels."""
    keys = ["clients", "data.scale", "load.warmup_s"]
    factors = "".join(
        f"[[factor]]\nname = 'f{i}'\nkey = '{key}'\nlevels = {list(range(1, count + 1))}\n"
        for i, (key, count) in enumerate(zip(keys, level_counts, strict=False))
    )
    return parse_study(
        "name = 'order'\ntitle = { en = 'Order' }\nblocks = 1\nseed = 1\n"
        "[setup]\nserver = 'npm:18.1'\n"
        "data = { kind = 'pgbench' }\n"
        "load = { kind = 'pgbench', script = 'readonly.sql', duration_s = 1 }\n" + factors,
        where="order.toml",
    )


def plan_of(study: Study, *, seed: int, blocks: int = 1) -> Plan:
    return make_plan(study.model_copy(update={"seed": seed, "blocks": blocks}))


def order(plan: Plan, block: int = 1) -> tuple[int, ...]:
    return tuple(t.treatment.number for t in plan.trials if t.block == block)


def chi_square(counts: Sequence[int], expected: float) -> float:
    return sum((n - expected) ** 2 / expected for n in counts)


def chi_square_limit(degrees: int) -> float:
    """The quantile 1 - FALSE_ALARM of chi-square (Wilson and Hilferty 1931)."""
    z = NormalDist().inv_cdf(1 - FALSE_ALARM)
    part = 2 / (9 * degrees)
    return float(degrees * (1 - part + z * math.sqrt(part)) ** 3)


def binomial_limit(trials: int, probability: float, comparisons: int) -> float:
    """How far a binomial count may be from its mean, over many comparisons (Bonferroni)."""
    z = NormalDist().inv_cdf(1 - FALSE_ALARM / (2 * comparisons))
    return z * math.sqrt(trials * probability * (1 - probability))


PLANS = st.builds(
    lambda counts, seed, blocks: plan_of(study_of(*counts), seed=seed, blocks=blocks),
    st.lists(st.integers(1, 4), min_size=1, max_size=3).map(tuple),
    st.integers(0, 2**70),
    st.integers(1, 5),
)


@settings(deadline=None)
@given(PLANS)
def test_every_treatment_is_run_exactly_once_in_every_block(plan: Plan) -> None:
    blocks = {t.block for t in plan.trials}
    assert blocks == set(range(1, len(blocks) + 1))
    for block in blocks:
        assert sorted(order(plan, block)) == [t.number for t in plan.treatments]


@settings(deadline=None)
@given(PLANS)
def test_trials_are_numbered_in_the_order_in_which_they_are_run(plan: Plan) -> None:
    assert [t.number for t in plan.trials] == list(range(1, len(plan.trials) + 1))
    assert [t.block for t in plan.trials] == sorted(t.block for t in plan.trials)


def test_treatments_are_all_combinations_of_levels_numbered_in_the_studys_order() -> None:
    plan = plan_of(study_of(2, 3), seed=1)
    assert [t.number for t in plan.treatments] == [1, 2, 3, 4, 5, 6]
    assert [(t.values["f0"], t.values["f1"]) for t in plan.treatments] == list(
        itertools.product([1, 2], [1, 2, 3])
    )
    assert [t.label() for t in plan.treatments][:2] == ["f0=1, f1=1", "f0=1, f1=2"]
    for treatment in plan.treatments:
        assert treatment.setup.clients == treatment.values["f0"]
        assert treatment.setup.data.scale == treatment.values["f1"]


@settings(deadline=None)
@given(st.integers(0, 2**70), st.integers(1, 5))
def test_the_same_seed_gives_the_same_plan(seed: int, blocks: int) -> None:
    study = study_of(3, 2)
    assert plan_of(study, seed=seed, blocks=blocks) == plan_of(study, seed=seed, blocks=blocks)


@settings(deadline=None)
@given(st.integers(0, 2**70), st.integers(1, 5), st.integers(1, 5))
def test_more_blocks_keep_the_order_of_the_earlier_ones(seed: int, few: int, more: int) -> None:
    study = study_of(3, 2)
    short = plan_of(study, seed=seed, blocks=few)
    long = plan_of(study, seed=seed, blocks=few + more)
    assert long.trials[: len(short.trials)] == short.trials


@settings(deadline=None)
@given(st.integers(0, 2**70), st.integers(1, 5))
def test_a_run_until_decided_begins_like_one_of_fixed_length(seed: int, blocks: int) -> None:
    study = study_of(3, 2)
    fixed, open_ended = plan_of(study, seed=seed, blocks=blocks), go_on_until_decided(study)
    plan = plan_of(open_ended, seed=seed, blocks=blocks)
    assert plan.trials_of(blocks) == fixed.trials
    assert len(plan.trials) == 200 * len(fixed.treatments)
    assert (plan.until_decided, fixed.until_decided) == (True, False)


@settings(deadline=None)
@given(st.integers(0, 2**70))
def test_what_is_measured_does_not_change_the_order(seed: int) -> None:
    # An A/A run of the same shape meets the same sequence of places as the run it calibrates.
    one, other = study_of(6), study_of(2, 3)
    assert order(plan_of(one, seed=seed)) == order(plan_of(other, seed=seed))


def test_seeds_and_blocks_give_different_orders() -> None:
    study = study_of(4, 4)  # 16! orders: two of a few hundred do not meet by chance
    plans = [plan_of(study, seed=seed, blocks=5) for seed in range(50)]
    orders = [order(plan, block) for plan in plans for block in range(1, 6)]
    assert len(set(orders)) == len(orders)


def test_every_order_within_a_block_is_equally_likely() -> None:
    seeds, study = 4800, study_of(4)
    counts = Counter(order(plan_of(study, seed=seed)) for seed in range(seeds))
    every = [counts[o] for o in itertools.permutations([1, 2, 3, 4])]
    assert chi_square(every, seeds / 24) < chi_square_limit(23)


@pytest.mark.parametrize("block", [1, 3])
def test_every_treatment_is_equally_likely_at_every_place(block: int) -> None:
    seeds, treatments = 1500, 8
    study = study_of(4, 2)
    counts: Counter[tuple[int, int]] = Counter()
    for seed in range(seeds):
        counts.update(enumerate(order(plan_of(study, seed=seed, blocks=block), block)))
    cells = [counts[place, t] for place in range(treatments) for t in range(1, treatments + 1)]
    # Rows and columns of a sum of permutation matrices are fixed: (k - 1) / k of the usual sum
    # has (k - 1)^2 degrees of freedom.
    statistic = chi_square(cells, seeds / treatments) * (treatments - 1) / treatments
    assert statistic < chi_square_limit((treatments - 1) ** 2)


def test_every_treatment_follows_every_other_equally_often() -> None:
    # What one trial leaves behind (a warm cache, a hot processor) falls on all alike.
    seeds, treatments = 2000, 6
    study = study_of(6)
    counts: Counter[tuple[int, int]] = Counter()
    for seed in range(seeds):
        counts.update(itertools.pairwise(order(plan_of(study, seed=seed))))
    pairs = list(itertools.permutations(range(1, treatments + 1), 2))
    limit = binomial_limit(seeds, 1 / treatments, len(pairs))
    assert max(abs(counts[pair] - seeds / treatments) for pair in pairs) < limit


def joint_counts(pairs: Iterable[tuple[tuple[int, ...], tuple[int, ...]]]) -> list[int]:
    counts = Counter(pairs)
    orders = list(itertools.permutations([1, 2, 3]))
    return [counts[pair] for pair in itertools.product(orders, orders)]


def test_the_orders_of_two_blocks_are_independent() -> None:
    seeds, study = 3600, study_of(3)
    plans = [plan_of(study, seed=seed, blocks=2) for seed in range(seeds)]
    joint = joint_counts((order(p, 1), order(p, 2)) for p in plans)
    assert chi_square(joint, seeds / 36) < chi_square_limit(35)


def test_the_orders_of_neighbouring_seeds_are_independent() -> None:
    seeds, study = 3600, study_of(3)
    orders = [order(plan_of(study, seed=seed)) for seed in range(2 * seeds)]
    joint = joint_counts(zip(orders[::2], orders[1::2], strict=True))
    assert chi_square(joint, seeds / 36) < chi_square_limit(35)


def test_published_plans_do_not_change() -> None:
    """Orders as they were first published: a run can be repeated by anyone, with any release."""
    plan = plan_of(study_of(2, 3), seed=20241101, blocks=3)
    assert [order(plan, block) for block in (1, 2, 3)] == GOLDEN_SMALL
    assert order(make_plan(load_study("version-update"))) == GOLDEN_VERSION_UPDATE
