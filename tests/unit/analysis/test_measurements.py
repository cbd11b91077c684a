"""Tables made elsewhere: what is read of them, and what is refused with which sentence."""

from __future__ import annotations

import itertools
import random

import pytest

from teiten.analysis.measurements import (
    Measurements,
    TableColumns,
    ordered_levels,
    read_measurements,
)
from teiten.errors import UsageError

COLUMNS = TableColumns("block", ("version", "num"), ("tps",))
TABLE = """block,version,num,tps
1,16.6,1,870.5
1,17.2,1,880.5
1,16.6,16,5000
1,17.2,16,5100
2,16.6,1,871.5
2,17.2,1,881.5
2,16.6,16,5001
2,17.2,16,5101
"""


def read(text: str | bytes, columns: TableColumns = COLUMNS) -> Measurements:
    content = text.encode() if isinstance(text, str) else text
    (found,) = read_measurements(content, "a.csv", columns)
    return found


def as_rows(found: Measurements) -> list[tuple[str, ...]]:
    columns = [*found.observations.factors, found.observations.block]
    return [
        (*(c.levels[c.codes[i]] for c in columns), str(value))
        for i, value in enumerate(found.observations.response.tolist())
    ]


@pytest.mark.parametrize(
    "content",
    [
        b"\xef\xbb\xbf" + TABLE.encode(),
        TABLE.replace("\n", "\r\n").encode(),
        TABLE.replace(",", ";").encode(),
        TABLE.replace(",", "\t").encode(),
        TABLE.replace("1,16.6,1,", '"1", "16.6",1,').replace("block,", '"block",').encode(),
        TABLE.replace("2,16.6,1,871.5", "\n,,,\n2,16.6,1,8.715e2").encode(),
        b'"block";"version";"num";"tps"\n' + TABLE[22:].replace(",", ";").encode(),
    ],
    ids=["bom", "crlf", "semicolon", "tab", "quoted", "blank rows", "quoted semicolon"],
)
def test_ways_to_write_the_same_table_are_read_alike(content: bytes) -> None:
    assert as_rows(read(content)) == as_rows(read(TABLE))


def test_columns_may_stand_anywhere_and_others_are_passed_over() -> None:
    lines = [line.split(",") for line in TABLE.split()]
    text = "\n".join(
        f"{tps},{num},note,{version},{block}" for block, version, num, tps in lines
    ).replace("note", "comment", 1)
    assert as_rows(read(text)) == as_rows(read(TABLE))


def test_the_order_of_rows_decides_no_level() -> None:
    head, *rows = TABLE.split()
    random.Random(3).shuffle(rows)  # noqa: S311 - no secret
    found = read("\n".join([head, *rows])).observations
    assert [c.levels for c in (*found.factors, found.block)] == [
        ("16.6", "17.2"),
        ("1", "16"),
        ("1", "2"),
    ]


@pytest.mark.parametrize(
    ("name", "levels"),
    [
        ("num", ("1", "2", "16", "128")),
        ("share", ("0.25", "0.5", "1e0")),
        ("version", ("16.9", "16.10", "17.2")),
        ("release", ("14.1", "14.10")),  # the same number, and not the same level
        ("server", ("pg9", "pg10", "pg10-jit")),
        ("on", ("off", "on")),
    ],
)
def test_levels_stand_in_the_order_that_a_reader_expects(name: str, levels: tuple[str]) -> None:
    for shuffled in itertools.permutations(levels):
        assert ordered_levels(name, set(shuffled)) == levels


def test_a_reference_stands_first() -> None:
    columns = TableColumns("block", ("version", "num"), ("tps",), reference="17.2")
    assert read(TABLE, columns).observations.factors[0].levels == ("17.2", "16.6")


@pytest.mark.parametrize("cell", ["", "NA", "nan", "NaN", "N/A", "null"])
def test_trials_without_a_value_are_lost_with_their_line(cell: str) -> None:
    found = read(TABLE.replace("5100", cell))
    assert found.lost == (5,)
    assert found.observations.n == 7
    assert (found.untried, found.repeated) == (0, 0)


def test_treatments_missing_from_a_block_and_repeated_in_one_are_counted() -> None:
    found = read(TABLE.replace("2,17.2,16,5101\n", "2,17.2,1,885\n"))
    assert found.lost == ()
    assert (found.untried, found.repeated) == (1, 1)


def test_rows_that_agree_are_trials_when_a_column_tells_them_apart() -> None:
    rows = TABLE.split()
    text = "\n".join([f"trial,{rows[0]}", *(f"{i},{row}" for i, row in enumerate(rows[1:]))])
    again = text + "\n99,2,17.2,16,5101\n"
    assert read(again).observations.n == 9


def test_a_cell_that_spans_lines_keeps_the_count_of_lines() -> None:
    text = TABLE.replace("tps\n", "tps,note\n").replace("870.5\n", '870.5,"one\ntwo"\n')
    text = "".join(
        line if line.endswith(("note\n", "one\n", 'two"\n')) else line.replace("\n", ",x\n")
        for line in text.splitlines(keepends=True)
    )
    with pytest.raises(UsageError, match=r"line 5, column tps: “fast”"):
        read(text.replace("5000", "fast"))


