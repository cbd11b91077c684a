"""The published analysis of the responses of a run that carry its question. Pure."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from teiten.analysis.trials import response_groups
from teiten.stats.art_analysis import analyse_art
from teiten.stats.design import NotAnalysableError

if TYPE_CHECKING:
    from teiten.analysis.trials import ResponseGroup
    from teiten.archive import Run
    from teiten.stats.results import ArtAnalysis

ANALYSED_RESPONSES = (
    "tps",
    "latency_mean_ms",
    "instructions_per_tx",
    "callgrind_instructions_per_tx",
)
"""What the published analysis is made of: the question, and what noise touches least."""


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


def _analysis(group: ResponseGroup) -> ArtAnalysis | None:
    try:
        return analyse_art(group.observations)
    except NotAnalysableError:
        return None
