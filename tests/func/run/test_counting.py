"""Counted instructions tell treatments apart, and nothing else: real servers under valgrind."""

from __future__ import annotations

import shutil
from typing import TYPE_CHECKING

import pytest

from teiten.archive import open_run

if TYPE_CHECKING:
    from tests.func.run.conftest import Teiten

pytestmark = pytest.mark.skipif(
    shutil.which("valgrind") is None, reason="valgrind is not installed"
)

STUDY = """
name = "counted"
title = {{ en = "Counted" }}
blocks = 1
seed = 7
[setup]
server = "npm:18.1"
data = {{ kind = "pgbench", scale = 1 }}
load = {{ kind = "pgbench", script = "{script}", duration_s = 1{load} }}
reset = "study"
observe = ["callgrind"]
[setup.settings]
shared_buffers = "64MB"
autovacuum = false
[[factor]]
{factor}
"""


def counts(teiten: Teiten, *, script: str, factor: str, load: str = "") -> list[float]:
    """Run both treatments once; return what was counted, in the order of the levels."""
    teiten.study.write_text(STUDY.format(script=script, factor=factor, load=load))
    done = teiten.run("run", str(teiten.study))
    assert done.returncode == 0, done.stderr
    trials = open_run(teiten.run_folder()).trials.sort("treatment")
    return trials["callgrind_instructions_per_tx"].to_list()


def test_an_update_costs_the_same_whatever_was_updated_before(teiten: Teiten) -> None:
    # One data directory for both: the second trial finds what the first one left.
    first, second = counts(
        teiten, script="update.sql", factor='name = "version"\nlevels = { a = {}, b = {} }'
    )
    assert first > 50_000
    assert second == pytest.approx(first, rel=0.001)


def test_rows_are_a_factor_and_one_percent_more_of_them_is_seen(teiten: Teiten) -> None:
    fewer, more = counts(
        teiten,
        script="readonly.sql",
        load=", transactions_per_client = 1",
        factor='name = "rows"\nkey = "load.variables.row_count"\nlevels = [1000, 1010]',
    )
    # 1.0% of the rows; parsing and planning are the same.
    assert 1.007 < more / fewer < 1.0105
