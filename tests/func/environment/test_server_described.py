from __future__ import annotations

import json
from typing import TYPE_CHECKING

import psycopg
import pytest

from teiten.environment import describe_server
from teiten.server import source
from teiten.server.cluster import Cluster
from teiten.server.workspace import Workspace

if TYPE_CHECKING:
    from collections.abc import Iterator


@pytest.fixture(scope="module", params=["npm:13.22", "npm:18.1"])
def cluster(request: pytest.FixtureRequest) -> Iterator[Cluster]:
    installation = source.resolve(request.param)
    with Workspace.open() as workspace:
        made = Cluster.initdb(
            installation,
            workspace.new_dir("data"),
            workspace.socket_dir(),
            options=["--data-checksums", "--wal-segsize=4"],
        )
        workspace.adopt(made)
        made.start({"work_mem": "9MB", "primary_conninfo": "password=secret"})
        yield made
        made.stop()


def test_version_build_and_what_differs_from_default(cluster: Cluster) -> None:
    described = describe_server(cluster.conninfo)
    assert described["version_num"] == cluster.installation.version_num
    assert described["data_checksums"] is True
    assert described["block_bytes"] == 8192
    assert described["wal_segment_bytes"] == 4 << 20
    assert described["settings"]["work_mem"] == "9MB"
    assert "random_page_cost" not in described["settings"]
    assert "CONFIGURE" in described["build"]
    assert "plpgsql" in described["extensions"]
    assert "secret" not in json.dumps(described)


def test_what_our_own_session_sets_is_not_the_servers(cluster: Cluster) -> None:
    with cluster.connect(application_name="observer") as connection:
        connection.execute("SET random_page_cost = 1")
        settings = describe_server(connection)["settings"]
    assert "application_name" not in settings
    assert "random_page_cost" not in settings


def test_an_ordinary_role_sees_all_but_the_build(cluster: Cluster) -> None:
    with cluster.connect() as connection:
        connection.execute("CREATE ROLE guest")
        connection.execute("SET ROLE guest")
        described = describe_server(connection)
        connection.execute("RESET ROLE")
        connection.execute("DROP ROLE guest")
    assert described["build"] is None
    assert described["version"].startswith("PostgreSQL ")


def test_a_server_that_is_not_there() -> None:
    with pytest.raises(psycopg.OperationalError):
        describe_server("host=/nonexistent")
