"""What the server's own statistics views say of a window: WAL, buffers, blocks, checkpoints.

One connection stays open over the window and takes a snapshot of the views at either end, so
that the observer adds a handful of transactions and nothing in between.
"""

from __future__ import annotations

import json
import time
from typing import TYPE_CHECKING, Any

import psycopg

from teiten.errors import TeitenError
from teiten.observe.base import Observation
from teiten.observe.pgstat_views import compare, snapshot_query

if TYPE_CHECKING:
    from teiten.observe.base import Window

_SHARED_MEMORY_STATISTICS = 15_00_00  # before, a collector process gets messages and writes files
_PAUSE_S = 0.005
_GONE_WAIT_AT_START_S = 0.3  # others may hold a connection for good
_GONE_WAIT_AT_STOP_S = 5.0
_COLLECTOR_WAIT_S = 5.0
_COLLECTOR_PAUSE_S = 0.1  # each look is a transaction that is reported late


class PgstatObserver:
    """Differences of the statistics views over the window (see `pgstat_views.compare`)."""

    name = "pgstat"

    def __init__(self) -> None:
        """Watch nothing yet."""
        self._window: Window | None = None
        self._session: _Session | None = None
        self._before: dict[str, Any] = {}

    def unavailable(self) -> str | None:
        """None: every server has these views."""
        return None

    def start(self, window: Window) -> None:
        """Take the first snapshot.

        Raises:
            TeitenError: the server refuses the connection or the query.
        """
        self._window = window
        try:
            self._session = _Session(window.conninfo, window.version_num)
            self._session.wait_for_exits(None, _GONE_WAIT_AT_START_S)
            self._before = self._session.snapshot()
        except psycopg.Error as error:
            self._close()
            raise TeitenError(f"The statistics views cannot be read: {_words(error)}") from error

    def stop(self) -> Observation:
        """Wait until the load's backends have reported, take the second snapshot, compare."""
        window, session, before = self._window, self._session, self._before
        if window is None or session is None:
            raise RuntimeError("stop() without start()")
        try:
            left = session.wait_for_exits(before["now"], _GONE_WAIT_AT_STOP_S)
            after = session.snapshot()
        except psycopg.Error as error:
            # All connections are lost when the server ends or restarts after a crash.
            return Observation(
                facts={"server_restarted": 1.0},
                notes=(f"The statistics views cannot be read any more: {_words(error)}",),
            )
        finally:
            self._close()
        raw = {"before": before, "after": after}
        (window.raw_dir / "pgstat.json").write_text(json.dumps(raw, indent=1) + "\n")
        seen = compare(before, after)
        if not left:
            return seen
        note = (
            f"{left} sessions that began in the window are still open: what they did last is not "
            "in the statistics."
        )
        return Observation(totals=seen.totals, facts=seen.facts, notes=(*seen.notes, note))

    def _close(self) -> None:
        if self._session is not None:
            self._session.connection.close()
        self._session = None


class _Session:
    """The observer's own connection, which counts its transactions so that they can be left out."""

    def __init__(self, conninfo: str, version_num: int) -> None:
        self.connection = psycopg.connect(
            conninfo, autocommit=True, application_name="teiten", prepare_threshold=None
        )
        self._version_num = version_num
        self._transactions = 0
        self._ask("SET jit = off")
        self._ask("SET max_parallel_workers_per_gather = 0")

    def _ask(self, query: str, parameters: tuple[object, ...] = ()) -> Any:  # noqa: ANN401 - a column of any type
        self._transactions += 1
        cursor = self.connection.execute(query, parameters or None)
        row = cursor.fetchone() if cursor.description else None
        return row[0] if row else None

    def wait_for_exits(self, since: str | None, timeout_s: float) -> int:
        """Wait until no other client's backend that began after `since` is there; count the rest.

        A backend reports its statistics before it leaves pg_stat_activity.
        """
        query = (
            "SELECT count(*) FROM pg_stat_activity WHERE backend_type = 'client backend' "
            "AND pid <> pg_backend_pid() "
            "AND backend_start >= coalesce(%s::timestamptz, '-infinity')"
        )
        deadline = time.monotonic() + timeout_s
        while (left := int(self._ask(query, (since,)))) and time.monotonic() < deadline:
            time.sleep(_PAUSE_S)
        return left

    def snapshot(self) -> dict[str, Any]:
        """Read the views once all that was reported before now is in them.

        `own_transactions` is how many transactions of this session the figures hold: exact with
        statistics in shared memory, within ten with the collector.
        """
        if self._version_num >= _SHARED_MEMORY_STATISTICS:
            self._ask("SELECT pg_stat_force_next_flush()")
        else:
            # The collector's file may be half a second old. It handles messages in their order:
            # a file made after now holds all that was sent before.
            now = self._ask("SELECT clock_timestamp()")
            deadline = time.monotonic() + _COLLECTOR_WAIT_S
            fresh = "SELECT pg_stat_get_snapshot_timestamp() >= %s"
            while not self._ask(fresh, (now,)) and time.monotonic() < deadline:
                time.sleep(_COLLECTOR_PAUSE_S)
        held = self._transactions
        snapshot: dict[str, Any] = self._ask(snapshot_query(self._version_num))
        return snapshot | {"own_transactions": held}


def _words(error: psycopg.Error) -> str:
    return (str(error).strip().splitlines() or [type(error).__name__])[0]
