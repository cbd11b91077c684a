"""A run may be killed at any moment and still ends complete, with the plan it began with."""

from __future__ import annotations

import json
import os
import random
import shutil
import signal
import time
from typing import TYPE_CHECKING

import pytest

from teiten.archive import open_run

if TYPE_CHECKING:
    import subprocess
    from pathlib import Path

    from tests.func.run.conftest import Teiten

KILLS = int(os.environ.get("TEITEN_TEST_KILLS", "6"))
"""Kills in one test session; a larger number is for finding out, not for every change."""


def wait_for_run(teiten: Teiten, process: subprocess.Popen[str]) -> None:
    """Wait until the run has its folder (images are built by then or soon)."""
    deadline = time.monotonic() + 120
    while not list(teiten.archive.glob("[0-9]*")):
        assert process.poll() is None, process.communicate()
        assert time.monotonic() < deadline
        time.sleep(0.01)


def kept_trials(folder: Path) -> dict[int, bytes]:
    done = open_run(folder).journal.done_trials()
    return {n: (folder / "trials" / f"{n:04d}" / "trial.json").read_bytes() for n in done}


def test_killed_at_random_moments_it_resumes_and_ends_complete(teiten: Teiten) -> None:
    seed = int(os.environ.get("TEITEN_TEST_SEED", str(time.time_ns())))
    print(f"TEITEN_TEST_SEED={seed}")  # noqa: T201 - shown when the test fails
    rng = random.Random(seed)  # noqa: S311 - moments, not secrets
    kills = 0
    while kills < KILLS:
        for old in teiten.archive.glob("*"):
            old.rename(teiten.archive.parent / f"{old.name}-{kills}")
        process = teiten.start("run", str(teiten.study))
        wait_for_run(teiten, process)
        folder = teiten.run_folder()
        plan = (folder / "plan.json").read_bytes()
        while True:
            before = kept_trials(folder)
            time.sleep(rng.uniform(0, 9))
            if process.poll() is not None:
                break
            process.send_signal(signal.SIGKILL)
            process.communicate()
            kills += 1
            kept = kept_trials(folder)
            assert before.items() <= kept.items()
            process = teiten.start("run", "--resume", folder.name)
        out, err = process.communicate()
        assert process.returncode == 0, err
        run = open_run(folder)
        assert run.is_complete
        assert (folder / "plan.json").read_bytes() == plan
        assert run.trials["trial"].to_list() == [t.number for t in run.plan.trials]
        events = run.journal.events()
        done = [e.details["trial"] for e in events if e.kind == "trial_done"]
        assert sorted(done) == [t.number for t in run.plan.trials], "each trial counted once"
        assert not list((folder / "trials").glob(".*")), "nothing half-written is left"
        assert "Report:" in out
    assert teiten.processes() == []
    assert teiten.leftovers() == []


def test_what_was_complete_is_not_run_again(teiten: Teiten) -> None:
    process = teiten.start("run", str(teiten.study))
    wait_for_run(teiten, process)
    folder = teiten.run_folder()
    while len(kept_trials(folder)) < 2:
        assert process.poll() is None, process.communicate()
        time.sleep(0.01)
    process.send_signal(signal.SIGKILL)
    process.communicate()
    before = kept_trials(folder)
    resumed = teiten.run("run", "--resume", "latest")
    assert resumed.returncode == 0, resumed.stderr
    assert before.items() <= kept_trials(folder).items()
    started = [
        e.details["trial"] for e in open_run(folder).journal.events() if e.kind == "trial_started"
    ]
    assert all(started.count(n) == 1 for n in before)


def test_a_complete_run_has_nothing_to_resume(teiten: Teiten) -> None:
    arguments = ["--set", "factor.version=17.7", "--set", "factor.clients=1"]
    assert teiten.run("run", str(teiten.study), *arguments).returncode == 0
    journal = (teiten.run_folder() / "journal.jsonl").read_bytes()
    again = teiten.run("run", "--resume", "latest")
    assert again.returncode == 0
    assert "complete" in again.stderr
    assert (teiten.run_folder() / "journal.jsonl").read_bytes() == journal


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_a_signal_ends_everything_and_the_run_resumes(
    teiten: Teiten, number: signal.Signals
) -> None:
    process = teiten.start("run", str(teiten.study))
    wait_for_run(teiten, process)
    folder = teiten.run_folder()
    journal = folder / "journal.jsonl"
    while '"trial_started"' not in (journal.read_text() if journal.exists() else ""):
        assert process.poll() is None, process.communicate()
        time.sleep(0.01)
    process.send_signal(number)
    _, err = process.communicate()
    assert process.returncode == 128 + number
    assert "Traceback" not in err
    assert teiten.processes() == []
    assert teiten.leftovers() == []
    last = json.loads(journal.read_text().splitlines()[-1])
    assert last["event"] == "run_stopped"
    assert teiten.run("run", "--resume", "latest").returncode == 0
    assert open_run(folder).is_complete


@pytest.mark.skipif(shutil.which("valgrind") is None, reason="valgrind is not installed")
def test_a_kill_while_instructions_are_counted_leaves_nothing(teiten: Teiten) -> None:
    one_trial = ("factor.version=17.7", "factor.clients=1", 'setup.observe=["callgrind"]')
    words = [word for change in one_trial for word in ("--set", change)]
    process = teiten.start("run", str(teiten.study), *words)
    wait_for_run(teiten, process)
    while not any("callgrind" in words for words in teiten.processes()):
        assert process.poll() is None, process.communicate()
        time.sleep(0.01)
    process.send_signal(signal.SIGKILL)
    process.communicate()
    resumed = teiten.run("run", "--resume", "latest")
    assert resumed.returncode == 0, resumed.stderr
    assert teiten.processes() == []
    assert teiten.leftovers() == []
    (counted,) = open_run(teiten.run_folder()).trials["callgrind_instructions_per_tx"]
    assert 100_000 < counted < 400_000, "an update of one row, as counted on several machines"
