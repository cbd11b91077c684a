"""The tables of the published analysis: its layout, its figures, its signs."""

from __future__ import annotations

import itertools
import math
import random
from dataclasses import replace

import pytest

from teiten.report.analysis_tables import (
    anova_p,
    anova_table,
    by_sides,
    change_table,
    critical_f,
    levene_sentence,
    levene_table,
    model_formula,
    posthoc_p,
    posthoc_table,
    significance_code,
    what_blocks_cannot_show,
)
from teiten.report.numbers import MINUS
from teiten.report.words import Words
from teiten.stats.art_analysis import analyse_art
from teiten.stats.observations import observations
from teiten.stats.results import ArtAnalysis, Contrast, ContrastFamily, FTest, LogModel

EN = Words("en")
VERSIONS = ("16.6", "17.2")
CLIENTS = ("1", "128")


def family(*contrasts: Contrast, size: int = 4) -> ContrastFamily:
    return ContrastFamily(("version", "num"), contrasts, "tukey", size)


def all_cells(p: float = 0.2833) -> ContrastFamily:
    """Every pair of cells, sorted as strings, which is how R holds them."""
    cells = sorted(itertools.product(VERSIONS, CLIENTS), key=",".join)
    return family(
        *(
            Contrast(a, b, -3.0, 1.0138, 16.0, -2.959, p)
            for a, b in itertools.combinations(cells, 2)
        )
    )


def change_by(version: str, num: str | None, ratio: float) -> Contrast:
    """`version` over 17.2's other version is `ratio`, give or take a tenth of a percent."""
    other = VERSIONS[1 - VERSIONS.index(version)]
    log = math.log(ratio)
    within = None if num is None else {"num": num}
    return Contrast(
        *((version,), (other,), log, 0.001, 16.0, log / 0.001, 0.5),
        *(log - 0.001, log + 0.001, within),
    )


def analysis(log_model: LogModel | None = None, **tests: tuple[float, float, float]) -> ArtAnalysis:
    """An analysis with the figures that a test looks at in it."""
    rows = list(itertools.product("123", VERSIONS, CLIENTS))
    noise = random.Random(1)  # noqa: S311 - noise, not secrets
    made = analyse_art(
        observations(
            [noise.gauss(10, 1) for _ in rows],
            {"version": [v for _, v, _ in rows], "num": [n for _, _, n in rows]},
            [b for b, _, _ in rows],
        )
    )
    return replace(
        made,
        levene={"mean": FTest("", 4.19, 15, 32, 0.0004), "median": FTest("", 0.8, 15, 32, 1)},
        art_anova=tuple(
            FTest(term.replace("_", ":"), f, df, df_residual, 0.026231)
            for term, (f, df, df_residual) in tests.items()
        ),
        artc_all_cells=all_cells(),
        log_model=log_model,
    )


@pytest.mark.parametrize(
    ("p", "printed", "code"),
    [  # as published
        (0.026231, "0.026231", "*"),
        (1.2914e-12, "1.2914e-12", "***"),
        (2.1197e-05, "2.1197e-05", "***"),
        (0.010736, "0.010736", "*"),
        (8.9839e-16, "8.9839e-16", "***"),
        (1e-17, "< 2.2e-16", "***"),
        (0.0054765, "0.0054765", "**"),
        (0.070019, "0.070019", "."),
        (0.5, "0.5", ""),
    ],
)
def test_p_values_of_the_analysis_of_variance_are_printed_as_r_does(
    p: float, printed: str, code: str
) -> None:
    assert (anova_p(p), significance_code(p)) == (printed, code)


@pytest.mark.parametrize(
    ("p", "printed"),
    [(0.28334, "0.2833"), (0.0027, "0.0027"), (0.00009, "< .0001"), (1.0, "1.0000")],
)
def test_adjusted_p_values_are_printed_as_emmeans_does(p: float, printed: str) -> None:
    assert posthoc_p(p) == printed


