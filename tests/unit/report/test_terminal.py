"""Tables on a terminal of any width."""

from __future__ import annotations

import pytest

from teiten.report.document import Cell, Table
from teiten.report.terminal import fitted


@pytest.mark.parametrize(
    ("width", "expected"),
    [
        (60, ["1.0142 (0.9 … 1.1)", "x y"]),
        (20, ["1.0142\n(0.9 … 1.1)", "x y"]),
        (14, ["1.0142", "x y"]),
    ],
)
def test_ranges_give_way_before_a_figure_is_broken(width: int, expected: list[str]) -> None:
    row = (Cell("1.0142 (0.9 … 1.1)"), Cell("x y"))
    table = Table(title="t", header=("a", "b"), rows=(row,), numeric=(True, False))
    assert fitted(table, width) == [expected]
