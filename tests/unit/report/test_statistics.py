"""The published analysis in a run's report: what is told, and which places are framed."""

from __future__ import annotations

import io
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest
from rich.console import Console

from teiten.analysis.analysed import ANALYSED_RESPONSES
from teiten.analysis.conclude import conclude
from teiten.analysis.trials import response_groups
from teiten.archive import TrialRecord, open_run
from teiten.report import build_report, print_terminal, to_html, to_markdown
from teiten.report.document import Cell, Items, Paragraph, Section, Table
from teiten.report.layout import lay_out
from teiten.report.sections.ratios import ratio_tables
from teiten.report.sections.statistics import statistics
from teiten.report.sections.view import View
from teiten.report.words import Words
from teiten.stats.art_analysis import analyse_art

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from teiten.archive import Run
    from teiten.report import Report

    MakeRun = Callable[..., Run]

CLIENTS = ("1", "8", "64")


@pytest.fixture(scope="module")
def run(make_run: MakeRun, tmp_path_factory: pytest.TempPathFactory) -> Run:
    overrides = ("factor.clients=1,8,64", "blocks=3")
    return make_run(tmp_path_factory.mktemp("runs"), "version-readonly", overrides, raw=False)


@pytest.fixture(scope="module")
def report(run: Run) -> Report:
    return build_report(run)


def view(run: Run) -> View:
    """What the sections look at: quicker than a whole report with its charts."""
    return View(run, lay_out(run, "en"), Words("en"), conclude(run.study, run.records))


def statistics_of(run: Run) -> Section:
    found = statistics(view(run))
    assert found is not None
    return found


def section(report: Report, slug: str) -> Section:
    return next(s for s in report.sections if s.slug == slug)


def tables(found: Section) -> list[Table]:
    return [block for block in found.blocks if isinstance(block, Table)]


def sentences(found: Section) -> str:
    told: list[str] = []
    for block in found.blocks:
        if isinstance(block, Paragraph):
            told.append(block.text)
        elif isinstance(block, Items):
            told += block.sentences
    return "\n".join(told)


def significant(run: Run, response: str) -> list[bool]:
    """By clients, whether the versions differ at 5% among all pairs of treatments."""
    (group,) = response_groups(run.study, run.records, [response])
    contrasts = analyse_art(group.observations).artc_all_cells.contrasts
    p = {frozenset((c.first, c.second)): c.p for c in contrasts}
    return [p[frozenset((("17.7", x), ("18.1", x)))] < 0.05 for x in CLIENTS]


def with_records(run: Run, records: tuple[TrialRecord, ...]) -> Run:
    """The run as if these were its trials."""
    other = open_run(run.folder)
    vars(other)["records"] = records
    return other


def framed(table: Table) -> list[bool]:
    rows = [row for row in table.rows if row[0].text in CLIENTS]
    assert not any(cell.framed for row in rows for cell in row[:-1])
    return [row[-1].framed for row in rows]


def test_ratios_are_framed_where_the_post_hoc_contrast_is_significant(
    run: Run, report: Report
) -> None:
    by_title = {table.title: table for table in tables(section(report, "ratios"))}
    expected = {name: significant(run, name) for name in ("tps", "instructions_per_tx")}
    assert framed(by_title["Throughput (TPS) [tx/s]"]) == expected["tps"]
    of_instructions = by_title["User instructions per transaction [instr/tx]"]
    assert framed(of_instructions) == expected["instructions_per_tx"]
    told = {flag for flags in expected.values() for flag in flags}
    assert told == {True, False}, "the made-up numbers no longer show both"
    untested = by_title["Latency, 99th percentile [ms]"]
    assert not any(framed(untested))
    note = sentences(section(report, "ratios"))
    assert "Framed (marked * in plain text): differs significantly from 17.7" in note
    assert "99th" not in note


def test_every_format_draws_the_frames(report: Report) -> None:
    cells = [cell for t in tables(section(report, "ratios")) for row in t.rows for cell in row]
    count = sum(cell.framed for cell in cells)
    assert count > 0
    assert to_html(report).count("<mark>") == count
    texts = [cell.text.split(" ", maxsplit=1)[0] for cell in cells if cell.framed]
    markdown = to_markdown(report)
    out = io.StringIO()
    print_terminal(report, Console(file=out, width=120))
    for text in texts:
        assert f"| \\* {text}" in markdown
        assert f" * {text}" in out.getvalue()


