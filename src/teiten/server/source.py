"""From a word such as "npm:17.7" to an installation; one file per source beside this one."""

from __future__ import annotations

from typing import TYPE_CHECKING

from teiten.errors import TeitenError, UsageError
from teiten.server import dsn, npm, prefix, pypi, store, system
from teiten.server.installation import Installation, say_nothing
from teiten.server.near import near_name

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = ["Installation", "list_available", "list_cached", "parse_spec", "remove", "resolve"]

SOURCES = ("npm", "pypi", "system", "prefix", "source", "dsn")


def parse_spec(spec: str) -> tuple[str, str]:
    """Split "npm:17.7" into its source and the rest; a bare "17.7" means npm.

    Raises:
        UsageError: the source is unknown, or nothing follows it.
    """
    source, colon, rest = spec.strip().partition(":")
    if not colon:
        source, rest = "npm", source
        if not rest[:1].isdigit():
            raise UsageError(
                f"The server {spec!r} is neither a version nor <source>:<what>: write, for "
                "example, 17.7 or system:15."
            )
    if source not in SOURCES:
        near = near_name(source, SOURCES)
        raise UsageError(
            f"The server {spec!r} names the unknown source {source!r}"
            f"{f' (did you mean {near}?)' if near else ''}: the sources are {', '.join(SOURCES)}."
        )
    if not rest:
        raise UsageError(f"The server {spec!r} says nothing after the colon.")
    return source, rest


def resolve(spec: str, *, say: Callable[[str], None] = say_nothing) -> Installation:
    """Return the installation that `spec` names, fetching it when it is not cached.

    `say` gets a line before anything slow is done.

    Raises:
        UsageError: the source or the version does not exist, or the source is one without an
            installation (`dsn:`, for which see `teiten.server.dsn.resolve`).
        TeitenError: it cannot be fetched or run.
    """
    source, rest = parse_spec(spec)
    match source:
        case "npm":
            return npm.resolve(rest, say=say)
        case "pypi":
            return pypi.resolve(rest, say=say)
        case "system":
            return system.resolve(rest)
        case "prefix":
            return prefix.resolve(rest)
        case "dsn":
            raise UsageError(
                f"The server {dsn.resolve(rest).spec} is not teiten's own: it can be observed, "
                "but not started, stopped or given settings."
            )
        case _:
            raise UsageError(
                f"The server {spec!r} cannot be built yet: build it yourself and use prefix:."
            )


def list_available() -> dict[str, list[str]]:
    """List what can be had, by source: {"npm": ["10.20", …], "pypi": […], "system": […]}.

    A source that cannot be asked (no npm, no network) gives an empty list.
    """
    found: dict[str, list[str]] = {}
    for name, ask in (("npm", npm.available), ("pypi", pypi.available)):
        try:
            found[name] = ask()
        except TeitenError:
            found[name] = []
    found["system"] = list(system.installed())
    return found


def list_cached() -> list[Installation]:
    """List the servers in the cache, ordered by source and version."""
    return store.list_all()


def remove(spec: str) -> None:
    """Remove a server from the cache.

    Raises:
        UsageError: it is not there, or is of a source that is not cached.
    """
    source, rest = parse_spec(spec)
    if source not in {"npm", "pypi"}:
        raise UsageError(f"The server {spec!r} is not cached by teiten, so it is not removed.")
    store.remove(source, rest)
