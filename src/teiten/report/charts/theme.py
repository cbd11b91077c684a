"""How every chart looks: colours, shapes and dashes for any eye, in print and in Japanese.

Colours: Okabe and Ito, "Color Universal Design" (2008). No difference is told by colour alone.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import altair as alt

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from altair.typing import ChartType

FONTS = (
    "'Noto Sans CJK JP', 'Noto Sans JP', 'Hiragino Sans', 'Yu Gothic', Meiryo, "
    "'Helvetica Neue', Arial, sans-serif"
)
WIDTH = 800
HALF_WIDTH = 335
GAP = 60
INK = "#222222"
FAINT_INK = "#6b6b6b"
GRID = "#e6e6e6"
REFERENCE = "#5a5a5a"
MARGIN_BAND = "#e8eef4"
# Vega expressions that write the labels of axes.
NUMBER = (
    "datum.value >= 1e6 ? format(datum.value, ',.4~s') : "
    "datum.value >= 1e3 ? format(datum.value, ',.0f') : format(datum.value, '.5~g')"
)
CHANGE = "abs(datum.value) < 1e-9 ? '0%' : format(datum.value, '+~%')"
BUSY_COLOURS = ("#f7fbff", "#c6dbef", "#6baed6", "#2171b5", "#08306b")
SOFT_COLOURS = ("#fffaf5", "#fdd0a2", "#fd8d3c", "#d94801", "#6b2204")
FLAG = "#000000"
FLAG_SIZE = 80
FLAG_SHAPE = "M-1,-1L1,1M-1,1L1,-1"
_COLOURS = ("#D55E00", "#0072B2", "#009E73", "#CC79A7", "#E69F00", "#56B4E9")
_DIAMOND = "M0,-1.25L1.05,0L0,1.25L-1.05,0Z"  # as heavy to the eye as the other shapes
_SHAPES = ("square", "triangle-up", _DIAMOND, "triangle-down", "triangle-right", "triangle-left")
_DASHES: tuple[list[int], ...] = ([], [7, 3], [2, 2], [8, 3, 2, 3], [4, 2], [1, 3])
MODES = {
    "usr": "#0072B2",
    "sys": "#E69F00",
    "iowait": "#CC79A7",
    "soft": "#D55E00",
    "steal": "#222222",
    "idle": "#ECECEC",
}


def colours(levels: Sequence[str], reference: str, shown: Sequence[str] | None = None) -> alt.Scale:
    """Grey for the reference, a colour for every other level."""
    return _scale(levels, reference, shown, REFERENCE, _COLOURS)


def shapes(levels: Sequence[str], reference: str, shown: Sequence[str] | None = None) -> alt.Scale:
    """A circle for the reference, another shape for every other level."""
    return _scale(levels, reference, shown, "circle", _SHAPES)


def dashes(levels: Sequence[str], reference: str, shown: Sequence[str] | None = None) -> alt.Scale:
    """A dotted line for the reference, another dash for every other level."""
    return _scale(levels, reference, shown, [4, 3], _DASHES)


def line_look(level: str, levels: Sequence[str], reference: str) -> tuple[str, Sequence[float]]:
    """Colour and dash of one level's line, the same as in `colours` and `dashes`."""
    color: str = colours(levels, reference, [level])["range"][0]
    dash: Sequence[float] = dashes(levels, reference, [level])["range"][0]
    return color, dash


def _scale(
    levels: Sequence[str],
    reference: str,
    shown: Sequence[str] | None,
    of_reference: Any,  # noqa: ANN401 - colours, shapes and dashes are of different types
    of_others: Sequence[Any],
) -> alt.Scale:
    """A level keeps its look in charts that show only some of the levels."""
    others = [level for level in levels if level != reference]
    look = {level: of_others[i % len(of_others)] for i, level in enumerate(others)}
    look[reference] = of_reference
    domain = list(levels if shown is None else shown)
    return alt.Scale(domain=domain, range=[look[level] for level in domain])


def titled(chart: ChartType, title: str) -> ChartType:
    """The chart under a title; an empty one takes no room."""
    return chart.properties(title=title) if title else chart


def columns_for(panels: int) -> int:
    """How many panels stand side by side: three at most, and no row with a single one of four."""
    return 2 if panels == 4 else max(1, min(3, panels))  # noqa: PLR2004 - two rows of two


def side_by_side(charts: Sequence[ChartType], columns: int, gap: int = GAP) -> ChartType:
    """Several panels of one idea, `columns` to a row, with the legends they share.

    Flush: panels line up whatever the width of their labels; the `gap` between columns (and the
    room between rows) is for axes and titles.
    """
    if len(charts) == 1:
        return charts[0]
    return alt.concat(*charts, columns=columns, bounds="flush", spacing={"row": 84, "column": gap})


def finish(chart: ChartType) -> Mapping[str, Any]:
    """The chart's specification with the common look."""
    specification: dict[str, Any] = chart.to_dict()
    specification["config"] = _CONFIG
    return specification


_CONFIG: dict[str, Any] = {
    # One description stands for the whole picture; marks that say more ask for it themselves.
    "aria": False,
    "font": FONTS,
    "background": "white",
    "padding": 6,
    "view": {"stroke": None},
    "axis": {
        "labelFontSize": 12,
        "titleFontSize": 12.5,
        "titleFontWeight": "normal",
        "titleColor": INK,
        "labelColor": INK,
        "titlePadding": 8,
        "gridColor": GRID,
        "domainColor": "#9a9a9a",
        "tickColor": "#9a9a9a",
        "labelLimit": 220,
        "titleLimit": 460,
    },
    "axisX": {"grid": False, "labelAngle": 0, "labelOverlap": "greedy"},
    "axisY": {"domain": False, "ticks": False, "tickCount": 6},
    "legend": {
        "orient": "top",
        "direction": "horizontal",
        "titleFontSize": 12.5,
        "titleFontWeight": "normal",
        "labelFontSize": 12.5,
        "labelLimit": 260,
        "symbolSize": 90,
        "symbolStrokeWidth": 2,
        "columnPadding": 22,
        "titleOrient": "left",
        "titlePadding": 8,
        "offset": 8,
    },
    "title": {
        "anchor": "start",
        "frame": "group",
        "fontSize": 13,
        "fontWeight": "bold",
        "color": INK,
        "offset": 10,
        "limit": 780,
    },
    "header": {"labelFontSize": 12.5, "titleFontSize": 12.5, "labelColor": INK},
    "line": {"strokeWidth": 2, "strokeJoin": "round"},
    "point": {"size": 42, "strokeWidth": 1.6},
}
