"""A server that teiten does not own: `dsn:service=lab`.

No start, no stop, no settings; only what SQL can see.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import psycopg
from psycopg.conninfo import conninfo_to_dict

from teiten.errors import ServerCrashedError, TeitenError, UsageError


@dataclass(frozen=True)
class ForeignServer:
    """A connection string, and what can be asked through it."""

    conninfo: str

    @cached_property
    def version_num(self) -> int:
        """PostgreSQL's version number, such as 170007."""
        with self.connect() as connection:
            return connection.info.server_version

    @property
    def spec(self) -> str:
        """The user's word for it, without any password."""
        parts = conninfo_to_dict(self.conninfo)
        return "dsn:" + " ".join(f"{k}={v}" for k, v in parts.items() if k != "password")

    def connect(self, **parameters: Any) -> psycopg.Connection:  # noqa: ANN401 - libpq's own
        """Connect with autocommit.

        Raises:
            TeitenError: the server cannot be reached.
        """
        try:
            return psycopg.connect(self.conninfo, autocommit=True, **parameters)
        except psycopg.OperationalError as error:
            raise TeitenError(
                f"The server {self.spec} cannot be reached: {str(error).strip().splitlines()[0]}"
            ) from error

    def check_alive(self) -> None:
        """Raise ServerCrashedError if the server does not answer."""
        try:
            self.connect().close()
        except TeitenError as error:
            raise ServerCrashedError(str(error)) from error


def resolve(conninfo: str) -> ForeignServer:
    """Check a libpq connection string (key=value pairs or a URI); does not connect yet.

    Raises:
        UsageError: it is no connection string.
    """
    try:
        conninfo_to_dict(conninfo)
    except psycopg.ProgrammingError as error:
        raise UsageError(
            f"dsn: is not followed by a libpq connection string ({str(error).strip()}): write, "
            "for example, dsn:service=lab."
        ) from error
    return ForeignServer(conninfo)
