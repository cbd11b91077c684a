"""Responses in the order of the run, so that drift shows."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import altair as alt
import polars as pl

from teiten.report.charts import theme

if TYPE_CHECKING:
    from collections.abc import Mapping

    from teiten.report.layout import Layout

_LEAST_REACH = 1e-4


def order_of_run(
    layout: Layout, response: str, *, title: str, trial_title: str, block_word: str
) -> Mapping[str, Any]:
    """Each trial against the median of its treatment, by its place in the run."""
    points = (
        layout.trials.filter(pl.col(response).is_not_null())
        .with_columns(
            (pl.col(response) / pl.col(response).median().over("treatment") - 1).alias("y")
        )
        .filter(pl.col("y").is_finite())
        .select("trial", "block", "level", "flagged", "y")
    )
    blocks = (
        points.group_by("block")
        .agg((pl.col("trial").min() - 0.5).alias("first"), pl.lit(block_word).alias("word"))
        .with_columns(pl.format("{} {}", "word", "block").alias("word"))
    )
    furthest = points["y"].abs().max()
    reach = max(_LEAST_REACH, 1.15 * (furthest if isinstance(furthest, float) else 0.0))
    x = alt.X(
        "trial:Q",
        title=trial_title,
        scale=alt.Scale(domain=[0.5, max(layout.trials["trial"].to_list()) + 0.5], nice=False),
        axis=alt.Axis(tickMinStep=1, format="d"),
    )
    y = alt.Y(
        "y:Q",
        title=title,
        scale=alt.Scale(domain=[-reach, reach], nice=False),
        axis=alt.Axis(labelExpr=theme.CHANGE, tickCount=5),
    )
    zero = (
        alt.Chart(pl.DataFrame({"y": [0.0]}))
        .mark_rule(color=theme.REFERENCE, strokeDash=[4, 3])
        .encode(y=y)
    )
    borders = (
        alt.Chart(blocks).mark_rule(color="#b5b5b5").encode(alt.X("first:Q", title=trial_title))
    )
    words = (
        alt.Chart(blocks)
        .mark_text(align="left", dx=5, dy=9, color=theme.FAINT_INK, fontSize=12)
        .encode(alt.X("first:Q"), y=alt.value(0), text="word:N")
    )
    levels = layout.levels
    legend = alt.Legend(title=layout.title(layout.compared))
    dots = (
        alt.Chart(points)
        .mark_point(filled=True, opacity=0.85)
        .encode(
            x,
            y,
            alt.Color("level:N", scale=theme.colours(levels, layout.reference), legend=legend),
            alt.Shape("level:N", scale=theme.shapes(levels, layout.reference), legend=legend),
        )
    )
    flags = (
        alt.Chart(points.filter(pl.col("flagged")))
        .mark_point(shape=theme.FLAG_SHAPE, size=theme.FLAG_SIZE, color=theme.FLAG, strokeWidth=1.2)
        .encode(x, y)
    )
    chart = alt.layer(borders, zero, dots, flags, words).properties(
        width=theme.WIDTH - 60, height=190
    )
    return theme.finish(chart)
