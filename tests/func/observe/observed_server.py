"""A small running server for observers to watch."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from teiten import host
from teiten.observe.base import Window
from teiten.server.source import resolve

if TYPE_CHECKING:
    from pathlib import Path

    from teiten.server.cluster import Cluster


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
