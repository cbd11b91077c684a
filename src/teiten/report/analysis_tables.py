"""The tables of the published analysis, shared by `teiten analyse` and the report of a run.

The layout is that of the R packages ARTool and emmeans, which the published decks print.
"""

from __future__ import annotations

import itertools
import math
from dataclasses import replace
from typing import TYPE_CHECKING

from scipy import stats

from teiten.report.document import Cell, Table
from teiten.report.numbers import MINUS, change

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from teiten.report.words import Words
    from teiten.stats.results import ArtAnalysis, Contrast, ContrastFamily, FTest

Labels = tuple[str, ...]
Sides = tuple[Labels, Labels, Labels]
LEVEL_OF_SIGNIFICANCE = 0.05
SIGNIFICANCE_CODES = "0 '***' 0.001 '**' 0.01 '*' 0.05 '.' 0.1 ' ' 1"
_CODES = ((0.001, "***"), (0.01, "**"), (0.05, "*"), (0.1, "."))
_LEAST_P = 0.0001
_MORE_BLOCKS = 2
_WHOLE = 1e-6


def levene_table(analysis: ArtAnalysis, words: Words) -> Table | None:
    """Levene's test about the mean, the median and, of logarithms, the median; None without."""
    centres = [c for c in ("mean", "median", "log_median") if c in analysis.levene]
    if not centres:
        return None
    return Table(
        words("levene"),
        (words("levene_centre"), "F", "Df", "Df.res", "Pr(>F)", ""),
        tuple((Cell(words(f"levene_{c}")), *_f_cells(analysis.levene[c])) for c in centres),
        (False, True, True, True, True, False),
        words("signif_codes", codes=SIGNIFICANCE_CODES),
    )


def levene_sentence(analysis: ArtAnalysis, words: Words) -> str:
    """Levene's test about the mean and the median, in one sentence."""
    tests = [(c, analysis.levene[c]) for c in ("mean", "median") if c in analysis.levene]
    if not tests:
        return words("no_levene")
    return words(
        "levene_line",
        tests=words("separator").join(
            words(
                "levene_test",
                centre=words(f"levene_{centre}"),
                df=_df(test.df),
                df_residual=_df(test.df_residual),
                f=_fixed(test.f, 3),
                p=_p_in_words(test.p),
            )
            for centre, test in tests
        ),
    )


def anova_table(analysis: ArtAnalysis, words: Words, *, note: str, what: str = "") -> Table:
    """The analysis of variance of aligned ranks, a row a term; `what` stands before the title."""
    return Table(
        _title(words, "anova", what),
        (words("term"), "F", "Df", "Df.res", "Pr(>F)", ""),
        tuple((Cell(test.term), *_f_cells(test)) for test in analysis.art_anova),
        (False, True, True, True, True, False),
        note,
    )


def posthoc_table(
    analysis: ArtAnalysis, words: Words, *, what: str = "", folded: bool = False
) -> Table:
    """The first factor's levels within each combination of the others, from all cells' family."""
    family = analysis.artc_all_cells
    decimals = _decimals([c.se for c in family.contrasts])
    rows = tuple(
        (
            Cell(f"{','.join(found.first)} - {','.join(found.second)}"),
            Cell(_fixed(found.estimate, decimals)),
            Cell(_fixed(found.se, decimals)),
            Cell(_fixed(found.df, 1)),
            Cell(_fixed(found.t, 3)),
            Cell(posthoc_p(found.p)),
            Cell(significance_code(found.p)),
        )
        for found in contrasts_within(analysis)
    )
    return Table(
        _title(words, "posthoc", what),
        (words("contrast"), "estimate", "SE", "df", "t.ratio", "p.value", ""),
        rows,
        (False, True, True, True, True, True, False),
        words("posthoc_note", n=family.size, codes=SIGNIFICANCE_CODES),
        folded=folded,
    )


def change_table(
    analysis: ArtAnalysis, words: Words, *, what: str = "", folded: bool = False
) -> Table | None:
    """Changes in percent by the model of logarithms; None where there is no such model."""
    model = analysis.log_model
    if model is None:
        return None
    (compared, labels), *others = analysis.levels.items()
    by_rest, marginal = by_sides(model.by_rest), by_sides(model.marginal)
    rows = []
    for combination in itertools.product(*(levels for _, levels in others)):
        for first, second in itertools.combinations(labels, 2):
            found = by_rest[(first,), (second,), combination]
            rows.append((*map(Cell, combination), *_change_cells(found)))
    if others:
        blanks = [Cell("") for _ in others[1:]]
        for first, second in itertools.combinations(labels, 2):
            found = marginal[(first,), (second,), ()]
            rows.append((Cell(words("all_levels")), *blanks, *_change_cells(found)))
    head = (
        *(name for name, _ in others),
        compared,
        *(words(key) for key in ("change", "interval")),
        "df",
    )
    return Table(
        _title(words, "log_changes", what),
        head,
        tuple(rows),
        (*(True for _ in others), False, True, True, True),
        words("log_changes_note"),
        folded=folded,
    )


