"""One response over many runs of a study: what changed, when, and where lines must not be drawn.

The unit is the run: its value for a level of the compared factor is the geometric mean over blocks
and over the levels along x. Runs stand on one line only if they were made on one host under the
same conditions (`likeness.py`), and no gap is much longer than the usual distance between runs.
Change points are looked for within such a stretch alone. Pure.
"""

from __future__ import annotations

import math
from collections import defaultdict
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

import numpy as np

from teiten.analysis.followed import RunValue, followed, value_of
from teiten.analysis.likeness import conditions_of, differences, stands_for
from teiten.analysis.roles import roles_of
from teiten.environment.identity import host_identity, same_host
from teiten.stats.change_points import change_points, serial_correlation, smallest_p

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from teiten.analysis.followed import Followed, Missing, PastRun, Question
    from teiten.analysis.likeness import Conditions
    from teiten.environment.identity import HostIdentity
    from teiten.stats.change_points import ChangePoint, SerialCorrelation

FALSE_ALARMS = 0.05
"""The probability of any change point in all series together when nothing changes."""

_Key = tuple[frozenset[tuple[str, str]], str, str | None]  # group, level, reference

_DAY_S = 86_400.0
_GAP_FACTOR = 1.75
_LEAST_GAP_DAYS = 90.0
_USUAL_SHARE = 1 / 3
_CAUTION_P = 0.05
_LEAST_P = 1e-4
_CLEAR_LENGTH = 24  # as many runs show a clear change at any share; more take time to simulate


@dataclass(frozen=True)
class Entry:
    """A run's value in a series, with its range over complete blocks (None: fewer than two).

    `flagged` are the numbers of the flagged trials in it. Entries of a series that have the same
    `kind` were made on one host under the same conditions, and can be compared.
    """

    run: str
    at_s: float
    value: float
    lowest: float | None
    highest: float | None
    blocks: int
    flagged: tuple[int, ...]
    stands_for: str
    kind: int


@dataclass(frozen=True)
class Break:
    """Where a line ends, between two times; `what` are the differences, for a gap its days."""

    kind: Literal["host", "set-up", "gap"]
    after_s: float
    before_s: float
    what: tuple[str, ...]
    days: float = 0.0


@dataclass(frozen=True)
class Change:
    """A change of level, from entry `before` to entry `after`; `change` is the ratio less 1.

    With 95% confidence the first run of the new level is one of `earliest` to `latest`.
    """

    before: int
    after: int
    earliest: int
    latest: int
    change: float
    lower: float
    upper: float
    p: float


@dataclass(frozen=True)
class Stretch:
    """Entries (their indices) on one unbroken line, and the changes found among them.

    `testable`: whether so few runs could show any change at the level that is tested at.
    `dependence`: the serial correlation of neighbours, where it is more than chance makes it.
    """

    entries: tuple[int, ...]
    testable: bool
    changes: tuple[Change, ...]
    dependence: SerialCorrelation | None


@dataclass(frozen=True)
class Series:
    """One level of the compared factor in one group of trials, over the runs, by time."""

    group: Mapping[str, str]
    level: str
    reference: str | None
    entries: tuple[Entry, ...]
    stretches: tuple[Stretch, ...]
    breaks: tuple[Break, ...]


@dataclass(frozen=True)
class Trend:
    """All series of a response.

    `alpha` is the level of each stretch's test: FALSE_ALARMS shared among those that are tested;
    at that level the clearest change shows in `fewest` runs. `left_out` maps runs without a value
    in some series to why.
    """

    question: Question
    series: tuple[Series, ...]
    alpha: float
    fewest: int
    left_out: Mapping[str, Missing]

    @property
    def changes(self) -> int:
        """How many change points there are."""
        return sum(len(stretch.changes) for s in self.series for stretch in s.stretches)


def trend_of(runs: Iterable[PastRun], question: Question) -> Trend:
    """Follow a response over `runs` (in any order)."""
    ordered = sorted(runs, key=lambda run: run.records[0].started_at_s)
    kinds = _Kinds()
    parts: dict[_Key, Followed] = {}
    entries: dict[_Key, list[Entry]] = defaultdict(list)
    left_out: dict[str, Missing] = {}
    for run in ordered:
        for part in followed(run.study, question):
            entry = _entry(run, part, question, kinds)
            if isinstance(entry, Entry):
                key = (frozenset(part.group.items()), part.level, part.reference)
                parts.setdefault(key, part)
                entries[key].append(entry)
            else:
                left_out.setdefault(run.name, entry)
    times = [run.records[0].started_at_s for run in ordered]
    gap_s = gap_that_breaks_s(times) if question.gap_days is None else question.gap_days * _DAY_S
    lines = {key: _lines(own, gap_s) for key, own in entries.items()}
    shortest, alpha = _shared([len(line) for own in lines.values() for line in own])
    series = tuple(
        Series(
            part.group,
            part.level,
            part.reference,
            tuple(entries[key]),
            tuple(_stretch(entries[key], line, shortest, alpha) for line in lines[key]),
            tuple(_breaks(entries[key], gap_s, kinds)),
        )
        for key, part in parts.items()
    )
    fewest = next(n for n in range(2, _CLEAR_LENGTH + 1) if smallest_p(n) <= max(alpha, _LEAST_P))
    return Trend(question, series, alpha, fewest, left_out)


