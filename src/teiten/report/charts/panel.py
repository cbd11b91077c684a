"""One panel of a chart along the x axis: lines of medians, dots of trials, flags, labels."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import altair as alt
import polars as pl

from teiten.report.charts import theme
from teiten.report.charts.scales import Span, keep_apart

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Mapping, Sequence

    from altair.typing import ChartType

    from teiten.report.layout import Layout

_DOT_PX = 9
_TICK_PX = 34
_FRAME_PX = 12
_FRAME_ROOM_PX = 7
_LABEL_PX = 15
_MOST_LABELS = 6


@dataclass(frozen=True)
class Panel:
    """Where and how large: `levels` are those of the compared factor that are shown."""

    layout: Layout
    title: str
    levels: Sequence[str]
    size: tuple[int, int]
    span: Span

    def draw(
        self,
        dots: pl.DataFrame,
        medians: pl.DataFrame,
        y: Mapping[str, Any],
        *,
        shown: Callable[[float], str],
        below: Sequence[ChartType] = (),
        framed: Collection[tuple[str, str]] = (),
    ) -> ChartType:
        """Layer everything.

        `dots` has `level`, `x`, `trial`, `flagged`, `value`; `medians` has `level`, `x`, `median`;
        `y` are the options of the y axis; `shown` writes a value for a reader; around the dots of
        the `framed` (level, x) a frame is drawn.
        """
        points = (
            alt.Chart(dots.with_columns(self._description(shown)))
            .mark_point(filled=True, opacity=0.8, aria=True)
            .encode(
                self._x(),
                alt.Y("value:Q", **y),
                self._color(),
                alt.Shape(
                    "level:N",
                    scale=theme.shapes(self.layout.levels, self.layout.reference, self.levels),
                    legend=self._legend(),
                ),
                description=alt.Description("description:N"),
                **self._offset(),
            )
        )
        flags = (
            alt.Chart(dots.filter(pl.col("flagged")))
            .mark_point(
                shape=theme.FLAG_SHAPE, size=theme.FLAG_SIZE, color=theme.FLAG, strokeWidth=1.2
            )
            .encode(self._x(), alt.Y("value:Q", **y), **self._offset())
        )
        frames = self._frames(dots, framed, y)
        layers = [*below, *self._medians(medians, y), points, flags, *frames]
        layers += self._labels(medians)
        chart: ChartType = alt.layer(*layers).properties(width=self.size[0], height=self.size[1])
        return theme.titled(chart, self.title)

    def _medians(self, medians: pl.DataFrame, y: Mapping[str, Any]) -> list[ChartType]:
        """A line a level where the x axis is numeric, else a bar for each median.

        Lines carry their look themselves: through a scale it would get into the dots' legend.
        """
        median = alt.Y("median:Q", **y)
        if not self.layout.x_is_numeric:
            bar = alt.Chart(medians).mark_tick(thickness=2.5, size=26, orient="horizontal")
            return [bar.encode(self._x(), median, self._color(), **self._offset())]
        if not self.layout.has_x:
            line = alt.Chart(medians).mark_line(color=theme.REFERENCE)
            return [line.encode(self._x(), median)]
        lines: list[ChartType] = []
        for level in self.levels:
            color, dash = theme.line_look(level, self.layout.levels, self.layout.reference)
            line = alt.Chart(medians.filter(pl.col("level") == level)).mark_line(
                color=color, strokeDash=dash
            )
            lines.append(line.encode(self._x(), median))
        return lines

    def _frames(
        self, dots: pl.DataFrame, framed: Collection[tuple[str, str]], y: Mapping[str, Any]
    ) -> list[ChartType]:
        """A rectangle around all dots of each framed level and x: seen in print and by any eye."""
        rows = [
            {
                "level": level,
                "x": x,
                "low": self.span.moved(min(values), -_FRAME_ROOM_PX / self.size[1]),
                "high": self.span.moved(max(values), _FRAME_ROOM_PX / self.size[1]),
            }
            for level, x in sorted(framed)
            if (values := self._values(dots, level, x))
        ]
        if not rows:
            return []
        bar = alt.Chart(pl.DataFrame(rows)).mark_bar(
            filled=False,
            stroke=theme.INK,
            strokeWidth=1.3,
            cornerRadius=2,
            size=_FRAME_PX if self.layout.x_is_numeric else _TICK_PX - 2,
        )
        return [bar.encode(self._x(), alt.Y("low:Q", **y), alt.Y2("high:Q"), **self._offset())]

    @staticmethod
    def _values(dots: pl.DataFrame, level: str, x: str) -> list[float]:
        found = dots.filter((pl.col("level") == level) & (pl.col("x") == x))
        return found["value"].drop_nulls().to_list()

    def _labels(self, medians: pl.DataFrame) -> list[ChartType]:
        """The levels' names at the ends of their lines."""
        if not (self.layout.x_is_numeric and self.layout.has_x) or len(self.levels) > _MOST_LABELS:
            return []
        ends = medians.filter(pl.col("x") == self.layout.x_labels[-1]).sort("median")
        shares = [self.span.to_share(value) for value in ends["median"]]
        places = keep_apart(shares, _LABEL_PX / self.size[1])
        texts: list[ChartType] = []
        for (level, x), place in zip(ends.select("level", "x").iter_rows(), places, strict=True):
            color, _ = theme.line_look(level, self.layout.levels, self.layout.reference)
            spot = pl.DataFrame(
                {"x": [x], "median": [self.span.from_share(place)], "text": [level]}
            )
            text = alt.Chart(spot).mark_text(
                align="left", dx=8 + _DOT_PX * len(self.levels) / 2, fontSize=12, color=color
            )
            texts.append(text.encode(self._x(), alt.Y("median:Q"), alt.Text("text:N")))
        return texts

    def _x(self) -> alt.X:
        labels = self.layout.x_labels if self.layout.has_x else list(self.levels)
        step = self.size[0] / len(labels)
        wanted = _DOT_PX if self.layout.x_is_numeric else _TICK_PX
        band = min(0.8 * step, wanted * len(self.levels))
        return alt.X(
            "x:N",
            sort=labels,
            title=self.layout.title(self.layout.x),
            scale=alt.Scale(domain=labels, paddingInner=1 - band / step, paddingOuter=0.4),
        )

    def _offset(self) -> dict[str, Any]:
        if not self.layout.has_x or len(self.levels) < 2:  # noqa: PLR2004 - one needs no room
            return {}
        levels = list(self.levels)
        return {"xOffset": alt.XOffset("level:N", sort=levels, scale=alt.Scale(domain=levels))}

    def _color(self) -> alt.Color:
        scale = theme.colours(self.layout.levels, self.layout.reference, self.levels)
        return alt.Color("level:N", scale=scale, legend=self._legend())

    def _legend(self) -> alt.Legend | None:
        if not self.layout.has_x:
            return None
        return alt.Legend(title=self.layout.title(self.layout.compared))

    def _description(self, shown: Callable[[float], str]) -> pl.Expr:
        parts = [pl.col("level")]
        if self.layout.has_x:
            parts.append(pl.concat_str(pl.lit(f"{self.layout.title(self.layout.x)} "), pl.col("x")))
        parts.append(pl.concat_str(pl.lit("#"), pl.col("trial").cast(pl.String)))
        parts.append(pl.col("value").map_elements(shown, return_dtype=pl.String))
        return pl.concat_str(*parts, separator=", ").alias("description")
