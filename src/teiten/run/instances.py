"""The servers of a run: data directories cloned by the reset policy, one server up at a time.

Every trial starts its server anew, whatever the policy: so every trial begins in the same state,
whichever trial was before it. The policy only decides how long a data directory is kept.
"""

from __future__ import annotations

import shutil
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING

from teiten.server.cluster import Cluster
from teiten.server.dsn import ForeignServer
from teiten.server.image import (
    ImageKey,
    UnsoundImageError,
    clone_image,
    ensure_image,
    images_dir,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence
    from pathlib import Path

    from teiten.plan import PlannedTrial
    from teiten.run.preflight import Ready
    from teiten.server.source import Installation
    from teiten.server.workspace import Workspace
    from teiten.study import PgbenchData, Setup

Server = Cluster | ForeignServer

PREWARM_EXTENSION = "CREATE EXTENSION IF NOT EXISTS pg_prewarm"


@dataclass(frozen=True)
class _Slot:
    """Which trials may share a data directory: never two loads, for one may change the data."""

    image: str
    settings: str
    load: str
    period: int


class Instances:
    """Gives a trial its server, started, and takes it back."""

    def __init__(self, ready: Ready, workspace: Workspace, say: Callable[[str], None]) -> None:
        """Use the workspace for data directories; `say` hears of images being built."""
        self._ready = ready
        self._workspace = workspace
        self._say = say
        self._directories: dict[_Slot, Path] = {}

    def build_image(self, setup: Setup) -> None:
        """Build and check the loaded data directory of a set-up, unless it is there."""
        server = self._ready.servers[setup.server]
        if not isinstance(server, ForeignServer):
            self._image(server, setup)

    @contextmanager
    def server_for(
        self,
        trial: PlannedTrial,
        *,
        settings: Mapping[str, str] | None = None,
        launcher: Sequence[str] = (),
        fresh: bool = False,
    ) -> Iterator[Server]:
        """Start the server of a trial on its data directory; stop it at the end.

        `settings` stand in for those of the set-up; `launcher` is a command to run it under;
        `fresh` gives it a clone of its own, whatever the reset policy.

        Raises:
            ServerCrashedError: it did not come up; carries what its log says.
            TeitenError: the data directory could not be made (disk full).
        """
        setup = trial.treatment.setup
        server = self._ready.servers[setup.server]
        if isinstance(server, ForeignServer):
            yield server
            return
        directory = self._clone(server, setup) if fresh else self._directory(server, trial)
        cluster = Cluster(server, directory, self._workspace.socket_dir())
        self._workspace.adopt(cluster)
        try:
            cluster.start(setup.guc_settings() if settings is None else settings, launcher=launcher)
            yield cluster
            if not fresh and setup.reset != "trial":
                cluster.stop("fast")  # the next trial starts without recovery
        except BaseException:
            cluster.kill()
            self._forget(cluster.data_dir)
            raise
        if fresh or setup.reset == "trial":
            cluster.kill()
            self._forget(cluster.data_dir)

    def _directory(self, server: Installation, trial: PlannedTrial) -> Path:
        setup = trial.treatment.setup
        key = _image_key(server, setup)
        period = {"trial": trial.number, "block": trial.block, "study": 0}[setup.reset]
        settings = repr(sorted(setup.guc_settings().items()))
        load = repr((setup.load.script, sorted(setup.load.variables.items())))
        slot = _Slot(key.digest, settings, load, period)
        for old in [s for s in self._directories if s.period not in {0, trial.number, trial.block}]:
            self._forget(self._directories[old])
        if slot not in self._directories:
            self._directories[slot] = self._clone(server, setup)
        return self._directories[slot]

    def _clone(self, server: Installation, setup: Setup) -> Path:
        directory = self._workspace.new_dir("data") / "data"
        image = images_dir() / _image_key(server, setup).digest
        # On the disk before anything is measured: what is written back later would be written
        # back during the measurement.
        try:
            clone_image(image, directory, sync=True)
        except UnsoundImageError:  # removed or damaged since the run began
            clone_image(self._image(server, setup), directory, sync=True)
        return directory

    def _forget(self, directory: Path) -> None:
        """Remove a data directory that no later trial may use."""
        self._directories = {s: d for s, d in self._directories.items() if d != directory}
        shutil.rmtree(directory.parent, ignore_errors=True)

    def _image(self, server: Installation, setup: Setup) -> Path:
        data = setup.data
        assert data.kind == "pgbench"  # noqa: S101 - preflight refuses all else

        def load(cluster: Cluster) -> None:
            _load_pgbench(cluster, data, self._ready)

        return ensure_image(
            _image_key(server, setup), server, load=load, workspace=self._workspace, say=self._say
        )


def _image_key(server: Installation, setup: Setup) -> ImageKey:
    return ImageKey(
        identity=server.identity,
        version=server.version,
        initdb_options=setup.initdb,
        data=setup.data.model_dump(mode="json"),
    )


def _load_pgbench(cluster: Cluster, data: PgbenchData, ready: Ready) -> None:
    ready.pgbench.initialise(cluster.conninfo, data)
    with cluster.connect() as connection:
        available = connection.execute(
            "SELECT 1 FROM pg_available_extensions WHERE name = 'pg_prewarm'"
        ).fetchone()
        if available:
            connection.execute(PREWARM_EXTENSION)
