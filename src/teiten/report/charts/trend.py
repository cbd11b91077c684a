"""A response over the runs of a study: points with their spread, breaks, change points.

The axis does not begin at zero: what matters over years are percents.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

import altair as alt
import polars as pl

from teiten.report.charts import theme

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from altair.typing import ChartType

_DAY_S = 86_400.0
_HEIGHT = 240
_ROW_PX = 16
_CHARACTER_PX = 6.8
_WIDE_PX = 12.5
_LAST_NARROW = 0x2E80  # Chinese and Japanese characters come after
_PUBLISHED = "#8f8f8f"
_MOST_TICKS = 8
# The longest time shown (in days) with each kind of tick, its length in days, and its label. Vega
# and Vega-Lite have different names for hours and minutes, so these are left to Vega.
_TICKS: tuple[tuple[float, alt.TimeInterval_T | None, float, str], ...] = (
    (1.5, None, 1 / 24, "%H:%M"),
    (50, "day", 1.0, "%m-%d"),
    (1100, "month", 30.44, "%Y-%m"),
    (math.inf, "year", 365.25, "%Y"),
)


@dataclass(frozen=True)
class Dot:
    """A run's value. Dots of the same `line` are joined; those of older kinds are hollow."""

    at_s: float
    level: str
    value: float
    low: float
    high: float
    line: int
    hollow: bool
    flagged: bool
    description: str


@dataclass(frozen=True)
class Mark:
    """A change point between two times, the times that it may be between, and its size in words."""

    level: str
    after_s: float
    before_s: float
    from_s: float
    to_s: float
    text: str


@dataclass(frozen=True)
class Rule:
    """A break between two times, in words."""

    after_s: float
    before_s: float
    text: str


@dataclass(frozen=True)
class Under:
    """A published figure."""

    at_s: float
    value: float
    text: str


@dataclass(frozen=True)
class History:
    """One panel: a group of trials."""

    title: str
    dots: Sequence[Dot]
    marks: Sequence[Mark]
    rules: Sequence[Rule]
    under: Sequence[Under]


def trend_chart(
    panels: Sequence[History],
    *,
    levels: Sequence[str],
    reference: str,
    title: str,
    time_title: str,
    level_title: str,
    as_change: bool,
) -> Mapping[str, Any]:
    """One panel below the other, with one time axis. `as_change` writes ratios as changes."""
    times = [t for p in panels for t in (*(d.at_s for d in p.dots), *(u.at_s for u in p.under))]
    first, last = min(times), max(times)
    pad = 0.03 * (last - first) or _DAY_S
    axis = _TimeAxis(first - pad, last + pad, time_title)
    look = _Look(levels, reference, level_title, title, as_change=as_change)
    charts = [_panel(panel, axis, look) for panel in panels]
    return theme.finish(theme.side_by_side(charts, columns=1))


@dataclass(frozen=True)
class _TimeAxis:
    first_s: float
    last_s: float
    title: str

    @property
    def width(self) -> int:
        return theme.WIDTH - 60

    def pixels(self, at_s: float) -> float:
        return self.width * (at_s - self.first_s) / (self.last_s - self.first_s)

    def x(self, field: str) -> alt.X:
        days = (self.last_s - self.first_s) / _DAY_S
        _, interval, length, form = next(t for t in _TICKS if days <= t[0])
        step = max(1, math.ceil(days / length / _MOST_TICKS))
        ticks = alt.TimeIntervalStep(interval=interval, step=step) if interval else _MOST_TICKS
        return alt.X(
            f"{field}:T",
            title=self.title,
            scale=alt.Scale(type="utc", domain=[_iso(self.first_s), _iso(self.last_s)], nice=False),
            axis=alt.Axis(
                format=form,
                tickCount=ticks,
                labelOverlap="greedy",
            ),
        )


@dataclass(frozen=True)
class _Look:
    levels: Sequence[str]
    reference: str
    level_title: str
    y_title: str
    as_change: bool

    def y(self, field: str, domain: tuple[float, float]) -> alt.Y:
        label = theme.CHANGE if self.as_change else theme.NUMBER
        return alt.Y(
            f"{field}:Q",
            title=self.y_title,
            scale=alt.Scale(domain=list(domain), nice=False, zero=False),
            axis=alt.Axis(labelExpr=label),
        )


