"""A small running server for observers to watch, and the load that they watch it under."""

from __future__ import annotations

import itertools
from dataclasses import dataclass
from typing import TYPE_CHECKING

import pytest

from teiten import host
from teiten.observe.base import Window
from teiten.server.cluster import Cluster
from teiten.server.source import resolve
from teiten.server.workspace import Workspace

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

SETTINGS = {"shared_buffers": "64MB", "autovacuum": "off", "fsync": "off"}


@dataclass(frozen=True)
class Server:
    """A running cluster with pgbench's tables at scale 1."""

    cluster: Cluster

    def window(self, raw_dir: Path) -> Window:
        installation = self.cluster.installation
        return Window(
            raw_dir=raw_dir,
            conninfo=self.cluster.conninfo,
            postmaster_pid=self.cluster.postmaster_pid,
            data_dir=self.cluster.data_dir,
            version_num=installation.version_num,
        )

    def run(self, *options: str) -> None:
        """Run pgbench on it."""
        client = resolve("pypi:18.6")
        argv: list[str | Path] = [client.program("pgbench"), *options, self.cluster.conninfo]
        host.run_program(argv, env=client.env)


@pytest.fixture(scope="session")
def start_server() -> Iterator[Callable[[str], Server]]:
    """Start a server of a version (once a session) and load it."""
    ports = itertools.count()
    running: dict[str, Server] = {}
    with Workspace.open() as workspace:

        def start(spec: str) -> Server:
            if spec not in running or not running[spec].cluster.is_running:
                cluster = Cluster.initdb(
                    resolve(spec), workspace.new_dir("data"), workspace.socket_dir()
                )
                workspace.adopt(cluster)
                # The port is part of the socket's name; no TCP is opened.
                cluster.start(SETTINGS | {"port": str(6000 + next(ports))})
                running[spec] = Server(cluster)
                running[spec].run("-i", "-q", "-s", "1")
            return running[spec]

        yield start


@pytest.fixture
def server(start_server: Callable[[str], Server]) -> Server:
    return start_server("npm:17.7")
