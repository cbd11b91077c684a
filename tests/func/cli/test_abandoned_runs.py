"""Run folders that a killed teiten left half made are removed by the next that makes one."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from typing import TYPE_CHECKING

from teiten.archive import RunWriter, list_runs
from teiten.plan import make_plan
from teiten.study import load_study

if TYPE_CHECKING:
    from pathlib import Path

STUDY = load_study("demo")
MAKER = """
import pathlib, sys
from teiten.archive.making import folder_in_making
with folder_in_making(pathlib.Path(sys.argv[1]), "20260101T000000Z-demo") as partial:
    (partial / "trials").mkdir()
    print(partial.name, flush=True)
    sys.stdin.read()
"""


def start_maker(archive: Path) -> tuple[subprocess.Popen[str], Path]:
    """Start a process that stays in the middle of making a run; give it and the folder."""
    process = subprocess.Popen(
        [sys.executable, "-c", MAKER, str(archive)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    assert process.stdout is not None
    return process, archive / process.stdout.readline().strip()


def make_old(folder: Path) -> None:
    then_s = time.time() - 3600
    os.utime(folder, (then_s, then_s))


def new_run(archive: Path) -> Path:
    with RunWriter.create(archive, STUDY, make_plan(STUDY)) as writer:
        return writer.folder


def test_what_killed_makers_left_is_removed_and_nothing_else(tmp_path: Path) -> None:
    alive, kept = start_maker(tmp_path)
    killed, left = start_maker(tmp_path)
    killed_now, young = start_maker(tmp_path)
    for process in (killed, killed_now):
        process.send_signal(signal.SIGKILL)
        process.communicate()
    own = tmp_path / ".mine.partial"
    unlocked = tmp_path / ".20260101T000000Z-demo.77.partial"  # killed before it came to lock
    for folder in (own, unlocked):
        folder.mkdir()
    for folder in (kept, left, own, unlocked):
        make_old(folder)
    run = new_run(tmp_path)
    assert set(tmp_path.iterdir()) == {kept, young, own, run}
    alive.communicate("")  # it ends without finishing: its folder goes
    assert alive.returncode == 0
    assert set(tmp_path.iterdir()) == {young, own, run}
    make_old(young)
    again = new_run(tmp_path)
    assert set(tmp_path.iterdir()) == {own, run, again}


def test_a_made_run_holds_nothing_of_its_making(tmp_path: Path) -> None:
    run = new_run(tmp_path)
    assert {p.name for p in run.iterdir()} == {
        *("run.json", "study.toml", "plan.json", "journal.jsonl", "trials")
    }
    assert run.stat().st_mode == tmp_path.joinpath(run, "trials").stat().st_mode


def test_runs_made_at_once_get_names_of_their_own(tmp_path: Path) -> None:
    code = (
        "import pathlib, sys\n"
        "from teiten.archive import RunWriter\n"
        "from teiten.plan import make_plan\n"
        "from teiten.study import load_study\n"
        "study = load_study('demo'); plan = make_plan(study)\n"
        "sys.stdin.read()\n"
        "for _ in range(10):\n"
        "    with RunWriter.create(pathlib.Path(sys.argv[1]), study, plan): pass\n"
    )
    makers = [
        subprocess.Popen(
            [sys.executable, "-c", code, str(tmp_path)], stdin=subprocess.PIPE, text=True
        )
        for _ in range(3)
    ]
    for maker in makers:
        maker.communicate("")
    assert [maker.returncode for maker in makers] == [0, 0, 0]
    assert len(list_runs(tmp_path)) == 30
    assert len(list(tmp_path.iterdir())) == 30
