from __future__ import annotations

import os
import subprocess
from typing import TYPE_CHECKING

import pytest

from teiten.errors import TeitenError, UsageError
from teiten.server.clone import clone_tree

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

MB = 1 << 20


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    root = tmp_path / "tree"
    (root / "base" / "1").mkdir(parents=True)
    (root / "empty").mkdir(mode=0o700)
    (root / "base" / "1" / "16384").write_bytes(os.urandom(3 * MB + 17))
    (root / "PG_VERSION").write_text("17\n")
    (root / "PG_VERSION").chmod(0o640)
    (root / "postmaster.pid").write_text("1\n")
    with (root / "sparse").open("wb") as file:
        file.truncate(64 * MB)
        file.seek(10 * MB)
        file.write(b"data")
    with (root / "hole").open("wb") as file:
        file.truncate(MB)
    return root


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    """Mount a file system of 8 MB."""
    point = tmp_path / "small"
    point.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", "size=8m", "tmpfs", str(point)]
    done = subprocess.run(mount, check=False, capture_output=True, text=True)
    if done.returncode != 0:
        pytest.skip(f"mounting is not permitted: {done.stderr.strip()}")
    yield point
    subprocess.run(["umount", str(point)], check=True)


@pytest.mark.parametrize("sync", [False, True])
def test_clone_is_the_same_tree(tree: Path, tmp_path: Path, *, sync: bool) -> None:
    report = clone_tree(tree, tmp_path / "clone", sync=sync)
    clone = tmp_path / "clone"
    names = {str(x.relative_to(clone)) for x in clone.rglob("*")}
    expected = {str(x.relative_to(tree)) for x in tree.rglob("*")} - {"postmaster.pid"}
    assert names == expected
    for name in names:
        ours, theirs = (clone / name).stat(), (tree / name).stat()
        assert (ours.st_mode, ours.st_uid, ours.st_gid) == (
            theirs.st_mode,
            theirs.st_uid,
            theirs.st_gid,
        )
        if (clone / name).is_file():
            assert (clone / name).read_bytes() == (tree / name).read_bytes()
    assert report.files == 4
    assert report.method in {"copy", "reflink"}


def test_sparse_files_stay_sparse(tree: Path, tmp_path: Path) -> None:
    report = clone_tree(tree, tmp_path / "clone")
    allocated = (tmp_path / "clone" / "sparse").stat().st_blocks * 512
    assert allocated < MB
    assert report.bytes < 5 * MB


@pytest.mark.skipif(os.geteuid() != 0, reason="only root gives files away")
def test_clone_belongs_to_the_owner_of_the_original(tree: Path, tmp_path: Path) -> None:
    os.chown(tree, 12345, 23456)
    os.chown(tree / "PG_VERSION", 12345, 23456)
    clone_tree(tree, tmp_path / "clone")
    for name in ("", "PG_VERSION"):
        status = (tmp_path / "clone" / name).stat()
        assert (status.st_uid, status.st_gid) == (12345, 23456)
    assert (tmp_path / "clone" / "PG_VERSION").stat().st_mode & 0o777 == 0o640


def test_full_disk_is_told_beforehand_and_leaves_nothing(tree: Path, small_disk: Path) -> None:
    (tree / "big").write_bytes(os.urandom(16 * MB))
    with pytest.raises(TeitenError, match=r"is full: the clone needs \d+ bytes and \d+ are free"):
        clone_tree(tree, small_disk / "clone")
    assert list(small_disk.iterdir()) == []


def test_disk_that_fills_up_meanwhile_leaves_nothing(
    tree: Path, small_disk: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Somebody else takes the room that was there when it was looked at."""
    (tree / "big").write_bytes(os.urandom(7 * MB))
    monkeypatch.setattr("teiten.server.clone._check_room", lambda _dst, _needed: None)
    target = small_disk / "clone"
    target.mkdir()
    with pytest.raises(TeitenError, match="is full"):
        clone_tree(tree, target)
    assert list(small_disk.rglob("*")) == [target]


def test_tree_with_parts_elsewhere_is_refused(tree: Path, tmp_path: Path) -> None:
    (tree / "pg_wal").symlink_to(tmp_path)
    with pytest.raises(UsageError, match="its pg_wal lies elsewhere"):
        clone_tree(tree, tmp_path / "clone")
    assert not (tmp_path / "clone").exists()


def test_directory_with_something_in_it_is_not_touched(tree: Path, tmp_path: Path) -> None:
    target = tmp_path / "clone"
    target.mkdir()
    (target / "precious").write_text("kept")
    with pytest.raises(TeitenError, match="is not empty"):
        clone_tree(tree, target)
    assert (target / "precious").read_text() == "kept"
