"""Records of trials, and the table of them."""

from __future__ import annotations

import json
from dataclasses import replace
from datetime import UTC, datetime

import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from teiten.archive import Flag, TrialRecord
from teiten.archive.format import trials_frame

NUMBERS = st.floats(allow_nan=False, allow_infinity=False)
TIMES = st.floats(0, 4e9)
RESPONSES = st.dictionaries(
    st.sampled_from(["tps", "latency_mean_ms", "instructions_per_tx"]), NUMBERS, max_size=3
)

RECORDS = st.builds(
    TrialRecord,
    number=st.integers(1, 10_000),
    block=st.integers(1, 100),
    treatment=st.integers(1, 100),
    levels=st.fixed_dictionaries({"version": st.text(), "clients": st.sampled_from(["1", "4"])}),
    values=st.fixed_dictionaries(
        {"version": st.text(), "clients": st.booleans() | st.integers() | NUMBERS | st.text()}
    ),
    started_at_s=TIMES,
    measured_at_s=TIMES,
    ended_at_s=TIMES,
    responses=RESPONSES,
    facts=RESPONSES,
    flags=st.lists(st.builds(Flag, code=st.text(), sentence=st.text()), max_size=3).map(tuple),
    notes=st.lists(st.text(), max_size=3).map(tuple),
)


@settings(deadline=None)
@given(RECORDS)
def test_a_record_is_read_back_as_it_was_written(record: TrialRecord) -> None:
    assert TrialRecord.from_json(json.loads(json.dumps(record.to_json()))) == record


def record(
    number: int, clients: float | str, responses: dict[str, float], *flags: str
) -> TrialRecord:
    return TrialRecord(
        number=number,
        block=1,
        treatment=number,
        levels={"clients": str(clients)},
        values={"clients": clients},
        started_at_s=1_700_000_000.25 + number,
        measured_at_s=1_700_000_001.0 + number,
        ended_at_s=1_700_000_010.75 + number,
        responses=responses,
        flags=[Flag(code, "A sentence.") for code in flags],
    )


def test_the_table_has_a_row_a_trial_in_run_order_and_null_for_what_was_not_recorded() -> None:
    records = [
        replace(record(3, 4, {"tps": 10.5}), facts={"steal_pct": 2}, notes=("Restarted.",)),
        record(1, 1, {"tps": 9.0, "cpu_busy_pct": 50.0}, "checkpoint", "steal"),
    ]
    frame = trials_frame(records, ["clients"])
    assert frame.columns == [
        *("trial", "block", "treatment", "started_at", "duration_s"),
        *("factor.clients", "flags", "notes", "tps", "cpu_busy_pct", "fact.steal_pct"),
    ]
    assert frame["trial"].to_list() == [1, 3]
    assert frame["tps"].to_list() == [9.0, 10.5]
    assert frame["cpu_busy_pct"].to_list() == [50.0, None]
    assert frame["flags"].to_list() == [["checkpoint", "steal"], []]
    assert frame["notes"].to_list() == [[], ["Restarted."]]
    assert frame["fact.steal_pct"].to_list() == [None, 2.0]
    assert frame["duration_s"].to_list() == [10.5, 10.5]
    assert frame["started_at"][0] == datetime(2023, 11, 14, 22, 13, 21, 250_000, tzinfo=UTC)


@pytest.mark.parametrize(
    ("values", "kind", "shown"),
    [
        ([1, 16], pl.Int64(), [1, 16]),
        ([0.5, 1], pl.Float64(), [0.5, 1.0]),
        ([1, "max"], pl.String(), ["1", "max"]),
        ([1, 2**63], pl.String(), ["1", "9223372036854775808"]),
        ([True, False], pl.String(), ["True", "False"]),
        (["17.7", "18.1"], pl.String(), ["17.7", "18.1"]),
    ],
)
def test_a_factor_is_numbers_only_where_all_its_levels_are(
    values: list[float | str], kind: pl.DataType, shown: list[object]
) -> None:
    frame = trials_frame([record(i, v, {}) for i, v in enumerate(values)], ["clients"])
    assert frame["factor.clients"].dtype == kind
    assert frame["factor.clients"].to_list() == shown


def test_an_empty_table_has_its_columns_and_types() -> None:
    frame = trials_frame([], ["clients"])
    assert frame.height == 0
    assert frame.schema["started_at"] == pl.Datetime("us", "UTC")
    assert frame.schema["flags"] == pl.List(pl.String)


@settings(deadline=None)
@given(st.lists(RECORDS, max_size=4, unique_by=lambda r: r.number))
def test_the_table_keeps_every_response_of_every_record(records: list[TrialRecord]) -> None:
    frame = trials_frame(records, ["version", "clients"])
    assert frame["trial"].to_list() == sorted(r.number for r in records)
    for row in frame.iter_rows(named=True):
        kept = next(r for r in records if r.number == row["trial"])
        for name in ("tps", "latency_mean_ms", "instructions_per_tx"):
            assert row.get(name) == kept.responses.get(name)
            assert row.get(f"fact.{name}") == kept.facts.get(name)
        assert row["notes"] == list(kept.notes)
