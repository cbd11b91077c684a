from __future__ import annotations

import io
import re
import string
from typing import TYPE_CHECKING

import polars as pl
import pytest
from rich.cells import cell_len
from rich.console import Console

from teiten.analysis.conclude import conclude
from teiten.archive import RunWriter, open_run
from teiten.plan import make_plan
from teiten.report import (
    Report,
    build_report,
    print_terminal,
    to_html,
    to_markdown,
    write_csv,
    write_html,
    write_png,
)
from teiten.report.document import Cell, Chart, Paragraph, Table
from teiten.report.layout import lay_out
from teiten.report.sections.environment import differences
from teiten.report.words import WORDS
from teiten.responses import RESPONSES
from teiten.study import parse_study

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from teiten.archive import Run
    from teiten.report import Language

    MakeRun = Callable[..., Run]


def small_study(factors: str) -> str:
    return f"""
name = "made-up"
title = {{ en = "Made up" }}
blocks = 2
seed = 7
[setup]
server = "npm:17.7"
data = {{ kind = "pgbench", scale = 1 }}
load = {{ kind = "pgbench", script = "readonly.sql", duration_s = 5 }}
{factors}
"""


VERSIONS = """
[[factor]]
name = "version"
patch = { server = "npm:{level}" }
levels = ["17.7", "18.1"]
"""
ONE_NUMERIC = """
[[factor]]
name = "clients"
levels = [1, 2, 4, 8]
"""
THREE = """
[[factor]]
name = "checksums"
[factor.levels]
"off" = { initdb = ["--no-data-checksums"] }
"on" = { initdb = ["--data-checksums"] }
[[factor]]
name = "protocol"
key = "load.protocol"
levels = ["simple", "prepared"]
[[factor]]
name = "fillfactor"
key = "data.fillfactor"
levels = [70, 100]
"""


@pytest.fixture(scope="module")
def run(make_run: MakeRun, tmp_path_factory: pytest.TempPathFactory) -> Run:
    overrides = ("factor.clients=1,8,64", "blocks=3")
    return make_run(tmp_path_factory.mktemp("runs"), "version-update", overrides)


@pytest.fixture(scope="module", params=["en", "ja"])
def report(run: Run, request: pytest.FixtureRequest) -> Report:
    language: Language = request.param
    return build_report(run, language)


@pytest.fixture(scope="module")
def english(run: Run) -> Report:
    return build_report(run)


def test_every_chapter_of_the_published_decks_is_there(report: Report) -> None:
    assert [s.slug for s in report.sections] == [
        "verdict",
        "asked",
        "throughput",
        "ratios",
        "statistics",
        "efficiency",
        "cpu",
        "resources",
        "course",
        "environment",
        "reproduce",
        "missing",
    ]
    names = {chart.name for chart in report.charts()}
    assert {
        "change-tps",
        "tps",
        "latency-mean-ms",
        "instructions-per-tx",
        "cpu-modes",
        "cpu-soft",
        "memory-used-mib",
        "tps-by-second",
        "order-tps",
    } <= names
    assert any(name.startswith("cpu-cores-") for name in names)


def test_charts_have_distinct_names_and_say_what_they_show(report: Report) -> None:
    charts = list(report.charts())
    assert len({c.name for c in charts}) == len(charts)
    assert all(c.title and c.description for c in charts)


def test_every_trial_is_a_dot(english: Report, run: Run) -> None:
    chart = next(c for c in english.charts() if c.name == "tps")
    datasets = chart.specification["datasets"].values()
    dots = [rows for rows in datasets if rows and "trial" in rows[0] and "description" in rows[0]]
    assert {row["trial"] for rows in dots for row in rows} == set(run.trials["trial"])


def test_the_verdict_tells_each_change_with_its_interval_and_what_cannot_be_shown(
    english: Report, run: Run
) -> None:
    verdict = english.sections[0]
    words = " ".join(b.text for b in verdict.blocks if isinstance(b, Paragraph))
    assert "18.1 against 17.7" in words
    assert "flagged" in words
    assert "What 3 block(s) cannot show: a change of Throughput (TPS)" in words
    told = conclude(run.study, run.records).verdicts
    table = next(b for b in verdict.blocks if isinstance(b, Table))
    assert [row[0].text for row in table.rows] == [RESPONSES[v.response].en for v in told]
    for v, row in zip(told, table.rows, strict=True):
        ends = [float(x) / 100 for x in re.findall(r"-?[\d.]+(?=%)", _plain(row[2].text))]
        # Printed with the decimals that the interval gives a meaning to.
        assert ends == pytest.approx([v.overall.lower, v.overall.upper], rel=0.1, abs=1e-6)


