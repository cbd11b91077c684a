"""How a running PostgreSQL server was built and set."""

from __future__ import annotations

from typing import Any

import psycopg

# Settings that can carry a password.
_SECRET = frozenset({"primary_conninfo", "ssl_passphrase_command"})


def describe_server(conninfo_or_connection: str | psycopg.Connection[Any]) -> dict[str, Any]:
    """Describe a server from PostgreSQL 10 on; build options need a superuser, else are None.

    `settings` holds every setting whose value does not come from the built-in default, except
    those that belong to our own session.

    Raises:
        psycopg.Error: the server cannot be reached or asked.
    """
    if isinstance(conninfo_or_connection, str):
        with psycopg.connect(conninfo_or_connection, autocommit=True) as connection:
            return _describe(connection)
    return _describe(conninfo_or_connection)


def _describe(connection: psycopg.Connection[Any]) -> dict[str, Any]:
    def rows(query: str) -> list[tuple[Any, ...]]:
        return list(connection.execute(query).fetchall())

    ((version, number, encoding, collation, permitted),) = rows(
        "SELECT version(), current_setting('server_version_num')::int,"
        " pg_encoding_to_char(encoding), datcollate,"
        " has_function_privilege('pg_catalog.pg_config()', 'execute')"
        " FROM pg_database WHERE datname = current_database()"
    )
    ((checksums, block_bytes, wal_block_bytes, wal_segment_bytes, huge_pages),) = rows(
        "SELECT current_setting('data_checksums') = 'on', current_setting('block_size')::int,"
        " current_setting('wal_block_size')::int,"
        " pg_size_bytes(current_setting('wal_segment_size')),"
        " current_setting('huge_pages_status', true)"
    )
    settings = rows(
        "SELECT name, current_setting(name) FROM pg_settings"
        " WHERE source NOT IN ('default', 'override', 'client', 'session') ORDER BY name"
    )
    return {
        "version": version,
        "version_num": number,
        "data_checksums": checksums,
        "block_bytes": block_bytes,
        "wal_block_bytes": wal_block_bytes,
        "wal_segment_bytes": wal_segment_bytes,
        "encoding": encoding,
        "collation": collation,
        "huge_pages_status": huge_pages,
        "settings": {k: "(not recorded)" if k in _SECRET else v for k, v in settings},
        "extensions": dict(rows("SELECT extname, extversion FROM pg_extension ORDER BY extname")),
        "build": dict(rows("SELECT name, setting FROM pg_config()")) if permitted else None,
    }
