"""However a run folder is damaged, readers say so in one sentence, and lists go on."""

from __future__ import annotations

import json
import os
import shutil
import tempfile
from pathlib import Path
from typing import Any

import polars as pl
import pytest
import tomli_w
from hypothesis import given, settings
from hypothesis import strategies as st

from teiten.archive import Flag, RunWriter, TrialRecord, list_runs, open_run
from teiten.errors import NotPermittedError, TeitenError, UsageError
from teiten.plan import make_plan
from teiten.study import parse_study

STUDY = {
    "name": "small",
    "title": {"en": "Small [b]study[/b]"},
    "blocks": 2,
    "seed": 1,
    "setup": {
        "server": "npm:18.1",
        "data": {"kind": "pgbench"},
        "load": {"kind": "pgbench", "script": "builtin:select-only", "duration_s": 5},
    },
    "factor": [{"name": "clients", "levels": [1, 2]}],
}
FILES = (
    *("run.json", "study.toml", "plan.json", "environment.json", "journal.jsonl"),
    *("trials/0001/trial.json", "trials/0001/seconds.parquet"),
)
JSON_FILES = [name for name in FILES if name.endswith(".json")]


def make_run(archive: Path) -> Path:
    """A run with two of its four trials, the second flagged."""
    study = parse_study(tomli_w.dumps(STUDY), where="small.toml")
    plan = make_plan(study)
    with RunWriter.create(archive, study, plan) as writer:
        writer.journal.append("run_started")
        writer.write_environment({"machine": {}, "servers": {"npm:18.1": {}}, "not_recorded": []})
        for trial in plan.trials[:2]:
            folder = writer.begin_trial(trial.number)
            pl.DataFrame({"second": [1], "tps": [1.0]}).write_parquet(folder / "seconds.parquet")
            flags = (Flag("steal", "CPU steal was 3%."),) if trial.number == 2 else ()
            writer.finish_trial(
                TrialRecord(
                    number=trial.number,
                    block=trial.block,
                    treatment=trial.treatment.number,
                    levels=trial.treatment.levels,
                    values=trial.treatment.values,
                    started_at_s=1.7e9,
                    measured_at_s=1.7e9 + 1,
                    ended_at_s=1.7e9 + 6,
                    responses={"tps": 1.0},
                    facts={"steal_pct": 3.0},
                    flags=flags,
                    notes=("A note.",),
                )
            )
    return writer.folder


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make_run(tmp_path_factory.mktemp("whole"))


def read_all(folder: Path) -> None:
    run = open_run(folder)
    _ = run.plan, run.environment, run.trials, run.is_complete
    for record in run.records:
        run.raw_frame(record.number, "seconds.parquet")


def check_told(folder: Path, file: str) -> str | None:
    """Read all of the run; give the sentence that refused it, if one did."""
    (listed,) = list_runs(folder.parent) or (None,)
    try:
        read_all(folder)
    except TeitenError as error:
        sentence = str(error)
    else:
        assert listed is not None
        assert listed.problem is None
        return None
    assert "\n" not in sentence
    assert sentence.endswith(".")
    assert str(folder) in sentence
    if not file.endswith(".parquet"):  # too dear for a list to read
        assert listed is not None
        assert (listed.state, listed.problem) == ("damaged", sentence)
    return sentence


@settings(deadline=None, max_examples=150)
@given(st.sampled_from(FILES), st.data())
def test_damage_to_any_byte_is_told_or_harmless(
    whole: Path, file: str, data: st.DataObject
) -> None:
    with tempfile.TemporaryDirectory() as archive:
        folder = Path(archive) / whole.name
        shutil.copytree(whole, folder)
        path = folder / file
        content = bytearray(path.read_bytes())
        at = data.draw(st.integers(0, len(content) - 1))
        if data.draw(st.booleans()):
            del content[at:]
        else:
            content[at] = data.draw(st.integers(0, 255))
        path.write_bytes(content)
        if file == "run.json":  # may become a newer format, or no run at all
            try:
                read_all(folder)
            except UsageError as error:
                assert str(folder) in str(error)  # noqa: PT017 - or nothing is raised
            return
        check_told(folder, file)


