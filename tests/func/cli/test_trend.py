"""`teiten trend` as a user has it, on archives whose figures are made up."""

from __future__ import annotations

import csv
import io
import json
import re
import shutil
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest
from tests.func.cli.test_refusals import sentence
from tests.unit.analysis.made_up_history import Made, made_up_history

from teiten.archive.history import runs_of
from teiten.report.numbers import MINUS

if TYPE_CHECKING:
    from pathlib import Path

    from tests.func.cli.conftest import Command

    from teiten.archive import Run

SMALL = Made("2024-01-01", clients=(1, 8), blocks=1)


@pytest.fixture(scope="module")
def ten_runs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Ten runs, one a month; 18.1 is slower by a tenth from the sixth on."""
    archive = tmp_path_factory.mktemp("history") / "runs"
    made_up_history(
        archive,
        [
            replace(SMALL, date=f"2024-{month:02d}-01", factors={"18.1": 0.9 if month > 5 else 1})
            for month in range(1, 11)
        ],
    )
    return archive


@pytest.fixture
def runs(teiten: Command, ten_runs: Path) -> list[Run]:
    """A copy of them in the archive of the command, by date."""
    shutil.copytree(ten_runs, teiten.archive)
    return list(runs_of(teiten.archive, "nightly").runs)


def test_a_change_is_printed_and_the_page_written(teiten: Command, runs: list[Run]) -> None:
    done = teiten("trend")
    assert done.returncode == 0, done.stderr
    (change,) = re.findall(rf"18\.1: {MINUS}([0-9.]+)% \(95% interval", done.stdout)
    assert float(change) == pytest.approx(10, abs=1)
    assert "between 2024-05-01 and 2024-06-01" in " ".join(done.stdout.split())
    assert runs[5].name in done.stdout.replace("\n", "")
    path = teiten.archive / "trend-nightly-tps.html"
    assert str(path) in done.stdout
    page = path.read_text(encoding="utf-8")
    assert page.count("<svg") == 1
    listed = teiten("runs")  # the page is no run
    assert listed.returncode == 0
    assert len(listed.stdout.splitlines()) == 11


@pytest.mark.usefixtures("runs")
def test_other_forms_go_to_stdout_or_into_a_file(teiten: Command, tmp_path: Path) -> None:
    document = json.loads(teiten("trend", "nightly", "--format", "json").stdout)
    assert document["response"] == "tps"
    assert [len(s["runs"]) for s in document["series"]] == [10, 10]
    rows = list(csv.DictReader(io.StringIO(teiten("trend", "--format", "csv").stdout)))
    assert len(rows) == 20
    assert [r["level"] for r in rows if r["change_point"]] == ["18.1"]
    text = teiten("trend", "--format", "md", "--lang", "ja").stdout
    assert text.startswith("# 夜間測定")
    picture = tmp_path / "x.png"
    assert teiten("trend", "--format", "png", "-o", str(picture)).returncode == 0
    assert picture.read_bytes().startswith(b"\x89PNG")
    told = sentence(teiten("trend", "-o", str(tmp_path / "none" / "x.html")))
    assert "choose another file with --output" in told


@pytest.mark.usefixtures("runs")
def test_published_ratios_are_laid_under(teiten: Command, tmp_path: Path) -> None:
    """The update load of a published comparison, year and all, as its ratio table prints it."""
    path = tmp_path / "published.csv"
    path.write_text("date,level,x,value\n2024,17.2,1,1.00\n2024,17.2,8,1.04\n", encoding="utf-8")
    options = ("--relative", "--published", str(path))
    document = json.loads(teiten("trend", *options, "--format", "json").stdout)
    (figure,) = document["published"]
    assert figure["value"] == pytest.approx((1.00 * 1.04) ** 0.5)
    assert figure["date"].startswith("2024-07-02")
    (series,) = document["series"]
    assert (series["level"], series["reference"]) == ("18.1", "17.7")
    path.write_text("date,level,x,value\n2024,17.2,1,about 1\n", encoding="utf-8")
    assert "line 2, column value" in sentence(teiten("trend", *options), status=2)
    missing = sentence(teiten("trend", "--published", str(tmp_path / "no.csv")), status=2)
    assert "no.csv cannot be read: No such file" in missing


@pytest.mark.usefixtures("runs")
def test_what_cannot_be_followed_is_told(teiten: Command) -> None:
    told = sentence(teiten("trend", "ssb"), status=2)
    assert "no run of the study 'ssb'" in told
    assert "it has runs of nightly (10)" in told
    told = sentence(teiten("trend", "--response", "tsp"), status=2)
    assert "choose one of failed_tx, latency_mean_ms, tps with --response" in told
    assert "not positive" in sentence(teiten("trend", "--response", "failed_tx"), status=2)
    assert "choose one of 1, 8 with --at" in sentence(teiten("trend", "--at", "64"), status=2)


def test_an_archive_without_enough_runs_is_told(teiten: Command) -> None:
    assert "There is no run in" in sentence(teiten("trend"), status=2)
    assert "it has no runs" in sentence(teiten("trend", "nightly"), status=2)
    (first,) = made_up_history(teiten.archive, [SMALL])
    assert "needs two runs or more" in sentence(teiten("trend"), status=2)
    made_up_history(teiten.archive, [replace(SMALL, date="2024-02-01", only_trials=0)])
    assert "has 1: make another by `teiten run`" in sentence(teiten("trend"), status=2)
    only = replace(SMALL, date="2024-03-01", levels={"17.7": "npm:17.7"})
    made_up_history(teiten.archive, [only, only])
    done = teiten("trend", "--format", "md")
    assert done.returncode == 0, done.stderr
    assert "too short to show a change" in done.stdout
    assert first.name in done.stdout


def test_runs_of_one_morning_are_drawn(teiten: Command, tmp_path: Path) -> None:
    made_up_history(
        teiten.archive, [replace(SMALL, date=f"2024-01-01T0{hour}:30") for hour in (6, 7)]
    )
    path = tmp_path / "x.html"
    done = teiten("trend", "-o", str(path))
    assert done.returncode == 0, done.stderr
    assert done.stderr == ""
    assert ">07:00</text>" in path.read_text(encoding="utf-8")


def test_ratios_need_another_level(teiten: Command) -> None:
    made_up_history(teiten.archive, [replace(SMALL, levels={"17.7": "npm:17.7"})] * 2)
    assert "leave out --relative" in sentence(teiten("trend", "--relative"), status=2)


def test_a_damaged_run_is_told_and_hides_no_other(teiten: Command, runs: list[Run]) -> None:
    path = runs[3].trial_folder(1) / "trial.json"
    path.write_text("{", encoding="utf-8")
    done = teiten("trend", "--format", "md")
    assert done.returncode == 0, done.stderr
    assert "trial.json is damaged" in done.stdout
    document = json.loads(teiten("trend", "--format", "json").stdout)
    assert [len(s["runs"]) for s in document["series"]] == [9, 9]
    assert len(document["not_read"]) == 1