def test_a_decision_is_told_in_the_words_of_its_response(english: Report, run: Run) -> None:
    table = next(b for b in english.sections[0].blocks if isinstance(b, Table))
    words = {row[0].text: row[3] for row in table.rows}
    found = {v.response: v for v in conclude(run.study, run.records).verdicts}
    counted = found["instructions_per_tx"]
    assert counted.decision == "higher", "the made-up run takes 6.7% more instructions"
    assert words["User instructions per transaction"] == Cell("more", "worse")


def _plain(text: str) -> str:
    return text.replace("\N{MINUS SIGN}", "-").replace(",", "")


def test_flagged_trials_are_listed_with_their_sentences(english: Report, run: Run) -> None:
    table = next(
        block
        for section in english.sections
        for block in section.blocks
        if isinstance(block, Table) and block.title == "Trials to be read with care"
    )
    flagged = [r for r in run.records if r.flags]
    assert [row[0].text for row in table.rows] == [str(r.number) for r in flagged]
    assert all("checkpoint" in row[-1].text for row in table.rows)


def test_ratio_table_has_the_decks_shape(english: Report) -> None:
    section = next(s for s in english.sections if s.slug == "ratios")
    table = next(b for b in section.blocks if isinstance(b, Table))
    assert table.header == ("Clients", "17.7", "18.1", "18.1 / 17.7")
    assert [row[0].text for row in table.rows] == ["1", "8", "64", "all (95% interval)"]
    ratio = float(table.rows[0][3].text.split()[0])
    medians = [float(cell.text.replace(",", "")) for cell in table.rows[0][1:3]]
    assert ratio == pytest.approx(medians[1] / medians[0], abs=0.001)


def test_devices_without_traffic_are_left_out(english: Report) -> None:
    section = next(s for s in english.sections if s.slug == "resources")
    table = [b for b in section.blocks if isinstance(b, Table) and not b.folded][-1]
    assert [row[0].text for row in table.rows] == ["vda", "eth0"]
    assert [row[-1].text for row in table.rows] == ["0.400", "-"]


def test_what_was_not_recorded_is_said_once(make_run: MakeRun, tmp_path: Path) -> None:
    run = make_run(tmp_path, "version-readonly", ("factor.clients=1,4", "blocks=1"), raw=False,
                      counters=False)  # fmt: skip
    text = to_markdown(build_report(run))
    assert text.count("Hardware counters are not recorded") == 1
    assert "Not recorded in any trial: User instructions per transaction" in text


@pytest.mark.parametrize(
    ("factors", "roles"),
    [
        (VERSIONS, ("version", "version", 1)),
        (ONE_NUMERIC, ("clients", "clients", 1)),
        (VERSIONS + ONE_NUMERIC, ("version", "clients", 1)),
        (ONE_NUMERIC + VERSIONS, ("version", "clients", 1)),
        (THREE, ("checksums", "fillfactor", 2)),
    ],
)
def test_any_set_of_factors_makes_a_report(
    make_run: MakeRun, tmp_path: Path, factors: str, roles: tuple[str, str, int]
) -> None:
    study = parse_study(small_study(factors), where="test")
    run = make_run(tmp_path, study=study, seconds=5, cores=2)
    layout = lay_out(run, "en")
    assert (layout.compared.name, layout.x.name, len(layout.panels)) == roles
    page = to_html(build_report(run))
    assert page.count("<svg") == page.count("<desc")


def test_a_run_cut_off_makes_a_report_that_says_so(make_run: MakeRun, tmp_path: Path) -> None:
    run = make_run(tmp_path, "demo", seconds=3, cores=1, only_trials=3)
    assert f"3 of {len(run.plan.trials)} trials" in to_markdown(build_report(run))


def test_a_run_without_any_trial_makes_a_report(tmp_path: Path) -> None:
    study = parse_study(small_study(VERSIONS), where="test")
    with RunWriter.create(tmp_path, study, make_plan(study)) as writer:
        run = open_run(writer.folder)
    text = to_html(build_report(run))
    assert "0 of 4 trials" in text


def test_page_is_self_contained_and_named(run: Run, report: Report, tmp_path: Path) -> None:
    write_html(report, tmp_path / "report.html")
    page = (tmp_path / "report.html").read_text(encoding="utf-8")
    assert not re.search(r"""(?:src|href)=["'](?!#|data:)|@import|url\((?!#|data:)""", page)
    assert f'lang="{report.language}"' in page
    assert run.name in page
    assert page.count("<svg") == len(list(report.charts()))
    ids = re.findall(r'\bid="([^"]+)"', page)
    assert len(ids) == len(set(ids))


