"""Ratio tables to the reference, as the published decks print them, with ranges over blocks."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import polars as pl

from teiten.report.document import FRAME_MARK, Cell, Paragraph, Section, Table, Tone
from teiten.report.layout import Place
from teiten.report.numbers import figure, ratio_figure, ratio_range
from teiten.report.sections.verdict import HEADLINES, in_words
from teiten.stats.summary import direction, ratios, summarise

if TYPE_CHECKING:
    from collections.abc import Sequence

    from teiten.report.sections.view import View

_HALF_CHARACTERS = 54


def ratio_tables(view: View) -> Section | None:
    """One table a response: medians of all levels, then ratios to the reference."""
    names = view.ratio_responses()
    if len(view.layout.levels) < 2 or not names:  # noqa: PLR2004 - a ratio needs two
        return None
    tables = tuple(_table(view, name) for name in names)
    w = view.words
    notes = [Paragraph(w("ratio_note", margin=view.margin_text))]
    tested = {found.of.response for found in view.analysed if found.analysis is not None}
    if tested:
        responses = w("separator").join(view.title(name) for name in names if name in tested)
        reference = view.layout.reference
        notes.append(
            Paragraph(w("framed_note", mark=FRAME_MARK, reference=reference, responses=responses))
        )
    title = w("ratios", reference=view.layout.reference)
    return Section("ratios", title, (*notes, *tables), brief=True)


def _table(view: View, response: str) -> Table:
    w = view.words
    layout = view.layout
    others = [level for level in layout.levels if level != layout.reference]
    with_panel = len(layout.panels) > 1
    rows = []
    for panel in layout.panels:
        for x in layout.x_labels if layout.has_x else [None]:
            place = [Cell(layout.panel_labels(panel))] if with_panel else []
            if x is not None:
                place.append(Cell(x))
            rows.append(
                (
                    *place,
                    *_medians(view, panel, x, response),
                    *_ratios(view, others, panel, x, response),
                )
            )
        if layout.has_x and layout.x_is_numeric and len(layout.x_labels) > 1:
            place = [Cell(layout.panel_labels(panel))] if with_panel else []
            place.append(Cell(w("overall")))
            rows.append(
                (
                    *place,
                    *[Cell("") for _ in layout.levels],
                    *_overall(view, others, panel, response),
                )
            )
    header = ([layout.panel_title] if with_panel else []) + (
        [layout.title(layout.x)] if layout.has_x else []
    )
    numeric = [False] * len(header)
    if layout.has_x and layout.x_is_numeric:
        numeric[-1] = True
    header += layout.levels
    header += [w("ratio_to", level=level, reference=layout.reference) for level in others]
    numeric += [True] * (len(header) - len(numeric))
    title = view.title(response, unit=True)
    return Table(
        title,
        tuple(header),
        tuple(rows),
        tuple(numeric),
        half_width=_is_narrow(rows),
        brief=response in HEADLINES,
    )


def _is_narrow(rows: Sequence[Sequence[Cell]]) -> bool:
    """Whether two such tables fit side by side without cutting a figure."""
    widest = (max(len(cell.text) for cell in column) for column in zip(*rows, strict=True))
    return sum(widest) <= _HALF_CHARACTERS


def _medians(view: View, panel: str, x: str | None, response: str) -> list[Cell]:
    trials = _chosen(view, panel, x)
    found = {
        row["level"]: row["median"]
        for row in summarise(trials, ["level"], response).iter_rows(named=True)
    }
    return [Cell(figure(found.get(level))) for level in view.layout.levels]


def _ratios(view: View, others: list[str], panel: str, x: str | None, response: str) -> list[Cell]:
    found = {
        row["level"]: row
        for row in ratios(_chosen(view, panel, x), view.layout.comparison, response).iter_rows(
            named=True
        )
    }
    framed = view.framed(response)
    cells = []
    for level in others:
        row = found.get(level)
        if row is None:
            cells.append(Cell("-"))
            continue
        blocks, low, high = row["blocks"], row["lowest"], row["highest"]
        tone: Tone = "plain"
        if blocks > 1 and abs(row["ratio"] - 1) > view.run.study.margin:
            tone = view.tone(response, direction(low, high, view.run.study.margin))
        text = _ratio_text(row["ratio"], blocks, low, high, narrow=len(others) > 1)
        cells.append(Cell(text, tone, framed=Place(panel, x, level) in framed))
    return cells


def _overall(view: View, others: list[str], panel: str, response: str) -> list[Cell]:
    """The ratio over all levels along x, with its 95% interval: the verdict's own estimate."""
    found = {
        v.level: v
        for v in view.conclusions.verdicts
        if v.response == response and view.layout.panel_of(v.group) == panel
    }
    cells = []
    for level in others:
        if (v := found.get(level)) is None:
            cells.append(Cell("-"))
            continue
        separator = "\n" if len(others) > 1 else " "
        ratio, ends = 1 + v.overall.change, (1 + v.overall.lower, 1 + v.overall.upper)
        known = all(map(math.isfinite, ends))
        text = ratio_range(ratio, *ends, separator=separator) if known else ratio_figure(ratio)
        cells.append(Cell(text, in_words(view, v)[1]))
    return cells


def _ratio_text(
    ratio: float, blocks: int, low: float | None, high: float | None, *, narrow: bool
) -> str:
    if blocks < 2 or low is None or high is None:  # noqa: PLR2004 - one block has no range
        return ratio_figure(ratio)
    return ratio_range(ratio, low, high, separator="\n" if narrow else " ")


def _chosen(view: View, panel: str, x: str | None) -> pl.DataFrame:
    trials = view.layout.of_panel(panel)
    return trials if x is None else trials.filter(pl.col("x") == x)
