"""Bring a database's tables and indexes into shared buffers, with several connections."""

from __future__ import annotations

import threading
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING

import psycopg

from teiten.errors import TeitenError

if TYPE_CHECKING:
    from collections.abc import Iterator

    from teiten.server.cluster import Cluster

# Relations of users and their TOAST tables, indexes last: used the most, they must not be pushed
# out where not everything fits.
_RELATIONS = """
SELECT c.oid, (pg_relation_size(c.oid) / current_setting('block_size')::bigint)::bigint AS blocks
FROM pg_class AS c JOIN pg_namespace AS n ON n.oid = c.relnamespace
WHERE c.relkind IN ('r', 'm', 'i', 't') AND c.relpersistence <> 't'
  AND n.nspname NOT IN ('pg_catalog', 'information_schema')
  AND (n.nspname <> 'pg_toast' OR c.oid >= 16384)
ORDER BY c.relkind = 'i', c.oid
"""
_BLOCKS_AT_ONCE = 4096


def ranges(blocks: int, at_once: int = _BLOCKS_AT_ONCE) -> Iterator[tuple[int, int]]:
    """Split the blocks 0 … `blocks` - 1 into (first, last) ranges; pure."""
    for first in range(0, blocks, at_once):
        yield first, min(first + at_once, blocks) - 1


def prewarm(cluster: Cluster, *, dbname: str = "postgres", connections: int = 2) -> int:
    """Read every user relation (main fork) into shared buffers; return the blocks read.

    What does not fit pushes out what was read before, as PostgreSQL does.

    Raises:
        TeitenError: the extension pg_prewarm is not installed, or the server failed.
    """
    local = threading.local()
    opened: list[psycopg.Connection] = []

    def read(job: tuple[int, int, int]) -> int:
        if not hasattr(local, "connection"):
            local.connection = cluster.connect(dbname=dbname)
            opened.append(local.connection)
        oid, first, last = job
        query = "SELECT pg_prewarm(%s::oid::regclass, 'buffer', 'main', %s::bigint, %s::bigint)"
        row = local.connection.execute(query, (oid, first, last)).fetchone()
        return int(row[0])

    try:
        with cluster.connect(dbname=dbname) as connection:
            connection.execute("CREATE EXTENSION IF NOT EXISTS pg_prewarm")
            relations = connection.execute(_RELATIONS).fetchall()
        jobs = [(oid, *part) for oid, blocks in relations for part in ranges(blocks)]
        with ThreadPoolExecutor(connections) as pool:
            return sum(pool.map(read, jobs))
    except psycopg.Error as error:
        cluster.check_alive()
        raise TeitenError(
            f"Prewarming {dbname} of {cluster.installation.spec} failed: "
            f"{str(error).strip().splitlines()[0]}"
        ) from error
    finally:
        for connection in opened:
            connection.close()