def test_study_text_cannot_break_the_page(make_run: MakeRun, tmp_path: Path) -> None:
    text = small_study(VERSIONS).replace("Made up", "<script>alert(1)</script> & co")
    run = make_run(tmp_path, study=parse_study(text, where="test"), seconds=3, cores=1)
    assert "<script" not in to_html(build_report(run))


@pytest.mark.parametrize("width", [80, 120])
def test_terminal_output_fits_and_is_plain_when_not_a_terminal(report: Report, width: int) -> None:
    out = io.StringIO()
    print_terminal(report, Console(file=out, width=width))
    text = out.getvalue()
    assert "\x1b" not in text
    assert max(cell_len(line) for line in text.splitlines()) <= width
    assert report.title in text


def test_brief_print_is_the_verdict_and_the_ratios(english: Report) -> None:
    long, short = io.StringIO(), io.StringIO()
    print_terminal(english, Console(file=long, width=100))
    print_terminal(english, Console(file=short, width=100), brief=True)
    assert "18.1 / 17.7" in short.getvalue()
    assert "Environment" not in short.getvalue()
    assert len(short.getvalue()) < len(long.getvalue()) / 2


def test_markdown_tables_are_whole(report: Report) -> None:
    text = to_markdown(report, charts="charts")
    assert "![" in text
    for table in re.findall(r"(?:^\|.*\n)+", text, flags=re.MULTILINE):
        widths = {len(re.findall(r"(?<!\\)\|", line)) for line in table.splitlines()}
        assert len(widths) == 1


def test_csv_is_tidy_and_complete(english: Report, run: Run, tmp_path: Path) -> None:
    write_csv(english, tmp_path)
    trials = pl.read_csv(tmp_path / "trials.csv")
    summary = pl.read_csv(tmp_path / "summary.csv", infer_schema_length=None)
    assert trials.height == len(run.plan.trials)
    assert trials["tps"].to_list() == pytest.approx(run.trials["tps"].to_list())
    of_tps = summary.filter(pl.col("response") == "tps")
    assert of_tps.height == len(run.plan.treatments)
    assert of_tps["n"].to_list() == [run.study.blocks] * of_tps.height


def test_every_chart_becomes_a_png(run: Run, tmp_path: Path) -> None:
    report = build_report(run, "ja")
    written = write_png(report, tmp_path / "charts")
    assert len(written) == len(list(report.charts()))
    assert all(path.read_bytes().startswith(b"\x89PNG") for path in written)


def test_words_fill_the_same_blanks_in_both_languages() -> None:
    for key, (en, ja) in WORDS.items():
        blanks = [{name for _, name, _, _ in string.Formatter().parse(t) if name} for t in (en, ja)]
        assert blanks[0] == blanks[1], key


def test_differences_between_servers_leave_out_what_must_differ() -> None:
    servers = {
        "npm:17.7": {"version": "17.7", "data_checksums": False, "settings": {"port": 1}},
        "npm:18.1": {"version": "18.1", "data_checksums": True, "settings": {"port": 2}},
    }
    assert differences(servers) == {"data checksums": ["no", "yes"]}


def test_long_series_are_thinned_but_keep_their_stalls(make_run: MakeRun, tmp_path: Path) -> None:
    run = make_run(tmp_path, "version-readonly", ("factor.clients=1,4", "blocks=1"),
                      seconds=900, cores=1)  # fmt: skip
    lowest = {
        r.number: frame["tps"].min()
        for r in run.records
        if (frame := run.raw_frame(r.number, "seconds.parquet")) is not None
    }
    chart = next(c for c in build_report(run).charts() if c.name == "tps-by-second")
    assert isinstance(chart, Chart)
    assert "thinned" in chart.caption
    drawn: dict[int, list[float]] = {}
    for rows in chart.specification["datasets"].values():
        for row in rows:
            drawn.setdefault(row["trial"], []).append(row["tps"])
    assert {n: min(v) for n, v in drawn.items()} == pytest.approx(lowest)
    assert max(len(v) for v in drawn.values()) <= 150


def test_unlike_workloads_are_never_averaged(make_run: MakeRun, tmp_path: Path) -> None:
    run = make_run(tmp_path, "demo", ("factor.clients=[4]",), seconds=3, cores=1)
    verdicts = [
        block.text
        for block in build_report(run).sections[0].blocks
        if isinstance(block, Paragraph) and block.role == "verdict"
    ]
    assert [("Workload: read" in v, "Workload: update" in v) for v in verdicts] == [
        (True, False),
        (False, True),
    ]
