"""Real runs that go on until decided, or until their budget is spent."""

from __future__ import annotations

import json
import shutil
import signal
import time
from typing import TYPE_CHECKING, Any

import polars as pl
import pytest

from teiten.archive import Stop, open_run

if TYPE_CHECKING:
    import subprocess
    from pathlib import Path

    from tests.func.run.conftest import Teiten

COUNTED = "callgrind_instructions_per_tx"

VERSIONS = """
[[factor]]
name = "version"
patch = { server = "npm:{level}" }
levels = ["17.7", "18.1"]
"""

ONE_SERVER_TWICE = """
[[factor]]
name = "version"
[factor.levels]
"A" = { server = "npm:17.7" }
"B" = { server = "npm:17.7" }
"""


def study(teiten: Teiten, factor: str, observer: str) -> str:
    """A study of short trials, two in a block, that looks after every block."""
    path = teiten.study.with_name("decide.toml")
    path.write_text(
        f"""
name = "decide"
title = {{ en = "Until decided" }}
blocks = 1
seed = 7
[setup]
data = {{ kind = "pgbench", scale = 1 }}
load = {{ kind = "pgbench", script = "builtin:select-only", duration_s = 1 }}
observe = ["{observer}"]
[setup.settings]
shared_buffers = "64MB"
autovacuum = false
{factor}"""
    )
    return str(path)


def journal(folder: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (folder / "journal.jsonl").read_text().splitlines()]


def wait_for_trials(teiten: Teiten, process: subprocess.Popen[str], count: int) -> Path:
    """Wait until so many trials of the archive's one run are done; return its folder."""
    deadline = time.monotonic() + 300
    while True:
        assert process.poll() is None, process.communicate()
        assert time.monotonic() < deadline
        for folder in teiten.archive.glob("[0-9]*"):
            if len(open_run(folder).journal.done_trials()) >= count:
                return folder
        time.sleep(0.05)


@pytest.mark.skipif(shutil.which("valgrind") is None, reason="valgrind is not installed")
def test_counted_instructions_decide_in_a_few_blocks_even_after_a_kill(teiten: Teiten) -> None:
    words = ("--until-decided", "--budget", "1h", "--decide-on", COUNTED)
    process = teiten.start("run", study(teiten, VERSIONS, "callgrind"), *words)
    folder = wait_for_trials(teiten, process, 3)  # in the middle of the second block
    process.send_signal(signal.SIGKILL)
    process.communicate()
    assert not open_run(folder).is_complete
    listed = teiten.run("runs")
    assert "can be resumed" in listed.stdout
    before = open_run(folder).journal.done_trials()
    resumed = teiten.run("run", "--resume", "latest")
    assert resumed.returncode == 0, resumed.stderr
    run = open_run(folder)
    assert run.is_complete
    assert run.stop is not None
    assert run.stop.reason == "decided"
    assert 3 <= run.stop.blocks <= 10
    assert f"After block {run.stop.blocks}: {COUNTED}, 18.1: " in resumed.stderr
    assert f"Decided after {run.stop.blocks} blocks" in resumed.stderr
    events = journal(folder)
    done = [e["trial"] for e in events if e["event"] == "trial_done"]
    assert done == list(range(1, 2 * run.stop.blocks + 1)), "in the order of the plan, each once"
    started = [e["trial"] for e in events if e["event"] == "trial_started"]
    assert all(started.count(n) == 1 for n in before)
    (end,) = (e for e in events if e["event"] == "run_decided")
    (said,) = end["verdicts"]
    assert said["decision"] in {"lower", "higher", "same"}
    means = dict(run.trials.group_by("factor.version").agg(pl.col(COUNTED).mean()).rows())
    change = means["18.1"] / means["17.7"] - 1
    # Counts may be alike to the last instruction: the interval then has no width but rounding.
    assert said["lower"] - 1e-6 < change < said["upper"] + 1e-6
    assert end["spent_s"] < end["budget_s"] == 3600
    assert f"decided after {run.stop.blocks} blocks" in teiten.run("runs").stdout
    again = teiten.run("run", "--resume", "latest", "--budget", "9h")
    assert again.returncode == 0
    assert "complete, decided after" in again.stderr
    assert journal(folder) == events
    assert teiten.processes() == []
    assert teiten.leftovers() == []