def gap_that_breaks_s(times_s: Sequence[float]) -> float:
    """How long a gap between runs must be to break a line.

    1.75 times the usual distance, and at least 90 days. The usual distance is the shortest such
    that gaps up to it make up a third of the whole time: so runs in bursts once a year are usually
    a year apart, and a year without them is a gap.
    """
    gaps = np.sort(np.diff(np.sort(np.asarray(times_s, dtype=np.float64))))
    if not len(gaps) or gaps[-1] <= 0:
        return math.inf
    reached = np.cumsum(gaps) >= _USUAL_SHARE * gaps.sum()
    usual_s = float(gaps[int(np.argmax(reached))])
    return max(_GAP_FACTOR * usual_s, _LEAST_GAP_DAYS * _DAY_S)


def _entry(run: PastRun, part: Followed, question: Question, kinds: _Kinds) -> Entry | Missing:
    found = value_of(run, part, question.response)
    if not isinstance(found, RunValue):
        return found
    compared = roles_of(run.study).compared.name
    conditions = conditions_of(run.study, found.treatments, compared)
    several = len(found.by_block) > 1
    return Entry(
        run=run.name,
        at_s=run.records[0].started_at_s,
        value=found.value,
        lowest=min(found.by_block) if several else None,
        highest=max(found.by_block) if several else None,
        blocks=len(found.by_block),
        flagged=found.flagged,
        stands_for=stands_for(run.study, compared, part.level),
        kind=kinds.number(conditions, host_identity(run.machine)),
    )


class _Kinds:
    """Numbers the combinations of conditions and host in the order in which they are met."""

    def __init__(self) -> None:
        self.known: list[tuple[Conditions, HostIdentity]] = []

    def number(self, conditions: Conditions, host: HostIdentity) -> int:
        for number, (own, on) in enumerate(self.known):
            if own == conditions and same_host(on, host):
                return number
        self.known.append((conditions, host))
        return len(self.known) - 1


def _lines(entries: Sequence[Entry], gap_s: float) -> list[tuple[int, ...]]:
    """Indices of the entries on each unbroken line: one kind, no long gap."""
    lines: list[list[int]] = []
    last: dict[int, list[int]] = {}
    for i, entry in enumerate(entries):
        line = last.get(entry.kind)
        if line is None or entry.at_s - entries[line[-1]].at_s > gap_s:
            line = last[entry.kind] = []
            lines.append(line)
        line.append(i)
    return [tuple(line) for line in lines]


def _breaks(entries: Sequence[Entry], gap_s: float, kinds: _Kinds) -> list[Break]:
    found: list[Break] = []
    newest: dict[int, float] = {}
    for i, entry in enumerate(entries):
        before = entries[i - 1] if i else None
        if before is not None and entry.kind not in newest:
            found.append(_break_of_kind(before, entry, kinds))
        elif before is not None and entry.at_s - newest[entry.kind] > gap_s:
            at_s = newest[entry.kind]
            days = (entry.at_s - at_s) / _DAY_S
            found.append(Break("gap", at_s, entry.at_s, (), days))
        newest[entry.kind] = entry.at_s
    return found


def _break_of_kind(before: Entry, entry: Entry, kinds: _Kinds) -> Break:
    (old, old_host), (new, new_host) = kinds.known[before.kind], kinds.known[entry.kind]
    moved = [] if same_host(old_host, new_host) else differences(old_host, new_host)
    if old != new:
        what = (*differences(old, new), *moved)
        return Break("set-up", before.at_s, entry.at_s, what)
    return Break("host", before.at_s, entry.at_s, tuple(moved))


def _shared(lengths: Sequence[int]) -> tuple[int, float]:
    """The length of the shortest stretch that is tested, and the level of each test.

    FALSE_ALARMS is shared equally (Bonferroni) among all stretches of at least that many runs:
    as many as possible such that each of them can show a change at its share. This depends on the
    lengths alone, not on the values, so the sum stays a bound.
    """
    for shortest in sorted(set(lengths)):
        share = FALSE_ALARMS / sum(n >= shortest for n in lengths)
        if _smallest_p(shortest) <= share:
            return shortest, share
    return max(lengths, default=0) + 1, FALSE_ALARMS / max(1, len(lengths))


def _smallest_p(n: int) -> float:
    return smallest_p(min(n, _CLEAR_LENGTH))


def _stretch(
    entries: Sequence[Entry], line: tuple[int, ...], shortest: int, alpha: float
) -> Stretch:
    if len(line) < shortest:
        return Stretch(line, testable=False, changes=(), dependence=None)
    values = np.log([entries[i].value for i in line])
    points = change_points(values, alpha)
    dependence = serial_correlation(values, [point.index for point in points])
    return Stretch(
        line,
        testable=True,
        changes=tuple(_change(point, line) for point in points),
        dependence=dependence if dependence and dependence.p <= _CAUTION_P else None,
    )


def _change(point: ChangePoint, line: tuple[int, ...]) -> Change:
    return Change(
        before=line[point.index - 1],
        after=line[point.index],
        earliest=line[point.earliest],
        latest=line[point.latest],
        change=math.expm1(point.shift),
        lower=math.expm1(point.lower),
        upper=math.expm1(point.upper),
        p=point.p,
    )