def _panel(panel: History, axis: _TimeAxis, look: _Look) -> ChartType:
    upright: list[Mark | Rule] = [*panel.marks, *panel.rules]
    words = [_Words(axis, each.after_s, each.before_s, each.text) for each in upright]
    rows = stacked([(text.left, text.width) for text in words])
    lows = [*(d.low for d in panel.dots), *(u.value for u in panel.under)]
    highs = [*(d.high for d in panel.dots), *(u.value for u in panel.under)]
    head_px = _ROW_PX * (max(rows, default=-1) + 1)
    low, high = min(lows), max(highs)
    room = (high - low) or 0.02 * abs(high) or 1.0
    # The uppermost rows of pixels are for the words of change points and breaks.
    head = head_px / _HEIGHT * 1.2 * room
    domain = (low - 0.08 * room, high + 0.12 * room + head)
    marks, rules = words[: len(panel.marks)], words[len(panel.marks) :]
    layers = [
        *_rules(rules, rows[len(marks) :]),
        *_marks(panel.marks, marks, rows, look),
        *_under(panel.under, axis, look, domain),
        *_dots(panel.dots, axis, look, domain),
    ]
    height = _HEIGHT + head_px
    chart: ChartType = alt.layer(*layers).properties(width=axis.width, height=height)
    return theme.titled(chart, panel.title)


@dataclass(frozen=True)
class _Words:
    """A text at the upright line midway between two times; on its left where there is no room."""

    axis: _TimeAxis
    after_s: float
    before_s: float
    text: str

    @property
    def middle_s(self) -> float:
        return (self.after_s + self.before_s) / 2

    @property
    def width(self) -> float:
        return sum(_WIDE_PX if ord(c) > _LAST_NARROW else _CHARACTER_PX for c in self.text) + 12

    @property
    def is_left(self) -> bool:
        return self.axis.pixels(self.middle_s) + self.width > self.axis.width

    @property
    def left(self) -> float:
        """Where the text begins, in pixels."""
        return self.axis.pixels(self.middle_s) - (self.width if self.is_left else 0)

    def draw(self, row: int, **look: Any) -> ChartType:  # noqa: ANN401 - options of the mark
        frame = pl.DataFrame({"at": [_iso(self.middle_s)], "text": [self.text]})
        mark = alt.Chart(frame).mark_text(
            align="right" if self.is_left else "left",
            dx=-5 if self.is_left else 5,
            baseline="top",
            fontSize=12,
            **look,
        )
        y = alt.value(4 + _ROW_PX * row)
        text: ChartType = mark.encode(self.axis.x("at"), y=y, text="text:N")
        return text


def stacked(texts: Sequence[tuple[float, float]]) -> list[int]:
    """The row of each text, by its place and width in pixels, so that none overlap in a row.

    A place is where the text begins.
    """
    ends: list[float] = []
    rows = [0] * len(texts)
    for number in sorted(range(len(texts)), key=lambda i: texts[i][0]):
        at, width = texts[number]
        row = next((r for r, end in enumerate(ends) if end <= at), len(ends))
        if row == len(ends):
            ends.append(0.0)
        ends[row] = at + width
        rows[number] = row
    return rows


