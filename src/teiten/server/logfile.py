"""What a server's log tells; pure (text in, findings out)."""

from __future__ import annotations

import re

# Severities appear as "FATAL:  " in stderr logs, as ,FATAL, in CSV and as "FATAL" in JSON logs.
_GRAVE = re.compile(r"\b(PANIC|FATAL)\b")
_CRASH = re.compile(r"was terminated by signal \d+|exited with exit code [2-9]")
_REINITIALIZED = "all server processes terminated; reinitializing"
# Consequences of a crash or a shutdown, which hide its cause.
_CONSEQUENCES = (
    "the database system is starting up",
    "the database system is shutting down",
    "the database system is in recovery mode",
    "the database system is not yet accepting connections",
    "terminating connection due to",
    "because of crash of another server process",
)


def telling_line(log: str) -> str | None:
    """Return the line of `log` that tells best why a server ended or restarted.

    The last PANIC or FATAL message that is not itself a consequence, else the last line about a
    server process that ended by a signal, else the last line.
    """
    lines = [x.strip() for x in log.splitlines() if x.strip()]
    causes = [x for x in lines if not any(c in x for c in _CONSEQUENCES)]
    crashes = [x for x in causes if _CRASH.search(x)]
    panics = [x for x in causes if "PANIC" in x]
    grave = [x for x in causes if _GRAVE.search(x)]
    for kind in (panics, crashes, grave, lines):
        if kind:
            return kind[-1]
    return None


def count_restarts(log: str) -> int:
    """Count how often the server threw all its backends out and recovered, by its own words."""
    return log.count(_REINITIALIZED)