def places(value: Any, at: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:  # noqa: ANN401 - JSON
    """Where there is a value inside a JSON value."""
    inner: dict[Any, Any] = value if isinstance(value, dict) else {}
    if isinstance(value, list):
        inner = dict(enumerate(value))
    return [at, *(p for key, item in inner.items() for p in places(item, (*at, key)))]


@settings(deadline=None, max_examples=150)
@given(st.sampled_from(JSON_FILES), st.data())
def test_a_json_value_of_another_kind_is_told_or_harmless(
    whole: Path, file: str, data: st.DataObject
) -> None:
    with tempfile.TemporaryDirectory() as archive:
        folder = Path(archive) / whole.name
        shutil.copytree(whole, folder)
        document = {"": json.loads((folder / file).read_bytes())}
        *outer, last = data.draw(st.sampled_from(places(document[""], ("",))))
        inner: Any = document
        for key in outer:
            inner = inner[key]
        inner[last] = data.draw(st.sampled_from([None, True, 7, "x", [], ["x"], {}, {"x": 1}]))
        (folder / file).write_text(json.dumps(document[""]), encoding="utf-8")
        if file == "run.json":
            return
        check_told(folder, file)


@pytest.mark.parametrize(
    ("file", "content", "told"),
    [
        ("journal.jsonl", b'{"event": "run_started", "at_s": 1}\nx\n{"event"', "in line 2"),
        ("journal.jsonl", b'{"event": "trial_done", "at_s": 1}\n', "in line 1"),
        ("trials/0001/trial.json", b"", "0001/trial.json is damaged"),
        ("trials/0001/trial.json", None, "0001/trial.json is missing"),
        ("environment.json", b"{", "environment.json is damaged"),
        ("environment.json", b'{"servers": []}', "environment.json is damaged"),
        ("study.toml", b"\xff", "no readable study.toml"),
        ("study.toml", None, "no readable study.toml"),
        ("trials/0001/seconds.parquet", b"PAR1", "seconds.parquet is damaged"),
    ],
)
def test_the_sentence_names_the_file_and_what_to_do(
    whole: Path, tmp_path: Path, file: str, content: bytes | None, told: str
) -> None:
    folder = tmp_path / whole.name
    shutil.copytree(whole, folder)
    if content is None:
        (folder / file).unlink()
    else:
        (folder / file).write_bytes(content)
    sentence = check_told(folder, file)
    assert sentence is not None
    assert told in sentence
    assert "restore it" in sentence


def test_deleting_the_damaged_line_repairs_a_run_as_the_sentence_says(
    whole: Path, tmp_path: Path
) -> None:
    folder = tmp_path / whole.name
    shutil.copytree(whole, folder)
    path = folder / "journal.jsonl"
    lines = path.read_bytes().splitlines(keepends=True)
    path.write_bytes(b"".join([*lines[:-2], b"\0\0\n", lines[-1]]))
    sentence = check_told(folder, "journal.jsonl")
    assert sentence is not None
    assert f"in line {len(lines) - 1}:" in sentence
    path.write_bytes(b"".join([*lines[:-2], lines[-1]]))
    assert [r.number for r in open_run(folder).records] == [2]


def test_a_list_tells_of_each_run_whatever_the_others_are(tmp_path: Path) -> None:
    folders = [make_run(tmp_path) for _ in range(3)]
    (folders[1] / "plan.json").write_text("{}", encoding="utf-8")
    edited = folders[2] / "plan.json"
    edited.write_text(edited.read_text().replace('"seed": 1', '"seed": 2'), encoding="utf-8")
    by_folder = {run.folder: run for run in list_runs(tmp_path)}
    assert len(by_folder) == 3
    good = by_folder[folders[0]]
    assert (good.state, good.done, good.planned, good.flagged) == ("can be resumed", 2, 4, 1)
    assert good.began_at_s == open_run(good.folder).journal.events()[0].at_s
    assert good.problem is None
    changed = by_folder[folders[2]]
    assert changed.state == "damaged"
    assert changed.problem is not None
    assert "is not the plan" in changed.problem
    assert changed.title == good.title


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write everything")
def test_a_run_that_may_only_be_read_is_refused_to_a_writer(tmp_path: Path) -> None:
    folder = make_run(tmp_path)
    (folder / "trials").chmod(0o555)
    with pytest.raises(NotPermittedError, match="as the user who began the run"):
        RunWriter(folder)
