"""A response along the x axis: every trial a dot, the medians a line.

Two scales: absolute (from zero, or logarithmic where the values span decades), and relative to
the reference (centred on no change, with the margin as a band).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import altair as alt
import polars as pl

from teiten.report.charts import theme
from teiten.report.charts.panel import Panel
from teiten.report.charts.scales import Span, round_steps, round_top
from teiten.report.numbers import change, figure
from teiten.stats.summary import block_ratios, ratios, summarise

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping

    from altair.typing import ChartType

    from teiten.report.layout import Layout, Place

_LOG_FROM_RATIO = 40
_GAP = 108  # room for the labels at the ends of lines, and the next panel's axis


def absolute(
    layout: Layout,
    response: str,
    *,
    title: str,
    half_width: bool = False,
    log_title: str = "",
    framed: Collection[Place] = (),
) -> Mapping[str, Any]:
    """Dots of all trials and the line of the medians, one panel a combination of other factors.

    With a `log_title`, panels whose values span decades get a logarithmic axis under that title.
    The dots of `framed` places stand in a frame.
    """
    panels = [
        _absolute_panel(
            layout,
            panel,
            response,
            title=title,
            size=size,
            log_title=log_title,
            framed=_framed_in(panel, framed),
        )
        for panel, size in _sizes(layout, half_width=half_width)
    ]
    return theme.finish(theme.side_by_side(panels, columns=1 if half_width else 2, gap=_GAP))


def relative(
    layout: Layout,
    response: str,
    *,
    title: str,
    margin: float,
    framed: Collection[Place] = (),
) -> Mapping[str, Any]:
    """Ratios to the reference: one dot a block, the line of the ratios of medians.

    The dots of `framed` places stand in a frame.
    """
    panels = [
        _relative_panel(
            layout,
            panel,
            response,
            title=title,
            size=size,
            margin=margin,
            framed=_framed_in(panel, framed),
        )
        for panel, size in _sizes(layout, half_width=False)
    ]
    return theme.finish(theme.side_by_side(panels, columns=2, gap=_GAP))


def _sizes(layout: Layout, *, half_width: bool) -> list[tuple[str, tuple[int, int]]]:
    shown = [p for p in layout.panels if layout.of_panel(p).height]
    if half_width:
        return [(p, (theme.HALF_WIDTH, 190)) for p in shown]
    if len(shown) == 1:
        return [(shown[0], (theme.WIDTH - 60, 300))]
    return [(p, (theme.HALF_WIDTH, 230)) for p in shown]


def _framed_in(panel: str, framed: Collection[Place]) -> list[tuple[str, str]]:
    """The framed levels and x of a panel; without x the level itself stands along x."""
    return [(p.level, p.level if p.x is None else p.x) for p in framed if p.panel == panel]


def _absolute_panel(
    layout: Layout,
    panel: str,
    response: str,
    *,
    title: str,
    size: tuple[int, int],
    log_title: str,
    framed: Collection[tuple[str, str]],
) -> ChartType:
    trials = (
        layout.of_panel(panel)
        .filter(pl.col(response).is_not_null())
        .select("level", "x", "block", "trial", "flagged", pl.col(response).alias("value"))
    )
    medians = summarise(trials, ["level", "x"], "value")
    low, high = _smallest(trials["value"]), _largest(trials["value"])
    is_log = bool(log_title) and 0 < low * _LOG_FROM_RATIO < high
    axis = alt.Axis(labelExpr=theme.NUMBER)
    span = Span(0.0, round_top(high), is_log=False)
    scale = alt.Scale(domain=[span.low, span.high], nice=False)
    if is_log:
        ticks = round_steps(low, high)
        span = Span(ticks[0], ticks[-1], is_log=True)
        scale = alt.Scale(type="log", domain=[span.low, span.high], nice=False)
        axis = alt.Axis(labelExpr=theme.NUMBER, values=ticks, labelOverlap=False)
    y = {"title": log_title if is_log else title, "scale": scale, "axis": axis}
    drawn = Panel(layout, panel, layout.levels, size, span)
    return drawn.draw(trials, medians, y, shown=figure, framed=framed)


def _relative_panel(
    layout: Layout,
    panel: str,
    response: str,
    *,
    title: str,
    size: tuple[int, int],
    margin: float,
    framed: Collection[tuple[str, str]],
) -> ChartType:
    trials = layout.of_panel(panel)
    within = [*layout.comparison.within, "block"]
    marked = trials.select("level", "block", "panel", "x", "trial", "flagged")
    reference = trials.filter(pl.col("level") == layout.reference).select(
        *within, pl.col("flagged").alias("reference_flagged")
    )
    dots = (
        block_ratios(trials, layout.comparison, response)
        .join(marked, on=["level", *within], how="left")
        .join(reference, on=within, how="left")
        .with_columns(
            (pl.col("ratio") - 1).alias("value"), pl.col("flagged") | pl.col("reference_flagged")
        )
    )
    lines = ratios(trials, layout.comparison, response).with_columns(
        (pl.col("ratio") - 1).alias("median")
    )
    if not layout.has_x:
        lines = lines.with_columns(pl.col("level").alias("x"))
    values = [*dots["value"].to_list(), *lines["median"].to_list()]
    reach = max([1.6 * margin, *(1.08 * abs(v) for v in values)])
    domain = [min(-1.6 * margin, 1.08 * min(values, default=0.0)), max(1.6 * margin, reach)]
    if min(values, default=0.0) < 0 and max(values, default=0.0) <= margin:
        domain[1] = 1.6 * margin
    y = {
        "title": title,
        "scale": alt.Scale(domain=domain, nice=False, zero=False),
        "axis": alt.Axis(labelExpr=theme.CHANGE, tickCount=7),
    }
    band = (
        alt.Chart(pl.DataFrame({"low": [-margin], "high": [margin]}))
        .mark_rect(color=theme.MARGIN_BAND)
        .encode(y=alt.Y("low:Q"), y2="high:Q")
    )
    zero = (
        alt.Chart(pl.DataFrame({"zero": [0.0]}))
        .mark_rule(color=theme.REFERENCE, strokeDash=[4, 3], strokeWidth=1.4)
        .encode(y="zero:Q")
    )
    levels = [level for level in layout.levels if level != layout.reference]
    drawn = Panel(layout, panel, levels, size, Span(domain[0], domain[1], is_log=False))
    return drawn.draw(dots, lines, y, shown=_as_change, below=(band, zero), framed=framed)


def _as_change(value: float) -> str:
    return change(value + 1)


def _largest(values: pl.Series) -> float:
    return max(values.to_list(), default=1.0)


def _smallest(values: pl.Series) -> float:
    return min(values.to_list(), default=1.0)