def test_a_spent_budget_ends_the_run_and_a_larger_one_goes_on(teiten: Teiten) -> None:
    # One server under two names: one-second trials cannot show that it is the same within 1%.
    path = study(teiten, ONE_SERVER_TWICE, "procfs")
    ended = teiten.run("run", path, "--until-decided", "--budget", "12s")
    assert ended.returncode == 0, ended.stderr
    assert "The budget is spent" in ended.stderr
    assert "Report:" in ended.stdout
    folder = teiten.run_folder()
    run = open_run(folder)
    assert run.is_complete
    assert run.stop is not None
    first = run.stop.blocks
    assert run.stop == Stop("budget spent", first)
    assert len(run.records) == 2 * first
    events = journal(folder)
    assert [e["event"] for e in events[-2:]] == ["budget_spent", "run_finished"]
    end = events[-2]
    assert end["spent_s"] <= 12 or first == 1, "only the first block may exceed the budget"
    assert f"budget spent after {first} blocks" in teiten.run("runs").stdout

    refused = teiten.run("run", "--resume", "latest", "--budget", "12s")
    assert refused.returncode == 0
    assert "a larger --budget goes on" in refused.stderr
    assert journal(folder) == events

    larger = f"{round(end['spent_s'] + 4 * end['next_block_s'] + 30)}s"
    process = teiten.start("run", "--resume", "latest", "--budget", larger)
    wait_for_trials(teiten, process, 2 * first + 1)
    process.send_signal(signal.SIGKILL)
    process.communicate()
    resumed = teiten.run("run", "--resume", "latest")
    assert resumed.returncode == 0, resumed.stderr
    run = open_run(folder)
    assert run.is_complete
    assert run.stop is not None
    assert run.stop.blocks > first
    assert [r.number for r in run.records] == list(range(1, 2 * run.stop.blocks + 1))
    last = next(e for e in reversed(journal(folder)) if e["event"] == "budget_spent")
    assert f"{last['budget_s']:.0f}s" == larger, "the new budget holds for later sessions too"
    assert last["spent_s"] > end["spent_s"]


def test_a_response_that_is_not_recorded_ends_the_run_after_its_first_block(
    teiten: Teiten,
) -> None:
    path = study(teiten, ONE_SERVER_TWICE, "procfs")
    ended = teiten.run("run", path, "--until-decided", "--decide-on", "wal_bytes_per_tx")
    assert ended.returncode == 2
    assert "cannot be decided on wal_bytes_per_tx" in ended.stderr
    assert "--decide-on tps" in ended.stderr
    assert "Traceback" not in ended.stderr
    assert len(open_run(teiten.run_folder()).records) == 2


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (("--budget", "2h"), "--budget has no effect without --until-decided"),
        (("--decide-on", "tps"), "--decide-on has no effect without --until-decided"),
        (("--until-decided", "--budget", "2 weeks"), "'2 weeks' is no length of time"),
        (("--until-decided", "--budget", "1s"), "not enough for one block"),
        (("--until-decided", "--decide-on", "speed"), "'speed' is no response"),
        (("--until-decided", "--set", "factor.version=A"), "one level only"),
    ],
)
def test_what_cannot_be_followed_is_told_before_anything_runs(
    teiten: Teiten, words: tuple[str, ...], told: str
) -> None:
    refused = teiten.run("run", study(teiten, ONE_SERVER_TWICE, "procfs"), *words)
    assert refused.returncode == 2
    (line,) = refused.stderr.splitlines()
    assert told in line
    assert not teiten.archive.exists()