def test_models_are_written_as_in_r() -> None:
    assert model_formula("tps", ["version"], "day") == "tps ~ version + (1 | day)"
    assert model_formula("tps", ["version", "checksum", "num"], "block") == (
        "tps ~ version * checksum * num + (1 | block) + (1 | block:version) + "
        "(1 | block:checksum) + (1 | block:num) + (1 | block:version:checksum) + "
        "(1 | block:version:num) + (1 | block:checksum:num)"
    )


def test_analysis_of_variance_in_the_published_layout() -> None:
    found = analysis(version=(36.629, 1, 2), num=(179.7291, 7, 13.56227), version_num=(14, 7, 14))
    table = anova_table(found, EN, note="")
    assert table.header[1:] == ("F", "Df", "Df.res", "Pr(>F)", "")
    assert [[cell.text for cell in row] for row in table.rows] == [
        ["version", "36.629", "1", "2", "0.026231", "*"],
        ["num", "179.729", "7", "13.562", "0.026231", "*"],
        ["version:num", "14.000", "7", "14", "0.026231", "*"],
    ]


def test_post_hoc_contrasts_of_the_first_factor_within_the_others_in_order_of_levels() -> None:
    table = posthoc_table(analysis(), EN)
    assert [[cell.text for cell in row] for row in table.rows] == [
        [f"16.6,{num} - 17.2,{num}", f"{MINUS}3.00", "1.01", "16.0", f"{MINUS}2.959", "0.2833", ""]
        for num in CLIENTS
    ]
    assert "tukey method for comparing a family of 4 estimates" in table.note
    assert "kenward-roger" in table.note


def test_a_contrast_is_found_whichever_way_round_it_is_held() -> None:
    held = Contrast(("a",), ("b",), 2.0, 1.0, 4.0, 2.0, 0.1, lower=-1.0, upper=5.0)
    sides = by_sides(family(held))
    assert sides[("a",), ("b",), ()] is held
    turned = sides[("b",), ("a",), ()]
    assert (turned.first, turned.second) == (("b",), ("a",))
    assert (turned.estimate, turned.t, turned.p) == (-2.0, -2.0, 0.1)
    assert (turned.lower, turned.upper) == (-5.0, 1.0)


def test_changes_are_of_the_second_level_against_the_first() -> None:
    by_num = family(change_by("16.6", "128", 1 / 1.05), change_by("17.2", "1", 1.02))
    overall = family(change_by("17.2", None, 0.9))
    model = LogModel({}, 0.0, (), (), by_num, by_num, overall, ())
    table = change_table(analysis(model), EN)
    assert table is not None
    assert [[cell.text for cell in row] for row in table.rows] == [
        ["1", "17.2 / 16.6", "+2.0%", "+1.9% … +2.1%", "16.0"],
        ["128", "17.2 / 16.6", "+5.0%", "+4.9% … +5.1%", "16.0"],
        ["all", "17.2 / 16.6", f"{MINUS}10.0%", f"{MINUS}10.1% … {MINUS}9.9%", "16.0"],
    ]
    assert change_table(analysis(), EN) is None


def test_levene_is_told_about_mean_and_median() -> None:
    table = levene_table(analysis(), EN)
    assert table is not None
    assert [row[0].text for row in table.rows] == ["mean", "median"]
    assert levene_sentence(analysis(), EN).endswith(
        "about the mean F(15, 32) = 4.190, p = 0.0004; "
        "about the median F(15, 32) = 0.800, p = 1.0000."
    )


def test_what_three_blocks_cannot_show_is_computed() -> None:
    assert critical_f(1, 2) == pytest.approx(18.5128, abs=1e-4)
    told = what_blocks_cannot_show(analysis(version=(36.6, 1, 2), num=(179.7, 7, 14)), EN)
    assert "3 blocks" in told
    assert "version has F(1, 2)" in told
    assert "above F = 18.5; 6 blocks would give F(1, 5) and 6.6." in told
