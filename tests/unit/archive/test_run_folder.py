"""A run folder: whole or not at all, self-contained, and read as it was written."""

from __future__ import annotations

import json
import shutil
import tempfile
from pathlib import Path
from typing import Any

import polars as pl
import pytest
import tomli_w
from hypothesis import example, given, settings
from hypothesis import strategies as st

from teiten.archive import Flag, Run, RunWriter, TrialRecord, list_runs, open_run
from teiten.archive.reader import find_run
from teiten.errors import TeitenError, UsageError
from teiten.plan import make_plan
from teiten.study import Study, catalog_names, load_study, parse_study


def document() -> dict[str, Any]:
    return {
        "name": "small",
        "title": {"en": "Small", "ja": "小"},
        "blocks": 2,
        "seed": 1,
        "scripts": {"own.sql": "SELECT 1;\n"},
        "setup": {
            "server": "npm:18.1",
            "data": {"kind": "pgbench"},
            "load": {"kind": "pgbench", "script": "own.sql", "duration_s": 5},
        },
        "factor": [{"name": "clients", "levels": [1, 2]}],
    }


def study_of(changes: dict[str, Any] | None = None) -> Study:
    return parse_study(tomli_w.dumps(document() | (changes or {})), where="small.toml")


def new_run(archive: Path, study: Study | None = None) -> RunWriter:
    study = study or study_of()
    return RunWriter.create(archive, study, make_plan(study))


def record_of(run: Run, number: int, tps: float = 100.0) -> TrialRecord:
    trial = run.plan.trials[number - 1]
    return TrialRecord(
        number=number,
        block=trial.block,
        treatment=trial.treatment.number,
        levels=trial.treatment.levels,
        values=trial.treatment.values,
        started_at_s=1.7e9,
        measured_at_s=1.7e9 + 1,
        ended_at_s=1.7e9 + 6,
        responses={"tps": tps},
        flags=(Flag("steal", "CPU steal was 3%."),),
    )


def do_trial(writer: RunWriter, number: int, tps: float = 100.0) -> None:
    folder = writer.begin_trial(number)
    pl.DataFrame({"second": [1, 2], "tps": [tps, tps]}).write_parquet(folder / "series.parquet")
    writer.finish_trial(record_of(open_run(writer.folder), number, tps))


def refused(folder: Path) -> str:
    with pytest.raises(UsageError) as caught:
        open_run(folder).plan  # noqa: B018 - reading it is what is refused
    sentence = str(caught.value)
    assert "\n" not in sentence
    assert sentence.endswith(".")
    assert str(folder) in sentence
    return sentence


def test_a_new_run_can_be_read_before_its_first_trial(tmp_path: Path) -> None:
    with new_run(tmp_path / "archive") as writer:
        run = open_run(writer.folder)
    assert run.name.endswith("Z-small")
    assert run.study == study_of()
    assert run.plan == make_plan(study_of())
    assert run.environment == {}
    assert run.records == []
    assert run.trials.height == 0
    assert not run.is_complete


def test_trials_are_kept_with_their_raw_files(tmp_path: Path) -> None:
    with new_run(tmp_path) as writer:
        for number in (1, 2, 3, 4):
            do_trial(writer, number, tps=100.0 + number)
        writer.write_environment({"cpu": {"model": "x", "cores": 2}})
        writer.write_table(["clients"])
    run = open_run(writer.folder)
    assert run.is_complete
    assert run.records == [record_of(run, n, tps=100.0 + n) for n in (1, 2, 3, 4)]
    assert run.environment == {"cpu": {"model": "x", "cores": 2}}
    assert run.trials["tps"].to_list() == [101.0, 102.0, 103.0, 104.0]
    assert pl.read_parquet(run.folder / "trials.parquet").equals(run.trials)
    series = run.raw_frame(3, "series.parquet")
    assert series is not None
    assert series["tps"].to_list() == [103.0, 103.0]
    assert run.raw_frame(3, "sysstat.parquet") is None


def test_runs_begun_in_the_same_second_do_not_meet(tmp_path: Path) -> None:
    folders = set()
    for _ in range(4):
        with new_run(tmp_path) as writer:
            folders.add(writer.folder)
    assert len(folders) == 4
    assert {run.folder for run in list_runs(tmp_path)} == folders


def test_a_trial_that_was_cut_off_is_never_listed_and_its_rest_is_removed(tmp_path: Path) -> None:
    with new_run(tmp_path) as writer:
        do_trial(writer, 1)
        folder = writer.begin_trial(2)
        (folder / "pgbench.log").write_text("half", encoding="utf-8")
    run = open_run(writer.folder)
    assert [r.number for r in run.records] == [1]
    assert not run.trial_folder(2).exists()
    with RunWriter(run.folder) as writer:
        again = writer.begin_trial(2)
        assert list(again.iterdir()) == []
        (again / "pgbench.log").write_text("half", encoding="utf-8")
        writer.discard_partial_trials()
    assert [p.name for p in (run.folder / "trials").iterdir()] == ["0001"]


