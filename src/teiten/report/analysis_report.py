"""The analysis of measurements made elsewhere, as a document: what `teiten analyse` prints."""

from __future__ import annotations

from typing import TYPE_CHECKING

import polars as pl

from teiten.report.analysis_tables import (
    SIGNIFICANCE_CODES,
    anova_table,
    change_table,
    levene_table,
    model_formula,
    posthoc_table,
    what_blocks_cannot_show,
)
from teiten.report.document import Block, Items, Paragraph, Report, Section
from teiten.report.words import Words

if TYPE_CHECKING:
    from collections.abc import Sequence

    from teiten.analysis.measurements import Measurements
    from teiten.report.document import Language
    from teiten.stats.results import ArtAnalysis

_MOST_LINES = 10


def build_analysis_report(
    file_name: str,
    analysed: Sequence[tuple[Measurements, ArtAnalysis]],
    language: Language = "en",
) -> Report:
    """Tell the analysis of each response of one table, in `language`."""
    words = Words(language)
    first = analysed[0][0].observations
    return Report(
        title=words("analysis_of", file=file_name),
        question="",
        language=language,
        run_name=file_name,
        subtitle=words(
            "analysis_line",
            responses=", ".join(measurements.response for measurements, _ in analysed),
            factors=" x ".join(factor.name for factor in first.factors),
            block=first.block.name,
        ),
        sections=tuple(
            _section(measurements, analysis, words) for measurements, analysis in analysed
        ),
        trials=pl.DataFrame(),
        summary=pl.DataFrame(),
    )


def _section(measurements: Measurements, analysis: ArtAnalysis, words: Words) -> Section:
    levene = levene_table(analysis, words)
    changes = change_table(analysis, words)
    blocks: tuple[Block, ...] = (
        Items(tuple(_facts(measurements, analysis, words))),
        levene if levene is not None else Paragraph(words("no_levene"), role="note"),
        anova_table(
            analysis,
            words,
            note=words("anova_note", response=measurements.response, codes=SIGNIFICANCE_CODES),
        ),
        posthoc_table(analysis, words),
        changes if changes is not None else Paragraph(words("no_log_model"), role="note"),
    )
    return Section(measurements.response, measurements.response, blocks, brief=True)


def _facts(measurements: Measurements, analysis: ArtAnalysis, words: Words) -> list[str]:
    found = measurements.observations
    first = found.factors[0]
    treatments = 1
    for factor in found.factors:
        treatments *= len(factor.levels)
    facts = [
        words(
            "measured",
            n=found.n,
            treatments=treatments,
            blocks=len(found.block.levels),
            reference=f"{first.name} {first.levels[0]}",
        )
    ]
    if lost := measurements.lost:
        lines = ", ".join(str(line) for line in lost[:_MOST_LINES])
        more = ", …" if len(lost) > _MOST_LINES else ""
        facts.append(words("trials_lost", n=len(lost), lines=f"{lines}{more}"))
    if measurements.untried:
        facts.append(words("trials_untried", n=measurements.untried))
    if measurements.repeated:
        facts.append(words("trials_repeated", n=measurements.repeated))
    names = [factor.name for factor in found.factors]
    formula = model_formula(measurements.response, names, found.block.name)
    return [
        *facts,
        words("model", formula=formula),
        words("tests_defined"),
        what_blocks_cannot_show(analysis, words),
    ]
