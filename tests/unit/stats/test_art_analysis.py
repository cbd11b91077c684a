"""Laws of aligned ranks and their contrasts, of Tukey's adjustment and of Levene's test."""

from __future__ import annotations

import itertools
import json
import math
import time

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.special import stdtr
from scipy.stats import studentized_range
from tests.unit.stats.r_reference import trials as reference_trials
from tests.unit.stats.simulated import NAMES, crossing, noise, without

from teiten.analysis.document import analysis_document
from teiten.stats import aligned_ranks, design, tukey
from teiten.stats.art_analysis import analyse_art
from teiten.stats.design import NotAnalysableError
from teiten.stats.levene import levene
from teiten.stats.observations import Observations, observations

seeds = st.integers(0, 2**32 - 1)


def simulated(seed: int, shape: tuple[int, ...] = (2, 3), blocks: int = 3) -> Observations:
    deviations = {(): 2.0, ("version",): 0.5}
    made = noise(crossing(shape, blocks), np.random.default_rng(seed), deviations)
    return made.with_response(made.response + 30)


@given(seed=seeds, shape=st.sampled_from([(2, 3), (3, 2, 2), (2, 2, 2, 2)]))
@settings(max_examples=15, deadline=None)
def test_aligned_values_hold_no_effect_of_other_terms(seed: int, shape: tuple[int, ...]) -> None:
    trials = simulated(seed, shape)
    projections = design.effect_projections(shape)
    names = NAMES[: len(shape)]
    for term in design.terms(names):
        aligned = aligned_ranks.align(trials, term)
        means = np.bincount(trials.cells(), weights=aligned) / 3
        own = sum(1 << i for i, name in enumerate(names) if name in term)
        for subset, projection in enumerate(projections):
            if subset != own:
                np.testing.assert_allclose(projection @ means, 0, atol=1e-10)


@given(seed=seeds, effects=st.lists(st.integers(-1000, 1000), min_size=4, max_size=4))
@settings(max_examples=15, deadline=None)
def test_ranks_do_not_see_other_terms(seed: int, effects: list[int]) -> None:
    trials = simulated(seed, (2, 4))
    num = trials.factors[1].codes
    shifted = trials.with_response(trials.response + np.array(effects)[num])
    for term in (("version",), ("version", "num")):
        np.testing.assert_array_equal(
            aligned_ranks.ranks(aligned_ranks.align(shifted, term)),
            aligned_ranks.ranks(aligned_ranks.align(trials, term)),
        )


@given(seed=seeds)
@settings(max_examples=5, deadline=None)
def test_contrasts_of_all_cells_need_only_the_order(seed: int) -> None:
    trials = simulated(seed)
    bent = trials.with_response(np.exp(trials.response / 5))
    assert analyse_art(bent).artc_all_cells == analyse_art(trials).artc_all_cells


def test_ties_share_their_mean_rank_up_to_eight_decimals() -> None:
    aligned = np.array([0.1 + 0.2, 0.3, 1.0, -5.0])
    np.testing.assert_array_equal(aligned_ranks.ranks(aligned), [2.5, 2.5, 4, 1])


def test_a_main_effects_contrast_is_its_f_test() -> None:
    analysis = analyse_art(simulated(3, (2, 4)))
    (contrast,) = analysis.artc_main["version"].contrasts
    assert contrast.t**2 == pytest.approx(analysis.art_anova[0].f)
    assert contrast.p == pytest.approx(analysis.art_anova[0].p)


def test_families_by_number_of_factors() -> None:
    one, two, three, four = (
        analyse_art(simulated(1, shape)) for shape in ((4,), (2, 3), (2, 3, 2), (2, 2, 2, 2))
    )
    assert one.artc_all_cells == one.artc_main["version"]
    assert not two.artc_pairs
    assert set(three.artc_pairs) == set(itertools.combinations(NAMES[:3], 2))
    assert len(four.artc_pairs) == 6 + 4
    assert len(three.artc_all_cells.contrasts) == 12 * 11 / 2


def test_a_factor_of_one_level_takes_no_part() -> None:
    trials = simulated(2, (3, 1))
    analysis = analyse_art(trials)
    assert [test.term for test in analysis.art_anova] == ["version"]
    alone = Observations(trials.response, trials.factors[:1], trials.block)
    assert analysis.art_anova == analyse_art(alone).art_anova


def test_responses_that_are_not_positive_have_no_model_of_logarithms() -> None:
    trials = simulated(2)
    analysis = analyse_art(trials.with_response(trials.response - 30))
    assert analysis.log_model is None
    assert "log_median" not in analysis.levene
    assert "log_lmm" not in analysis_document(analysis)


@given(
    seed=seeds,
    shape=st.sampled_from([(2, 8), (2, 2), (3,), (2,), (2, 2, 2)]),
    blocks=st.integers(2, 4),
    whole=st.booleans(),
    lost=st.integers(0, 6),
)
@settings(max_examples=30, deadline=None)
def test_every_answer_is_finite_or_a_sentence(
    seed: int, shape: tuple[int, ...], blocks: int, lost: int, *, whole: bool
) -> None:
    # Warnings are errors here: no numpy warning either.
    random = np.random.default_rng(seed)
    trials = noise(crossing(shape, blocks), random, {(): 1.0})
    if whole:  # small integers: ties, and strata without variation
        trials = trials.with_response(np.round(trials.response) + 5)
    trials = without(
        trials, random.choice(trials.n, min(lost, trials.n - 1), replace=False).tolist()
    )
    sentence = "." * 21
    try:
        json.dumps(analysis_document(analyse_art(trials)), allow_nan=False)
    except NotAnalysableError as error:
        sentence = str(error)
    assert 20 < len(sentence) < 250


