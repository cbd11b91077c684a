"""Run all trials of a plan that are not yet done; a resumed run only has some done already."""

from __future__ import annotations

import contextlib
import re
import time
from typing import TYPE_CHECKING, Any

from polars.exceptions import PolarsError

from teiten.archive import RunWriter, open_run
from teiten.archive.calibration import quote_newest
from teiten.archive.writer import read_records
from teiten.durations import duration_text
from teiten.environment import describe_machine, describe_server
from teiten.errors import TeitenError, UsageError
from teiten.host import home_dir
from teiten.observe import callgrind, choose_observers
from teiten.plan import make_plan
from teiten.run.counting import CountingPhase
from teiten.run.instances import Instances
from teiten.run.looking import Looks, budget_in_force_s
from teiten.run.preflight import prepare, refuse_if_changed
from teiten.run.progress import load_s, seconds_left
from teiten.run.stopping import refuse_undecidable
from teiten.run.trial import TrialRunner
from teiten.server.dsn import ForeignServer
from teiten.server.workspace import Workspace

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from teiten.archive import EventKind, Run
    from teiten.plan import Plan, PlannedTrial
    from teiten.run.instances import Server
    from teiten.run.preflight import Ready
    from teiten.run.progress import Progress
    from teiten.study import Study

_POLARS_IO_ERROR = re.compile(r"IO error: (.*?) \(os error \d+\)")


def start_run(study: Study, archive: Path, progress: Progress) -> Path:
    """Run a study from its beginning; return the run folder.

    Raises:
        UsageError: something cannot be done as asked; nothing was run and no folder made.
        TeitenError: a trial failed; the run folder is there and can be resumed.
    """
    plan = make_plan(study)
    if study.until_decided is not None:
        refuse_undecidable(study, plan, study.until_decided.budget_s)
    with Workspace.open() as workspace:
        ready = prepare(study, plan, say=progress.say)
        with RunWriter.create(archive, study, plan) as writer:
            progress.run_created(writer.folder)
            writer.journal.append("run_started")
            _Execution(
                study, plan, writer=writer, ready=ready, workspace=workspace, progress=progress
            ).run_all()
    return writer.folder


def resume_run(folder: Path, progress: Progress, *, budget_s: float | None = None) -> Path:
    """Go on with a run that was cut off: trials that are complete are kept, the rest is run.

    `budget_s` is a new budget, for all sessions together, of a run that goes on until decided;
    one that has spent its budget goes on when the new one is larger.

    Raises:
        UsageError: `folder` is no run, is being written, its plan was changed, or it has no
            budget.
        TeitenError: a trial failed; the run can be resumed again.
    """
    run = open_run(folder)
    if budget_s is not None and run.study.until_decided is None:
        raise UsageError(
            f"Run {run.name} has a fixed number of blocks and no budget: leave --budget out."
        )
    with RunWriter(folder) as writer:
        writer.discard_partial_trials()
        if run.is_complete and not _goes_on(run, budget_s):
            progress.say(_complete_sentence(run))
            writer.write_table([f.name for f in run.study.factor])
            return folder
        with Workspace.open() as workspace:
            ready = prepare(run.study, run.plan, say=progress.say)
            progress.run_created(folder)
            given = {} if budget_s is None else {"budget_s": budget_s}
            done = len(writer.journal.done_trials())
            writer.journal.append("run_resumed", done=done, **given)
            _Execution(
                run.study,
                run.plan,
                writer=writer,
                ready=ready,
                workspace=workspace,
                progress=progress,
                environment=run.environment,
            ).run_all()
    return folder


def _goes_on(run: Run, budget_s: float | None) -> bool:
    """Whether a run that has spent its budget is given a larger one."""
    if run.stop is None or run.stop.reason != "budget spent" or budget_s is None:
        return False
    return budget_s > budget_in_force_s(run.study, run.journal.events())


def _complete_sentence(run: Run) -> str:
    if run.stop is None:
        return f"Run {run.name} is complete: there is nothing to resume."
    after = f"after {run.stop.blocks} block(s)"
    if run.stop.reason == "decided":
        return f"Run {run.name} is complete, decided {after}: there is nothing to resume."
    budget = duration_text(budget_in_force_s(run.study, run.journal.events()))
    return (
        f"Run {run.name} is complete: its budget of {budget} was spent {after}; a larger --budget "
        "goes on with it."
    )


