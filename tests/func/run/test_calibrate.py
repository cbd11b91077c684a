"""A host is calibrated by real trials, and the next run on it quotes what was found."""

from __future__ import annotations

import json
import shutil
from typing import TYPE_CHECKING

import pytest

from teiten.archive import open_run
from teiten.archive.calibration import read_calibration

if TYPE_CHECKING:
    from pathlib import Path

    from tests.func.run.conftest import Teiten

TINY = (
    "setup.data.scale=1",
    "setup.load.duration_s=1",
    "setup.load.warmup_s=0",
    'setup.settings.shared_buffers="64MB"',
)


def changed(*assignments: str) -> list[str]:
    return [word for assignment in assignments for word in ("--set", assignment)]


def calibrated(teiten: Teiten, *words: str) -> tuple[Path, str]:
    done = teiten.run("calibrate", "--no-count", *words, *changed(*TINY))
    assert done.returncode == 0, done.stderr
    return teiten.run_folder(), done.stdout


def test_a_calibration_ends_with_its_tables_and_the_next_run_quotes_it(teiten: Teiten) -> None:
    folder, out = calibrated(teiten, "18.1", "--blocks", "3")
    for title in ("False alarms", "Noise floor", "Smallest change found", "Cheapest design"):
        assert title in out
    assert "This host has not been calibrated" not in out
    calibration = read_calibration(folder)
    assert calibration is not None
    assert (calibration.run, calibration.server) == (folder.name, "npm:18.1")
    assert calibration.blocks == 3
    assert calibration.experiments.verdict.of == 1
    noise = {(n.response, n.group["workload"]): n for n in calibration.noise}
    records = open_run(folder).records
    longest_s = max(r.ended_at_s - r.started_at_s for r in records)
    for workload in ("read", "update"):
        tps = noise["tps", workload]
        assert tps.pairs == 3
        assert 0 < tps.spread_lower < tps.spread < tps.spread_upper
        assert tps.duration_s == 1
        assert 1 < tps.trial_s <= longest_s
    assert (folder / "report.html").exists()

    once = teiten.run("run", str(teiten.study), *changed("factor.clients=1"))
    assert once.returncode == 0, once.stderr
    (quoting,) = [f for f in teiten.archive.glob("[0-9]*") if f != folder]
    assert read_calibration(quoting) == calibration
    assert "On this host an A/A run" in once.stdout
    # The folder needs no other.
    shutil.rmtree(folder)
    again = teiten.run("report", quoting.name, "--format", "md")
    assert "On this host an A/A run" in again.stdout


def test_an_a_a_run_made_otherwise_is_calibrated_and_a_comparison_refused(
    teiten: Teiten,
) -> None:
    study = teiten.study.read_text(encoding="utf-8")
    alike = study.replace('levels = ["17.7", "18.1"]', "").replace(
        'patch = { server = "npm:{level}" }',
        'levels = { "A" = { server = "npm:18.1" }, "B" = { server = "npm:18.1" } }',
    )
    teiten.study.write_text(alike.replace("blocks = 1", "blocks = 2"), encoding="utf-8")
    assert teiten.run("run", str(teiten.study), *changed("factor.clients=1")).returncode == 0
    folder = teiten.run_folder()
    done = teiten.run("calibrate", "--from", "latest", "--lang", "ja")
    assert done.returncode == 0, done.stderr
    assert "ノイズフロア" in done.stdout
    calibration = read_calibration(folder)
    assert calibration is not None
    assert calibration.experiments.verdict.of == 0
    assert [n.pairs for n in calibration.noise if n.response == "tps"] == [2]

    teiten.study.write_text(study, encoding="utf-8")
    assert teiten.run("run", str(teiten.study), *changed("factor.clients=1")).returncode == 0
    refused = teiten.run("calibrate", "--from", "latest")
    assert refused.returncode == 2
    assert "compares 17.7, 18.1" in refused.stderr
    assert len(refused.stderr.splitlines()) == 1


def test_a_damaged_calibration_is_told_and_made_again(teiten: Teiten) -> None:
    folder, _ = calibrated(teiten, "--blocks", "2", *changed("factor.workload.levels={read={}}"))
    whole = json.loads((folder / "calibration.json").read_bytes())
    (folder / "calibration.json").write_text("{", encoding="utf-8")
    told = teiten.run("report", folder.name)
    assert told.returncode == 2
    assert "calibration.json is damaged" in told.stderr
    assert "Traceback" not in told.stderr
    assert teiten.run("calibrate", "--from", folder.name).returncode == 0
    assert json.loads((folder / "calibration.json").read_bytes()) == whole


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--set", "factor.version=A"], "two levels"),
        (["--set", 'factor.version.levels.B={server="npm:17.7"}'], "two levels"),
        (["--from", "latest", "--blocks", "3"], "leave out"),
        (["--from", "latest"], "no run"),
        (["--blocks", "1"], "blocks"),
        (["nonsense:1"], "nonsense"),
    ],
)
def test_what_cannot_be_calibrated_is_refused_before_anything_runs(
    teiten: Teiten, words: list[str], said: str
) -> None:
    refused = teiten.run("calibrate", *words)
    assert refused.returncode == 2
    assert said in refused.stderr
    assert "Traceback" not in refused.stderr
    assert not list(teiten.archive.glob("*"))
