"""Transactions by second inside the trials, so that stalls are seen."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import altair as alt
import polars as pl

from teiten.report.charts import theme
from teiten.report.charts.scales import round_top

if TYPE_CHECKING:
    from collections.abc import Mapping

    from altair.typing import ChartType

    from teiten.report.layout import Layout

_COLUMNS = 3
_LABELS_PX = 66


def by_second(
    layout: Layout, series: pl.DataFrame, *, title: str, time_title: str
) -> Mapping[str, Any]:
    """Small panels, one for each x value: a thin line a trial, coloured by the compared level.

    `series` has `trial`, `level`, `x`, `panel`, `second`, `tps`.
    """
    places = [
        (panel, x)
        for panel in layout.panels
        for x in layout.x_labels
        if series.filter((pl.col("panel") == panel) & (pl.col("x") == x)).height
    ]
    columns = min(_COLUMNS, max(1, len(places)))
    width = (theme.WIDTH - 50 - _LABELS_PX * (columns - 1)) // columns
    levels = layout.levels
    longest = max(series["second"].to_list())
    charts: list[ChartType] = []
    for number, (panel, x) in enumerate(places):
        named = f"{layout.title(layout.x)}: {x}"
        legend = alt.Legend(title=layout.title(layout.compared))
        own = series.filter((pl.col("panel") == panel) & (pl.col("x") == x))
        highest = max(own["tps"].to_list())
        chart: ChartType = (
            alt.Chart(own)
            .mark_line(strokeWidth=1, opacity=0.8)
            .encode(
                alt.X(
                    "second:Q",
                    title=time_title if number >= len(places) - columns else None,
                    axis=alt.Axis(tickCount=5),
                    scale=alt.Scale(domain=[0, longest], nice=False),
                ),
                alt.Y(
                    "tps:Q",
                    title=title if number % columns == 0 else None,
                    axis=alt.Axis(tickCount=4, labelExpr=theme.NUMBER),
                    scale=alt.Scale(domain=[0, round_top(highest)], nice=False),
                ),
                alt.Color("level:N", scale=theme.colours(levels, layout.reference), legend=legend),
                alt.StrokeDash(
                    "level:N", scale=theme.dashes(levels, layout.reference), legend=legend
                ),
                alt.Detail("trial:N"),
            )
            .properties(width=width, height=92)
        )
        heading = ", ".join(part for part in (named, panel) if part)
        charts.append(theme.titled(chart, heading))
    return theme.finish(theme.side_by_side(charts, columns=columns, gap=_LABELS_PX))
