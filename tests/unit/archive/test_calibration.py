"""calibration.json: kept whole, found for the same host only, damage told or passed over."""

from __future__ import annotations

import dataclasses
import json
from typing import TYPE_CHECKING, Any

import pytest

from teiten.archive.calibration import (
    Calibration,
    CheapestDesign,
    FalseAlarms,
    Noise,
    Part,
    ResponseAlarms,
    Share,
    newest_for,
    quote_newest,
    read_calibration,
    write_calibration,
)
from teiten.environment.identity import host_identity
from teiten.errors import UsageError

if TYPE_CHECKING:
    from pathlib import Path

MACHINE: dict[str, Any] = {
    "cpu": {"model": "Made-up CPU", "threads": 2},
    "memory": {"total_bytes": 25_000_000_000},
    "kernel": {"release": "6.1.0-18-amd64"},
    "virtualisation": {"detected": "kvm", "cpus_allowed": 2},
    "identity": {"machine_id_hash": "0123456789abcdef"},
}


def calibration(
    run: str, began_at_s: float = 1e9, machine: dict[str, Any] = MACHINE
) -> Calibration:
    share = Share(1, 6, 0.004, 0.64)
    alarms = FalseAlarms(share, share, share)
    noise = Noise(
        response="tps",
        group={"workload": "read"},
        script="readonly.sql",
        clients=2,
        duration_s=5.0,
        pairs=20,
        trials_a_pair=2,
        trial_s=12.5,
        overhead_s=7.5,
        spread=0.021,
        spread_lower=0.016,
        spread_upper=0.031,
        between=Part(0.0002, 0.0, 0.0005),
        within=None,
        detectable={1: None, 60: 0.01},
        design=CheapestDesign(12.0, 70, 2730.0),
    )
    return Calibration(
        run=run,
        began_at_s=began_at_s,
        server="npm:18.1",
        host=host_identity(machine),
        blocks=20,
        margin=0.01,
        blocks_an_experiment=3,
        experiments=alarms,
        all_verdicts=alarms,
        by_response=(ResponseAlarms("tps", {"workload": "read"}, alarms),),
        noise=(noise,),
    )


def a_run(archive: Path, name: str) -> Path:
    folder = archive / name
    folder.mkdir(parents=True)
    (folder / "run.json").write_text("{}", encoding="utf-8")
    return folder


def test_a_calibration_is_kept_as_it_was(tmp_path: Path) -> None:
    written = calibration("a")
    write_calibration(tmp_path, written)
    assert read_calibration(tmp_path) == written
    assert [p.name for p in tmp_path.iterdir()] == ["calibration.json"]


def test_a_run_without_one_has_none(tmp_path: Path) -> None:
    assert read_calibration(tmp_path) is None


def test_keys_of_a_newer_teiten_are_passed_over(tmp_path: Path) -> None:
    write_calibration(tmp_path, calibration("a"))
    path = tmp_path / "calibration.json"
    path.write_text(json.dumps(json.loads(path.read_bytes()) | {"new": 1}), encoding="utf-8")
    assert read_calibration(tmp_path) == calibration("a")


@pytest.mark.parametrize(
    "content", [b"", b"{", b"[]", b"{}", b"\xff\xfe", b'{"run": "a", "noise": 3}', b"null"]
)
def test_damage_is_told_in_one_sentence(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "calibration.json").write_bytes(content)
    with pytest.raises(UsageError, match=r"calibration\.json is damaged") as caught:
        read_calibration(tmp_path)
    assert "\n" not in str(caught.value)


def test_the_newest_of_this_host_is_quoted_and_damage_hides_none(tmp_path: Path) -> None:
    for name, began_at_s in (("1-a", 1e9), ("2-b", 3e9), ("3-c", 2e9)):
        write_calibration(a_run(tmp_path, name), calibration(name, began_at_s))
    (a_run(tmp_path, "4-d") / "calibration.json").write_text("{", encoding="utf-8")
    (tmp_path / "no-run").mkdir()
    write_calibration(tmp_path / "no-run", calibration("no-run", 9e9))
    newest = newest_for(tmp_path, MACHINE)
    assert newest is not None
    assert newest.run == "2-b"


@pytest.mark.parametrize(
    ("section", "key", "value"),
    [
        ("cpu", "model", "Another CPU"),
        ("cpu", "threads", 4),
        ("memory", "total_bytes", 60_000_000_000),
        ("kernel", "release", "6.12.1"),
        ("virtualisation", "detected", "none"),
        ("virtualisation", "cpus_allowed", 1),
        ("identity", "machine_id_hash", "fedcba9876543210"),
    ],
)
def test_another_host_is_not_quoted(tmp_path: Path, section: str, key: str, value: object) -> None:
    other = MACHINE | {section: MACHINE[section] | {key: value}}
    write_calibration(a_run(tmp_path, "1-a"), calibration("1-a"))
    assert newest_for(tmp_path, other) is None
    assert quote_newest(a_run(tmp_path, "2-b"), other) is None
    assert not (tmp_path / "2-b" / "calibration.json").exists()


@pytest.mark.parametrize(
    "change",
    [
        {"kernel": {"release": "6.1.0-44-amd64"}},
        {"memory": {"total_bytes": 25_000_100_000}},
        {"identity": {"machine_id_hash": None}},
        {"identity": {}},
    ],
)
def test_a_patched_kernel_or_an_unknown_id_makes_no_other_host(
    tmp_path: Path, change: dict[str, Any]
) -> None:
    write_calibration(a_run(tmp_path, "1-a"), calibration("1-a"))
    assert newest_for(tmp_path, MACHINE | change) is not None


def test_a_host_of_which_nothing_is_known_is_no_host(tmp_path: Path) -> None:
    write_calibration(a_run(tmp_path, "1-a"), calibration("1-a", machine={}))
    assert newest_for(tmp_path, {}) is None
    assert newest_for(tmp_path, MACHINE) is None


def test_a_later_run_holds_a_copy_that_outlives_its_source(tmp_path: Path) -> None:
    source = a_run(tmp_path, "1-a")
    write_calibration(source, calibration("1-a"))
    later = a_run(tmp_path, "2-b")
    quoted = quote_newest(later, MACHINE)
    assert quoted == read_calibration(later) == calibration("1-a")
    (source / "calibration.json").unlink()
    assert newest_for(tmp_path, MACHINE) == quoted


def test_a_run_that_goes_on_keeps_what_it_quoted(tmp_path: Path) -> None:
    write_calibration(a_run(tmp_path, "1-a"), calibration("1-a"))
    later = a_run(tmp_path, "2-b")
    quote_newest(later, MACHINE)
    write_calibration(
        a_run(tmp_path, "3-c"), dataclasses.replace(calibration("3-c"), began_at_s=2e9)
    )
    kept = quote_newest(later, MACHINE)
    assert kept is not None
    assert kept.run == "1-a"
