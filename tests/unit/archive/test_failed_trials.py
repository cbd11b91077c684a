"""What is kept of trials: all of it on disk before it counts, and of failed ones the evidence."""

from __future__ import annotations

import os
import resource
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
import zstandard

from teiten.archive import RunWriter, TrialRecord, open_run
from teiten.plan import make_plan
from teiten.study import load_study

if TYPE_CHECKING:
    from collections.abc import Iterator

    from teiten.plan import PlannedTrial

STUDY = load_study("demo")
PLAN = make_plan(STUDY)


@pytest.fixture
def writer(tmp_path: Path) -> Iterator[RunWriter]:
    with RunWriter.create(tmp_path / "archive", STUDY, PLAN) as writer:
        yield writer


def record_of(trial: PlannedTrial) -> TrialRecord:
    return TrialRecord(
        number=trial.number,
        block=trial.block,
        treatment=trial.treatment.number,
        levels=trial.treatment.levels,
        values=trial.treatment.values,
        started_at_s=1.7e9,
        measured_at_s=1.7e9,
        ended_at_s=1.7e9,
        responses={"tps": 1.0},
    )


def fail(writer: RunWriter, files: dict[str, bytes]) -> Path | None:
    """Begin trial 2, leave `files` and fail."""
    folder = writer.begin_trial(2)
    for name, content in files.items():
        (folder / name).parent.mkdir(exist_ok=True)
        (folder / name).write_bytes(content)
    return writer.keep_failed_trial(2)


def test_each_failed_attempt_is_kept_and_the_trial_can_be_done(writer: RunWriter) -> None:
    kept = [fail(writer, {"pgbench.err": b"attempt %d" % k}) for k in (1, 2, 3)]
    assert kept == [writer.folder / "failed" / f"0002-{k}" for k in (1, 2, 3)]
    for k, folder in enumerate(kept, start=1):
        assert folder is not None
        assert (folder / "pgbench.err").read_bytes() == b"attempt %d" % k
    assert list((writer.folder / "trials").iterdir()) == []
    writer.begin_trial(2)
    writer.finish_trial(record_of(PLAN.trials[1]))
    writer.discard_partial_trials()
    assert len(list((writer.folder / "failed").iterdir())) == 3
    assert [r.number for r in open_run(writer.folder).records] == [2]


def test_long_text_is_compressed_and_everything_else_left_as_it_is(writer: RunWriter) -> None:
    long = b"LOG:  something \xe5\xae\x9a\n" * 10_000
    binary = os.urandom(100_000)
    files = {"server.log": long, "warmup/pgbench_log.1": long, "core": binary, "short": b"x\n"}
    folder = fail(writer, files)
    assert folder is not None
    found = {str(p.relative_to(folder)): p for p in folder.rglob("*") if p.is_file()}
    assert found.keys() == {"server.log.zst", "warmup/pgbench_log.1.zst", "core", "short"}
    assert found["core"].read_bytes() == binary
    for name in ("server.log.zst", "warmup/pgbench_log.1.zst"):
        assert found[name].stat().st_size < len(long) / 20
        with found[name].open("rb") as file:
            assert zstandard.ZstdDecompressor().stream_reader(file).read() == long


def test_a_trial_that_left_nothing_leaves_no_folder(writer: RunWriter) -> None:
    assert writer.keep_failed_trial(2) is None
    assert fail(writer, {}) is None
    assert not (writer.folder / "failed").exists()
    assert list((writer.folder / "trials").iterdir()) == []


def test_text_that_does_not_fit_on_the_disk_compressed_is_kept_as_it_is(
    writer: RunWriter,
) -> None:
    noise = os.urandom(200_000).hex().encode()
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    folder = writer.begin_trial(2)
    (folder / "pgbench.err").write_bytes(noise)
    resource.setrlimit(resource.RLIMIT_FSIZE, (1000, hard))  # as a full disk refuses to write
    try:
        kept = writer.keep_failed_trial(2)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
    assert kept is not None
    assert [p.name for p in kept.iterdir()] == ["pgbench.err"]
    assert (kept / "pgbench.err").read_bytes() == noise


def test_all_files_and_folders_of_a_trial_are_on_disk_before_it_counts(
    writer: RunWriter, monkeypatch: pytest.MonkeyPatch
) -> None:
    synced: dict[int, str] = {}
    fsync = os.fsync

    def noted(descriptor: int) -> None:
        fsync(descriptor)
        synced[os.fstat(descriptor).st_ino] = str(Path(f"/proc/self/fd/{descriptor}").readlink())

    folder = writer.begin_trial(1)
    for name in ("warmup", "baseline", "callgrind/deep"):
        (folder / name).mkdir(parents=True)
        (folder / name / "pgbench.out").write_bytes(b"x")
    monkeypatch.setattr(os, "fsync", noted)
    writer.finish_trial(record_of(PLAN.trials[0]))
    final = open_run(writer.folder).trial_folder(1)
    for path in (final, *final.rglob("*")):
        assert ".0001.partial" in synced[path.stat().st_ino], f"{path} was not synced in time"
