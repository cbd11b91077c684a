"""Laws of the mixed model and of Kenward and Roger's tests."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import binom, kstest, ttest_rel
from tests.unit.stats.simulated import crossing, noise, without

from teiten.stats import kenward_roger
from teiten.stats.design import NotAnalysableError
from teiten.stats.mixed_balanced import fit_balanced
from teiten.stats.mixed_matrices import fit_by_matrices
from teiten.stats.mixed_model import RESIDUAL, MixedFit, fit_mixed_model
from teiten.stats.observations import Observations

FAR_FROM_THE_BOUNDARY = {(): 6.0, ("version",): 5.0, ("num",): 5.0}
seeds = st.integers(0, 2**32 - 1)


def simulated(
    seed: int, shape: tuple[int, ...] = (2, 4), blocks: int = 3, repeats: int = 1
) -> Observations:
    random = np.random.default_rng(seed)
    names = [column.name for column in crossing(shape, 2).factors]
    deviations: dict[tuple[str, ...], float] = {(): random.choice([0.0, 3.0])} | {
        (name,): random.choice([0.0, 1.0, 3.0]) for name in names[: len(shape)] if len(shape) > 1
    }
    return noise(crossing(shape, blocks, repeats), random, deviations)


def assert_same_fit(one: MixedFit, other: MixedFit) -> None:
    assert one.reml_criterion == pytest.approx(other.reml_criterion, abs=1e-8)
    assert list(one.variances) == list(other.variances)
    whole = sum(one.variances.values())
    for name, variance in one.variances.items():
        assert variance == pytest.approx(other.variances[name], abs=1e-6 * whole)
    np.testing.assert_allclose(one.cell_means, other.cell_means, rtol=1e-9, atol=1e-9)
    np.testing.assert_allclose(one.covariance, other.covariance, atol=1e-6 * whole)
    np.testing.assert_allclose(
        one.adjusted_covariance, other.adjusted_covariance, atol=1e-6 * whole
    )
    for ours, theirs in zip(kenward_roger.anova(one), kenward_roger.anova(other), strict=True):
        assert ours.f == pytest.approx(theirs.f, rel=1e-5)
        assert ours.df_residual == pytest.approx(theirs.df_residual, rel=1e-6)
        assert ours.p == pytest.approx(theirs.p, abs=1e-6)
        assert theirs.scaling == pytest.approx(1, abs=1e-6)
    weights = np.random.default_rng(1).normal(size=(5, one.cell_means.size))
    ours_estimates = kenward_roger.estimates(one, weights)
    their_estimates = kenward_roger.estimates(other, weights)
    np.testing.assert_allclose(ours_estimates.se, their_estimates.se, rtol=1e-5)
    np.testing.assert_allclose(ours_estimates.df, their_estimates.df, rtol=1e-4)


@pytest.mark.parametrize(
    ("shape", "blocks", "repeats"),
    [((2, 4), 3, 1), ((3,), 4, 1), ((2, 3), 2, 2), ((2, 2, 3), 3, 1), ((2, 1, 4), 3, 1)],
)
@pytest.mark.parametrize("seed", range(3))
def test_balanced_form_equals_matrix_form(
    shape: tuple[int, ...], blocks: int, repeats: int, seed: int
) -> None:
    trials = simulated(seed, shape, blocks, repeats)
    assert_same_fit(fit_balanced(trials), fit_by_matrices(trials))


@given(seed=seeds, lost=st.integers(0, 3))
@settings(max_examples=8, deadline=None)
def test_variances_are_at_the_constrained_optimum(seed: int, lost: int) -> None:
    random = np.random.default_rng(seed)
    trials = without(simulated(seed), random.choice(8, lost, replace=False).tolist())
    fit = fit_mixed_model(trials)
    best = restricted_deviance(trials, np.array(list(fit.variances.values())))
    whole = sum(fit.variances.values())
    for _ in range(40):
        factors = np.exp(random.normal(scale=10.0 ** random.uniform(-3, 1), size=4))
        other = np.array(list(fit.variances.values())) * factors
        other += (random.random(4) < 0.3) * random.uniform(0, 0.3) * whole
        assert restricted_deviance(trials, other) >= best - 1e-8


@given(seed=seeds, lost=st.integers(0, 3))
@settings(max_examples=8, deadline=None)
def test_criterion_is_the_restricted_likelihood(seed: int, lost: int) -> None:
    trials = without(simulated(seed), range(lost))
    fit = fit_mixed_model(trials)
    expected = restricted_deviance(trials, np.array(list(fit.variances.values())))
    assert fit.reml_criterion == pytest.approx(expected, abs=1e-7)


def restricted_deviance(trials: Observations, variances: np.ndarray) -> float:
    """From the definition, with sum-to-zero coding, for two factors."""

    def indicator(codes: np.ndarray) -> np.ndarray:
        return np.asarray(codes[:, None] == np.unique(codes), dtype=float)

    def coded(codes: np.ndarray, levels: int) -> np.ndarray:
        coding = np.vstack([np.eye(levels - 1), -np.ones(levels - 1)])
        return np.asarray(coding[codes])

    block = trials.block.codes
    a, b = (column.codes for column in trials.factors)
    covariance = variances[-1] * np.eye(trials.n)
    for variance, codes in zip(variances, (block, block * 100 + a, block * 100 + b), strict=False):
        covariance += variance * indicator(codes) @ indicator(codes).T
    xa, xb = (coded(column.codes, len(column.levels)) for column in trials.factors)
    both = (xa[:, :, None] * xb[:, None, :]).reshape(trials.n, -1)
    x = np.hstack([np.ones((trials.n, 1)), xa, xb, both])
    inverse = np.linalg.inv(covariance)
    information = x.T @ inverse @ x
    projected = inverse - inverse @ x @ np.linalg.solve(information, x.T @ inverse)
    return float(
        (trials.n - x.shape[1]) * math.log(2 * math.pi)
        + np.linalg.slogdet(covariance)[1]
        + np.linalg.slogdet(information)[1]
        + trials.response @ projected @ trials.response
    )


@given(seed=seeds, shifts=st.lists(st.floats(-50, 50), min_size=3, max_size=3))
@settings(max_examples=12, deadline=None)
def test_f_does_not_depend_on_what_blocks_differ_by(seed: int, shifts: list[float]) -> None:
    # Once blocks differ by more than their variance's lower bound at zero hides.
    trials = simulated(seed)
    block = trials.block.codes
    apart = trials.with_response(trials.response + 1000.0 * block)
    other = trials.with_response(apart.response + np.array(shifts)[block])
    for one, two in zip(
        kenward_roger.anova(fit_mixed_model(apart)),
        kenward_roger.anova(fit_mixed_model(other)),
        strict=True,
    ):
        assert two.f == pytest.approx(one.f, rel=1e-6)
        assert two.df_residual == pytest.approx(one.df_residual, rel=1e-6)


@given(
    seed=seeds,
    factor=st.floats(1e-6, 1e6),
    shift=st.floats(-100, 100),
    lost=st.booleans(),
)
@settings(max_examples=12, deadline=None)
def test_tests_do_not_depend_on_the_unit(
    seed: int, factor: float, shift: float, *, lost: bool
) -> None:
    trials = without(simulated(seed), [0] if lost else [])
    one = fit_mixed_model(trials)
    two = fit_mixed_model(trials.with_response(factor * (trials.response + shift)))
    for ours, scaled in zip(kenward_roger.anova(one), kenward_roger.anova(two), strict=True):
        assert scaled.f == pytest.approx(ours.f, rel=1e-5)
        assert scaled.df_residual == pytest.approx(ours.df_residual, rel=1e-5)
    whole = sum(one.variances.values())
    for name, variance in one.variances.items():
        assert two.variances[name] == pytest.approx(
            factor**2 * variance, abs=1e-6 * factor**2 * whole
        )


@given(seed=seeds)
@settings(max_examples=12, deadline=None)
def test_one_factor_of_two_levels_is_the_paired_t_test(seed: int) -> None:
    trials = noise(crossing((2,), 6), np.random.default_rng(seed), {(): 20.0})
    fit = fit_mixed_model(trials)
    pairs = trials.response.reshape(6, 2)
    expected = ttest_rel(pairs[:, 0], pairs[:, 1])
    difference = kenward_roger.estimate(fit, np.array([1.0, -1.0]))
    assert difference.df == pytest.approx(5)
    assert difference.estimate / difference.se == pytest.approx(expected.statistic)
    assert kenward_roger.anova(fit)[0].p == pytest.approx(expected.pvalue)


def test_contrasts_of_two_cells_follow_the_strata() -> None:
    versions, clients, blocks = 2, 8, 3
    design = crossing((versions, clients), blocks)
    fit = fit_mixed_model(noise(design, np.random.default_rng(5), FAR_FROM_THE_BOUNDARY))
    v = fit.variances
    residual = v[RESIDUAL]
    strata = np.array(
        [
            clients * v["block:version"] + residual,
            versions * v["block:num"] + residual,
            residual,
        ]
    )
    df = np.array([2, 14, 14])
    one, other = 1 / clients, 1 / versions
    for second, share in (
        (8, (one, 0, 1 - one)),  # the same clients
        (1, (0, other, 1 - other)),  # the same version
        (9, (one, other, 1 - one - other)),
    ):
        weights = np.zeros(16)
        weights[0], weights[second] = 1, -1
        parts = np.array(share) * strata
        found = kenward_roger.estimate(fit, weights)
        assert found.se**2 == pytest.approx(2 / blocks * parts.sum())
        assert found.df == pytest.approx(parts.sum() ** 2 / np.sum(parts**2 / df))


def test_the_reports_degrees_of_freedom() -> None:
    # 2 versions x 8 clients x 3 blocks with no variance of block:version: the printed 2/14/14, 16.
    design = crossing((2, 8), 3)
    for seed in range(50):
        fit = fit_mixed_model(noise(design, np.random.default_rng(seed), {(): 3.0}))
        assert [test.df_residual for test in kenward_roger.anova(fit)] == pytest.approx([2, 14, 14])
        if fit.variances["block:version"] == 0 < fit.variances["block:num"]:
            weights = np.zeros(16)
            weights[0], weights[8] = 1, -1
            assert kenward_roger.estimate(fit, weights).df == pytest.approx(16)
            return
    pytest.fail("no data set has its optimum on that boundary")


def test_lost_trials_cost_degrees_of_freedom() -> None:
    trials = noise(crossing((2, 8), 3), np.random.default_rng(3), FAR_FROM_THE_BOUNDARY)
    whole = kenward_roger.anova(fit_mixed_model(trials))
    fewer = kenward_roger.anova(fit_mixed_model(without(trials, [0, 20, 33])))
    # The interaction is tested against the residual, which loses one degree a trial.
    assert fewer[2].df_residual == pytest.approx(11, abs=0.5)
    for before, after in zip(whole, fewer, strict=True):
        assert before.df_residual - 4 < after.df_residual < before.df_residual + 0.1
    assert any(test.scaling < 1 for test in fewer)


def test_adjusted_covariance_is_never_below_the_unadjusted() -> None:
    trials = without(simulated(11, (2, 8), 3), [1, 17, 30])
    fit = fit_mixed_model(trials)
    assert np.linalg.eigvalsh(fit.adjusted_covariance - fit.covariance).min() > -1e-12


def test_a_factor_of_one_level_changes_nothing() -> None:
    trials = simulated(4, (2, 4), 3)
    narrow = Observations(
        trials.response,
        (*trials.factors, crossing((2, 4, 1), 3).factors[2]),
        trials.block,
    )
    one, two = fit_mixed_model(trials), fit_mixed_model(narrow)
    assert one.variances == two.variances
    assert kenward_roger.anova(one) == kenward_roger.anova(two)


@pytest.mark.parametrize(
    ("trials", "says"),
    [
        (crossing((2, 3), 3), "the same response"),
        (simulated(0, (2, 3), 1), "one block"),
        (simulated(0, (1, 1), 3), "nothing to compare"),
        (without(crossing((2, 3), 2), [0, 7, 4, 10]), "no trial of version=v1, num=n1"),
        (without(simulated(0, (2, 3), 2), range(1, 6)), "measure them"),
        (without(simulated(0, (2, 3), 2), range(6)), "one block"),
        (without(simulated(0, (2, 3), 2), range(3, 9)), "6 trials of 6 treatments leave none"),
        (
            crossing((2, 3), 2).with_response(np.r_[np.arange(6.0), np.arange(6.0) + 7]),
            "but by treatment and block",
        ),
        (crossing((2, 3), 2).with_response(np.full(12, np.nan)), "not a finite number"),
    ],
)
def test_what_cannot_be_analysed_is_said_in_one_sentence(trials: Observations, says: str) -> None:
    with pytest.raises(NotAnalysableError, match=says):
        kenward_roger.anova(fit_mixed_model(trials))


def test_every_test_holds_its_level_far_from_the_boundary() -> None:
    # Where every variance is well above zero, the tests are exact: p is uniform.
    design = crossing((2, 4), 4)
    random = np.random.default_rng(20241101)
    p = np.array(
        [
            [test.p for test in kenward_roger.anova(fit_mixed_model(each))]
            for each in (noise(design, random, FAR_FROM_THE_BOUNDARY) for _ in range(300))
        ]
    )
    alarms = np.sum(p < 0.05, axis=0)
    low, high = binom.interval(0.999, len(p), 0.05)
    assert np.all((low <= alarms) & (alarms <= high)), alarms
    for column in p.T:
        assert kstest(column, "uniform").pvalue > 0.001


def test_false_alarms_where_variances_are_truly_zero() -> None:
    # Constrained variances make the method conservative for main effects (with 3 blocks the
    # version's test nearly never alarms) and slightly liberal for the interaction: 6 to 7%.
    design = crossing((2, 8), 3)
    random = np.random.default_rng(20241102)
    p = np.array(
        [
            [test.p for test in kenward_roger.anova(fit_mixed_model(each))]
            for each in (noise(design, random, {}) for _ in range(300))
        ]
    )
    alarms = np.sum(p < 0.05, axis=0)
    assert np.all(alarms[:2] <= binom.ppf(0.999, len(p), 0.05)), alarms
    assert binom.ppf(0.001, len(p), 0.05) <= alarms[2] <= binom.ppf(0.999, len(p), 0.067), alarms
