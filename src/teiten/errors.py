"""Errors a user can cause or must act on: one sentence each, never a traceback."""

from __future__ import annotations


class TeitenError(Exception):
    """What is wrong, where, and what to do, in one sentence.

    The command line prints the sentence and exits with `exit_code`.
    """

    exit_code = 1


class UsageError(TeitenError):
    """The user's words (a file, a key, an option) cannot be followed."""

    exit_code = 2


class ServerCrashedError(TeitenError):
    """A PostgreSQL server ended or restarted while it was needed; carries the log's tail."""


class ClientFailedError(TeitenError):
    """A load program (pgbench, psql) ended with an error."""


class NotPermittedError(TeitenError):
    """The host does not allow what was asked; the sentence says how to allow it."""
