"""Look at a run after every block, tell what is seen, and keep in the journal why it ends."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

from teiten.analysis.deciding import asked_verdicts
from teiten.archive.course import last_budget_s, spent_s
from teiten.durations import duration_text
from teiten.run.stopping import Budget, figures, look_sentence, predicted_s, stop_reason

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from teiten.archive import Event, Journal, TrialRecord
    from teiten.plan import Plan
    from teiten.study import Study


def budget_in_force_s(study: Study, events: Sequence[Event]) -> float:
    """The budget last given on the command line, else that of the study (which must have one)."""
    assert study.until_decided is not None  # noqa: S101 - only such runs have a budget
    return last_budget_s(events) or study.until_decided.budget_s


class Looks:
    """The looks of one session of a run that goes on until decided."""

    def __init__(
        self, study: Study, plan: Plan, journal: Journal, say: Callable[[str], None]
    ) -> None:
        """Begin to count the session's time; what earlier sessions took is in the journal."""
        events = journal.events()
        self._study = study
        self._plan = plan
        self._journal = journal
        self._say = say
        self._budget_s = budget_in_force_s(study, events)
        self._spent_before_s = spent_s(events)
        self._began_s = time.monotonic()

    def budget(self) -> Budget:
        """The budget, and what is spent of it by now."""
        return Budget(self._budget_s, self._spent_before_s + time.monotonic() - self._began_s)

    def end_run(self, blocks: int, records: Sequence[TrialRecord]) -> bool:
        """Look after `blocks` complete blocks, of which `records` are; whether the run ends here.

        Raises:
            UsageError: nothing of what is to be decided was recorded.
        """
        if blocks == 0:
            return False
        verdicts = asked_verdicts(self._study, records)
        self._say(look_sentence(blocks, verdicts, self._study.blocks))
        budget = self.budget()
        next_block = self._plan.trials_of(blocks + 1)[len(self._plan.trials_of(blocks)) :]
        next_block_s = predicted_s(next_block, records)
        reason = stop_reason(
            verdicts,
            blocks=blocks,
            least_blocks=self._study.blocks,
            budget=budget,
            next_block_s=next_block_s,
        )
        spent = {"budget_s": budget.budget_s, "spent_s": round(budget.spent_s, 3)}
        if reason == "run_decided":
            self._journal.append(reason, blocks=blocks, **spent, verdicts=figures(verdicts))
            self._say(f"Decided after {blocks} blocks, {duration_text(budget.spent_s)}.")
        elif reason == "budget_spent":
            self._journal.append(
                reason,
                blocks=blocks,
                **spent,
                next_block_s=round(next_block_s, 3),
                verdicts=figures(verdicts),
            )
            self._say(
                f"The budget is spent: {duration_text(budget.spent_s)} of "
                f"{duration_text(budget.budget_s)} after {blocks} block(s), and one more would "
                f"take about {duration_text(next_block_s)}; a larger --budget with --resume goes "
                "on from here."
            )
        elif not next_block:
            self._say(f"Not decided after {blocks} blocks, the most that were laid out.")
        return reason is not None
