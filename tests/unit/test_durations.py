"""Lengths of time as users write them."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from teiten.durations import duration_s, duration_text
from teiten.errors import UsageError


@pytest.mark.parametrize(
    ("text", "seconds"),
    [
        ("2h", 7200),
        ("90m", 5400),
        ("45s", 45),
        ("1h30m", 5400),
        ("1h0m10s", 3610),
        ("0.5h", 1800),
        (" 2H ", 7200),
    ],
)
def test_hours_minutes_and_seconds(text: str, seconds: float) -> None:
    assert duration_s(text) == seconds


@pytest.mark.parametrize(
    "text", ["", "2", "2 h", "h", "30m1h", "-2h", "0s", "0h0m", "2d", "1h2h", "two hours", "²h"]
)
def test_anything_else_is_refused_in_one_sentence(text: str) -> None:
    with pytest.raises(UsageError) as caught:
        duration_s(text)
    assert repr(text) in str(caught.value)
    assert "1h30m" in str(caught.value)


def test_a_length_without_bound_is_refused() -> None:
    with pytest.raises(UsageError):
        duration_s(f"{'9' * 400}h")


@given(st.integers(1, 10**9))
def test_what_is_written_is_read_back(seconds: int) -> None:
    assert duration_s(duration_text(seconds)) == seconds
