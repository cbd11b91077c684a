"""CPU by mode, stacked, along the x axis: one panel a level (and combination of others)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import altair as alt
import polars as pl

from teiten.report.charts import theme

if TYPE_CHECKING:
    from collections.abc import Mapping

    from teiten.report.layout import Layout


def cpu_modes(layout: Layout, modes: pl.DataFrame, *, title: str) -> Mapping[str, Any]:
    """Stack the modes in `modes` (columns `level`, `x`, `panel`, `mode`, `pct`) up to 100%."""
    order = {mode: place for place, mode in enumerate(theme.MODES)}
    numbered = modes.with_columns(
        pl.col("mode").replace_strict(order, return_dtype=pl.Int64).alias("place")
    )
    groups = [
        (level, panel)
        for panel in layout.panels
        for level in (layout.levels if layout.has_x else [""])
        if numbered.filter(_of(layout, level, panel)).height
    ]
    columns = theme.columns_for(len(groups))
    width = (theme.WIDTH - 60 - theme.GAP * (columns - 1)) // columns
    color = alt.Color(
        "mode:N",
        scale=alt.Scale(
            domain=[f"%{mode}" for mode in theme.MODES], range=list(theme.MODES.values())
        ),
        legend=alt.Legend(title=None, symbolType="square", symbolStrokeWidth=0),
    )
    charts = []
    for number, (level, panel) in enumerate(groups):
        heading = ", ".join(part for part in (level, panel) if part)
        chart = (
            alt.Chart(
                numbered.filter(_of(layout, level, panel)).with_columns(
                    pl.concat_str(pl.lit("%"), pl.col("mode")).alias("mode")
                )
            )
            .mark_bar(stroke="white", strokeWidth=0.6)
            .encode(
                alt.X(
                    "x:N",
                    sort=layout.x_labels,
                    title=layout.title(layout.x),
                    scale=alt.Scale(domain=layout.x_labels, paddingInner=0.15),
                ),
                alt.Y(
                    "pct:Q",
                    title=title if number % columns == 0 else None,
                    scale=alt.Scale(domain=[0, 100], nice=False),
                    axis=alt.Axis(tickCount=5),
                ),
                color,
                alt.Order("place:Q"),
            )
            .properties(width=width, height=210)
        )
        charts.append(theme.titled(chart, heading))
    return theme.finish(theme.side_by_side(charts, columns=columns))


def _of(layout: Layout, level: str, panel: str) -> pl.Expr:
    of_panel = pl.col("panel") == panel
    return of_panel & (pl.col("level") == level) if layout.has_x else of_panel
