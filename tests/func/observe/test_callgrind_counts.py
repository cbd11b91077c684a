"""Instructions counted by valgrind on a real server."""

from __future__ import annotations

import shutil
from typing import TYPE_CHECKING

import pytest

from teiten import host
from teiten.observe import callgrind
from teiten.server.cluster import Cluster
from teiten.server.source import resolve
from teiten.server.workspace import Workspace

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

pytestmark = pytest.mark.skipif(
    shutil.which("valgrind") is None, reason="valgrind is not installed"
)


def test_one_percent_more_work_is_told_in_one_count_each(tmp_path: Path) -> None:
    client = resolve("pypi:18.6")
    pgbench = client.program("pgbench")

    def run_pgbench(cluster: Cluster, options: Sequence[str]) -> None:
        host.run_program([pgbench, *options, cluster.conninfo], env=client.env)

    def script(name: str, statement: str) -> str:
        path = tmp_path / name
        path.write_text(f"{statement}\n")
        return f"--file={path}"

    with Workspace.open() as workspace:
        cluster = Cluster.initdb(
            resolve("npm:17.7"), workspace.new_dir("data"), workspace.socket_dir()
        )
        workspace.adopt(cluster)
        counter = callgrind.CallgrindCounter(workspace.new_dir("callgrind"))
        cluster.start(
            {"fsync": "off", **callgrind.SETTINGS, "shared_buffers": "32MB"},
            launcher=counter.launcher,
        )

        def count(file: str) -> callgrind.InstructionCount:
            def run_load(transactions: int) -> None:
                run_pgbench(cluster, ["-n", "-c1", f"-t{transactions}", "--random-seed=1", file])

            return counter.count(cluster.postmaster_pid, run_load, tmp_path)

        first = count(script("rows.sql", "SELECT sum(x) FROM generate_series(1, 10000) AS x;"))
        dearer = count(script("more.sql", "SELECT sum(x) FROM generate_series(1, 10100) AS x;"))
        cluster.stop()
    assert first.instructions_per_tx > 10_000
    ratio = dearer.instructions_per_tx / first.instructions_per_tx
    assert 1.008 < ratio < 1.0105
    assert list(tmp_path.glob("callgrind.*.out.zst"))
