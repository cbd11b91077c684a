"""The statistics views by server version, and what two snapshots of them say; pure.

Where each figure stands: monitoring-stats in the manual of each major version, 10 to 18.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from teiten.observe.base import Observation

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    Snapshot = Mapping[str, Any]

_V14, _V16, _V17 = 14_00_00, 16_00_00, 17_00_00

_EVERYWHERE = {
    "now": "now()",
    "postmaster_start": "pg_postmaster_start_time()",
    "block_size": "current_setting('block_size')::int",
    # Bytes since the beginning; a standby writes none of its own.
    "wal_insert_bytes": "CASE WHEN pg_is_in_recovery() THEN NULL "
    "ELSE pg_current_wal_insert_lsn() - '0/0' END",
    "database": "(SELECT jsonb_agg(to_jsonb(v)) FROM pg_stat_database v)",
    "bgwriter": "(SELECT to_jsonb(v) FROM pg_stat_bgwriter v)",
    "autovacuums": "(SELECT coalesce(sum(autovacuum_count + autoanalyze_count), 0) "
    "FROM pg_stat_all_tables)",
    "autovacuums_running": "(SELECT count(*) FROM pg_stat_activity "
    "WHERE backend_type = 'autovacuum worker' AND query LIKE 'autovacuum:%')",
}


def snapshot_query(version_num: int) -> str:
    """Return one query whose only value is a JSON object of all views that this version has."""
    parts = dict(_EVERYWHERE)
    if version_num >= _V14:
        parts["wal"] = "(SELECT to_jsonb(v) FROM pg_stat_wal v)"
    if version_num >= _V16:
        parts["io"] = "(SELECT jsonb_agg(jsonb_strip_nulls(to_jsonb(v))) FROM pg_stat_io v)"
    if version_num >= _V17:
        parts["checkpointer"] = "(SELECT to_jsonb(v) FROM pg_stat_checkpointer v)"
    fields = ", ".join(f"'{name}', {value}" for name, value in parts.items())
    return f"SELECT jsonb_build_object({fields})"


def compare(before: Snapshot, after: Snapshot) -> Observation:
    """Subtract two snapshots.

    Totals: `wal_bytes` (from the insert position), `wal_records` and `wal_fpi` (14+),
    `buffers_hit` and `buffers_read` (shared and local buffers of all databases),
    `blocks_written` (16+: blocks of relations that any process handed to the kernel, extensions
    of files included, temporary tables not), `temp_bytes` (temporary files), `xact_commit`
    (without the observer's own).

    Facts: `checkpoints` (timed or requested, begun in the window), `checkpoint_blocks` (written
    by the checkpointer), `autovacuums` (of tables of this database, with those still running),
    `server_restarted`, `deadlocks`, `xact_rollback`, `statistics_reset`.

    A restart empties or resets the counters: then there are no totals.
    """
    restarted = before["postmaster_start"] != after["postmaster_start"]
    facts = {"server_restarted": float(restarted)}
    if restarted:
        return Observation(
            facts=facts, notes=("The server restarted: its statistics say nothing of the window.",)
        )
    if _resets(before) != _resets(after):
        return Observation(
            facts=facts | {"statistics_reset": 1.0},
            notes=("The server's statistics were reset within the window.",),
        )
    totals = {
        "buffers_hit": _database(after, "blks_hit") - _database(before, "blks_hit"),
        "buffers_read": _database(after, "blks_read") - _database(before, "blks_read"),
        "temp_bytes": _database(after, "temp_bytes") - _database(before, "temp_bytes"),
        "xact_commit": _commits(after) - _commits(before),
    }
    if before["wal_insert_bytes"] is not None and after["wal_insert_bytes"] is not None:
        totals["wal_bytes"] = float(after["wal_insert_bytes"] - before["wal_insert_bytes"])
    if "io" in after:
        totals["blocks_written"] = _blocks_written(after) - _blocks_written(before)
    if "wal" in after:
        for name in ("wal_records", "wal_fpi"):
            totals[name] = float(after["wal"][name] - before["wal"][name])
    facts |= {
        "checkpoints": _checkpoints(after) - _checkpoints(before),
        "checkpoint_blocks": _checkpoint_blocks(after) - _checkpoint_blocks(before),
        "autovacuums": float(after["autovacuums"] - before["autovacuums"])
        + float(after["autovacuums_running"]),
        "deadlocks": _database(after, "deadlocks") - _database(before, "deadlocks"),
        "xact_rollback": _database(after, "xact_rollback") - _database(before, "xact_rollback"),
    }
    # Reports that arrive late (collector) may leave a difference of a few below zero.
    return Observation(totals={k: max(v, 0.0) for k, v in totals.items()}, facts=facts)


def _rows(snapshot: Snapshot, view: str) -> Sequence[Mapping[str, Any]]:
    rows: Sequence[Mapping[str, Any]] = snapshot[view]
    return rows


def _database(snapshot: Snapshot, column: str) -> float:
    return float(sum(row[column] or 0 for row in _rows(snapshot, "database")))


def _commits(snapshot: Snapshot) -> float:
    return _database(snapshot, "xact_commit") - float(snapshot["own_transactions"])


def _resets(snapshot: Snapshot) -> tuple[Any, ...]:
    """When the counters used here were last set back (a database's is null until it happens).

    A session's first statistics in a new database set its time, so that null counts as never.
    """
    views = ("bgwriter", "wal", "checkpointer")
    return tuple(snapshot[view].get("stats_reset") for view in views if view in snapshot)


def _checkpoints(snapshot: Snapshot) -> float:
    if "checkpointer" in snapshot:
        view = snapshot["checkpointer"]
        return float(view["num_timed"] + view["num_requested"])
    view = snapshot["bgwriter"]
    return float(view["checkpoints_timed"] + view["checkpoints_req"])


def _checkpoint_blocks(snapshot: Snapshot) -> float:
    if "checkpointer" in snapshot:
        return float(snapshot["checkpointer"]["buffers_written"])
    return float(snapshot["bgwriter"]["buffers_checkpoint"])


def _blocks_written(snapshot: Snapshot) -> float:
    """Blocks of permanent relations written or added by any process (pg_stat_io).

    18 counts operations (of several blocks) and bytes, 16 and 17 blocks. Before 16 there is only
    pg_stat_bgwriter, where what backends wrote shows up no earlier than the next checkpoint.
    """
    blocks = 0.0
    for row in _rows(snapshot, "io"):
        if row["object"] != "relation":
            continue
        if "op_bytes" in row:
            blocks += row.get("writes", 0) + row.get("extends", 0)
        else:
            written = row.get("write_bytes", 0) + row.get("extend_bytes", 0)
            blocks += float(written) / snapshot["block_size"]
    return blocks
