from __future__ import annotations

from typing import TYPE_CHECKING

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from teiten.stats.summary import (
    Comparison,
    block_ratios,
    direction,
    ratios,
    summarise,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

BY_CLIENTS = Comparison("version", "17.7", ("clients",))


def trials(rows: Sequence[tuple[int, str, int, float | None]]) -> pl.DataFrame:
    schema = {
        "block": pl.Int64,
        "version": pl.String,
        "clients": pl.Int64,
        "tps": pl.Float64,
    }
    return pl.DataFrame(rows, schema=schema, orient="row")


TWO_BLOCKS = trials(
    [
        (1, "17.7", 1, 100.0),
        (1, "18.1", 1, 110.0),
        (1, "17.7", 8, 400.0),
        (1, "18.1", 8, 380.0),
        (2, "17.7", 1, 102.0),
        (2, "18.1", 1, 112.2),
        (2, "17.7", 8, 410.0),
        (2, "18.1", 8, 451.0),
    ]
)


def test_summary_counts_only_what_was_recorded() -> None:
    frame = trials([(1, "17.7", 1, 3.0), (2, "17.7", 1, None), (3, "17.7", 1, 5.0)])
    row = summarise(frame, ["version"], "tps").row(0, named=True)
    assert row == {
        "version": "17.7",
        "n": 2,
        "median": 4.0,
        "lowest": 3.0,
        "highest": 5.0,
        "mean": 4.0,
    }


def test_ratio_is_of_medians_and_its_range_is_over_blocks() -> None:
    by_clients = {
        row["clients"]: row for row in ratios(TWO_BLOCKS, BY_CLIENTS, "tps").iter_rows(named=True)
    }
    assert by_clients[1]["ratio"] == pytest.approx(111.1 / 101.0)
    assert by_clients[8]["ratio"] == pytest.approx(415.5 / 405.0)
    assert by_clients[8]["lowest"] == pytest.approx(0.95)
    assert by_clients[8]["highest"] == pytest.approx(1.1)
    assert by_clients[8]["blocks"] == 2


def test_published_ratios_of_2024_are_ratios_of_medians() -> None:
    # Report 000, update workload at 256 clients: medians 1.04 to the version before.
    frame = trials([(b, v, 256, t) for b, v, t in ((1, "17.7", 100.0), (1, "18.1", 104.0))])
    assert ratios(frame, BY_CLIENTS, "tps")["ratio"].to_list() == [pytest.approx(1.04)]


def test_a_zero_has_no_ratio() -> None:
    frame = trials([(1, "17.7", 1, 0.0), (1, "18.1", 1, 5.0)])
    assert ratios(frame, BY_CLIENTS, "tps").is_empty()
    assert block_ratios(frame, BY_CLIENTS, "tps").is_empty()


def test_a_study_with_one_factor_is_compared_as_a_whole() -> None:
    alone = Comparison("version", "17.7", ())
    frame = TWO_BLOCKS.filter(pl.col("clients") == 1)
    assert ratios(frame, alone, "tps")["ratio"].to_list() == [pytest.approx(111.1 / 101.0)]


@given(
    st.lists(st.tuples(st.floats(1, 1e6), st.floats(1, 1e6)), min_size=1, max_size=6),
    st.floats(0.01, 100),
)
def test_ratios_do_not_depend_on_the_unit(pairs: list[tuple[float, float]], unit: float) -> None:
    rows = [
        (b, v, 1, t) for b, p in enumerate(pairs) for v, t in zip(("17.7", "18.1"), p, strict=True)
    ]
    frame = trials(rows)
    scaled = frame.with_columns(pl.col("tps") * unit)
    one, other = (ratios(f, BY_CLIENTS, "tps").row(0, named=True) for f in (frame, scaled))
    assert other["ratio"] == pytest.approx(one["ratio"])
    assert other["lowest"] == pytest.approx(one["lowest"])
    assert one["lowest"] <= one["highest"]


@pytest.mark.parametrize(
    ("lowest", "highest", "expected"),
    [
        (0.995, 1.004, "same"),
        (1.001, 1.02, "higher"),
        (0.9, 0.999, "lower"),
        (0.97, 1.02, "mixed"),
    ],
)
def test_direction(lowest: float, highest: float, expected: str) -> None:
    assert direction(lowest, highest, 0.01) == expected
