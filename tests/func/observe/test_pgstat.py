"""Statistics differences on real servers of every major version."""

from __future__ import annotations

import json
import os
import signal
import time
from typing import TYPE_CHECKING

import psycopg
import pytest

from teiten.observe.pgstat import PgstatObserver

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path
    from typing import LiteralString

    from tests.func.observe.conftest import Server

VERSIONS = ("npm:13.23", "npm:14.20", "npm:15.15", "npm:16.6", "npm:17.7", "npm:18.1")


@pytest.mark.parametrize("spec", VERSIONS)
def test_a_known_load_is_seen_in_full(
    spec: str, start_server: Callable[[str], Server], tmp_path: Path
) -> None:
    server = start_server(spec)
    window = server.window(tmp_path)
    script = tmp_path / "update.sql"
    script.write_text(
        "\\set aid random(1, 100000)\n"
        "UPDATE pgbench_accounts SET abalance = abalance + 1 WHERE aid = :aid;\n"
    )
    observer = PgstatObserver()
    observer.start(window)
    server.run("-n", "-c", "2", "-t", "200", "-f", os.fspath(script))
    seen = observer.stop()
    # Every transaction is one commit; besides, each connection begins with one or two. Before 15
    # a session cannot know which of its own transactions the collector holds: about ten are open.
    least = 400 if window.version_num >= 15_00_00 else 390
    assert least <= seen.totals["xact_commit"] <= 420
    assert seen.totals["wal_bytes"] > 400 * 60
    assert seen.totals["buffers_hit"] > 400 * 3
    assert seen.facts["xact_rollback"] == 0
    assert seen.facts["server_restarted"] == 0
    assert seen.facts["checkpoints"] == 0
    if window.version_num >= 14_00_00:
        assert seen.totals["wal_records"] >= 400
    raw = json.loads((tmp_path / "pgstat.json").read_text())
    assert raw["after"]["now"] > raw["before"]["now"]


@pytest.mark.parametrize("spec", VERSIONS)
def test_the_observer_adds_next_to_nothing_of_its_own(
    spec: str, start_server: Callable[[str], Server], tmp_path: Path
) -> None:
    server = start_server(spec)
    exact = server.cluster.installation.major >= 15
    observer = PgstatObserver()
    for _ in range(2):  # an observer is used again for the next window
        observer.start(server.window(tmp_path))
        seen = observer.stop()
        assert seen.totals["xact_commit"] <= (0 if exact else 12)
        assert seen.totals["wal_bytes"] < 10_000


@pytest.mark.parametrize("spec", ["npm:13.23", "npm:16.6", "npm:17.7", "npm:18.1"])
def test_a_checkpoint_in_the_window_is_told(
    spec: str, start_server: Callable[[str], Server], tmp_path: Path
) -> None:
    server = start_server(spec)
    observer = PgstatObserver()
    with server.cluster.connect() as connection:
        observer.start(server.window(tmp_path))
        connection.execute("UPDATE pgbench_branches SET bbalance = bbalance + 1")
        written = _checkpoint_blocks(connection, server)
        connection.execute("CHECKPOINT")
        # The checkpointer answers a moment before it reports.
        while _checkpoint_blocks(connection, server) == written:
            time.sleep(0.01)
    seen = observer.stop()
    assert seen.facts["checkpoints"] == 1
    assert seen.facts["checkpoint_blocks"] >= 1
    if "blocks_written" in seen.totals:
        assert seen.totals["blocks_written"] >= seen.facts["checkpoint_blocks"]


@pytest.mark.parametrize("spec", ["npm:16.6", "npm:17.7", "npm:18.1"])
def test_blocks_written_holds_the_blocks_that_a_backend_added(
    spec: str, start_server: Callable[[str], Server], tmp_path: Path
) -> None:
    server = start_server(spec)
    observer = PgstatObserver()
    observer.start(server.window(tmp_path))
    with server.cluster.connect() as connection:
        connection.execute(
            "CREATE TABLE filled AS SELECT repeat('x', 7000) FROM generate_series(1, 300)"
        )
        blocks = connection.execute("SELECT pg_relation_size('filled') / 8192").fetchone()
        connection.execute("DROP TABLE filled")
    connection.close()
    seen = observer.stop()
    assert blocks is not None
    assert 1 <= blocks[0] <= seen.totals["blocks_written"] <= 2 * blocks[0] + 200


def test_a_crash_in_the_window_is_told_and_gives_no_totals(server: Server, tmp_path: Path) -> None:
    observer = PgstatObserver()
    observer.start(server.window(tmp_path))
    with server.cluster.connect() as connection:
        victim = connection.info.backend_pid
        os.kill(victim, signal.SIGKILL)
        with pytest.raises(psycopg.OperationalError):
            connection.execute("SELECT pg_sleep(60)")
    seen = observer.stop()
    assert seen.facts == {"server_restarted": 1.0}
    assert not seen.totals
    assert len(seen.notes) == 1
    server.cluster.kill()  # the next test gets a fresh one


def _checkpoint_blocks(connection: psycopg.Connection, server: Server) -> int:
    query: LiteralString = (
        "SELECT buffers_written FROM pg_stat_checkpointer"
        if server.cluster.installation.major >= 17
        else "SELECT buffers_checkpoint FROM pg_stat_bgwriter"
    )
    row = connection.execute(query).fetchone()
    assert row is not None
    return int(row[0])