def test_a_trial_that_the_journal_does_not_know_is_not_listed_and_can_be_repeated(
    tmp_path: Path,
) -> None:
    # Killed after the folder got its name and before the journal said so.
    with new_run(tmp_path) as writer:
        do_trial(writer, 1, tps=1.0)
    writer.journal.path.write_bytes(b"")
    run = open_run(writer.folder)
    assert run.trial_folder(1).exists()
    assert run.records == []
    assert run.trials.height == 0
    with RunWriter(run.folder) as writer:
        do_trial(writer, 1, tps=2.0)
    assert [r.responses["tps"] for r in open_run(run.folder).records] == [2.0]


def test_a_trial_that_is_gone_is_told_in_one_sentence(tmp_path: Path) -> None:
    with new_run(tmp_path) as writer:
        do_trial(writer, 1)
    run = open_run(writer.folder)
    shutil.rmtree(run.trial_folder(1))
    with pytest.raises(UsageError, match=r"0001.* is missing"):
        _ = run.records


def test_a_run_that_was_not_yet_made_whole_is_not_listed(tmp_path: Path) -> None:
    with new_run(tmp_path) as writer:
        pass
    shutil.copytree(writer.folder, tmp_path / ".20260101T000000Z-small.77.partial")
    (tmp_path / "notes").mkdir()
    (tmp_path / "readme.txt").write_text("x", encoding="utf-8")
    assert [run.folder for run in list_runs(tmp_path)] == [writer.folder]
    assert list_runs(tmp_path / "nowhere") == []


def test_an_archive_that_cannot_be_written_is_told_and_nothing_is_left(tmp_path: Path) -> None:
    blocked = tmp_path / "file"
    blocked.write_text("x", encoding="utf-8")
    with pytest.raises(TeitenError, match=r"Cannot write a run into .*--archive") as caught:
        new_run(blocked / "archive")
    assert "\n" not in str(caught.value)
    assert list(tmp_path.iterdir()) == [blocked]


def test_a_second_writer_is_refused_while_the_first_is_there(tmp_path: Path) -> None:
    with new_run(tmp_path) as writer:
        with pytest.raises(UsageError, match="being written by another teiten"):
            RunWriter(writer.folder)
        assert open_run(writer.folder).name == writer.folder.name  # readers are not kept out
    with RunWriter(writer.folder) as second:
        assert second.folder == writer.folder


def set_format(folder: Path, version: object) -> None:
    path = folder / "run.json"
    head = json.loads(path.read_bytes())
    path.write_text(json.dumps(head | {"format": version}), encoding="utf-8")


def test_a_newer_format_is_refused_in_one_sentence_and_hides_no_other_run(tmp_path: Path) -> None:
    with new_run(tmp_path) as old, new_run(tmp_path) as newer:
        pass
    set_format(newer.folder, 2)
    sentence = refused(newer.folder)
    assert "format 2" in sentence
    assert "newer teiten" in sentence
    assert {run.folder: run.state for run in list_runs(tmp_path)} == {
        old.folder: "can be resumed",
        newer.folder: "newer format",
    }
    assert find_run(tmp_path, newer.folder.name) == newer.folder


@pytest.mark.parametrize("content", [None, "", "{", "[]", "{}", '"x"', '{"format": "new"}'])
def test_a_folder_that_is_no_run_is_told(tmp_path: Path, content: str | None) -> None:
    if content is not None:
        (tmp_path / "run.json").write_text(content, encoding="utf-8")
    assert "no run folder" in refused(tmp_path)


def edit(path: Path, old: str, new: str) -> None:
    text = path.read_text(encoding="utf-8")
    assert old in text
    path.write_text(text.replace(old, new, 1), encoding="utf-8")


@pytest.mark.parametrize(
    ("file", "old", "new"),
    [
        ("study.toml", "seed = 1", "seed = 2"),
        ("study.toml", "blocks = 2", "blocks = 3"),
        ("study.toml", "duration_s = 5", "duration_s = 6"),
        ("study.toml", "npm:18.1", "npm:18.2"),
        ("plan.json", '"seed": 1', '"seed": 2'),
        ("plan.json", '"block": 2', '"block": 1'),
        ("plan.json", '"npm:18.1"', '"npm:18.2"'),
    ],
)
def test_a_plan_or_study_changed_after_the_run_began_is_noticed(
    tmp_path: Path, file: str, old: str, new: str
) -> None:
    with new_run(tmp_path) as writer:
        pass
    edit(writer.folder / file, old, new)
    assert "is not the plan of study.toml" in refused(writer.folder)


