"""The noise of a host: how far pairs of trials of one server differ, and what would find a change.

The trials are those of an A/A run: two levels that are the same server, a pair in every block.
"""

from __future__ import annotations

import math
import statistics
from typing import TYPE_CHECKING

import numpy as np

from teiten.analysis.trials import response_groups
from teiten.archive.calibration import CheapestDesign, Noise, Part
from teiten.stats.detectable import cheapest_design, smallest_effect
from teiten.stats.variance_parts import long_run_variance, spread_of, variance_parts

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

    from teiten.analysis.trials import ResponseGroup
    from teiten.archive import TrialRecord
    from teiten.plan import Plan
    from teiten.stats.variance_parts import VariancePart, VarianceParts
    from teiten.study import Setup, Study

    SecondsOf = Mapping[int, Mapping[str, NDArray[np.float64]]]
    """By trial number and name of the response: its values, one a second."""

SERIES = ("tps", "latency_mean_ms")
"""Responses of which a value is kept for every second of a trial."""

MINUTES = (1, 2, 5, 10, 30, 60)
LONGEST_TRIAL_S = 600
_ALIKE = 1.5
"""Trials whose lengths differ by more are not split by one length."""
COUNTED = "callgrind_instructions_per_tx"
COUNTING_FACT = "counting_s"
"""The time of a trial's counting phase: of no use to any response but the counted one."""


def noise_of(
    study: Study, plan: Plan, records: Sequence[TrialRecord], seconds: SecondsOf
) -> tuple[Noise, ...]:
    """The noise of every compared response in every group of trials that has two pairs."""
    found = (
        _noise(group, study, plan, {r.number: r for r in records}, seconds)
        for group in response_groups(study, records)
    )
    return tuple(noise for noise in found if noise is not None)


def pair_logs(group: ResponseGroup) -> dict[str, float]:
    """By block: the log ratio of the other level to the reference, averaged over x.

    Blocks that lost a trial are left out; so is everything if there are not two levels.
    """
    if len(group.others) != 1:
        return {}
    observations = group.observations
    compared = observations.factors[0]
    sign = np.where(compared.codes == compared.levels.index(group.reference), -1.0, 1.0)
    terms = sign * np.log(observations.response)
    a_pair = trials_a_pair(group)
    of_block = {
        label: terms[observations.block.codes == code]
        for code, label in enumerate(observations.block.levels)
    }
    return {
        label: float(2 * values.sum() / a_pair)
        for label, values in of_block.items()
        if values.size == a_pair
    }


def trials_a_pair(group: ResponseGroup) -> int:
    """How many trials of a block one comparison takes: two, or two at every level along x."""
    return 2 * max(1, len(group.x_labels))


def measured_s(record: TrialRecord, setup: Setup) -> float:
    """How long the load of a trial was measured, in seconds."""
    if setup.load.transactions_per_client is None or not record.responses.get("tps"):
        return float(setup.load.duration_s)
    return record.responses["transactions"] / record.responses["tps"]


def _noise(
    group: ResponseGroup,
    study: Study,
    plan: Plan,
    records: Mapping[int, TrialRecord],
    seconds: SecondsOf,
) -> Noise | None:
    spread = spread_of(np.array(list(pair_logs(group).values())))
    if spread is None:
        return None
    chosen = [records[int(n)] for n in group.trials]
    setups = [plan.treatments[r.treatment - 1].setup for r in chosen]
    a_pair = trials_a_pair(group)
    lengths_s = [measured_s(r, s) for r, s in zip(chosen, setups, strict=True)]
    duration_s = statistics.median(lengths_s)
    trial_s = statistics.median(_machine_s(r, group.response) for r in chosen)
    overhead_s = max(0.0, trial_s - duration_s)
    parts: VarianceParts | None = None
    if group.response in SERIES and max(lengths_s) < _ALIKE * min(lengths_s):
        series = [seconds.get(r.number, {}).get(group.response) for r in chosen]
        within = long_run_variance([s for s in series if s is not None])
        if within is not None:
            parts = variance_parts(spread.value**2 * a_pair / 4, spread.df, *within, duration_s)
    if parts is None:
        # What a trial of another length would give is not known.
        design = cheapest_design(
            math.log1p(study.margin),
            between=spread.value**2 * a_pair / 4,
            within=0.0,
            overhead_s=overhead_s,
            durations_s=[duration_s],
            trials_a_pair=a_pair,
        )
    else:
        design = cheapest_design(
            math.log1p(study.margin),
            between=parts.between.value,
            within=parts.within.value,
            overhead_s=overhead_s,
            durations_s=range(1, LONGEST_TRIAL_S + 1),
            trials_a_pair=a_pair,
        )
    return Noise(
        response=group.response,
        group=dict(group.group),
        script=setups[0].load.script,
        clients=setups[0].clients,
        duration_s=duration_s,
        pairs=spread.df + 1,
        trials_a_pair=a_pair,
        trial_s=trial_s,
        overhead_s=overhead_s,
        spread=spread.value,
        spread_lower=spread.lower,
        spread_upper=spread.upper,
        between=None if parts is None else _part(parts.between),
        within=None if parts is None else _part(parts.within),
        detectable={m: _within_minutes(m, spread.value, a_pair * trial_s) for m in MINUTES},
        design=CheapestDesign(design.duration_s, design.blocks, design.machine_s),
    )


def _machine_s(record: TrialRecord, response: str) -> float:
    taken_s = record.ended_at_s - record.started_at_s
    return taken_s if response == COUNTED else taken_s - record.facts.get(COUNTING_FACT, 0.0)


def _within_minutes(minutes: int, spread: float, pair_s: float) -> float | None:
    effect = smallest_effect(spread, math.floor(60 * minutes / pair_s))
    return None if effect is None else math.expm1(effect)


def _part(part: VariancePart) -> Part:
    return Part(part.value, part.lower, part.upper)
