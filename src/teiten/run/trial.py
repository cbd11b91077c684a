"""Run one trial: prepare, warm up, measure, collect, judge."""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import TYPE_CHECKING

import zstandard
from psycopg import sql

from teiten.archive.format import (
    SECONDS_FILE,
    SERVER_LOG_FILE,
    TRANSACTIONS_FILE,
    TrialRecord,
)
from teiten.errors import TeitenError
from teiten.run.derive import responses_of
from teiten.run.session import LoadSession
from teiten.run.validity import judge, unjudged
from teiten.server.cluster import Cluster
from teiten.server.prewarm import prewarm

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from pathlib import Path

    from teiten.load.pgbench import PgbenchResult
    from teiten.observe.base import Observer
    from teiten.plan import PlannedTrial
    from teiten.run.counting import CountingPhase
    from teiten.run.instances import Instances, Server
    from teiten.run.preflight import Ready
    from teiten.run.progress import Progress
    from teiten.study import Setup, Study

_LOG_LINES = 100_000


@dataclass(frozen=True)
class TrialRunner:
    """All that is the same for every trial of a run.

    `observers` are those this host allows, `counting` is there where instructions can be counted;
    `meet_server` is told of every server that is up.
    """

    study: Study
    ready: Ready
    instances: Instances
    observers: Mapping[str, Observer]
    progress: Progress
    counting: CountingPhase | None
    meet_server: Callable[[Server, PlannedTrial], None]

    def run(self, trial: PlannedTrial, raw: Path) -> TrialRecord:
        """Run `trial`, leave its raw files in `raw`, and return what is kept of it.

        Raises:
            TeitenError: a server, the client or the disk failed; the trial counts for nothing.
        """
        started_at_s = time.time()
        setup = trial.treatment.setup
        self.progress.stage("fresh server")
        with self.instances.server_for(trial) as server:
            try:
                self.meet_server(server, trial)
                notes = self._settle(server, setup)
                session = LoadSession(
                    server, self.ready.pgbench, self.study, trial, self._observers(setup), raw
                )
                expected_tps = session.warm_up(self.progress)
                measured = session.measure(self.progress, expected_tps)
                restarts = _restarts(server)
            except TeitenError:
                server.check_alive()  # a crashed server is the better explanation
                raise
            finally:
                _keep_server_log(server, raw)
        self.progress.stage("collect")
        load, observations = measured.load, measured.observations
        _keep_load_files(load, raw)
        responses = responses_of(load, observations, measured.baseline)
        facts: dict[str, float] = {"log_sampling_rate": load.sampling_rate}
        if self.counting is not None and "callgrind" in setup.observe:
            self.progress.stage("count instructions")
            counting_began_s = time.monotonic()
            try:
                responses["callgrind_instructions_per_tx"] = self.counting.count(trial, raw)
            except TeitenError as error:  # what was measured before is whole without it
                notes.append(f"Instructions were not counted: {error}")
            facts["counting_s"] = time.monotonic() - counting_began_s
        for observation in observations:
            facts |= observation.facts
        if restarts:
            facts["server_restarted"] = 1.0
        return TrialRecord(
            number=trial.number,
            block=trial.block,
            treatment=trial.treatment.number,
            levels=trial.treatment.levels,
            values=trial.treatment.values,
            started_at_s=started_at_s,
            measured_at_s=measured.started_at_s,
            ended_at_s=time.time(),
            responses=responses,
            facts=facts,
            flags=judge(facts, responses),
            notes=tuple(
                dict.fromkeys(
                    [*notes, *unjudged(facts), *(n for o in observations for n in o.notes)]
                )
            ),
        )

    def _observers(self, setup: Setup) -> list[Observer]:
        """The observers that the set-up asks for and the host allows."""
        return [o for name, o in self.observers.items() if name in setup.observe]

    def _settle(self, server: Server, setup: Setup) -> list[str]:
        """Bring data into memory and leave no old work (dead rows, dirty pages) to the trial."""
        if not isinstance(server, Cluster):
            return []
        self.progress.stage("prewarm")
        notes: list[str] = []
        with server.connect() as connection:
            tables = [row[0] for row in connection.execute(_USER_TABLES)]
            if setup.prewarm and connection.execute(_HAS_PREWARM).fetchone():
                prewarm(server)
            elif setup.prewarm:
                notes.append(f"{setup.server} has no pg_prewarm: data was not prewarmed.")
            for table in tables:
                connection.execute(sql.SQL("VACUUM {}").format(sql.Identifier("public", table)))
            connection.execute("CHECKPOINT")
        return notes


_USER_TABLES = "SELECT relname FROM pg_stat_user_tables WHERE schemaname = 'public' ORDER BY 1"
_HAS_PREWARM = "SELECT 1 FROM pg_available_extensions WHERE name = 'pg_prewarm'"


def _restarts(server: Server) -> int:
    """How often the server's processes were restarted after a crash while it was up."""
    return server.restarts_seen() if isinstance(server, Cluster) else 0


def _keep_server_log(server: Server, raw: Path) -> None:
    """Keep what the server logged during the trial (its last megabyte), compressed."""
    if isinstance(server, Cluster):
        log = server.log_tail(lines=_LOG_LINES).encode()
        (raw / SERVER_LOG_FILE).write_bytes(zstandard.compress(log))


def _keep_load_files(load: PgbenchResult, raw: Path) -> None:
    """Keep pgbench's by-second series and its transaction log, compressed, in place of its text."""
    load.seconds.write_parquet(raw / SECONDS_FILE)
    load.transactions_log.write_parquet(raw / TRANSACTIONS_FILE, compression_level=3)
    for path in raw.glob("pgbench_log.*"):
        path.unlink()
