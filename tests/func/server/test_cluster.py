from __future__ import annotations

import os
import signal
import stat
import time
from typing import TYPE_CHECKING

import psycopg
import pytest

from teiten import host
from teiten.errors import ServerCrashedError, TeitenError, UsageError
from teiten.server import procfs, source
from teiten.server.cluster import Cluster
from teiten.server.settings import check_settings, known_settings

if TYPE_CHECKING:
    from collections.abc import Callable

    from teiten.server.installation import Installation
    from teiten.server.workspace import Workspace

DEADLINE_S = 20.0


def wait_until(condition: Callable[[], bool]) -> None:
    deadline = time.monotonic() + DEADLINE_S
    while not condition():
        assert time.monotonic() < deadline
        time.sleep(0.01)


def ask(cluster: Cluster, query: str) -> object:
    with cluster.connect() as connection:
        row = connection.execute(query).fetchone()
    assert row is not None
    return row[0]


def kill_a_backend(cluster: Cluster) -> None:
    connection = cluster.connect()
    os.kill(connection.info.backend_pid, signal.SIGKILL)
    with pytest.raises(psycopg.OperationalError):
        connection.execute("SELECT 1")
    connection.close()


def test_settings_reach_the_server_with_every_character(cluster: Cluster) -> None:
    prefix = r"%m it's a \ back'slash "
    cluster.start({"shared_buffers": "16MB", "log_line_prefix": prefix, "app.name": "x"})
    assert ask(cluster, "SHOW shared_buffers") == "16MB"
    assert ask(cluster, "SHOW log_line_prefix") == prefix
    assert ask(cluster, "SHOW app.name") == "x"


def test_settings_of_one_start_do_not_reach_the_next(cluster: Cluster) -> None:
    cluster.start({"work_mem": "7MB"})
    cluster.stop()
    cluster.start()
    assert ask(cluster, "SHOW work_mem") == "4MB"


def test_server_is_private_and_has_no_tcp(cluster: Cluster) -> None:
    cluster.start()
    assert ask(cluster, "SHOW listen_addresses") == ""
    assert ask(cluster, "SELECT current_user") == "postgres"
    for folder in (cluster.data_dir, cluster.socket_dir):
        assert stat.S_IMODE(folder.stat().st_mode) == 0o700
    methods = ask(cluster, "SELECT string_agg(DISTINCT auth_method, ' ') FROM pg_hba_file_rules")
    assert methods == "peer"


def test_server_never_runs_as_root(cluster: Cluster) -> None:
    cluster.start()
    owner = (cluster.data_dir / "PG_VERSION").stat().st_uid
    assert owner == host.server_user().uid != 0


def test_tcp_asks_for_the_random_password(cluster: Cluster, workspace: Workspace) -> None:
    port = 20000 + os.getpid() % 20000
    cluster.start({"listen_addresses": "127.0.0.1", "port": str(port)})
    assert workspace.socket_dir() == cluster.socket_dir
    tcp = f"host=127.0.0.1 port={port} user=postgres dbname=postgres"
    with pytest.raises(psycopg.OperationalError, match="password"):
        psycopg.connect(f"{tcp} passfile=/dev/null")
    with pytest.raises(psycopg.OperationalError, match="password authentication failed"):
        psycopg.connect(f"{tcp} password=guess")
    assert stat.S_IMODE(cluster.password_file.stat().st_mode) == 0o600
    psycopg.connect(f"{tcp} passfile={cluster.password_file}").close()


def test_killed_backend_is_noticed_with_its_cause(cluster: Cluster) -> None:
    cluster.start()
    cluster.check_alive()
    kill_a_backend(cluster)
    wait_until(lambda: cluster.restarts_seen() == 1)
    with pytest.raises(ServerCrashedError, match="terminated by signal 9"):
        cluster.check_alive()
    cluster.stop()
    cluster.start()
    cluster.check_alive()


def test_killed_backend_is_noticed_when_nothing_is_logged(cluster: Cluster) -> None:
    cluster.start({"log_min_messages": "panic"})
    kill_a_backend(cluster)
    wait_until(lambda: cluster.restarts_seen() == 1)
    with pytest.raises(ServerCrashedError, match="restarted"):
        cluster.check_alive()


def test_killed_backend_is_noticed_in_the_collectors_log(cluster: Cluster) -> None:
    cluster.start({"logging_collector": "on", "log_directory": "log"})
    kill_a_backend(cluster)
    wait_until(lambda: "reinitializing" in cluster.log_tail(100))
    with pytest.raises(ServerCrashedError, match="terminated by signal 9"):
        cluster.check_alive()