def test_the_mark_of_a_frame_is_in_the_text_of_no_other_cell() -> None:
    assert Cell("1.02", framed=True).marked_text == "* 1.02"
    assert Cell("1.02").marked_text == "1.02"


def test_the_same_places_are_framed_in_the_chart(run: Run, report: Report) -> None:
    chart = next(c for c in report.charts() if c.name == "instructions-per-tx")
    flags = significant(run, "instructions_per_tx")
    assert framed_in(chart.specification) == {
        ("18.1", x) for x, flag in zip(CLIENTS, flags, strict=True) if flag
    }
    assert "Framed: differs significantly from 17.7" in chart.caption
    untested = next(c for c in report.charts() if c.name == "latency-p99-ms")
    assert framed_in(untested.specification) == set()
    assert "Framed" not in untested.caption


def framed_in(specification: Any) -> set[tuple[str, str]]:  # noqa: ANN401 - JSON
    layers = [
        layer
        for layer in specification["layer"]
        if layer["mark"]["type"] == "bar" and layer["mark"].get("filled") is False
    ]
    rows = [
        row
        for layer in layers
        for row in specification["datasets"][layer["data"]["name"]]
        if row["low"] < row["high"]
    ]
    return {(row["level"], row["x"]) for row in rows}


def test_the_statistics_are_told_of_the_responses_that_carry_the_question(
    run: Run, report: Report
) -> None:
    found = section(report, "statistics")
    assert not found.brief
    recorded = [name for name in ANALYSED_RESPONSES if name in run.trials.columns]
    assert len(recorded) == 3
    shown = tables(section(report, "statistics"))
    assert len(shown) == 3 * len(recorded)
    anova, posthoc, changes = shown[:3]
    assert (anova.folded, posthoc.folded, changes.folded) == (False, True, True)
    assert [row[0].text for row in anova.rows] == ["version", "clients", "version:clients"]
    assert [row[0].text for row in posthoc.rows] == [f"17.7,{x} - 18.1,{x}" for x in CLIENTS]
    assert "about the mean F(5, 12)" in anova.note
    told = sentences(found)
    assert "y ~ version * clients + (1 | block) + (1 | block:version)" in told
    assert "3 blocks" in told
    assert "F = 18.5" in told


def test_one_block_is_told_in_a_sentence_and_frames_nothing(
    make_run: MakeRun, tmp_path: Path
) -> None:
    run = make_run(tmp_path, "version-readonly", ("factor.clients=1,8", "blocks=1"), raw=False)
    found, ratios = statistics_of(run), ratio_tables(view(run))
    assert "Throughput (TPS): 4 trials in 1 block(s) are too few for tests" in sentences(found)
    assert tables(found) == []
    assert ratios is not None
    assert not any(cell.framed for t in tables(ratios) for row in t.rows for cell in row)
    assert "Framed" not in sentences(ratios)


def test_counts_that_never_vary_are_told_in_a_sentence(run: Run) -> None:
    same = tuple(
        replace(r, responses={**r.responses, "instructions_per_tx": 100.0 + len(r.levels)})
        for r in run.records
    )
    told = sentences(statistics_of(with_records(run, same)))
    assert "User instructions per transaction: nothing varies but by treatment and block" in told


def test_a_level_along_x_without_all_trials_is_left_out_and_named(run: Run) -> None:
    kept = tuple(r for r in run.records if dict(r.levels) != {"version": "18.1", "clients": "64"})
    found = statistics_of(with_records(run, kept))
    assert "Clients 64: left out" in sentences(found)
    anova, posthoc, *_ = tables(found)
    assert [row[2].text for row in anova.rows] == ["1", "1", "1"]
    assert [row[0].text for row in posthoc.rows] == ["17.7,1 - 18.1,1", "17.7,8 - 18.1,8"]


def test_unlike_experiments_are_analysed_apart(make_run: MakeRun, tmp_path: Path) -> None:
    run = make_run(tmp_path, "demo", ("factor.clients=[4]",), raw=False)
    shown = tables(statistics_of(run))
    titles = [table.title for table in shown]
    assert titles[0].startswith("Throughput (TPS) (Workload: read)")
    assert any(title.startswith("Throughput (TPS) (Workload: update)") for title in titles)
    assert [row[0].text for row in shown[0].rows] == ["version"]
    assert [row[0].text for row in shown[1].rows] == ["17.7 - 18.1"]
