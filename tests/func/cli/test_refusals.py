"""What the operating system refuses, and what is damaged, ends in one sentence."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

import polars as pl
import pytest

if TYPE_CHECKING:
    import subprocess
    from collections.abc import Callable, Iterator

    from tests.func.cli.conftest import Command

    from teiten.archive import Run


def sentence(done: subprocess.CompletedProcess[str], status: int = 1) -> str:
    """The one sentence that a refused command tells."""
    assert "Traceback" not in done.stderr
    assert done.returncode == status, done.stderr
    (line,) = done.stderr.splitlines()
    assert line.startswith("teiten: ")
    assert line.endswith(".")
    return line


@pytest.fixture
def run(teiten: Command, make_run: Callable[..., Run]) -> Run:
    """A run that is not complete."""
    return make_run(teiten.archive, "demo", seconds=3, cores=1, only_trials=5)


@pytest.fixture
def read_only(run: Run) -> Iterator[Run]:
    """The run, for a user who may only read it."""
    parts = [run.folder, *run.folder.rglob("*")]
    modes = {path: path.stat().st_mode for path in parts}
    for path, mode in modes.items():
        path.chmod(mode & 0o7555)
    yield run
    for path, mode in modes.items():
        path.chmod(mode)


def test_a_run_that_may_only_be_read_is_not_resumed_but_can_be_reported(
    teiten: Command, read_only: Run, tmp_path: Path
) -> None:
    told = sentence(teiten("run", "--resume", "latest"))
    assert str(read_only.folder) in told
    assert "user who began" in told
    for form in ("html", "csv"):
        told = sentence(teiten("report", "--format", form))
        assert "Permission denied" in told
        assert "--output" in told
    elsewhere = tmp_path / "report.html"
    done = teiten("report", "--output", str(elsewhere))
    assert done.returncode == 0, done.stderr
    assert "<html" in elsewhere.read_text(encoding="utf-8")


@pytest.mark.parametrize("form", ["html", "md", "csv", "png"])
@pytest.mark.usefixtures("run")
def test_a_place_that_cannot_be_written_is_told(teiten: Command, tmp_path: Path, form: str) -> None:
    (tmp_path / "file").touch()
    place = str(tmp_path / "file" / "x")
    told = sentence(teiten("report", "--format", form, "-o", place))
    assert place in told
    assert "--output" in told


@pytest.mark.usefixtures("run")
def test_a_full_standard_output_is_told(teiten: Command) -> None:
    full = os.open("/dev/full", os.O_WRONLY)
    try:
        told = sentence(teiten("report", "--format", "md", stdout=full))
    finally:
        os.close(full)
    assert "No space left on device" in told


def test_a_run_of_another_user_that_may_not_be_entered_hides_no_other(
    teiten: Command, run: Run, make_run: Callable[..., Run]
) -> None:
    private = make_run(teiten.archive, "demo", only_trials=1)
    private.folder.chmod(0)
    try:
        listed, told = teiten("runs"), sentence(teiten("report", private.name), status=2)
    finally:
        private.folder.chmod(0o755)
    assert listed.returncode == 0, listed.stderr
    assert [line.split()[0] for line in listed.stdout.splitlines()] == ["run", run.name]
    assert "no run" in told


def test_a_run_without_a_complete_trial_is_not_reported(
    teiten: Command, make_run: Callable[..., Run]
) -> None:
    run = make_run(teiten.archive, "demo", only_trials=0)
    told = sentence(teiten("report"), status=2)
    assert "no complete trial" in told
    assert f"teiten run --resume {run.folder}" in told


@pytest.mark.parametrize(
    "damaged", ["journal.jsonl", "environment.json", "trials/0003/trial.json", "plan.json"]
)
def test_a_damaged_run_is_told_by_its_commands_and_hides_no_other(
    teiten: Command, make_run: Callable[..., Run], run: Run, damaged: str
) -> None:
    other = make_run(teiten.archive, "demo", raw=False)
    path = run.folder / damaged
    lines = path.read_text(encoding="utf-8").splitlines()
    path.write_text("\n".join([lines[0], "#", *lines[2:], ""]), encoding="utf-8")
    told = sentence(teiten("report", run.name), status=2)
    assert damaged.rpartition("/")[2] in told
    if damaged != "environment.json":  # read only once the servers are there
        assert sentence(teiten("run", "--resume", run.name), status=2) == told
    listed = teiten("runs")
    assert listed.returncode == 0, listed.stderr
    rows = {line.split()[0]: line.rstrip() for line in listed.stdout.splitlines() if line}
    assert rows[run.name].endswith("damaged")
    assert rows[other.name].endswith("complete")
    assert told.removeprefix("teiten: ") in listed.stdout.splitlines()


def test_runs_are_listed_with_when_they_began_and_how_many_trials_are_flagged(
    teiten: Command, run: Run
) -> None:
    listed = teiten("runs").stdout.splitlines()
    assert listed[0].split() == [*("run", "study", "began", "(UTC)", "trials", "flagged", "state")]
    (row,) = [line for line in listed if line.startswith(run.name)]
    flagged = sum(bool(r.flags) for r in run.records)
    assert f" 5/{len(run.plan.trials)} " in row
    assert row.split("/")[1].split()[1] == str(flagged)
    assert row.rstrip().endswith("can be resumed")


def test_facts_and_notes_reach_the_tables_but_are_no_responses(teiten: Command, run: Run) -> None:
    path = run.trial_folder(1) / "trial.json"
    text = path.read_text(encoding="utf-8")
    text = text.replace('"facts": {}', '"facts": {"steal_pct": 2.5}')
    path.write_text(text.replace('"notes": []', '"notes": ["One.", "Two."]'), encoding="utf-8")
    folder = run.folder.parent / "csv"
    done = teiten("report", "--format", "csv", "--output", str(folder))
    assert done.returncode == 0, done.stderr
    trials = pl.read_csv(folder / "trials.csv")
    assert trials["fact.steal_pct"].to_list() == [2.5, None, None, None, None]
    assert trials["notes"][0] == "One. Two."
    summary = pl.read_csv(folder / "summary.csv")
    assert not [r for r in summary["response"].unique() if r.startswith(("fact.", "notes"))]
    page = teiten("report")
    assert page.returncode == 0, page.stderr
    assert "fact." not in Path(run.folder / "report.html").read_text(encoding="utf-8")


def test_compare_refuses_to_set_what_the_servers_decide(teiten: Command) -> None:
    told = sentence(teiten("compare", "17.7", "18.1", "--set", "factor.version=17.7"), status=2)
    assert "factor.version=17.7" in told
    assert not teiten.archive.exists()
