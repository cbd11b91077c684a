"""What a report says of the host's noise: quoted figures, in both languages, and never more."""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING

import pytest

from teiten.archive.calibration import (
    Calibration,
    CheapestDesign,
    FalseAlarms,
    Noise,
    Part,
    ResponseAlarms,
    Share,
    write_calibration,
)
from teiten.errors import UsageError
from teiten.report import build_report, to_markdown
from teiten.report.document import Paragraph, Table
from teiten.report.sections.calibration import calibration_sentences, full_section
from teiten.report.words import Words

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from teiten.archive import Run

NONE = Share(0, 6, 0.0, 0.459)
ALL = Share(0, 24, 0.0, 0.178)
ALARMS = FalseAlarms(NONE, Share(1, 6, 0.004, 0.641), Share(3, 6, 0.118, 0.882))


def noise(response: str, workload: str, spread: float, script: str = "readonly.sql") -> Noise:
    with_parts = response == "tps"
    return Noise(
        response=response,
        group={"workload": workload},
        script=script,
        clients=2,
        duration_s=5.0,
        pairs=20,
        trials_a_pair=2,
        trial_s=12.5,
        overhead_s=7.5,
        spread=spread,
        spread_lower=spread * 0.76,
        spread_upper=spread * 1.46,
        between=Part(0.0002, 0.0, 0.0005) if with_parts else None,
        within=Part(0.001, 0.0008, 0.0013) if with_parts else None,
        detectable={1: None, 60: 0.0123},
        design=CheapestDesign(12.0, 4000, 156_000.0),
    )


CALIBRATION = Calibration(
    run="20261120T101500Z-calibrate",
    began_at_s=1_795_170_000.0,
    server="npm:18.1",
    host={"processor": "Made-up CPU"},
    blocks=20,
    margin=0.01,
    blocks_an_experiment=3,
    experiments=ALARMS,
    all_verdicts=FalseAlarms(ALL, ALL, ALL),
    by_response=(ResponseAlarms("tps", {"workload": "read"}, ALARMS),),
    noise=(
        noise("tps", "read", 0.0213),
        noise("tps", "update", 0.0348, "update.sql"),
        noise("callgrind_instructions_per_tx", "read", 0.0000412),
        noise("callgrind_instructions_per_tx", "update", 0.0011, "update.sql"),
    ),
)


def test_the_sentences_give_date_blocks_alarms_and_floor() -> None:
    alarms, floor = calibration_sentences(CALIBRATION, Words("en"))
    assert "2026-11-20" in alarms
    assert "20 blocks, 18.1 under two names" in alarms
    assert "raised 0 false alarms in 24 verdicts of 3 blocks each" in alarms
    assert "(95% interval of the rate: 0% to 18%; promised: at most 5%)" in alarms
    assert "Throughput (TPS) 2.1% (read), 3.5% (update)" in floor
    assert "0.0041% (read), 0.11% (update)" in floor


def test_they_are_there_in_japanese() -> None:
    alarms, floor = calibration_sentences(CALIBRATION, Words("ja"))
    assert "24件のうち0件" in alarms
    assert "2.1%（read）、3.5%（update）" in floor  # noqa: RUF001 - Japanese punctuation is meant


def test_too_few_blocks_are_said_to_be_too_few() -> None:
    nothing = Share(0, 0, 0.0, 1.0)
    few = dataclasses.replace(
        CALIBRATION,
        blocks=2,
        experiments=FalseAlarms(nothing, nothing, nothing),
        all_verdicts=FalseAlarms(nothing, nothing, nothing),
        by_response=(),
    )
    assert "too few to count" in calibration_sentences(few, Words("en"))[0]
    section = full_section(few, Words("en"))
    titles = [b.title for b in section.blocks if isinstance(b, Table)]
    assert "False alarms" not in titles
    assert len(titles) == 3


def test_the_tables_hold_every_figure() -> None:
    section = full_section(CALIBRATION, Words("en"))
    alarms, floor, found, designs = (b for b in section.blocks if isinstance(b, Table))
    assert [c.text for c in alarms.rows[0]][2:] == [
        "0 of 6 (0% … 46%)",
        "1 of 6 (0.4% … 64%)",
        "3 of 6 (12% … 88%)",
    ]
    assert [c.text for c in floor.rows[0]] == [
        "Throughput (TPS)",
        "read",
        "2.1% (1.6% … 3.1%)",
        "1.4% (0% … 2.2%)",
        "3.2% (2.8% … 3.6%)",
        "12.5",
    ]
    assert [c.text for c in floor.rows[2]][3:5] == ["-", "-"]
    assert found.header[2:] == ("1 min", "60 min")
    assert [c.text for c in found.rows[0]][2:] == ["-", "1.2%"]
    assert [c.text for c in designs.rows[0]][2:] == ["12", "4,000", "◆ 43 h 20 min"]
    assert [c.text for c in designs.rows[2]][2] == "= 12"


@pytest.mark.parametrize("language", ["en", "ja"])
def test_no_blank_is_left_unfilled(language: str) -> None:
    section = full_section(CALIBRATION, Words(language))
    texts = [b.text for b in section.blocks if isinstance(b, Paragraph)]
    for table in (b for b in section.blocks if isinstance(b, Table)):
        texts += [table.title, table.note, *table.header, *(c.text for r in table.rows for c in r)]
    assert not [t for t in texts if "{" in t or "}" in t]


def test_a_run_quotes_what_it_was_given(make_run: Callable[..., Run], tmp_path: Path) -> None:
    run = make_run(tmp_path, raw=False)
    assert "This host has not been calibrated" in to_markdown(build_report(run))
    write_calibration(run.folder, CALIBRATION)
    text = to_markdown(build_report(run))
    assert "This host has not been calibrated" not in text
    assert "0 false alarms in 24 verdicts" in text


def test_a_damaged_calibration_is_told(make_run: Callable[..., Run], tmp_path: Path) -> None:
    run = make_run(tmp_path, raw=False)
    (run.folder / "calibration.json").write_text("{", encoding="utf-8")
    with pytest.raises(UsageError, match=r"calibration\.json is damaged"):
        build_report(run)
