"""The counted phase of a trial: instructions per transaction by valgrind, one client, no clock.

It has a server of its own after the measured one, so that it takes nothing from the measurement,
on a data directory of its own: what an update costs depends on what was done to its page before,
and that is the same in all clones of an image.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from teiten.observe import callgrind
from teiten.server.cluster import Cluster

if TYPE_CHECKING:
    from pathlib import Path

    from teiten.load.pgbench import Pgbench
    from teiten.plan import PlannedTrial
    from teiten.run.instances import Instances
    from teiten.study import Study


@dataclass(frozen=True)
class CountingPhase:
    """What the counted phases of all trials share. `work_dir` is writable by the server user."""

    study: Study
    pgbench: Pgbench
    instances: Instances
    work_dir: Path

    def count(self, trial: PlannedTrial, raw: Path) -> float:
        """User instructions per transaction of the trial's load, by one client.

        Raises:
            TeitenError: the server or the load failed under valgrind.
        """
        setup = trial.treatment.setup
        folder = raw / "callgrind"
        folder.mkdir()
        for left in self.work_dir.iterdir():
            left.unlink()
        counter = callgrind.CallgrindCounter(self.work_dir)
        settings = {**setup.guc_settings(), **callgrind.SETTINGS}
        with self.instances.server_for(
            trial, settings=settings, launcher=counter.launcher, fresh=True
        ) as server:
            assert isinstance(server, Cluster)  # noqa: S101 - preflight refuses all else

            def run_load(transactions: int) -> None:
                self.pgbench.run(
                    server.conninfo,
                    setup.load,
                    clients=1,
                    scale=setup.data.scale,
                    script=self.study.scripts.get(setup.load.script),
                    limit=[f"--transactions={transactions}"],
                    # The same transactions in every trial: counts may differ by treatment alone.
                    seed=self.study.seed,
                    folder=folder,
                )

            counted = counter.count(server.postmaster_pid, run_load, folder)
        return counted.instructions_per_tx