@pytest.mark.parametrize(
    ("before", "after", "told"),
    [
        ("block,version", "round,version", r"a\.csv has no column block: .*\(round, version, num"),
        ("num,", "clients,", "no column num: name one .* with --factor"),
        (",tps", ",TPS", "no column tps: name one .* with --response"),
        ("block,version,num", "block,num,num", "no column version"),
        ("num,tps", "tps,tps", "no column num"),
        ("5000", "fast", "line 4, column tps: “fast” is not a finite number"),
        ("5000", "inf", "line 4, column tps: “inf” is not a finite number"),
        ("5000", "1e999", "line 4, column tps: “1e999” is not a finite number"),
        ("5000", "5_000", "line 4, column tps: “5_000” is not a finite number"),
        ("5000", '"5,000"', "line 4, column tps: “5,000” is not .* decimal point and no other"),
        ("5000", "5000,x", "line 4: 5 cells where the header has 4; put one comma"),
        ("16.6,16,5000", "16.6", "line 4: 2 cells where the header has 4"),
        ("1,17.2,16", "1,,16", "line 5, column version: the cell is empty; write which version"),
        ("2,16.6,1,", ",16.6,1,", "line 6, column block: the cell is empty"),
        ("5000", '"5000', "line 4, cannot be read as CSV .* double quote"),
        ("5000\n", "5000\n1,16.6,16,5000\n", "line 5, is the same as line 4 in every column"),
        ("\n2,", "\n1,", "column block: there is one block only"),
        ("5100", "", r"there is no trial with version 17\.2 and num 16; every combination"),
    ],
)
def test_what_cannot_be_analysed_is_told_with_its_place(before: str, after: str, told: str) -> None:
    text = TABLE.replace(before, after)
    if told.startswith("there is no trial"):
        text = text.replace("5101", "NA")
    with pytest.raises(UsageError, match=told) as caught:
        read(text)
    assert str(caught.value).endswith((".", ")."))
    assert str(caught.value).startswith("a.csv")


@pytest.mark.parametrize(
    ("content", "told"),
    [
        (b"", "is empty: it needs a line with the names"),
        (b"\xef\xbb\xbf\r\n", "is empty"),
        (TABLE.split("\n", maxsplit=1)[0].encode(), "has a header but no rows"),
        (TABLE.encode("utf-16"), "line 1, is not UTF-8"),
        ("block,version,num,tps\n1,版,1,2\n".encode("cp932"), "line 2, is not UTF-8"),
        (TABLE.replace("17.2", "16.6").replace("88", "87.7").encode(), "all trials have the level"),
        ("\n".join(TABLE.split()[:3]).encode(), "one block only"),
    ],
)
def test_files_that_hold_no_such_table_are_told(content: bytes, told: str) -> None:
    with pytest.raises(UsageError, match=told):
        read(content)


def test_trials_of_single_treatments_are_too_few() -> None:
    rows = ["1,16.6,1,1", "1,17.2,1,2", "2,16.6,16,3", "2,17.2,16,4"]
    with pytest.raises(UsageError, match="4 trials of 4 treatments are too few"):
        read("\n".join(["block,version,num,tps", *rows]))
    rows.append("2,16.6,1,5")
    assert read("\n".join(["block,version,num,tps", *rows])).untried == 3


def test_a_block_for_every_trial_is_none() -> None:
    columns = TableColumns("tps", ("version", "num"), ("block",))
    with pytest.raises(UsageError, match="every trial is a block of its own"):
        read(TABLE, columns)


def test_values_that_never_vary_are_refused() -> None:
    columns = TableColumns("block", ("version", "num"), ("same",))
    head, *rows = TABLE.split()
    with pytest.raises(UsageError, match="all values are 5, so there is nothing"):
        read("\n".join([f"{head},same", *(f"{row},5" for row in rows)]), columns)


def test_one_column_has_one_part() -> None:
    columns = TableColumns("block", ("version", "block"), ("tps",))
    with pytest.raises(UsageError, match="Column block is named by --block and again by --factor"):
        read(TABLE, columns)


def test_a_reference_that_is_no_level_is_told_with_the_levels() -> None:
    columns = TableColumns("block", ("version", "num"), ("tps",), reference="18")
    with pytest.raises(UsageError, match=r"no level 18: .* one of 16\.6, 17\.2"):
        read(TABLE, columns)


def test_each_response_loses_its_own_trials() -> None:
    head, *rows = TABLE.split()
    text = "\n".join([f"{head},ms", *(f"{row},{i * i}" for i, row in enumerate(rows))])
    text = text.replace(",5100,9", ",,9").replace(",5000,4", ",5000,")
    columns = TableColumns("block", ("version", "num"), ("tps", "ms"))
    tps, ms = read_measurements(text.encode(), "a.csv", columns)
    assert (tps.lost, ms.lost) == ((5,), (4,))
    assert (tps.observations.n, ms.observations.n) == (7, 7)