def test_killed_postmaster_is_noticed_and_the_cluster_starts_again(cluster: Cluster) -> None:
    cluster.start()
    with cluster.connect() as connection:
        connection.execute("CREATE TABLE kept AS SELECT 1")
    pid = cluster.postmaster_pid
    os.kill(pid, signal.SIGKILL)
    wait_until(lambda: not cluster.is_running)
    with pytest.raises(ServerCrashedError, match="ended"):
        cluster.check_alive()
    assert (cluster.data_dir / "postmaster.pid").exists()
    cluster.start()
    assert cluster.postmaster_pid != pid
    assert ask(cluster, "SELECT count(*) FROM kept") == 1


def test_stale_pid_file_naming_a_living_stranger_does_not_stop_the_start(
    cluster: Cluster,
) -> None:
    stranger = os.getppid()
    pid_file = cluster.data_dir / "postmaster.pid"
    pid_file.write_text(f"{stranger}\n{cluster.data_dir}\n1\n5432\n{cluster.socket_dir}\n\n0 0\n")
    cluster.start()
    assert ask(cluster, "SELECT 1") == 1


def test_failed_start_tells_the_cause_and_leaves_no_process(cluster: Cluster) -> None:
    with pytest.raises(ServerCrashedError, match='could not access file "nothing_of_this_name"'):
        cluster.start({"shared_preload_libraries": "nothing_of_this_name"})
    assert procfs.server_processes(cluster.data_dir) == []


def test_stop_is_clean_and_may_be_called_twice(cluster: Cluster) -> None:
    cluster.start()
    cluster.stop()
    cluster.stop()
    assert not cluster.is_running
    assert procfs.server_processes(cluster.data_dir) == []
    with pytest.raises(ServerCrashedError, match="not running"):
        _ = cluster.postmaster_pid


def test_initdb_options_count_and_a_bad_one_is_told(
    workspace: Workspace, pg17: Installation
) -> None:
    made = Cluster.initdb(
        pg17, workspace.new_dir("data"), workspace.socket_dir(), options=["--data-checksums"]
    )
    workspace.adopt(made)
    made.start()
    assert ask(made, "SHOW data_checksums") == "on"
    with pytest.raises(TeitenError, match=r"initdb of npm:17\.7 failed"):
        Cluster.initdb(pg17, workspace.new_dir("data"), workspace.socket_dir(), options=["--nope"])


@pytest.mark.parametrize(
    ("name", "value", "told"),
    [
        ("io_method", "worker", r"PostgreSQL 17\.7 .* does not know the setting io_method"),
        ("shared_bufers", "1GB", r"did you mean shared_buffers\?"),
        ("shared_buffers", "many", "refuses shared_buffers = 'many'"),
        ("max_connections", "-3", r"outside the valid range .* \(1 \.\. 262143\)"),
        ("wal_level", "some", "Available values: minimal, replica, logical"),
        ("checkpoint_timeout", "5MB", 'Valid units .* "min"'),
        ("block_size", "4096", "cannot be changed"),
        ("data_directory", "/x", "teiten chooses"),
        ("shared buffers", "1GB", "is not a name"),
        ("work_mem", "1MB\nfsync=off", "line break"),
    ],
)
def test_wrong_setting_is_refused_in_one_sentence(
    pg17: Installation, name: str, value: str, told: str
) -> None:
    with pytest.raises(UsageError, match=told):
        check_settings(pg17, {"fsync": "on", name: value})


def test_each_version_knows_its_own_settings(pg18: Installation) -> None:
    old = source.resolve("npm:13.23")
    check_settings(pg18, {"io_method": "worker"})
    check_settings(old, {"vacuum_cleanup_index_scale_factor": "0.1"})
    with pytest.raises(UsageError, match=r"PostgreSQL 13\.23 .* does not know .* io_method"):
        check_settings(old, {"io_method": "worker"})
    with pytest.raises(UsageError, match="vacuum_cleanup_index_scale_factor"):
        check_settings(pg18, {"vacuum_cleanup_index_scale_factor": "0.1"})
    assert "io_method" in known_settings(pg18) - known_settings(old)


def test_old_version_lives_the_same_life(workspace: Workspace) -> None:
    old = source.resolve("npm:13.23")
    made = Cluster.initdb(old, workspace.new_dir("data"), workspace.socket_dir())
    workspace.adopt(made)
    made.start({"shared_buffers": "16MB"})
    assert ask(made, "SHOW server_version_num") == str(old.version_num)
    made.check_alive()
    made.stop()
