"""From a run to its report: the one place where the order of sections is decided."""

from __future__ import annotations

from typing import TYPE_CHECKING

import polars as pl

from teiten.analysis.conclude import conclude
from teiten.report.document import Report
from teiten.report.layout import lay_out
from teiten.report.sections.asked import asked
from teiten.report.sections.calibration import calibration_section
from teiten.report.sections.course import course
from teiten.report.sections.cpu import cpu
from teiten.report.sections.environment import environment
from teiten.report.sections.ratios import ratio_tables
from teiten.report.sections.reproduce import missing, moment, reproduce
from teiten.report.sections.statistics import statistics
from teiten.report.sections.trends import efficiency, resources, throughput
from teiten.report.sections.verdict import verdict
from teiten.report.sections.view import View
from teiten.report.words import Words
from teiten.responses import RESPONSES
from teiten.stats.summary import summarise

if TYPE_CHECKING:
    from teiten.archive import Run
    from teiten.report.document import Language

_SECTIONS = (
    verdict,
    calibration_section,
    asked,
    throughput,
    ratio_tables,
    statistics,
    efficiency,
    cpu,
    resources,
    course,
    environment,
    reproduce,
    missing,
)


def build_report(run: Run, language: Language = "en") -> Report:
    """Tell a run in `language`. A run that is not complete gives a report that says so.

    Raises:
        UsageError: the run's plan and study do not belong together.
    """
    words = Words(language)
    layout = lay_out(run, language)
    view = View(run, layout, words, conclude(run.study, run.records))
    began = moment(run.records[0].started_at_s) if run.records else "-"
    factors = [f"factor.{f.name}" for f in run.study.factor]
    return Report(
        title=run.study.text("title", language),
        question=run.study.text("question", language),
        language=language,
        run_name=run.name,
        subtitle=words("run_line", name=run.name, begin=began),
        sections=tuple(s for make in _SECTIONS if (s := make(view)) is not None),
        trials=run.trials,
        summary=_tidy_summary(layout.trials, ["treatment", *factors]),
    )


def _tidy_summary(trials: pl.DataFrame, keys: list[str]) -> pl.DataFrame:
    """One row a treatment and response: `n`, `median`, `lowest`, `highest`, `mean`."""
    recorded = [n for n in RESPONSES if n in trials.columns]
    frames = [
        summarise(trials, keys, name).select(
            *keys, pl.lit(name).alias("response"), pl.exclude(*keys, "response")
        )
        for name in recorded
    ]
    return pl.concat(frames).sort("treatment", "response") if frames else pl.DataFrame()
