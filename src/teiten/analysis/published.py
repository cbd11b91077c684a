"""Published figures to lay under a trend: a CSV table with one row a figure."""

from __future__ import annotations

import math
import re
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from teiten.analysis.sheet import read_sheet
from teiten.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from teiten.analysis.sheet import Row, Sheet

COLUMNS = ("date", "value", "level", "group", "x", "label")
"""`date` and `value` are needed. Other columns are passed over."""

_DATE = re.compile(r"(\d{4})(?:-(\d{1,2})(?:-(\d{1,2}))?)?")
_FEWEST_LINES = 2


@dataclass(frozen=True)
class Published:
    """A published figure: of which level of the compared factor (empty: of none in particular).

    `group` are the levels of the factors that tell experiments apart, joined by commas, and `x`
    is the level along x; empty where the figure is for all. A year alone stands for its middle.
    """

    at_s: float
    value: float
    level: str = ""
    group: str = ""
    x: str = ""
    label: str = ""


def read_published(content: bytes, where: str) -> tuple[Published, ...]:
    """Read a table of published figures, by date.

    Raises:
        UsageError: it is no such table; one sentence with the line and the column.
    """
    if len([line for line in content.splitlines() if line.strip()]) < _FEWEST_LINES:
        raise UsageError(
            f"{where} has no figures: it needs a line with the names of the columns (date, value, "
            "and if wanted level, group, x, label), then one row a figure."
        )
    sheet = read_sheet(content, where, {})
    for name in ("date", "value"):
        if name not in sheet.header:
            raise UsageError(
                f"{where} has no column {name}: name its columns date and value, and if wanted "
                f"level, group, x and label (it has {', '.join(n for n in sheet.header if n)})."
            )
    figures = (_figure(sheet, row) for row in sheet.rows)
    return tuple(sorted(figures, key=lambda figure: figure.at_s))


def laid_under(figures: Sequence[Published], at: str | None) -> tuple[Published, ...]:
    """The figures as a trend shows them: those at `at`, or means over the levels along x.

    A mean is geometric, over the figures that agree in all but `x`.
    """
    chosen = [f for f in figures if not f.x or at is None or f.x == at]
    together: dict[tuple[float, str, str, str], list[float]] = {}
    for f in chosen:
        together.setdefault((f.at_s, f.level, f.group, f.label), []).append(math.log(f.value))
    return tuple(
        Published(at_s, math.exp(sum(logs) / len(logs)), level, group, "", label)
        for (at_s, level, group, label), logs in together.items()
    )


def _figure(sheet: Sheet, row: Row) -> Published:
    texts = {name: sheet.cell(row, name) if name in sheet.header else "" for name in COLUMNS}
    try:
        value = float(texts["value"])
    except ValueError:
        value = math.nan
    if not (math.isfinite(value) and value > 0):
        raise sheet.mistake(
            row, "value", f"“{texts['value']}” is not a positive number; write one such as 1.04."
        )
    others = {name: texts[name] for name in ("level", "group", "x", "label")}
    return Published(_time_of(sheet, row, texts["date"]), value, **others)


def _time_of(sheet: Sheet, row: Row, text: str) -> float:
    """Seconds since the epoch of the middle of the year, month or day."""
    found = _DATE.fullmatch(text)
    if found:
        year, month, day = (int(part) if part else None for part in found.groups())
        try:
            middle = datetime(year or 0, month or 7, day or (15 if month else 2), 12, tzinfo=UTC)
        except ValueError:
            pass
        else:
            return middle.timestamp()
    raise sheet.mistake(
        row,
        "date",
        f"“{text}” is no date; write a year, a month or a day: 2024, 2024-11, 2024-11-01.",
    )
