"""The machine, the servers and the client, as the run recorded them; keys are shown as kept."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from teiten.report.document import Block, Cell, Paragraph, Section, Table
from teiten.report.sections.view import text_table

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from teiten.report.sections.view import View

_BYTES = "_bytes"
_DIFFERS = "◆"
_MANY_ALIKE = 4
_OWN_TO_A_START = frozenset({"settings: unix_socket_directories", "settings: port"})
_OWN_TO_A_SERVER = frozenset({"spec", "package", "version", "version num", "build", "extensions"})


def environment(view: View) -> Section:
    """One table a part of the machine, the servers side by side, the client."""
    w = view.words
    kept = view.run.environment
    blocks: list[Block] = []
    for part, values in kept.get("machine", {}).items():
        title = f"{w('env_machine')}: {part.replace('_', ' ')}"
        if not isinstance(values, dict):
            rows = [(part, shown(values))]
        elif values and all(isinstance(v, dict) for v in values.values()):
            rows = _rows(values, depth=1)
        else:
            rows = _rows(values)
        if rows:
            blocks.append(text_table(title, (w("key"), w("value")), rows))
    if kept.get("client"):
        rows = _rows(kept["client"])
        blocks.append(text_table(w("env_client"), (w("key"), w("value")), rows))
    blocks += _servers(view, kept.get("servers", {}))
    if not blocks:
        blocks.append(Paragraph(w("no_environment")))
    return Section("environment", w("environment"), tuple(blocks))


def differences(servers: Mapping[str, Any]) -> dict[str, list[str]]:
    """What else but their version tells `distinct` servers apart: key, value of each server.

    Paths, names of packages and what is random in every run are no differences that matter.
    """
    kept = distinct(servers)
    keys = dict.fromkeys(key for values in kept.values() for key in values)
    found = {key: [values.get(key, "-") for values in kept.values()] for key in keys}
    return {
        key: values
        for key, values in found.items()
        if len(set(values)) > 1 and key.split(": ")[0] not in _OWN_TO_A_SERVER
    }


def distinct(servers: Mapping[str, Any]) -> dict[str, dict[str, str]]:
    """Servers as rows of text, those that are alike once, under the first one's label."""
    kept: dict[str, dict[str, str]] = {}
    for label, values in servers.items():
        rows = {k: v for k, v in _rows(values, depth=1) if k not in _OWN_TO_A_START}
        if rows not in kept.values():
            kept[label] = rows
    return kept


def _servers(view: View, servers: Mapping[str, Any]) -> list[Block]:
    """Servers side by side; rows that differ are marked."""
    if not servers:
        return []
    w = view.words
    flat = distinct(servers)
    keys = dict.fromkeys(key for values in flat.values() for key in values)
    short = [key for key in keys if not key.startswith("build: ")]
    tables = [_server_table(w("env_servers"), flat, short, w("key"), w("different"))]
    if len(short) < len(keys):
        rest = [key for key in keys if key.startswith("build: ")]
        tables.append(_server_table(w("env_builds"), flat, rest, w("key"), "", folded=True))
    return [*tables]


def _server_table(
    title: str,
    flat: Mapping[str, Mapping[str, str]],
    keys: Sequence[str],
    head: str,
    note: str,
    *,
    folded: bool = False,
) -> Table:
    rows = []
    for key in keys:
        values = [of_server.get(key, "-") for of_server in flat.values()]
        mark = f"{_DIFFERS} " if len(set(values)) > 1 else ""
        rows.append(tuple(Cell(text) for text in (f"{mark}{key}", *values)))
    header = (head, *flat)
    some_differ = any(row[0].text.startswith(_DIFFERS) for row in rows)
    return Table(
        title,
        header,
        tuple(rows),
        (False,) * len(header),
        note if some_differ else "",
        folded=folded,
    )


def _rows(values: Mapping[str, Any], prefix: str = "", depth: int = 0) -> list[tuple[str, str]]:
    """Keys and values; what is nested deeper than `depth` is written into one cell."""
    rows: list[tuple[str, str]] = []
    for key, value in values.items():
        if value is None or value in ({}, [], ""):
            continue
        if isinstance(value, dict) and depth > 0:
            rows += _rows(value, f"{prefix}{key}: ", depth - 1)
        elif key.endswith(_BYTES) and type(value) is int:
            rows.append((f"{prefix}{_readable(key.removesuffix(_BYTES))}", in_bytes(value)))
        else:
            rows.append((f"{prefix}{_readable(key, prefix)}", shown(value)))
    return rows


def _readable(key: str, prefix: str = "") -> str:
    """A key without underscores, but the names of settings as they are."""
    return key if prefix else key.replace("_", " ")


def in_bytes(value: int) -> str:
    """A size in the largest binary unit that keeps it above 1."""
    size = float(value)
    for unit in ("B", "KiB", "MiB", "GiB"):
        if size < 1024 or unit == "GiB":  # noqa: PLR2004 - binary units
            return f"{size:.4g} {unit}"
        size /= 1024
    return f"{value} B"


def shown(value: object) -> str:
    """Any JSON value as one line."""
    if isinstance(value, dict):
        keys_of: dict[str, list[str]] = {}
        for key, one in value.items():
            if one is not None:
                keys_of.setdefault(shown(one), []).append(key)
        many_alike = max((len(keys) for keys in keys_of.values()), default=0) >= _MANY_ALIKE
        if many_alike and all(isinstance(one, str) for one in value.values()):
            return "; ".join(f"{text}: {', '.join(keys)}" for text, keys in keys_of.items())
        return "; ".join(f"{key} = {text}" for text, keys in keys_of.items() for key in keys)
    if isinstance(value, list):
        return ", ".join(shown(v) for v in value)
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, float):
        return f"{value:,.5g}"
    return str(value)