class _Execution:
    """One session of running: from the first trial that is not done to the last."""

    def __init__(
        self,
        study: Study,
        plan: Plan,
        *,
        writer: RunWriter,
        ready: Ready,
        workspace: Workspace,
        progress: Progress,
        environment: dict[str, Any] | None = None,
    ) -> None:
        self._study = study
        self._plan = plan
        self._writer = writer
        self._progress = progress
        self._ready = ready
        self._workspace = workspace
        self._instances = Instances(ready, workspace, progress.say)
        self._environment: dict[str, Any] = environment or {}
        self._overheads_s: list[float] = []
        self._records = read_records(writer.folder, writer.journal.done_trials())
        self._looks = (
            None
            if study.until_decided is None
            else Looks(study, plan, writer.journal, progress.say)
        )

    def run_all(self) -> None:
        """Run what is left; the journal tells how it ended, whatever happens."""
        done = {r.number for r in self._records}
        remaining = [t for t in self._plan.trials if t.number not in done]
        current: PlannedTrial | None = None
        try:
            runner = self._prepare(remaining)
            for place, trial in enumerate(remaining):
                if self._ends_before(trial):
                    break
                current = trial
                self._progress.trial_started(trial, self._plan, self._left_s(remaining[place:]))
                self._run_one(runner, trial)
                current = None
            else:
                if self._looks is not None:
                    self._looks.end_run(self._plan.trials[-1].block, self._records)
            self._write_table()
            self._writer.journal.append("run_finished")
        except BaseException as error:
            told = _told(error, self._writer.folder)
            self._end_early(told, current)
            if told is error:
                raise
            raise told from error

    def _ends_before(self, trial: PlannedTrial) -> bool:
        """Look before a block begins; one that was begun in an earlier session is completed."""
        if self._looks is None or any(r.block == trial.block for r in self._records):
            return False
        return self._looks.end_run(trial.block - 1, self._records)

    def _left_s(self, remaining: Sequence[PlannedTrial]) -> float:
        """Estimate the time left: at most what is left of the budget, or of this block."""
        all_s = seconds_left(remaining, self._overheads_s)
        if self._looks is None:
            return all_s
        this_block = [t for t in remaining if t.block == remaining[0].block]
        block_s = seconds_left(this_block, self._overheads_s)
        return max(block_s, min(all_s, self._looks.budget().left_s))

    def _prepare(self, remaining: list[PlannedTrial]) -> TrialRunner:
        """Build the images, choose observers, describe the machine: before any trial counts."""
        identities = self._ready.identities()
        refuse_if_changed(self._environment.get("identities", {}), identities)
        for setup in {repr(t.treatment.setup): t.treatment.setup for t in remaining}.values():
            self._instances.build_image(setup)
        wanted = dict.fromkeys(n for t in self._plan.treatments for n in t.setup.observe)
        observers, missing = choose_observers(tuple(wanted))
        counting = None
        if "callgrind" in wanted and (lack := callgrind.unavailable()) is not None:
            missing = (*missing, lack)
        elif "callgrind" in wanted:
            counting = CountingPhase(
                self._study,
                self._ready.pgbench,
                self._instances,
                self._workspace.new_dir("callgrind"),
            )
        for sentence in missing:
            self._progress.say(f"Not recorded: {sentence}")
        self._environment |= {
            "identities": identities,
            "machine": describe_machine([home_dir(), self._writer.folder]),
            "client": {
                "spec": self._ready.pgbench.installation.spec,
                "version": self._ready.pgbench.installation.version,
                "package": self._ready.pgbench.installation.package,
            },
            "not_recorded": list(missing),
        }
        self._environment.setdefault("servers", {})
        self._writer.write_environment(self._environment)
        quote_newest(self._writer.folder, self._environment["machine"])
        return TrialRunner(
            study=self._study,
            ready=self._ready,
            instances=self._instances,
            observers={o.name: o for o in observers},
            progress=self._progress,
            counting=counting,
            meet_server=self._describe,
        )

    def _run_one(self, runner: TrialRunner, trial: PlannedTrial) -> None:
        started_s = time.monotonic()
        raw = self._writer.begin_trial(trial.number)
        self._writer.journal.append("trial_started", trial=trial.number)
        record = runner.run(trial, raw)
        self._writer.finish_trial(record)
        self._records.append(record)
        self._overheads_s.append(time.monotonic() - started_s - load_s(trial.treatment.setup))
        self._progress.trial_done(trial, record)

    def _end_early(self, error: BaseException, trial: PlannedTrial | None) -> None:
        """Keep the cause in the journal, as far as the disk allows, and tell how to go on."""
        failed = isinstance(error, Exception)
        ended: EventKind = "trial_failed" if failed else "run_stopped"
        number = trial.number if trial else None
        cause = str(error) or type(error).__name__
        with contextlib.suppress(OSError, PolarsError):
            if failed and number is not None:
                self._writer.keep_failed_trial(number)
            self._writer.discard_partial_trials()
            self._writer.journal.append(ended, trial=number, cause=cause)
            self._write_table()
        error.add_note(f"Go on with: teiten run --resume {self._writer.folder}")

    def _describe(self, server: Server, trial: PlannedTrial) -> None:
        """Describe each distinct server once, when it is first up."""
        setup = trial.treatment.setup
        servers: dict[str, Any] = self._environment["servers"]
        asked = {
            "spec": setup.server,
            "initdb_options": list(setup.initdb),
            "settings_of_study": setup.guc_settings(),
        }
        if any({k: s.get(k) for k in asked} == asked for s in servers.values()):
            return
        names = (setup.server, *(f"{setup.server} #{n}" for n in range(2, len(servers) + 3)))
        name = next(n for n in names if n not in servers)
        package = None if isinstance(server, ForeignServer) else server.installation.package
        with server.connect() as connection:
            servers[name] = {**asked, "package": package, **describe_server(connection)}
        self._writer.write_environment(self._environment)

    def _write_table(self) -> None:
        self._writer.write_table([f.name for f in self._study.factor])


def _told(error: BaseException, folder: Path) -> BaseException:
    """Turn what the operating system refused into a sentence; leave everything else as it is."""
    if isinstance(error, OSError):
        reason, where = error.strerror or str(error), error.filename or folder
    elif isinstance(error, PolarsError) and (found := _POLARS_IO_ERROR.search(str(error))):
        reason, where = found[1], folder
    else:
        return error
    return TeitenError(f"The trial could not be kept: {reason} ({where}).")
