"""The published analysis of a run's trials, and the places in tables and charts that it frames."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from teiten.analysis.trials import response_groups
from teiten.report.analysis_tables import LEVEL_OF_SIGNIFICANCE, by_sides
from teiten.report.layout import Place
from teiten.stats.art_analysis import analyse_art
from teiten.stats.design import NotAnalysableError

if TYPE_CHECKING:
    from collections.abc import Iterator

    from teiten.analysis.trials import ResponseGroup
    from teiten.archive import Run
    from teiten.report.layout import Layout
    from teiten.stats.results import ArtAnalysis

ANALYSED_RESPONSES = (
    "tps",
    "latency_mean_ms",
    "instructions_per_tx",
    "callgrind_instructions_per_tx",
)
"""What the report tells the published analysis of: the question, and what noise touches least."""


@dataclass(frozen=True)
class Analysed:
    """One response in one group of trials; `analysis` is None where there are too few trials."""

    of: ResponseGroup
    analysis: ArtAnalysis | None

    @property
    def is_too_small(self) -> bool:
        """Whether blocks or trials are too few; else, without an analysis, nothing varied."""
        cells = len(self.of.levels) * max(1, len(self.of.x_labels))
        return self.of.blocks < 2 or self.of.observations.n <= cells  # noqa: PLR2004 - replicates


def analyse_run(run: Run) -> tuple[Analysed, ...]:
    """Analyse each of `ANALYSED_RESPONSES` in each group of trials with levels to compare."""
    groups = response_groups(run.study, run.records, ANALYSED_RESPONSES)
    return tuple(Analysed(group, _analysis(group)) for group in groups if group.others)


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


def _analysis(group: ResponseGroup) -> ArtAnalysis | None:
    try:
        return analyse_art(group.observations)
    except NotAnalysableError:
        return None