def contrasts_within(analysis: ArtAnalysis) -> Iterator[Contrast]:
    """Pairs of levels of the first factor at equal levels of the others, in order of levels."""
    labels, *others = analysis.levels.values()
    family = by_sides(analysis.artc_all_cells)
    for combination in itertools.product(*others):
        for first, second in itertools.combinations(labels, 2):
            yield family[(first, *combination), (second, *combination), ()]


def by_sides(family: ContrastFamily) -> Mapping[Sides, Contrast]:
    """The contrasts by both sides and what is equal on them, whichever way round they are held."""
    found: dict[Sides, Contrast] = {}
    for c in family.contrasts:
        within = tuple((c.within or {}).values())
        found[c.first, c.second, within] = c
        found[c.second, c.first, within] = _turned(c)
    return found


def model_formula(response: str, factors: Sequence[str], block: str) -> str:
    """The mixed model in the notation of R."""
    groups = [
        ":".join((block, *subset))
        for size in range(len(factors))
        for subset in itertools.combinations(factors, size)
    ]
    return f"{response} ~ {' * '.join(factors)} + {' + '.join(f'(1 | {g})' for g in groups)}"


def what_blocks_cannot_show(analysis: ArtAnalysis, words: Words) -> str:
    """What the term with the fewest residual degrees of freedom needs to be significant."""
    test = max(analysis.art_anova, key=lambda t: critical_f(t.df, t.df_residual))
    more = _MORE_BLOCKS * analysis.blocks
    df_more = test.df * (more - 1)  # each term is tested against its interaction with the blocks
    return words(
        "blocks_cannot_show",
        blocks=analysis.blocks,
        term=test.term,
        df=_df(test.df),
        df_residual=_df(test.df_residual),
        critical=f"{critical_f(test.df, test.df_residual):.1f}",
        more=more,
        df_more=_df(df_more),
        critical_more=f"{critical_f(test.df, df_more):.1f}",
    )


def critical_f(df: float, df_residual: float) -> float:
    """The F above which a term is significant at 5%."""
    return float(stats.f.isf(LEVEL_OF_SIGNIFICANCE, df, df_residual))


def significance_code(p: float) -> str:
    """R's code for a p-value."""
    return next((code for bound, code in _CODES if p <= bound), "")


def posthoc_p(p: float) -> str:
    """A p-value with four decimals, as emmeans prints it."""
    return "< .0001" if p < _LEAST_P else f"{p:.4f}"


def anova_p(p: float) -> str:
    """A p-value with five significant digits, as ARTool prints it."""
    if p < 2.2e-16:  # noqa: PLR2004 - what a double can tell from 0 when subtracted from 1
        return "< 2.2e-16"
    return f"{p:.5g}" if p >= _LEAST_P else f"{p:.4e}"


def _title(words: Words, key: str, what: str) -> str:
    return words("title_of", what=what, title=words(key)) if what else words(key)


def _p_in_words(p: float) -> str:
    text = posthoc_p(p)
    return text if text.startswith("<") else f"= {text}"


def _f_cells(test: FTest) -> tuple[Cell, ...]:
    return (
        Cell(_fixed(test.f, 3)),
        Cell(_df(test.df)),
        Cell(_df(test.df_residual)),
        Cell(anova_p(test.p)),
        Cell(significance_code(test.p)),
    )


def _change_cells(found: Contrast) -> tuple[Cell, ...]:
    """The second level against the first, on the scale of the response."""
    interval = "-"
    if found.lower is not None and found.upper is not None:
        interval = f"{change(math.exp(-found.upper))} … {change(math.exp(-found.lower))}"
    return (
        Cell(f"{found.second[0]} / {found.first[0]}"),
        Cell(change(math.exp(-found.estimate))),
        Cell(interval),
        Cell(_fixed(found.df, 1)),
    )


def _turned(c: Contrast) -> Contrast:
    return replace(
        c,
        first=c.second,
        second=c.first,
        estimate=-c.estimate,
        t=-c.t,
        lower=None if c.upper is None else -c.upper,
        upper=None if c.lower is None else -c.lower,
    )


def _decimals(errors: Sequence[float]) -> int:
    """So many decimals that the smallest standard error has three digits."""
    positive = [e for e in errors if e > 0 and math.isfinite(e)]
    if not positive:
        return 2
    return max(0, min(6, 2 - math.floor(math.log10(min(positive)))))


def _df(df: float) -> str:
    """Degrees of freedom, without decimals where they are whole."""
    return str(round(df)) if abs(df - round(df)) < _WHOLE * max(1.0, df) else f"{df:.5g}"


def _fixed(value: float, decimals: int) -> str:
    if not math.isfinite(value):
        return "-"
    text = f"{abs(value):.{decimals}f}"
    return f"{MINUS}{text}" if value < 0 and float(text) else text
