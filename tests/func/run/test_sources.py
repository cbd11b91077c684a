"""Servers from every source take part in a run, PostgreSQL 13 to 18."""

from __future__ import annotations

import contextlib
from typing import TYPE_CHECKING

import pytest

from teiten.archive import open_run
from teiten.errors import UsageError
from teiten.load.pgbench import Pgbench
from teiten.server.cluster import Cluster
from teiten.server.source import resolve
from teiten.server.system import installed
from teiten.server.workspace import Workspace
from teiten.study import PgbenchData

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from tests.func.run.conftest import Teiten

BRIEF = ("--set", "factor.clients=2", "--set", "blocks=1")
FOREIGN = """
name = "foreign"
title = { en = "A server that teiten does not own" }
blocks = 2
seed = 1
[setup]
server = "dsn:CONNINFO"
data = { kind = "existing", scale = 1 }
load = { kind = "pgbench", script = "readonly.sql", duration_s = 1, warmup_s = 1 }
reset = "study"
[[factor]]
name = "clients"
levels = [1, 2]
"""


def test_six_major_versions_give_the_same_responses(teiten: Teiten) -> None:
    versions = "13.23,14.20,15.15,16.6,17.7,18.1"
    done = teiten.run("run", str(teiten.study), *BRIEF, "--set", f"factor.version={versions}")
    assert done.returncode == 0, done.stderr
    run = open_run(teiten.run_folder())
    trials = run.trials
    assert sorted(trials["factor.version"].to_list()) == versions.split(",")
    for response in ("tps", "latency_p99_ms", "server_cpu_us_per_tx", "wal_bytes_per_tx"):
        assert trials[response].null_count() == 0, response
        assert trials[response].min() > 0, response  # type: ignore[operator]
    assert len(run.environment["servers"]) == 6


def test_servers_of_the_distribution_and_of_pypi_take_part(teiten: Teiten) -> None:
    system = next(iter(installed()), None)
    try:
        first = f"system:{system}" if system else "npm:17.7"
        resolve(first)
    except UsageError as error:
        pytest.skip(str(error))
    changes = ("blocks=1", "setup.data.scale=1", "factor.clients=4", "factor.workload=update")
    words = [word for change in changes for word in ("--set", change)]
    done = teiten.run("compare", first, "pypi:18.6", *words)
    assert done.returncode == 0, done.stderr
    servers = open_run(teiten.run_folder()).environment["servers"]
    assert set(servers) == {first, "pypi:18.6"}


@pytest.fixture
def foreign_server(monkeypatch: pytest.MonkeyPatch, session_home: Path) -> Iterator[Cluster]:
    """A running server with pgbench's tables, which the run knows only by its address."""
    monkeypatch.setenv("TEITEN_HOME", str(session_home))
    with Workspace.open() as workspace, contextlib.ExitStack() as stack:
        data_dir = workspace.new_dir("foreign")
        cluster = Cluster.initdb(resolve("npm:17.7"), data_dir, workspace.socket_dir())
        workspace.adopt(cluster)
        cluster.start({"shared_buffers": "64MB"})
        stack.callback(cluster.kill)
        Pgbench(resolve("pypi:18.6")).initialise(
            cluster.conninfo, PgbenchData(kind="pgbench", scale=1)
        )
        yield cluster


def test_a_foreign_server_is_observed_by_sql_alone_and_left_running(
    teiten: Teiten, tmp_path: Path, foreign_server: Cluster
) -> None:
    study = tmp_path / "foreign.toml"
    study.write_text(FOREIGN.replace("CONNINFO", foreign_server.conninfo))
    done = teiten.run("run", str(study))
    assert done.returncode == 0, done.stderr
    trials = open_run(teiten.run_folder()).trials
    assert trials.height == 4
    assert trials["tps"].min() > 0  # type: ignore[operator]
    assert trials["buffers_hit_per_tx"].min() > 100  # type: ignore[operator]
    assert "server_cpu_us_per_tx" not in trials.columns, "its processes are not ours to watch"
    foreign_server.check_alive()


@pytest.mark.parametrize(
    ("key", "override"),
    [
        ("settings", 'setup.settings.work_mem="1MB"'),
        ("initdb", 'setup.initdb=["-k"]'),
        ("reset", "setup.reset=trial"),
        ("data", 'setup.data={kind="pgbench",scale=1}'),
    ],
)
def test_what_only_an_own_server_can_do_is_refused(
    teiten: Teiten, tmp_path: Path, key: str, override: str
) -> None:
    study = tmp_path / "foreign.toml"
    study.write_text(FOREIGN.replace("CONNINFO", "service=lab"))
    done = teiten.run("run", str(study), "--set", override)
    assert done.returncode == 2
    assert f"setup.{key}" in done.stderr
    assert not teiten.archive.exists()
