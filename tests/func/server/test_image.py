from __future__ import annotations

import os
import shutil
import subprocess
import sys
import textwrap
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from teiten import host
from teiten.errors import TeitenError, UsageError
from teiten.server import image, procfs
from teiten.server.cluster import Cluster
from teiten.server.prewarm import prewarm

if TYPE_CHECKING:
    from pathlib import Path

    from teiten.server.installation import Installation
    from teiten.server.workspace import Workspace


class Loader:
    """Loads a small table and counts how often it was asked to."""

    def __init__(self) -> None:
        self.calls = 0

    def __call__(self, cluster: Cluster) -> None:
        self.calls += 1
        with cluster.connect() as connection:
            connection.execute("CREATE TABLE loaded (id int PRIMARY KEY, filler text)")
            connection.execute("INSERT INTO loaded SELECT i, 'x' FROM generate_series(1, 1000) i")


@pytest.fixture
def loader() -> Loader:
    return Loader()


@pytest.fixture
def key(pg17: Installation) -> image.ImageKey:
    return image.ImageKey(pg17.identity, pg17.version, ("--data-checksums",), {"kind": "test"})


@pytest.fixture
def built(key: image.ImageKey, pg17: Installation, loader: Loader, workspace: Workspace) -> Path:
    return image.ensure_image(key, pg17, load=loader, workspace=workspace)


def started(built: Path, installation: Installation, workspace: Workspace) -> Cluster:
    data = workspace.new_dir("data")
    image.clone_image(built, data)
    cluster = Cluster(installation, data, workspace.socket_dir())
    workspace.adopt(cluster)
    cluster.start({"shared_buffers": "16MB"})
    return cluster


def test_clone_has_the_data_and_none_of_the_loading_settings(
    built: Path, pg17: Installation, workspace: Workspace
) -> None:
    cluster = started(built, pg17, workspace)
    with cluster.connect() as connection:
        facts = connection.execute(
            "SELECT count(*), current_setting('fsync'), current_setting('wal_level'),"
            " current_setting('data_checksums'), current_setting('autovacuum') FROM loaded"
        ).fetchone()
        unfrozen = connection.execute(
            "SELECT count(*) FROM pg_class WHERE relname = 'loaded' AND relallvisible < relpages"
        ).fetchone()
    assert facts == (1000, "on", "replica", "on", "on")
    assert unfrozen == (0,)
    cluster.check_alive()
    assert prewarm(cluster) >= 5
    with cluster.connect() as connection:
        connection.execute("CREATE EXTENSION pg_buffercache")
        held = connection.execute(
            "SELECT count(*) FROM pg_buffercache WHERE relfilenode = 'loaded'::regclass"
        ).fetchone()
    assert held is not None
    assert held[0] >= 5


def test_clones_do_not_reach_the_image_or_each_other(
    built: Path, pg17: Installation, workspace: Workspace
) -> None:
    first = started(built, pg17, workspace)
    with first.connect() as connection:
        connection.execute("DELETE FROM loaded")
    first.stop()
    assert image.find_damage(built) is None
    second = started(built, pg17, workspace)
    with second.connect() as connection:
        assert connection.execute("SELECT count(*) FROM loaded").fetchone() == (1000,)


def test_image_is_built_once(
    built: Path, key: image.ImageKey, pg17: Installation, loader: Loader, workspace: Workspace
) -> None:
    assert image.ensure_image(key, pg17, load=loader, workspace=workspace) == built
    assert loader.calls == 1
    assert [x.digest for x in image.list_images()] == [key.digest]


@pytest.mark.parametrize(
    "damage",
    [
        lambda data: (data / "base" / "1" / "1259").unlink(),
        lambda data: os.truncate(data / "base" / "1" / "1259", 123 * 8192),
        lambda data: (data / "global" / "pg_control").write_bytes(b""),
        shutil.rmtree,
    ],
    ids=["file missing", "file longer", "control file empty", "data gone"],
)
def test_damaged_image_is_refused_then_built_again(  # noqa: PLR0917 - five fixtures, one case
    built: Path,
    key: image.ImageKey,
    pg17: Installation,
    loader: Loader,
    workspace: Workspace,
    damage: object,
) -> None:
    assert callable(damage)
    damage(built / "data")
    with pytest.raises(TeitenError, match="cannot be cloned"):
        image.clone_image(built, workspace.new_dir("data"))
    said: list[str] = []
    again = image.ensure_image(key, pg17, load=loader, workspace=workspace, say=said.append)
    assert loader.calls == 2
    assert "again" in said[0]
    assert image.find_damage(again) is None


def test_failed_load_leaves_neither_image_nor_server(
    key: image.ImageKey, pg17: Installation, workspace: Workspace, home: Path
) -> None:
    def fail(_: Cluster) -> None:
        raise TeitenError("the load failed")

    with pytest.raises(TeitenError, match="the load failed"):
        image.ensure_image(key, pg17, load=fail, workspace=workspace)
    assert image.list_images() == []
    assert [x for x in (home / "images").iterdir() if not x.name.startswith(".")] == []
    assert procfs.server_processes(home) == []


def test_other_data_is_another_image(key: image.ImageKey) -> None:
    others = [
        replace(key, identity="other"),
        replace(key, initdb_options=()),
        replace(key, data={"kind": "test", "scale": 2}),
    ]
    assert len({x.digest for x in (key, *others)}) == 4
    assert replace(key, data={"a": 1, "b": 2}).digest == replace(key, data={"b": 2, "a": 1}).digest


def test_removed_image_is_gone(built: Path, key: image.ImageKey) -> None:
    image.remove_image(key.digest)
    assert not built.exists()
    assert image.list_images() == []
    with pytest.raises(UsageError, match="There is no image"):
        image.remove_image(key.digest)
    with pytest.raises(UsageError, match="There is no image"):
        image.remove_image("..")


@pytest.mark.usefixtures("pg17")
def test_two_processes_build_one_image(home: Path) -> None:
    program = textwrap.dedent("""
        from teiten.server import image, source
        from teiten.server.workspace import Workspace
        installation = source.resolve("npm:17.7")
        key = image.ImageKey(installation.identity, installation.version, (), {"kind": "both"})
        def load(cluster):
            print("loading", flush=True)
        with Workspace.open() as workspace:
            image.ensure_image(key, installation, load=load, workspace=workspace)
    """)
    both = [
        subprocess.Popen([sys.executable, "-c", program], stdout=subprocess.PIPE, text=True)
        for _ in range(2)
    ]
    said = [x.communicate(timeout=60)[0] for x in both]
    assert [x.returncode for x in both] == [0, 0]
    assert sorted(said) == ["", "loading\n"]
    assert len(image.list_images()) == 1
    assert list((home / "work").glob("[!.]*")) == []


def test_data_belongs_to_the_server_user_alone(built: Path) -> None:
    status = (built / "data").stat()
    assert (status.st_uid, status.st_mode & 0o777) == (host.server_user().uid, 0o700)