def _dots(
    dots: Sequence[Dot], axis: _TimeAxis, look: _Look, domain: tuple[float, float]
) -> list[ChartType]:
    shown = [level for level in look.levels if any(d.level == level for d in dots)]
    # Levels of one run stand side by side, so that their spreads can be told apart.
    step_s = 0.007 * (axis.last_s - axis.first_s)
    shift = {level: (i - (len(shown) - 1) / 2) * step_s for i, level in enumerate(shown)}
    frame = pl.DataFrame(
        {
            "at": [_iso(d.at_s + shift[d.level]) for d in dots],
            "level": [d.level for d in dots],
            "value": [d.value for d in dots],
            "low": [d.low for d in dots],
            "high": [d.high for d in dots],
            "line": [d.line for d in dots],
            "hollow": [d.hollow for d in dots],
            "flagged": [d.flagged for d in dots],
            "description": [d.description for d in dots],
        }
    )
    x, y = axis.x("at"), look.y("value", domain)
    layers: list[ChartType] = []
    for level in shown:
        of_level = frame.filter(pl.col("level") == level)
        paint, dash = theme.line_look(level, look.levels, look.reference)
        base = alt.Chart(of_level)
        layers += [
            base.mark_rule(color=paint, opacity=0.45, strokeWidth=1.6).encode(
                x, look.y("low", domain), alt.Y2("high:Q")
            ),
            base.mark_line(color=paint, strokeDash=dash, strokeWidth=1.6).encode(
                x, y, alt.Detail("line:N")
            ),
        ]
    legend = alt.Legend(title=look.level_title)
    color = alt.Color(
        "level:N", scale=theme.colours(look.levels, look.reference, shown), legend=legend
    )
    shape = alt.Shape(
        "level:N", scale=theme.shapes(look.levels, look.reference, shown), legend=legend
    )
    words = alt.Description("description:N")
    filled = alt.Chart(frame.filter(~pl.col("hollow"))).mark_point(
        filled=True, aria=True, opacity=1
    )
    layers.append(filled.encode(x, y, color, shape, description=words))
    older = frame.filter(pl.col("hollow"))
    if older.height:
        hollow = alt.Chart(older).mark_point(filled=True, fill="white", aria=True, opacity=1)
        stroke = alt.Stroke(
            "level:N", scale=theme.colours(look.levels, look.reference, shown), legend=None
        )
        layers.append(hollow.encode(x, y, stroke, shape, description=words))
    flagged = frame.filter(pl.col("flagged"))
    if flagged.height:
        cross = alt.Chart(flagged).mark_point(
            shape=theme.FLAG_SHAPE, size=theme.FLAG_SIZE, color=theme.FLAG, strokeWidth=1.2
        )
        layers.append(cross.encode(x, y))
    return layers


def _marks(
    marks: Sequence[Mark], words: Sequence[_Words], rows: Sequence[int], look: _Look
) -> list[ChartType]:
    layers: list[ChartType] = []
    for mark, text, row in zip(marks, words, rows, strict=False):
        color, _ = theme.line_look(mark.level, look.levels, look.reference)
        times = {"at": text.middle_s, "from": mark.from_s, "to": mark.to_s}
        base = alt.Chart(pl.DataFrame({name: [_iso(at_s)] for name, at_s in times.items()}))
        band = base.mark_rect(color=color, opacity=0.1)
        rule = base.mark_rule(color=color, strokeWidth=1.6)
        top = alt.value(4 + _ROW_PX * row)
        layers += [
            band.encode(text.axis.x("from"), alt.X2("to:T")),
            rule.encode(text.axis.x("at"), y=top, y2=alt.value("height")),
            text.draw(row, color=color, fontWeight="bold"),
        ]
    return layers


def _rules(words: Sequence[_Words], rows: Sequence[int]) -> list[ChartType]:
    layers: list[ChartType] = []
    for text, row in zip(words, rows, strict=True):
        frame = pl.DataFrame({"at": [_iso(text.middle_s)]})
        line = alt.Chart(frame).mark_rule(color=theme.REFERENCE, strokeDash=[5, 4], strokeWidth=1.2)
        top = alt.value(4 + _ROW_PX * row)
        layers += [
            line.encode(text.axis.x("at"), y=top, y2=alt.value("height")),
            text.draw(row, color=theme.FAINT_INK),
        ]
    return layers


def _under(
    under: Sequence[Under], axis: _TimeAxis, look: _Look, domain: tuple[float, float]
) -> list[ChartType]:
    if not under:
        return []
    frame = pl.DataFrame(
        {
            "at": [_iso(u.at_s) for u in under],
            "value": [u.value for u in under],
            "text": [u.text for u in under],
        }
    )
    x, y = axis.x("at"), look.y("value", domain)
    points = alt.Chart(frame).mark_point(
        shape="diamond", size=70, color=_PUBLISHED, fill="#e3e3e3", strokeWidth=1.4
    )
    text = alt.Chart(frame).mark_text(dy=-12, fontSize=12, color=theme.FAINT_INK)
    return [points.encode(x, y), text.encode(x, y, text="text:N")]


def _iso(at_s: float) -> str:
    return datetime.fromtimestamp(at_s, tz=UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
