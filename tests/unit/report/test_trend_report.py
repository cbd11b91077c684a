from __future__ import annotations

import json
import re
from dataclasses import replace
from datetime import datetime, timedelta
from typing import TYPE_CHECKING

import pytest
from tests.unit.analysis.made_up_history import MACHINE, Made, past_runs

from teiten.analysis.followed import Question
from teiten.analysis.published import Published
from teiten.analysis.roles import roles_of
from teiten.analysis.trend import trend_of
from teiten.report import to_html, to_markdown
from teiten.report.charts.picture import png
from teiten.report.charts.trend import stacked
from teiten.report.document import Items, Paragraph, Table
from teiten.report.numbers import MINUS
from teiten.report.trend import build_trend_report
from teiten.report.trend_data import trend_document, trend_frame
from teiten.report.trend_view import Told

if TYPE_CHECKING:
    from teiten.report import Language, Report

OTHER_HOST = {**MACHINE, "cpu": {"model": "Newer CPU", "threads": 64}}


def told(question: Question | None = None, published: tuple[Published, ...] = ()) -> Told:
    """A history with a step of 18.1 by -4%, another host, and a flagged trial."""
    begin = datetime(2024, 1, 1)  # noqa: DTZ001 - made-up runs are dated without a zone
    made = [
        Made(
            (begin + timedelta(days=7 * i)).isoformat(),
            factors={"18.1": 0.96} if i >= 12 else {},
            machine=MACHINE if i < 25 else OTHER_HOST,
            flagged=(2,) if i == 4 else (),
        )
        for i in range(30)
    ]
    runs = past_runs(made)
    newest = runs[-1].study
    roles = roles_of(newest)
    asked = question or Question("tps")
    return Told(trend_of(runs, asked), newest, roles.compared, roles.averaged, published)


@pytest.fixture(scope="module")
def history() -> Told:
    return told(published=(Published(1.71e9, 1400.0, label="deck"),))


@pytest.fixture(scope="module")
def report(history: Told) -> Report:
    return build_trend_report(history)


def sentences(report: Report, slug: str) -> str:
    section = next(s for s in report.sections if s.slug == slug)
    parts = [b.text for b in section.blocks if isinstance(b, Paragraph)]
    return " ".join(
        [*parts, *(t for b in section.blocks if isinstance(b, Items) for t in b.sentences)]
    )


def test_a_change_is_told_with_its_size_interval_and_dates(report: Report) -> None:
    text = sentences(report, "history")
    found = re.search(
        r"18\.1: \N{MINUS SIGN}(\S+)% \(95% interval (\S+) … (\S+)\) between (\S+) and (\S+?)[;.]",
        text,
    )
    assert found is not None
    assert float(found[1]) == pytest.approx(4, abs=0.8)
    assert found.groups()[3:] == ("2024-03-18", "2024-03-25")
    assert "at most 5% of such histories" in text
    tones = [b.tone for b in report.sections[0].blocks if isinstance(b, Paragraph)]
    assert tones[0] == "worse"


def test_what_breaks_a_line_is_told(report: Report) -> None:
    text = sentences(report, "breaks")
    assert "another host" in text
    assert "processor Made-up CPU → Newer CPU" in text


def test_tables_mark_changes_flags_and_new_lines(report: Report) -> None:
    section = next(s for s in report.sections if s.slug == "runs")
    tables = [b for b in section.blocks if isinstance(b, Table)]
    assert [len(t.rows) for t in tables] == [30, 30]
    of_new = next(t for t in tables if t.title.endswith("18.1"))
    remarks = [row[3].text for row in of_new.rows]
    assert remarks[12].startswith(f"change point: {MINUS}")
    assert "another host" in remarks[25]
    assert of_new.rows[0][2].text == of_new.rows[25][2].text == ""
    assert any("1 flagged trial" in row[3].text for t in tables for row in t.rows)


def test_a_terminal_gets_the_newest_rows_and_is_told_so(history: Told) -> None:
    short = build_trend_report(history, most_rows=8)
    tables = [b for s in short.sections for b in s.blocks if isinstance(b, Table) and b.folded]
    assert [len(t.rows) for t in tables] == [8, 8]
    assert all("22 earlier" in t.note for t in tables)


def test_lines_of_the_chart_join_only_what_may_be_joined(report: Report) -> None:
    (chart,) = report.charts()
    data = chart.specification["datasets"].values()
    dots = {(r["level"], r["at"]): r for rows in data for r in rows if "line" in r}
    assert len(dots) == 60
    of_new = [r for (level, _), r in sorted(dots.items()) if level == "18.1"]
    assert len({r["line"] for r in of_new[:25]}) == 1
    assert of_new[24]["line"] != of_new[25]["line"]
    assert [r["hollow"] for r in of_new] == [True] * 25 + [False] * 5
    texts = {r["text"] for rows in data for r in rows if "text" in r}
    assert {"another host", "deck"} <= texts
    assert any(t.startswith(f"18.1: {MINUS}") for t in texts)


@pytest.mark.parametrize("language", ["en", "ja"])
@pytest.mark.parametrize("relative", [False, True])
def test_every_form_of_it_is_made(language: Language, relative: bool) -> None:  # noqa: FBT001 - a parameter of the test
    made = build_trend_report(told(Question("tps", relative=relative)), language)
    page = to_html(made)
    assert f'lang="{language}"' in page
    assert page.count("<svg") == page.count("<desc") == 1
    (chart,) = made.charts()
    assert png(chart).startswith(b"\x89PNG")
    assert "|" in to_markdown(made)


def test_one_level_along_x_is_named(history: Told) -> None:
    at = told(Question("tps", at="8"))
    captions = [
        chart.caption
        for each in (history, replace(at, x=roles_of(at.study).x))
        for chart in build_trend_report(each).charts()
    ]
    assert "over blocks and levels of Clients" in captions[0]
    assert "at Clients 8" in captions[1]


def test_the_data_say_the_same_as_the_trend(history: Told) -> None:
    document = json.loads(json.dumps(trend_document(history), allow_nan=False))
    new = next(s for s in document["series"] if s["level"] == "18.1")
    (found,) = [c for stretch in new["stretches"] for c in stretch["changes"]]
    assert found["after"] == "run-12"
    assert found["lower"] < found["change"] < found["upper"] < 0
    assert [len(s["runs"]) for s in new["stretches"]] == [25, 5]
    frame = trend_frame(history.trend)
    assert frame.height == 60
    assert frame["change_point"].count() == 1
    assert frame.filter(frame["change_to_previous"].is_null()).height == 4


def test_words_at_lines_do_not_overlap() -> None:
    texts = [(0.0, 50.0), (10.0, 50.0), (60.0, 50.0), (100.0, 20.0), (61.0, 5.0)]
    rows = stacked(texts)
    for i, (at, width) in enumerate(texts):
        for j, (other, other_width) in enumerate(texts):
            if i != j and rows[i] == rows[j]:
                assert at + width <= other or other + other_width <= at
    assert max(rows) == 1 + rows[0]
