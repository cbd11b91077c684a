"""From the records of a run to what is analysed: one response in one group of like trials."""

from __future__ import annotations

import itertools
import math
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from teiten.analysis.roles import roles_of
from teiten.responses import RESPONSES
from teiten.stats.observations import Column, Observations

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from numpy.typing import NDArray

    from teiten.analysis.roles import Roles
    from teiten.archive import TrialRecord
    from teiten.study import Study

HEADLINE_RESPONSES = (
    "tps",
    "latency_mean_ms",
    "latency_p99_ms",
    "instructions_per_tx",
    "callgrind_instructions_per_tx",
    "cycles_per_tx",
    "server_cpu_us_per_tx",
)
"""Responses that are compared wherever they were recorded, asked for or not."""


@dataclass(frozen=True)
class ResponseGroup:
    """One response of the trials that agree in all separating factors (`group`: their labels).

    The first factor of `observations` is the compared one, with levels in the study's order. The
    second is the factor along x, if means go over it and two or more of its levels have trials (a
    response such as valgrind's count may be recorded at one alone). The response is as recorded
    (not a logarithm), positive and finite. `trials` are the trials' numbers in the order of the
    run, shape (n,), increasing.
    """

    response: str
    group: Mapping[str, str]
    observations: Observations
    trials: NDArray[np.intp]
    reference: str

    @property
    def levels(self) -> tuple[str, ...]:
        """The levels of the compared factor that have trials."""
        return self.observations.factors[0].levels

    @property
    def x_labels(self) -> tuple[str, ...]:
        """The levels along x that have trials; empty when there is no such factor."""
        return self.observations.factors[1].levels if len(self.observations.factors) > 1 else ()

    @property
    def others(self) -> tuple[str, ...]:
        """The levels to be compared to the reference; empty when the reference has no trial."""
        if self.reference not in self.levels:
            return ()
        return tuple(level for level in self.levels if level != self.reference)

    @property
    def blocks(self) -> int:
        """How many blocks have trials."""
        return len(self.observations.block.levels)


def verdict_responses(study: Study, records: Iterable[TrialRecord]) -> tuple[str, ...]:
    """The responses of which verdicts are given, headline responses first.

    They have a better direction, and some trial recorded a positive value: to the others there is
    no ratio.
    """
    positive = {name for record in records for name, value in record.responses.items() if value > 0}
    asked = (
        name
        for name in study.asked_responses()
        if name in RESPONSES and RESPONSES[name].better != "neither"
    )
    names = dict.fromkeys([*HEADLINE_RESPONSES, *asked])
    return tuple(name for name in names if name in positive)


def response_groups(
    study: Study, records: Sequence[TrialRecord], responses: Sequence[str] | None = None
) -> tuple[ResponseGroup, ...]:
    """Every response (those of `verdict_responses`, unless named) in every group of trials.

    Trials without the response are left out. Where a trial of the group recorded a value that is
    not positive, the response is left out for the whole group: its ratios mean nothing there, and
    leaving out the trial alone would choose trials by their result. Levels of the compared factor
    without a trial are dropped, and then those along x at which a remaining level has none (a run
    cut off in its first block), so every cell has a trial.
    """
    roles = roles_of(study)
    names = verdict_responses(study, records) if responses is None else responses
    ordered = sorted(records, key=lambda r: r.number)
    found = (
        _response_group(roles, name, group, ordered)
        for name, group in itertools.product(names, roles.group_keys())
    )
    return tuple(group for group in found if group is not None)


@dataclass(frozen=True)
class WithoutRatio:
    """A response of a group that has no ratios, since it is not positive in `trials` (numbers)."""

    response: str
    group: Mapping[str, str]
    trials: tuple[int, ...]


def without_ratio(
    study: Study, records: Sequence[TrialRecord], responses: Sequence[str] | None = None
) -> tuple[WithoutRatio, ...]:
    """What `response_groups` leaves out because a value is not positive."""
    roles = roles_of(study)
    names = verdict_responses(study, records) if responses is None else responses
    found = []
    for name, group in itertools.product(names, roles.group_keys()):
        chosen = _recorded(name, group, records)
        if numbers := sorted(r.number for r in chosen if r.responses[name] <= 0):
            found.append(WithoutRatio(name, group, tuple(numbers)))
    return tuple(found)


def _recorded(
    response: str, group: Mapping[str, str], records: Iterable[TrialRecord]
) -> list[TrialRecord]:
    return [
        r
        for r in records
        if math.isfinite(r.responses.get(response, math.nan))
        and all(r.levels[k] == label for k, label in group.items())
    ]


def _response_group(
    roles: Roles, response: str, group: Mapping[str, str], records: Sequence[TrialRecord]
) -> ResponseGroup | None:
    chosen = _recorded(response, group, records)
    if not chosen or any(r.responses[response] <= 0 for r in chosen):
        return None
    factors = (roles.compared,) if roles.averaged is None else (roles.compared, roles.averaged)
    observations = Observations(
        np.array([r.responses[response] for r in chosen], dtype=np.float64),
        tuple(Column.of(f.name, [r.levels[f.name] for r in chosen], f.labels) for f in factors),
        Column.of("block", [str(r.block) for r in chosen]),
    ).only(np.ones(len(chosen), dtype=np.bool_))
    whole = _rows_of_full_x(observations)
    if not whole.any():
        return None
    numbers = np.array([r.number for r in chosen], dtype=np.intp)
    return ResponseGroup(
        response,
        group,
        _without_single_x(observations.only(whole)),
        numbers[whole],
        roles.compared.reference_label,
    )


def _without_single_x(observations: Observations) -> Observations:
    if len(observations.factors) > 1 and len(observations.factors[1].levels) == 1:
        return replace(observations, factors=observations.factors[:1])
    return observations


def _rows_of_full_x(observations: Observations) -> NDArray[np.bool_]:
    """The trials at those levels along x at which every compared level has a trial."""
    if len(observations.factors) == 1:
        return np.ones(observations.n, dtype=np.bool_)
    compared, x = observations.factors
    counts = np.zeros((len(compared.levels), len(x.levels)), dtype=np.intp)
    np.add.at(counts, (compared.codes, x.codes), 1)
    full: NDArray[np.bool_] = counts.min(axis=0) > 0
    return np.asarray(full[x.codes], dtype=np.bool_)
