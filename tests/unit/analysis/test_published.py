from __future__ import annotations

from datetime import UTC, datetime

import pytest

from teiten.analysis.published import laid_under, read_published
from teiten.errors import UsageError

# The update load of a published comparison, as its ratio table prints it.
RATIOS = b"""date,level,group,x,value,label
2024,17.2,update,1,1.0,report
2024,17.2,update,16,0.99,report
2024,17.2,update,1024,1.05,report
"""


def test_figures_are_read_and_averaged_over_x() -> None:
    figures = read_published(RATIOS, "f.csv")
    assert [f.x for f in figures] == ["1", "16", "1024"]
    (mean,) = laid_under(figures, at=None)
    assert mean.value == pytest.approx((1.0 * 0.99 * 1.05) ** (1 / 3))
    assert (mean.level, mean.group, mean.label) == ("17.2", "update", "report")
    (one,) = laid_under(figures, at="1024")
    assert one.value == pytest.approx(1.05)


@pytest.mark.parametrize(
    ("text", "day"),
    [("2011", (2011, 7, 2)), ("2011-03", (2011, 3, 15)), ("2011-03-09", (2011, 3, 9))],
)
def test_a_year_or_a_month_stands_for_its_middle(text: str, day: tuple[int, int, int]) -> None:
    (figure,) = read_published(f"value;date\n3,5;{text}\n".replace("3,5", "3.5").encode(), "f")
    assert figure.at_s == datetime(*day, 12, tzinfo=UTC).timestamp()
    assert (figure.value, figure.level) == (3.5, "")


def test_columns_that_are_not_known_are_passed_over() -> None:
    (figure,) = read_published(b"page,date,value\n7,2011,3\n", "f")
    assert figure.value == 3


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b"", "f.csv has no figures"),
        (b"date,value\n", "f.csv has no figures"),
        (b"year,value\n2011,3\n", "no column date: name its columns date and value"),
        (b"date,tps\n2011,3\n", "no column value"),
        (b"date,value\n2011,-3\n", "f.csv, line 2, column value: \u201c-3\u201d is not a positive"),
        (b"date,value\n2011,3\n\n2012,1e999\n", "line 4, column value"),
        (b"date,value\nlast year,3\n", "line 2, column date: \u201clast year\u201d is no date"),
        (b"date,value\n2011-13,3\n", "2024-11-01"),
        (b"date,value\n0000,3\n", "is no date"),
        (b"date,value\n2011,3,4\n", "3 cells where the header has 2"),
        (b"date,value\n2011,\xff\n", "not UTF-8"),
    ],
)
def test_a_bad_table_is_told_with_its_place(content: bytes, said: str) -> None:
    with pytest.raises(UsageError) as caught:
        read_published(content, "f.csv")
    assert said in str(caught.value)
    assert str(caught.value).endswith(".")
