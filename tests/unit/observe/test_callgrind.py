"""callgrind's output file and the difference of two runs."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from teiten.errors import TeitenError
from teiten.observe.callgrind import SPANS, choose_span, difference_per_tx, parse_summary

# Head and tail of what callgrind 3.19 wrote for a backend of PostgreSQL 17.7.
OUTPUT = """\
# callgrind format
version: 1
creator: callgrind-3.19.0
pid: 8609
cmd:  postgres -D data
part: 1


desc: I1 cache: 
desc: Timerange: Basic block 0 - 44077337
desc: Trigger: Program termination

positions: line
events: Ir
summary: 236065472


ob=(3) /usr/lib/x86_64-linux-gnu/libc.so.6
fl=(8) ???
fn=(8904) __memcpy_avx_unaligned_erms
0 1000
totals: 236065696
"""  # noqa: W291 - as callgrind wrote it


def test_the_count_of_a_real_output() -> None:
    assert parse_summary(OUTPUT) == 236065472


def test_other_events_beside_instructions() -> None:
    assert parse_summary("events: Dr Ir Dw\nsummary: 1 20 3\n") == 20


def test_a_file_cut_short_is_refused() -> None:
    with pytest.raises(TeitenError, match="no summary"):
        parse_summary(OUTPUT[: OUTPUT.index("summary")])


@given(st.integers(1, 10**8), st.integers(0, 10**9), st.integers(1, 100), st.integers(1, 2000))
def test_what_both_runs_share_cancels(per_tx: int, connecting: int, first: int, span: int) -> None:
    runs = (first, first + span)
    counts = (connecting + runs[0] * per_tx, connecting + runs[1] * per_tx)
    assert difference_per_tx(runs, counts) == pytest.approx(per_tx)


@given(st.floats(1.0, 1e12), st.floats(1.0, 2.0))
def test_dearer_transactions_get_no_longer_span(per_tx: float, factor: float) -> None:
    assert choose_span(per_tx) in SPANS
    assert choose_span(per_tx * factor) <= choose_span(per_tx)
