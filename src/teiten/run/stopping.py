"""Whether a run that goes on until decided goes on, and what each look says. Pure."""

from __future__ import annotations

import math
import statistics
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

from teiten.analysis.deciding import undecided
from teiten.analysis.roles import roles_of
from teiten.durations import duration_text
from teiten.errors import UsageError
from teiten.run.progress import OVERHEAD_S, load_s

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from teiten.analysis.conclusions import Estimate, Verdict
    from teiten.archive import TrialRecord
    from teiten.plan import Plan, PlannedTrial
    from teiten.study import Study


@dataclass(frozen=True)
class Budget:
    """Wall time that the run may take in all its sessions, and what it has taken."""

    budget_s: float
    spent_s: float

    @property
    def left_s(self) -> float:
        """What is left; not below zero."""
        return max(0.0, self.budget_s - self.spent_s)


def refuse_undecidable(study: Study, plan: Plan, budget_s: float) -> None:
    """Check, before anything runs, that there is something to decide and time for one block.

    Raises:
        UsageError: there is not.
    """
    compared = roles_of(study).compared
    if len(compared.labels) < 2:  # noqa: PLR2004 - a comparison needs two
        raise UsageError(
            f"There is nothing to decide: the factor {compared.name} has one level only; leave "
            "out --until-decided (or until_decided in the study)."
        )
    least_s = sum(load_s(t.treatment.setup) for t in plan.trials_of(1))
    if least_s > budget_s:
        raise UsageError(
            f"The budget of {duration_text(budget_s)} is not enough for one block, whose load "
            f"alone takes {duration_text(least_s)}: raise --budget, or shorten "
            "setup.load.duration_s."
        )


def predicted_s(trials: Iterable[PlannedTrial], records: Sequence[TrialRecord]) -> float:
    """Estimate the time that `trials` take from what trials of the same treatments took."""
    taken_s: dict[int, list[float]] = {}
    for record in records:
        taken_s.setdefault(record.treatment, []).append(record.ended_at_s - record.started_at_s)
    return sum(
        statistics.fmean(taken_s[t.treatment.number])
        if t.treatment.number in taken_s
        else load_s(t.treatment.setup) + OVERHEAD_S
        for t in trials
    )


def stop_reason(
    verdicts: Sequence[Verdict],
    *,
    blocks: int,
    least_blocks: int,
    budget: Budget,
    next_block_s: float,
) -> Literal["run_decided", "budget_spent"] | None:
    """What ends the run after `blocks` complete blocks; None: the next block is begun.

    `verdicts` are all that were asked for, after these blocks. Before `least_blocks` nothing is
    decided. A block is only begun when it is expected to end within the budget, but the first is
    always run.
    """
    if blocks == 0:
        return None
    if blocks >= least_blocks and not undecided(verdicts):
        return "run_decided"
    return "budget_spent" if next_block_s > budget.left_s else None


def look_sentence(blocks: int, verdicts: Iterable[Verdict], least_blocks: int) -> str:
    """What a look says: `After block 4: tps, read, 18.1: +2.1% (-0.4% to +4.6%), undecided.`."""
    contrasts = []
    for v in verdicts:
        what = ", ".join([v.response, *v.group.values(), v.level])
        more = f" (about {v.more_blocks} more)" if v.more_blocks is not None else ""
        contrasts.append(f"{what}: {_change(v.overall)}, {v.decision}{more}")
    early = f" (decided after {least_blocks} blocks at the earliest)"
    return f"After block {blocks}{early if blocks < least_blocks else ''}: {'; '.join(contrasts)}."


def figures(verdicts: Iterable[Verdict]) -> list[dict[str, Any]]:
    """The verdicts as the journal keeps them: changes as ratios less 1, None where unbounded."""
    return [
        {
            "response": v.response,
            "group": dict(v.group),
            "level": v.level,
            "decision": v.decision,
            "change": v.overall.change,
            "lower": v.overall.lower if math.isfinite(v.overall.lower) else None,
            "upper": v.overall.upper if math.isfinite(v.overall.upper) else None,
        }
        for v in verdicts
    ]


def _change(estimate: Estimate) -> str:
    if not math.isfinite(estimate.upper):
        return f"{_percent(estimate.change, estimate.change)} (no bounds yet)"
    half_width = (estimate.upper - estimate.lower) / 2
    change, lower, upper = (
        _percent(x, half_width) for x in (estimate.change, estimate.lower, estimate.upper)
    )
    return f"{change} ({lower} to {upper})"


def _percent(change: float, resolution: float) -> str:
    """A change in percent, with digits down to the first of `resolution` (1 to 4 decimals)."""
    fine = abs(resolution) * 100
    decimals = 4 if fine == 0 else min(4, max(1, -math.floor(math.log10(fine))))
    return f"{change * 100:+.{decimals}f}%"
