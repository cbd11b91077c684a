"""The verdict: what a reader in a hurry takes away, without claims the data do not carry."""

from __future__ import annotations

from typing import TYPE_CHECKING

from teiten.report.charts import along_x
from teiten.report.document import Block, Cell, Chart, Paragraph, Section, Table, Tone
from teiten.report.numbers import change, change_range
from teiten.report.sections.environment import differences, distinct
from teiten.stats.summary import Overall, direction, overall

if TYPE_CHECKING:
    from teiten.report.layout import Group
    from teiten.report.sections.view import View

HEADLINES = ("tps", "instructions_per_tx", "callgrind_instructions_per_tx")


def verdict(view: View) -> Section:
    """Sentences, the headline chart, and a table of all responses."""
    w = view.words
    layout = view.layout
    if len(layout.levels) < 2:  # noqa: PLR2004 - a comparison needs two
        text = w("no_reference", factor=layout.title(layout.compared))
        blocks: list[Block] = [Paragraph(text, role="verdict")]
        return Section("verdict", w("verdict"), (*blocks, *_cautions(view)), brief=True)
    results = _results(view)
    blocks = list(_sentences(view, results))
    if not blocks:
        blocks.append(Paragraph(w("no_verdict", reference=layout.reference), role="verdict"))
    blocks += _cautions(view)
    if any(response == "tps" for _, response, _ in results):
        blocks.append(headline_chart(view, "tps"))
    if results:
        blocks.append(_table(view, results))
    return Section("verdict", w("verdict"), tuple(blocks), brief=True)


def headline_chart(view: View, response: str) -> Chart:
    """The change of a response to the reference along the x axis."""
    w = view.words
    layout = view.layout
    title = w("headline", response=view.title(response), reference=layout.reference)
    specification = along_x.relative(
        layout,
        response,
        title=w("headline_axis", reference=layout.reference),
        margin=view.run.study.margin,
    )
    caption = w("headline_caption", reference=layout.reference, margin=view.margin_text)
    results = [
        f"{group.title}{': ' if group.title else ''}{o.level} {change(o.ratio)}"
        for group, name, o in _results(view)
        if name == response
    ]
    return Chart(
        f"change-{response.replace('_', '-')}",
        title,
        f"{title}. {'; '.join(results)}.",
        specification,
        caption,
    )


def in_words(view: View, response: str, result: Overall) -> tuple[str, Tone]:
    """What the blocks have in common, and whether that is an improvement."""
    w = view.words
    if result.block_lowest is None or result.block_highest is None:
        return w("seen_never"), "plain"
    if result.blocks == 1:
        return w("seen_once"), "plain"
    margin = view.run.study.margin
    seen = direction(result.block_lowest, result.block_highest, margin)
    tone = view.tone(response, seen)
    key = {"better": "seen_better", "worse": "seen_worse"}.get(tone, f"seen_{seen}")
    beyond = abs(result.ratio - 1) > margin
    return w(key, margin=view.margin_text), tone if beyond else "plain"


def _results(view: View) -> list[tuple[Group, str, Overall]]:
    """(group, response, level against the reference), for all that can be compared."""
    layout = view.layout
    return [
        (group, response, result)
        for group in layout.groups
        for response in view.ratio_responses()
        for result in sorted(
            overall(group.trials, layout.comparison, response),
            key=lambda o: layout.levels.index(o.level),
        )
    ]


def _sentences(view: View, results: list[tuple[Group, str, Overall]]) -> list[Block]:
    """One paragraph for each level and group, with a sentence for each headline response."""
    w = view.words
    blocks: list[Block] = []
    for group in view.layout.groups:
        for level in view.layout.levels:
            chosen = [
                (response, result)
                for response in HEADLINES
                for g, r, result in results
                if g.title == group.title and r == response and result.level == level
            ]
            if chosen:
                what = w("against", level=level, reference=view.layout.reference)
                where = w("in_panel", panel=group.title) if group.title else ""
                sentences = w("space").join(_sentence(view, *one) for one in chosen)
                text = w("verdict_of", what=what, panel=where, sentences=sentences)
                tone = in_words(view, *chosen[0])[1]
                blocks.append(Paragraph(text, role="verdict", tone=tone))
    return blocks


def _sentence(view: View, response: str, result: Overall) -> str:
    w = view.words
    x = view.layout.title(view.layout.x)
    details = []
    if result.cells > 1:
        seen = change_range(result.cell_lowest, result.cell_highest)
        details.append(w("over_cells", n=result.cells, x=x, range=seen))
    if result.blocks > 1 and result.block_lowest is not None and result.block_highest is not None:
        seen = change_range(result.block_lowest, result.block_highest)
        details.append(w("over_blocks", n=result.blocks, range=seen))
    return w(
        "verdict_sentence",
        response=view.title(response),
        change=change(result.ratio),
        details=w("in_brackets", text=w("separator").join(details)) if details else "",
        seen=in_words(view, response, result)[0],
    )


def _table(view: View, results: list[tuple[Group, str, Overall]]) -> Table:
    w = view.words
    layout = view.layout
    others = [level for level in layout.levels if level != layout.reference]
    with_group = bool(layout.group_title)
    with_x = layout.has_x and layout.x_is_numeric
    with_level = len(others) > 1
    rows = []
    for group, response, o in results:
        words, tone = in_words(view, response, o)
        cells = [Cell(group.label)] if with_group else []
        cells.append(Cell(view.title(response)))
        if with_level:
            cells.append(Cell(o.level))
        cells.append(Cell(change(o.ratio), tone))
        if with_x:
            over_x = change_range(o.cell_lowest, o.cell_highest) if o.cells > 1 else "-"
            cells.append(Cell(over_x))
        by_block = "-"
        if o.blocks > 1 and o.block_lowest is not None and o.block_highest is not None:
            by_block = change_range(o.block_lowest, o.block_highest)
        rows.append((*cells, Cell(by_block), Cell(words, tone)))
    words_first = ([layout.group_title] if with_group else []) + [w("response")]
    words_first += [layout.title(layout.compared)] if with_level else []
    figures = [w("change_overall")]
    figures += [w("range_cells", x=layout.title(layout.x))] if with_x else []
    figures.append(w("range_blocks"))
    numeric = (*(False for _ in words_first), *(True for _ in figures), False)
    title = (
        w("verdict_table", reference=layout.reference)
        if with_level
        else w("against", level=others[0], reference=layout.reference)
    )
    return Table(title, (*words_first, *figures, w("seen")), tuple(rows), numeric)


def _cautions(view: View) -> list[Block]:
    w = view.words
    study = view.run.study
    planned = len(view.run.plan.trials)
    done = view.layout.trials.height
    flagged = int(view.layout.trials["flagged"].sum())
    sentences = [w("no_claim", n=study.blocks, margin=view.margin_text)] if done else []
    if done < planned:
        sentences.append(w("incomplete", done=done, planned=planned))
    if flagged:
        sentences.append(w("flagged_included", n=flagged, all=done))
    notes: list[Block] = [Paragraph(w("space").join(sentences), role="note")] if sentences else []
    servers = view.run.environment.get("servers", {})
    if differing := differences(servers):
        labels = distinct(servers)
        values_of = (
            f"{key} ({', '.join(f'{s} {v}' for s, v in zip(labels, values, strict=True))})"
            for key, values in differing.items()
        )
        notes.append(Paragraph(w("also_differ", what=w("separator").join(values_of)), role="note"))
    return notes
