"""The load of one trial against its running server: warm-up, baseline, measurement."""

from __future__ import annotations

import time
from contextlib import ExitStack
from dataclasses import dataclass
from typing import TYPE_CHECKING

from teiten.load.pgbench import log_rate_for
from teiten.observe.base import Observation, Window
from teiten.run.derive import Baseline
from teiten.server.cluster import Cluster

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from teiten.load.pgbench import Pgbench, PgbenchResult
    from teiten.observe.base import Observer
    from teiten.plan import PlannedTrial
    from teiten.run.instances import Server
    from teiten.run.progress import Progress
    from teiten.study import PgbenchLoad, Study

UNKNOWN_TPS = 100_000.0
"""Taken where there was no warm-up to estimate from: it bounds the log in any case."""

_GRACE_S = 600.0
"""How long after its time a load may still take to end before the server is said to hang."""

_WARM_UP, _BASELINE, _MEASUREMENT = range(3)
"""Phases draw from different random streams, so that none repeats the rows of another."""


_WATCH_CONNECTING = ("procfs", "counters")
"""Observers of the baseline: what a connection costs shows in CPU time and instructions."""


@dataclass(frozen=True)
class Measured:
    """What one measurement gave; `started_at_s` is seconds since the epoch."""

    load: PgbenchResult
    observations: Sequence[Observation]
    baseline: Baseline | None
    started_at_s: float


@dataclass(frozen=True)
class LoadSession:
    """What the phases of one trial's load share. `raw` is the folder of the trial's raw files."""

    server: Server
    pgbench: Pgbench
    study: Study
    trial: PlannedTrial
    observers: Sequence[Observer]
    raw: Path

    def warm_up(self, progress: Progress) -> float:
        """Run the load unmeasured for the warm-up time; return its TPS as an expectation."""
        load = self.trial.treatment.setup.load
        if not load.warmup_s:
            return UNKNOWN_TPS
        progress.stage("warm-up", load.warmup_s)
        return self._run(warm_up_limit(load), self._folder("warmup"), _WARM_UP).tps

    def measure(self, progress: Progress, expected_tps: float) -> Measured:
        """Run the load for its duration while the observers watch.

        Raises:
            ClientFailedError: pgbench failed; no observer is left running.
        """
        baseline = self._baseline()
        asked = self.trial.treatment.setup.load
        duration_s = asked.duration_s
        progress.stage("measure", duration_s)
        started_at_s = time.time()
        window = self._window(self.raw)
        observations: list[Observation] = []
        with ExitStack() as watching:  # all are stopped, also when the load or one of them fails
            for observer in self.observers:
                observer.start(window)
                watching.callback(_collect, observer, observations)
            rate = log_rate_for(expected_tps, duration_s)
            load = self._run(measured_limit(asked), self.raw, _MEASUREMENT, log_rate=rate)
        return Measured(load, observations, baseline, started_at_s)

    def _baseline(self) -> Baseline | None:
        """Watch what connecting costs: one transaction a client."""
        watching = [o for o in self.observers if o.name in _WATCH_CONNECTING]
        if not watching:
            return None
        folder = self._folder("baseline")
        observations: list[Observation] = []
        with ExitStack() as stack:
            for observer in watching:
                observer.start(self._window(folder))
                stack.callback(_collect, observer, observations)
            load = self._run(["--transactions=1"], folder, _BASELINE)
        totals = {name: t for o in observations for name, t in o.totals.items()}
        return Baseline(totals, load.transactions)

    def _run(
        self, limit: Sequence[str], folder: Path, phase: int, *, log_rate: float = 0.0
    ) -> PgbenchResult:
        setup = self.trial.treatment.setup
        return self.pgbench.run(
            self.server.conninfo,
            setup.load,
            clients=setup.clients,
            scale=setup.data.scale,
            script=self.study.scripts.get(setup.load.script),
            limit=limit,
            # All treatments of a block meet the same random numbers.
            seed=1000 * self.study.seed % 1_000_000_007 + 10 * self.trial.block + phase,
            folder=folder,
            log_rate=log_rate,
            timeout_s=setup.load.duration_s + setup.load.warmup_s + _GRACE_S,
        )

    def _folder(self, name: str) -> Path:
        folder = self.raw / name
        folder.mkdir()
        return folder

    def _window(self, raw: Path) -> Window:
        server = self.server
        if isinstance(server, Cluster):
            return Window(
                raw_dir=raw,
                conninfo=server.conninfo,
                postmaster_pid=server.postmaster_pid,
                data_dir=server.data_dir,
                version_num=server.installation.version_num,
            )
        return Window(
            raw_dir=raw,
            conninfo=server.conninfo,
            postmaster_pid=None,
            data_dir=None,
            version_num=server.version_num,
        )


def warm_up_limit(load: PgbenchLoad) -> tuple[str]:
    """How long the warm-up goes on, as pgbench's option: as the measurement, in proportion."""
    if load.transactions_per_client is None:
        return (f"--time={load.warmup_s}",)
    share = load.warmup_s / load.duration_s
    return (f"--transactions={max(round(share * load.transactions_per_client), 1)}",)


def measured_limit(load: PgbenchLoad) -> tuple[str]:
    """How long the measurement goes on, as pgbench's option."""
    if load.transactions_per_client is None:
        return (f"--time={load.duration_s}",)
    return (f"--transactions={load.transactions_per_client}",)


def _collect(observer: Observer, observations: list[Observation]) -> None:
    observations.append(observer.stop())
