"""CPU by core as heat maps: over the time of one trial, and over all trials."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import altair as alt
import polars as pl

from teiten.report.charts import theme

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

_ROW_HEIGHT = 13
_FEWEST_HEIGHT = 110


def over_time(
    cells: pl.DataFrame, *, titles: Sequence[str], time_title: str, core_title: str, step_s: float
) -> Mapping[str, Any]:
    """Two heat maps side by side: busy and %soft by core over time.

    `cells` has `start_s`, `cpu`, `busy`, `soft` (percent, means over `step_s`).
    """
    cores = cells["cpu"].n_unique()
    pair = [
        _map(
            cells.with_columns((pl.col("start_s") + step_s).alias("end_s")),
            value=value,
            title=title,
            x=alt.X(
                "start_s:Q",
                title=time_title,
                scale=alt.Scale(nice=False, zero=True),
                axis=alt.Axis(tickMinStep=1, format="d"),
            ),
            x_field="start_s",
            x2="end_s",
            core_title=core_title,
            hues=hues,
            top=top,
            cores=cores,
        )
        for value, title, hues, top in (
            ("busy", titles[0], theme.BUSY_COLOURS, 100.0),
            ("soft", titles[1], theme.SOFT_COLOURS, _top_of(cells, "soft")),
        )
    ]
    return theme.finish(alt.hconcat(*pair, spacing=36).resolve_scale(color="independent"))


def over_treatments(
    cells: pl.DataFrame, *, title: str, x_title: str, core_title: str, order: Sequence[str]
) -> Mapping[str, Any]:
    """%soft by core for every level along the x axis, one panel a level.

    `cells` has `heading`, `x`, `cpu`, `soft`.
    """
    cores = cells["cpu"].n_unique()
    headings = cells["heading"].unique(maintain_order=True).to_list()
    top = _top_of(cells, "soft")
    columns = theme.columns_for(len(headings))
    panels = [
        _map(
            cells.filter(pl.col("heading") == heading),
            value="soft",
            title=heading,
            x=alt.X("x:N", sort=list(order), title=x_title),
            x_field="x",
            x2=None,
            core_title=core_title,
            hues=theme.SOFT_COLOURS,
            top=top,
            cores=cores,
            width=(theme.WIDTH - 60 - theme.GAP * (columns - 1)) // columns,
            legend_title=title,
        )
        for heading in headings
    ]
    return theme.finish(theme.side_by_side(panels, columns=columns))


def _map(
    cells: pl.DataFrame,
    *,
    value: str,
    title: str,
    x: alt.X,
    x_field: str,
    x2: str | None,
    core_title: str,
    hues: Sequence[str],
    top: float,
    cores: int,
    width: int = theme.HALF_WIDTH - 10,
    legend_title: str | None = None,
) -> alt.Chart:
    extent: dict[str, Any] = {"x2": x2} if x2 else {}
    every = max(1, cores // 16)
    cells_wide = cells[x_field].n_unique()
    width -= width % cells_wide if cells_wide < width // 2 else 0
    labelled = [core for core in range(cores) if core % every == 0]
    chart: alt.Chart = (
        alt.Chart(cells)
        .mark_rect(strokeWidth=0)
        .encode(
            x,
            alt.Y("cpu:O", title=core_title, axis=alt.Axis(values=labelled, tickCount=16)),
            alt.Color(
                f"{value}:Q",
                scale=alt.Scale(range=list(hues), domain=[0, top], clamp=True, nice=False),
                legend=alt.Legend(
                    title=legend_title if legend_title is not None else "%",
                    orient="top",
                    gradientLength=150,
                    gradientThickness=10,
                    titleOrient="left",
                    tickCount=3,
                ),
            ),
            **extent,
        )
        .properties(
            width=width, height=max(_FEWEST_HEIGHT, min(cores, 64) * _ROW_HEIGHT), title=title
        )
    )
    return chart


def _top_of(cells: pl.DataFrame, value: str) -> float:
    highest = cells[value].max()
    return max(5.0, float(highest)) if isinstance(highest, int | float) else 5.0
