"""Differences of statistics snapshots, by the shape of each version's views."""

from __future__ import annotations

from typing import Any

import pytest

from teiten.observe.pgstat_views import compare, snapshot_query

DATABASE = {
    "datname": "postgres",
    "blks_hit": 10,
    "blks_read": 1,
    "temp_bytes": 0,
    "xact_commit": 5,
    "xact_rollback": 0,
    "deadlocks": 0,
}
BGWRITER_16 = {
    "checkpoints_timed": 1,
    "checkpoints_req": 2,
    "buffers_checkpoint": 100,
    "stats_reset": "2026-01-01",
}


def _snapshot(**changes: Any) -> dict[str, Any]:  # noqa: ANN401 - columns of any type
    return {
        "postmaster_start": "2026-01-01",
        "block_size": 8192,
        "wal_insert_bytes": 1000,
        "database": [DATABASE],
        "bgwriter": BGWRITER_16,
        "autovacuums": 0,
        "autovacuums_running": 0,
        "own_transactions": 0,
    } | changes


def test_a_transaction_of_the_observer_itself_is_left_out() -> None:
    after = _snapshot(database=[DATABASE | {"xact_commit": 108}], own_transactions=3)
    assert compare(_snapshot(), after).totals["xact_commit"] == 100


def test_figures_are_of_all_databases_and_of_shared_tables() -> None:
    shared = dict.fromkeys(DATABASE, None) | {"blks_hit": 7}
    after = _snapshot(database=[DATABASE | {"blks_hit": 30}, shared])
    before = _snapshot(database=[DATABASE, shared | {"blks_hit": 4}])
    assert compare(before, after).totals["buffers_hit"] == 20 + 3


@pytest.mark.parametrize(
    ("before", "after", "blocks"),
    [
        # 16 and 17 count blocks; 18 counts operations, and bytes.
        ({"op_bytes": 8192, "writes": 5}, {"op_bytes": 8192, "writes": 9, "extends": 2}, 6),
        (
            {"writes": 1, "write_bytes": 8192},
            {"writes": 2, "write_bytes": 81920, "extends": 1, "extend_bytes": 16384},
            11,
        ),
    ],
)
def test_blocks_written_whatever_the_version_counts(
    before: dict[str, int], after: dict[str, int], blocks: float
) -> None:
    rest = [{"object": "temp relation", "writes": 99, "op_bytes": 8192}]
    seen = compare(
        _snapshot(io=[{"object": "relation", **before}]),
        _snapshot(io=[{"object": "relation", **after}, *rest]),
    )
    assert seen.totals["blocks_written"] == blocks


def test_checkpoints_come_from_the_view_that_has_them() -> None:
    new = {"num_timed": 4, "num_requested": 6, "buffers_written": 20, "stats_reset": "x"}
    old = compare(_snapshot(), _snapshot(bgwriter=BGWRITER_16 | {"checkpoints_req": 3}))
    assert old.facts["checkpoints"] == 1
    bgwriter = {"stats_reset": "x"}
    before = _snapshot(bgwriter=bgwriter, checkpointer=new)
    after = _snapshot(bgwriter=bgwriter, checkpointer=new | {"num_timed": 5, "buffers_written": 50})
    assert compare(before, after).facts["checkpoints"] == 1
    assert compare(before, after).facts["checkpoint_blocks"] == 30


def test_a_restart_or_a_reset_leaves_no_totals() -> None:
    restarted = compare(_snapshot(), _snapshot(postmaster_start="2026-01-02"))
    assert restarted.facts == {"server_restarted": 1.0}
    assert not restarted.totals
    reset = compare(_snapshot(), _snapshot(bgwriter=BGWRITER_16 | {"stats_reset": "later"}))
    assert reset.facts["statistics_reset"] == 1.0
    assert not reset.totals


def test_a_standby_tells_no_wal() -> None:
    standby = compare(_snapshot(wal_insert_bytes=None), _snapshot(wal_insert_bytes=None))
    assert "wal_bytes" not in standby.totals


@pytest.mark.parametrize(
    ("version_num", "views"),
    [
        (100023, set()),
        (140020, {"pg_stat_wal"}),
        (160006, {"pg_stat_wal", "pg_stat_io"}),
        (180001, {"pg_stat_wal", "pg_stat_io", "pg_stat_checkpointer"}),
    ],
)
def test_only_views_that_a_version_has_are_asked(version_num: int, views: set[str]) -> None:
    asked = snapshot_query(version_num)
    newer = {"pg_stat_wal", "pg_stat_io", "pg_stat_checkpointer"}
    assert {x for x in newer if x in asked} == views
