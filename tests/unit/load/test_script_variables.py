"""Variables of a load script, given from outside."""

from __future__ import annotations

from importlib import resources

import pytest
from hypothesis import given
from hypothesis import strategies as st

from teiten.load.pgbench import with_variables

READ = (resources.files("teiten.load") / "scripts" / "readonly.sql").read_text(encoding="utf-8")


def test_the_rows_of_the_read_script_can_be_given() -> None:
    given_rows = with_variables(READ, {"row_count": 10_010})
    assert "\\set row_count 10010\n" in given_rows
    assert given_rows.replace("10010", "10000") == READ


@given(st.text(), st.dictionaries(st.just("never_set"), st.integers()))
def test_a_script_without_the_variable_is_left_alone(
    script: str, variables: dict[str, int]
) -> None:
    assert with_variables(script, variables) == script


@pytest.mark.parametrize(
    ("script", "expected"),
    [
        ("\\set n 1\n\\set nn 2\n", "\\set n 7\n\\set nn 2\n"),
        ("\\set n random(1, \\\n  :m)\nSELECT :n;\n", "\\set n 7\nSELECT :n;\n"),
        ("  \\set\tn  1 + :x", "  \\set\tn 7"),
        ("SELECT 'set n 1';\n", "SELECT 'set n 1';\n"),
    ],
)
def test_a_set_command_is_replaced_whole(script: str, expected: str) -> None:
    assert with_variables(script, {"n": 7}) == expected
