"""Statistics: Levene's test, the analysis of variance of aligned ranks, post-hoc contrasts."""

from __future__ import annotations

from typing import TYPE_CHECKING

from teiten.report.analysis_tables import (
    SIGNIFICANCE_CODES,
    anova_table,
    change_table,
    levene_sentence,
    model_formula,
    posthoc_table,
    what_blocks_cannot_show,
)
from teiten.report.document import Block, Items, Paragraph, Section

if TYPE_CHECKING:
    from collections.abc import Iterator

    from teiten.analysis.analysed import Analysed
    from teiten.report.sections.view import View


def statistics(view: View) -> Section | None:
    """The published analysis of the responses that carry the question, group by group."""
    if len(view.layout.levels) < 2 or not view.analysed:  # noqa: PLR2004 - a comparison needs two
        return None
    blocks: list[Block] = []
    if sentences := tuple(_definitions(view)):
        blocks.append(Items(sentences))
    for found in view.analysed:
        blocks += _of_group(view, found)
    return Section("statistics", view.words("statistics"), tuple(blocks))


def _definitions(view: View) -> Iterator[str]:
    """How the tests are defined, and what so many blocks cannot show."""
    w = view.words
    done = [(f.of, f.analysis) for f in view.analysed if f.analysis is not None]
    if not done:
        return
    of, analysis = max(done, key=lambda one: len(one[0].observations.factors))
    names = [factor.name for factor in of.observations.factors]
    yield w("tests_defined")
    yield w("model", formula=model_formula("y", names, of.observations.block.name))
    yield w("signif_codes", codes=SIGNIFICANCE_CODES)
    yield what_blocks_cannot_show(analysis, w)


def _of_group(view: View, found: Analysed) -> Iterator[Block]:
    w = view.words
    of, analysis = found.of, found.analysis
    group = view.group_words(of.group)
    in_group = w("in_panel", panel=group) if group else ""
    what = f"{view.title(of.response)}{in_group}"
    if analysis is None:
        n, blocks = of.observations.n, of.blocks
        key = "too_few_to_analyse" if found.is_too_small else "nothing_varies"
        yield Paragraph(w(key, what=what, n=n, blocks=blocks))
        return
    yield anova_table(analysis, w, what=what, note=levene_sentence(analysis, w))
    if left_out := _left_out(view, found):
        x = view.layout.title(view.layout.x)
        yield Paragraph(w("left_out", x=x, labels=left_out), role="note")
    yield posthoc_table(analysis, w, what=what, folded=True)
    changes = change_table(analysis, w, what=what, folded=True)
    if changes is not None:
        yield changes


def _left_out(view: View, found: Analysed) -> str:
    """The levels along x at which some level has no trial."""
    analysed = found.of.x_labels
    return ", ".join(label for label in view.layout.x_labels if analysed and label not in analysed)
