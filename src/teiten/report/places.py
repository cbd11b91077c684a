"""The places in tables and charts that are framed: where a level differs significantly."""

from __future__ import annotations

from typing import TYPE_CHECKING

from teiten.report.analysis_tables import LEVEL_OF_SIGNIFICANCE, by_sides
from teiten.report.layout import Place

if TYPE_CHECKING:
    from collections.abc import Iterator

    from teiten.analysis.analysed import Analysed
    from teiten.archive import Run
    from teiten.report.layout import Layout


def significant_places(analysed: Analysed, run: Run, layout: Layout) -> Iterator[Place]:
    """Where a level differs from the reference at 5%, by the contrasts of all cells with Tukey."""
    of = analysed.of
    if analysed.analysis is None:
        return
    family = by_sides(analysed.analysis.artc_all_cells)
    panel = layout.panel_of(of.group)
    # Without levels along x, all trials of the group are at the same x.
    numbers = {record.number: record for record in run.records}
    only_x = numbers[int(of.trials[0])].levels[layout.x.name] if layout.has_x else None
    for level in of.others:
        for x in of.x_labels or (None,):
            at = () if x is None else (x,)
            if family[(level, *at), (of.reference, *at), ()].p < LEVEL_OF_SIGNIFICANCE:
                yield Place(panel, only_x if x is None else x, level)
