"""Show how a run goes: a progress bar on a terminal, a plain log elsewhere."""

from __future__ import annotations

import time
from contextlib import contextmanager
from datetime import timedelta
from typing import TYPE_CHECKING, Self

from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from rich.progress import TaskID

    from teiten.archive import TrialRecord
    from teiten.plan import Plan, PlannedTrial
    from teiten.run.progress import Progress as RunProgress


@contextmanager
def shown_progress() -> Iterator[RunProgress]:
    """Progress on stderr, in the form that suits where stderr goes."""
    console = Console(stderr=True, highlight=False, soft_wrap=True)
    if console.is_terminal:
        with _Bar(console) as bar:
            yield bar
    else:
        yield _Log(console)


def _time_left(seconds: float) -> str:
    return str(timedelta(seconds=round(seconds)))


def _at_most(plan: Plan) -> str:
    return "at most " if plan.until_decided else ""


def _place(trial: PlannedTrial, plan: Plan) -> str:
    """Where the run is: `3/12`, or `1/4 of block 2` where the number of blocks is open."""
    if not plan.until_decided:
        return f"{trial.number}/{len(plan.trials)}"
    size = len(plan.treatments)
    return f"{(trial.number - 1) % size + 1}/{size} of block {trial.block}"


def _result(trial: PlannedTrial, record: TrialRecord) -> str:
    figures = [f"{record.responses['tps']:,.1f} TPS"]
    if (mean := record.responses.get("latency_mean_ms")) is not None:
        figures.append(f"{mean:,.3f} ms")
    for name in ("instructions_per_tx", "callgrind_instructions_per_tx"):
        if name in record.responses:
            figures.append(f"{record.responses[name]:,.0f} instr/tx")
            break
    flags = f"  flagged: {', '.join(f.code for f in record.flags)}" if record.flags else ""
    return f"block {trial.block}  {trial.treatment.label()}: {', '.join(figures)}{flags}"


class _Log:
    """One line an event, with the time of day: for pipes, files and CI."""

    def __init__(self, console: Console) -> None:
        self._console = console

    def _line(self, text: str) -> None:
        self._console.print(f"{time.strftime('%H:%M:%S')} {text}", markup=False)

    def say(self, sentence: str) -> None:
        self._line(sentence)

    def run_created(self, folder: Path) -> None:
        self._line(f"Run {folder}")

    def trial_started(self, trial: PlannedTrial, plan: Plan, seconds_left: float) -> None:
        self._line(
            f"[{_place(trial, plan)}] {trial.treatment.label()} "
            f"({_at_most(plan)}{_time_left(seconds_left)} left)"
        )

    def stage(self, name: str, expected_s: float = 0.0) -> None:
        pass

    def trial_done(self, trial: PlannedTrial, record: TrialRecord) -> None:
        self._line(f"    {_result(trial, record)}")


class _Bar:
    """A bar over the trials, with the stage of the current one and the time left."""

    def __init__(self, console: Console) -> None:
        self._progress = Progress(
            TextColumn("{task.fields[place]}"),
            BarColumn(bar_width=24),
            TextColumn("{task.fields[left]} left"),
            TextColumn("{task.fields[stage]}", markup=False),
            console=console,
            transient=True,
        )
        self._task: TaskID | None = None
        self._label = ""
        self._left_s = 0.0
        self._left_at_s = 0.0
        self._at_most = ""

    def __enter__(self) -> Self:
        self._progress.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._progress.stop()

    def say(self, sentence: str) -> None:
        self._progress.console.print(sentence, markup=False)

    def run_created(self, folder: Path) -> None:
        self.say(f"Run {folder}")

    def trial_started(self, trial: PlannedTrial, plan: Plan, seconds_left: float) -> None:
        if self._task is None:
            self._task = self._progress.add_task(
                "",
                # A bar without an end where the number of blocks is open.
                total=None if plan.until_decided else len(plan.trials),
                place="",
                left="",
                stage="",
            )
            self._at_most = _at_most(plan)
        self._label = trial.treatment.label()
        self._left_s, self._left_at_s = seconds_left, time.monotonic()
        self._progress.update(
            self._task,
            completed=trial.number - 1,
            place=f"trial {_place(trial, plan)}",
        )
        self.stage("start")

    def stage(self, name: str, expected_s: float = 0.0) -> None:
        if self._task is None:
            return
        left_s = max(0.0, self._left_s - (time.monotonic() - self._left_at_s))
        duration = f" {expected_s:g} s" if expected_s else ""
        self._progress.update(
            self._task,
            left=f"{self._at_most}{_time_left(left_s)}",
            stage=f"{self._label}: {name}{duration}",
        )

    def trial_done(self, trial: PlannedTrial, record: TrialRecord) -> None:
        self.say(_result(trial, record))