def test_responses_too_small_for_eight_decimals_are_refused() -> None:
    trials = simulated(1)
    with pytest.raises(NotAnalysableError, match="8 decimals"):
        analyse_art(trials.with_response(trials.response * 1e-12))


def test_two_trials_a_cell_are_too_few_for_levene() -> None:
    assert levene(simulated(1, (2, 3), 2), "median") is None
    assert levene(simulated(1, (2, 3), 3), "median") is not None


@pytest.mark.parametrize(
    ("levels", "name"),
    [
        (("16.6", "17.2"), "version16.6 - version17.2"),
        (("off", "on"), "off - on"),
        (("17.2", "18devel"), "17.2 - 18devel"),
    ],
)
def test_contrasts_are_named_as_in_r(levels: tuple[str, str], name: str) -> None:
    random = np.random.default_rng(0)
    trials = observations(
        random.normal(10, 1, size=12).tolist(),
        {"version": [levels[i % 2] for i in range(12)], "num": ["1", "1", "8", "8"] * 3},
        [str(i // 4) for i in range(12)],
    )
    document = json.loads(json.dumps(analysis_document(analyse_art(trials), "tps")))
    assert document["artc_main"]["version"]["contrast"] == [name]
    assert document["artc_main"]["num"]["contrast"] == ["num1 - num8"]
    assert document["artc_all_cells"]["contrast"][0] == f"{levels[0]},1 - {levels[0]},8"
    assert document["log_lmm"]["version_by_rest"]["num"] == ["1", "8"]
    assert document["formula"].startswith("tps ~ version * num + (1 | block) + (1 | block:version)")


@pytest.mark.parametrize("means", [3, 5, 16, 24, 60])
def test_tukey_agrees_with_scipy(means: int) -> None:
    q = np.array([0.05, 1.5, 4.5, 6, 10, 25])
    for df in (1.0, 2.0, 10.3, 300.0):
        np.testing.assert_allclose(
            tukey.range_sf(q, means, np.full(6, df)),
            studentized_range.sf(q, means, df),
            atol=1e-10,
        )


@pytest.mark.parametrize("df", [0.5, 1.0, 2.5, 50.0, 5000.0])
def test_the_range_of_two_is_students_t_into_its_far_tail(df: float) -> None:
    t = np.array([0.01, 1, 5, 20, 100])
    np.testing.assert_allclose(
        tukey.range_sf(t * math.sqrt(2), 2, np.full(5, df)), 2 * stdtr(df, -t), rtol=1e-9
    )


def test_the_reports_adjusted_p() -> None:
    p = tukey.adjusted_p(np.array([-2.959]), np.array([16.0]), 16)
    assert p == pytest.approx(0.28335, abs=5e-6)


@pytest.mark.parametrize(("means", "df"), [(2, 4.0), (3, 21.9), (9, 2.0)])
def test_the_critical_value_is_met_with_probability_alpha(means: int, df: float) -> None:
    t = tukey.critical_t(0.05, df, means)
    assert tukey.adjusted_p(np.array([t]), np.array([df]), means) == pytest.approx(0.05)


def test_adjusting_is_quick() -> None:
    # SciPy's distribution takes a second and more for such a family.
    started = time.perf_counter()
    tukey.adjusted_p(np.linspace(0.1, 12, 276), np.full(276, 27.47), 24)
    assert time.perf_counter() - started < 1


def test_the_order_of_rows_does_not_matter() -> None:
    trials = reference_trials("d09_2x8x3_missing2")
    order = np.random.default_rng(0).permutation(trials.n)
    shuffled = trials.with_response(trials.response).only(np.ones(trials.n, dtype=bool))
    shuffled = Observations(
        shuffled.response[order],
        tuple(type(c)(c.name, c.levels, c.codes[order]) for c in shuffled.factors),
        type(shuffled.block)("block", shuffled.block.levels, shuffled.block.codes[order]),
    )
    for one, two in zip(
        analyse_art(trials).art_anova, analyse_art(shuffled).art_anova, strict=True
    ):
        assert two.f == pytest.approx(one.f, rel=1e-6)
        assert two.df_residual == pytest.approx(one.df_residual, rel=1e-6)


def test_ranks_without_error_are_refused_and_not_divided_by_rounding() -> None:
    """Steps of 5% between versions: every block ranks them alike, so nothing is left as error."""
    tps = [955.9, 980.2, 948.9, 1040.9, 1046.9, 1020.3]
    table = observations(tps, {"version": ["a", "b", "c"] * 2}, ["1"] * 3 + ["2"] * 3)
    with pytest.raises(NotAnalysableError):
        analyse_art(table)


@given(seed=seeds, blocks=st.integers(2, 4))
@settings(max_examples=60, deadline=None)
def test_clear_effects_in_few_blocks_give_an_analysis_or_a_sentence(seed: int, blocks: int) -> None:
    rng = np.random.default_rng(seed)
    steps = np.array([1.0, 1.05, 1.1])
    tps = 1000 * steps * np.exp(rng.normal(0, 0.2, (blocks, 1)) + rng.normal(0, 0.01, (blocks, 3)))
    labels = [str(b) for b in range(blocks) for _ in steps]
    table = observations(tps.ravel().tolist(), {"version": ["a", "b", "c"] * blocks}, labels)
    try:
        found = analyse_art(table)
    except NotAnalysableError:
        return
    assert found.art_anova[0].f < 1e9, "an F of that size is rounding"
