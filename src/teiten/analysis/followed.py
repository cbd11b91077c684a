"""What a trend takes from one run: the value of one level in one group of trials. Pure."""

from __future__ import annotations

import math
from collections import defaultdict
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

import numpy as np

from teiten.analysis.roles import roles_of

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from teiten.archive import TrialRecord
    from teiten.study import Factor, Study

Missing = Literal["not recorded", "no trial", "not positive", "not complete"]


@dataclass(frozen=True)
class PastRun:
    """What a trend needs of a run. `machine` is its description as recorded, empty if it is not."""

    name: str
    study: Study
    records: Sequence[TrialRecord]
    machine: Mapping[str, object]


@dataclass(frozen=True)
class Question:
    """What is followed: a response; at one level along x (`at`) or over all; to the reference?

    A gap longer than `gap_days` breaks the line; None: it is taken from the usual distance.
    """

    response: str
    at: str | None = None
    relative: bool = False
    gap_days: float | None = None


@dataclass(frozen=True)
class Followed:
    """What a series takes from one run: the labels along x, and all else that tells it apart."""

    group: Mapping[str, str]
    level: str
    reference: str | None
    x: Factor | None
    x_labels: tuple[str, ...]


def followed(study: Study, question: Question) -> list[Followed]:
    """All that is followed of a run of this study, in the study's order."""
    roles = roles_of(study)
    # With `at`, one level of whatever runs along x is followed: nothing is averaged.
    x = roles.averaged if question.at is None else roles.x
    labels = tuple(x.labels) if x is not None else ()
    if question.at is not None:
        if not roles.has_x or question.at not in labels:
            return []
        labels = (question.at,)
    reference = roles.compared.reference_label if question.relative else None
    others = [f for f in study.factor if f is not roles.compared and f is not x]
    groups: list[dict[str, str]] = [{}]
    for factor in others:
        groups = [{**group, factor.name: label} for group in groups for label in factor.labels]
    return [
        Followed(group, level, reference, x, labels)
        for group in groups
        for level in roles.compared.labels
        if level != reference
    ]


@dataclass(frozen=True)
class RunValue:
    """A run's value, those of its complete blocks, and the numbers of its flagged trials.

    `treatments` are those that it is of, factor to label.
    """

    value: float
    by_block: tuple[float, ...]
    flagged: tuple[int, ...]
    treatments: tuple[Mapping[str, str], ...]


def value_of(run: PastRun, part: Followed, response: str) -> RunValue | Missing:
    """The geometric mean over blocks and levels along x (of the ratio to the reference, if asked).

    Where it has none, the reason.
    """
    compared = roles_of(run.study).compared.name
    levels = [part.level] if part.reference is None else [part.level, part.reference]
    chosen = [
        r
        for r in run.records
        if r.levels[compared] in levels
        and all(r.levels[k] == label for k, label in part.group.items())
        and (part.x is None or r.levels[part.x.name] in part.x_labels)
    ]
    values = [(r, r.responses.get(response)) for r in chosen]
    known = [(r, v) for r, v in values if v is not None and math.isfinite(v)]
    if not known:
        return "not recorded" if chosen else "no trial"
    if any(v <= 0 for _, v in known):
        return "not positive"
    cells: dict[int, dict[tuple[str, str], float]] = defaultdict(dict)
    for r, v in known:
        x_label = "" if part.x is None else r.levels[part.x.name]
        cells[r.block][x_label, r.levels[compared]] = math.log(v)
    x_labels = part.x_labels or ("",)
    logs = _log_means(cells, x_labels, part.level, part.reference)
    if logs is None:
        return "not complete"
    return RunValue(
        math.exp(logs[0]),
        tuple(math.exp(log) for log in logs[1]),
        tuple(r.number for r, _ in known if r.flags),
        tuple(
            {**part.group, compared: part.level, **({part.x.name: x} if part.x else {})}
            for x in x_labels
        ),
    )


def _log_means(
    cells: Mapping[int, Mapping[tuple[str, str], float]],
    x_labels: Sequence[str],
    level: str,
    reference: str | None,
) -> tuple[float, list[float]] | None:
    """The mean logarithm, and that of each complete block; None where a cell has no trial at all.

    A mean over fewer cells is another quantity, so incomplete blocks count only where there is no
    complete one; then the cells' means are averaged.
    """

    def of(block: Mapping[tuple[str, str], float], x: str) -> float:
        own = block.get((x, level), math.nan)
        return own if reference is None else own - block.get((x, reference), math.nan)

    table = np.array([[of(block, x) for x in x_labels] for block in cells.values()])
    complete = table[np.isfinite(table).all(axis=1)]
    if len(complete):
        by_block = complete.mean(axis=1)
        return float(by_block.mean()), [float(b) for b in by_block]
    there = np.isfinite(table)
    if not there.any(axis=0).all():
        return None
    return float((np.where(there, table, 0).sum(axis=0) / there.sum(axis=0)).mean()), []
