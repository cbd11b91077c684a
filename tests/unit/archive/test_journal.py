"""The journal is right whenever the writer is killed."""

from __future__ import annotations

import os
import resource
import tempfile
from pathlib import Path
from typing import Any, get_args

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from teiten.archive.journal import EventKind, Journal

KINDS: tuple[EventKind, ...] = get_args(EventKind)
COUNTED = ("trial_done", "run_decided", "budget_spent")

VALUES = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=5,
)
DETAILS = st.dictionaries(
    st.sampled_from(["trial", "reason", "seed", "定点", "a b"]), VALUES, max_size=3
)


def _events(
    kinds: list[EventKind], **further: st.SearchStrategy[int]
) -> st.SearchStrategy[tuple[EventKind, dict[str, Any]]]:
    details = st.tuples(DETAILS, st.fixed_dictionaries(further)).map(lambda d: {**d[0], **d[1]})
    return st.tuples(st.sampled_from(kinds), details)


EVENTS: st.SearchStrategy[list[tuple[EventKind, dict[str, Any]]]] = st.lists(
    _events([k for k in KINDS if k not in COUNTED])
    | _events(["trial_done"], trial=st.integers())
    | _events(["run_decided", "budget_spent"], blocks=st.integers()),
    max_size=5,
)


def told(journal: Journal) -> list[tuple[str, dict[str, Any]]]:
    return [(event.kind, dict(event.details)) for event in journal.events()]


def write(folder: Path, events: list[tuple[EventKind, dict[str, Any]]]) -> Journal:
    journal = Journal(folder / "journal.jsonl")
    for kind, details in events:
        journal.append(kind, **details)
    return journal


@settings(deadline=None, max_examples=40)
@given(EVENTS)
def test_what_is_appended_is_read_in_order(events: list[tuple[EventKind, dict[str, Any]]]) -> None:
    with tempfile.TemporaryDirectory() as folder:
        journal = write(Path(folder), events)
        assert told(journal) == events


def test_a_run_that_has_not_begun_has_no_events(tmp_path: Path) -> None:
    journal = Journal(tmp_path / "journal.jsonl")
    assert journal.events() == []
    assert journal.done_trials() == set()


SMALL: list[tuple[EventKind, dict[str, Any]]] = [
    ("run_started", {"study": "比較"}),
    ("trial_started", {"trial": 1}),
    ("trial_done", {"trial": 1}),
    ("trial_failed", {"trial": 2, "reason": "line one\nline two"}),
]


def test_cut_at_any_byte_it_reads_as_fewer_events_and_goes_on(tmp_path: Path) -> None:
    whole = write(tmp_path, SMALL).path.read_bytes()
    journal = Journal(tmp_path / "cut.jsonl")
    for length in range(len(whole) + 1):
        journal.path.write_bytes(whole[:length])
        before = told(journal)
        assert before == SMALL[: len(before)]
        assert len(before) == whole[:length].count(b"\n")
        journal.append("run_resumed", after=length)
        assert told(journal) == [*before, ("run_resumed", {"after": length})]


@settings(deadline=None, max_examples=40)
@given(EVENTS, st.floats(0, 1))
def test_whatever_is_in_it_a_cut_loses_only_the_end(
    events: list[tuple[EventKind, dict[str, Any]]], share_kept: float
) -> None:
    with tempfile.TemporaryDirectory() as folder:
        journal = write(Path(folder), [("run_started", {}), *events])
        os.truncate(journal.path, round(share_kept * journal.path.stat().st_size))
        before = told(journal)
        assert before == [("run_started", {}), *events][: len(before)]
        journal.append("run_finished")
        assert told(journal) == [*before, ("run_finished", {})]


def test_reading_does_not_change_a_torn_journal(tmp_path: Path) -> None:
    journal = write(tmp_path, SMALL)
    torn = journal.path.read_bytes()[:-3]
    journal.path.write_bytes(torn)
    journal.events()
    assert journal.path.read_bytes() == torn


def test_only_trials_that_are_done_count_as_done(tmp_path: Path) -> None:
    journal = write(tmp_path, SMALL)
    assert journal.done_trials() == {1}
    journal.append("trial_done", trial=2)
    journal.append("trial_started", trial=3)
    assert journal.done_trials() == {1, 2}
    os.truncate(journal.path, journal.path.stat().st_size - 1)
    assert journal.done_trials() == {1, 2}


def test_an_event_that_does_not_fit_on_the_disk_is_an_error_and_not_an_event(
    tmp_path: Path,
) -> None:
    journal = write(tmp_path, SMALL)
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    # The kernel takes the first ten bytes and refuses the rest, as a full disk does.
    resource.setrlimit(resource.RLIMIT_FSIZE, (journal.path.stat().st_size + 10, hard))
    try:
        with pytest.raises(OSError, match="File too large"):
            journal.append("trial_done", trial=2)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
    assert told(journal) == SMALL
    journal.append("trial_done", trial=2)
    assert told(journal) == [*SMALL, ("trial_done", {"trial": 2})]
