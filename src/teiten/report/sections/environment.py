"""The machine, the servers and the client, as the run recorded them; keys are shown as kept."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from teiten.report.document import Block, Cell, Paragraph, Section, Table
from teiten.report.sections.view import text_table

if TYPE_CHECKING:
    from collections.abc import Mapping

    from teiten.report.sections.view import View

_BYTES = "_bytes"
_DIFFERS = "◆"


def environment(view: View) -> Section:
    """One table a part of the machine, one for all servers side by side, one for the client."""
    w = view.words
    kept = view.run.environment
    blocks: list[Block] = []
    for part, values in kept.get("machine", {}).items():
        title = f"{w('env_machine')}: {part.replace('_', ' ')}"
        rows = _rows(values) if isinstance(values, dict) else [(part, shown(values))]
        if rows:
            blocks.append(text_table(title, (w("key"), w("value")), rows, folded=len(rows) > 8))  # noqa: PLR2004 - what a reader takes in
    servers = kept.get("servers", {})
    if servers:
        blocks.append(_servers(view, servers))
    if kept.get("client"):
        rows = _rows(kept["client"])
        blocks.append(text_table(w("env_client"), (w("key"), w("value")), rows))
    if not blocks:
        blocks.append(Paragraph(w("no_environment")))
    return Section("environment", w("environment"), tuple(blocks))


def _servers(view: View, servers: Mapping[str, Any]) -> Table:
    """Servers side by side; rows that differ are marked."""
    w = view.words
    flat = {label: dict(_rows(values, depth=2)) for label, values in servers.items()}
    keys = dict.fromkeys(key for values in flat.values() for key in values)
    rows = []
    for key in keys:
        values = [flat[label].get(key, "-") for label in flat]
        differs = len(set(values)) > 1
        rows.append((Cell(f"{_DIFFERS} {key}" if differs else key), *(Cell(v) for v in values)))
    note = w("different") if len(flat) > 1 else ""
    header = (w("key"), *flat)
    return Table(
        w("env_servers"),
        header,
        tuple(rows),
        (False,) * len(header),
        note,
        folded=len(rows) > 40,  # noqa: PLR2004 - a page
    )


def _rows(values: Mapping[str, Any], prefix: str = "", depth: int = 1) -> list[tuple[str, str]]:
    """Keys and values; what is nested deeper than `depth` is written into one cell."""
    rows: list[tuple[str, str]] = []
    for key, value in values.items():
        if value is None or value in ({}, [], ""):
            continue
        if isinstance(value, dict) and depth > 0:
            rows += _rows(value, f"{prefix}{key}: ", depth - 1)
            continue
        name = key.replace("_", " ")
        if key.endswith(_BYTES) and isinstance(value, int) and not isinstance(value, bool):
            name, value = name.removesuffix(" bytes"), in_bytes(value)  # noqa: PLW2901 - with its unit
        rows.append((f"{prefix}{name}", shown(value)))
    return rows


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
        return "; ".join(f"{k} = {shown(v)}" for k, v in value.items() if v is not None)
    if isinstance(value, list):
        return ", ".join(shown(v) for v in value)
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, float):
        return f"{value:,.5g}"
    return str(value)