@pytest.mark.parametrize("content", [None, "", "{"])
def test_a_plan_that_cannot_be_read_is_told(tmp_path: Path, content: str | None) -> None:
    with new_run(tmp_path) as writer:
        pass
    path = writer.folder / "plan.json"
    if content is None:
        path.unlink()
    else:
        path.write_text(content, encoding="utf-8")
    assert "no readable plan.json" in refused(writer.folder)


def test_a_run_is_read_wherever_it_is_moved(tmp_path: Path) -> None:
    study = tmp_path / "study"
    study.mkdir()
    (study / "own.sql").write_text("SELECT 1;\n", encoding="utf-8")
    (study / "my.toml").write_text(
        tomli_w.dumps({k: v for k, v in document().items() if k != "scripts"}), encoding="utf-8"
    )
    with new_run(tmp_path / "archive", load_study(str(study / "my.toml"))) as writer:
        do_trial(writer, 1)
        writer.write_table(["clients"])
    before = open_run(writer.folder)
    trials, plan = before.trials, before.plan
    shutil.rmtree(study)
    moved = Path(shutil.move(writer.folder, tmp_path / "定点 run"))
    shutil.rmtree(tmp_path / "archive")
    after = open_run(moved)
    assert after.study == before.study
    assert after.study.scripts == {"own.sql": "SELECT 1;\n"}
    assert after.plan == plan
    assert after.trials.equals(trials)
    assert after.raw_frame(1, "series.parquet") is not None
    with RunWriter(moved) as writer:
        do_trial(writer, 2)
    assert [r.number for r in open_run(moved).records] == [1, 2]


@pytest.mark.parametrize("name", catalog_names())
def test_a_study_of_the_catalog_is_kept_as_it_was_resolved(tmp_path: Path, name: str) -> None:
    study = load_study(name, ["blocks=1"])
    with new_run(tmp_path, study) as writer:
        run = open_run(writer.folder)
    assert run.study == study
    assert run.plan == make_plan(study)


SCALARS = st.booleans() | st.integers(-(2**63), 2**63 - 1) | st.floats(allow_nan=False) | st.text()
PATCHES = st.fixed_dictionaries(
    {}, optional={"settings": st.dictionaries(st.text(), SCALARS, max_size=2)}
)
STUDIES = st.fixed_dictionaries(
    {
        "title": st.dictionaries(st.sampled_from(["en", "ja", "fr"]), st.text()).map(
            lambda words: {"en": "x", **words}
        ),
        "seed": st.integers(0, 2**63 - 1),
        "margin": st.floats(1e-9, 0.999),
        # The load's own name is among the scripts, whatever else there is.
        "scripts": st.dictionaries(st.text(), st.text(), max_size=2).map(
            lambda scripts: {"own.sql": "SELECT\t'\\\\\n';\r\n", **scripts}
        ),
        "factor": st.tuples(
            st.fixed_dictionaries(
                {
                    "name": st.just("anything"),
                    "levels": st.dictionaries(st.text(), PATCHES, min_size=1, max_size=3),
                }
            ),
            st.fixed_dictionaries(
                {
                    "name": st.just("work_mem"),
                    "key": st.just("settings.work_mem"),
                    "levels": st.lists(SCALARS, min_size=1, max_size=3, unique_by=str),
                }
            ),
        ).map(list),
    }
)


@settings(deadline=None, max_examples=40)
@given(STUDIES)
@example({"factor": [{"name": "x", "key": "settings.x", "levels": [float("inf"), -0.0]}]})
def test_a_study_is_kept_as_it_was_resolved(changes: dict[str, Any]) -> None:
    study = study_of(changes)
    with tempfile.TemporaryDirectory() as archive:
        with new_run(Path(archive), study) as writer:
            run = open_run(writer.folder)
        assert run.study == study
        assert [f.labels for f in run.study.factor] == [f.labels for f in study.factor]
        assert run.plan == make_plan(study)


def test_a_run_is_found_by_path_name_beginning_and_as_the_latest(tmp_path: Path) -> None:
    names = ["20260101T000000Z-a", "20260102T000000Z-b", "20260102T000000Z-bc"]
    with new_run(tmp_path / "made") as writer:
        pass
    archive = tmp_path / "archive"
    for name in names:
        shutil.copytree(writer.folder, archive / name)
    assert find_run(archive, str(writer.folder)) == writer.folder
    assert find_run(archive, "20260101") == archive / names[0]
    assert find_run(archive, names[1]) == archive / names[1]  # though another begins with it
    assert find_run(archive, "latest") == archive / names[2]
    with pytest.raises(UsageError, match="several runs"):
        find_run(archive, "20260102")
    with pytest.raises(UsageError, match="no run named 'x'"):
        find_run(archive, "x")
    with pytest.raises(UsageError, match="no run named 'latest'"):
        find_run(tmp_path / "nowhere", "latest")
