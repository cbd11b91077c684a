"""Loaded data directories, built once, checked, kept, and cloned for each trial.

An image appears by one rename after its server was shut down cleanly and everything is on the
disk. Its manifest holds the count and sizes of its files; an image that differs is built again.
"""

from __future__ import annotations

import contextlib
import fcntl
import hashlib
import json
import os
import shutil
import sys
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from teiten import host
from teiten.errors import TeitenError, UsageError
from teiten.server import store
from teiten.server.clone import CloneReport, clone_tree
from teiten.server.cluster import Cluster
from teiten.server.controlfile import read_control
from teiten.server.installation import say_nothing

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping
    from pathlib import Path

    from teiten.server.installation import Installation
    from teiten.server.workspace import Workspace

_FORMAT = 2  # to be raised as well when images are prepared in another way
_MANIFEST = "manifest.json"
# Nothing that is loaded needs to survive a crash: a load that is cut off starts again.
_LOADING = {
    "fsync": "off",
    "synchronous_commit": "off",
    "full_page_writes": "off",
    "wal_level": "minimal",
    "max_wal_senders": "0",
    "max_wal_size": "16GB",
    "min_wal_size": "32MB",
    "checkpoint_timeout": "1h",
    "autovacuum": "off",
    "shared_buffers": "256MB",
    "maintenance_work_mem": "512MB",
}


@dataclass(frozen=True)
class ImageKey:
    """Everything that decides what is in an image.

    `data` says what was loaded and must be JSON: {"kind": "pgbench", "scale": 10, …}.
    """

    identity: str
    version: str
    initdb_options: tuple[str, ...] = ()
    data: Mapping[str, Any] = field(default_factory=dict, hash=False)

    @property
    def digest(self) -> str:
        """A short name that is the same for equal keys."""
        parts = {
            "format": _FORMAT,
            "identity": self.identity,
            "version": self.version,
            "initdb_options": list(self.initdb_options),
            "data": self.data,
            # Pages are in the machine's byte order and alignment.
            "machine": f"{os.uname().machine}-{sys.byteorder}",
        }
        text = json.dumps(parts, sort_keys=True, separators=(",", ":"))
        return hashlib.sha256(text.encode()).hexdigest()[:20]


@dataclass(frozen=True)
class ImageInfo:
    """One image as its manifest describes it; `bytes` are the sizes of its files added up."""

    digest: str
    version: str
    initdb_options: tuple[str, ...]
    data: Mapping[str, Any]
    files: int
    bytes: int
    built_at: str


def images_dir() -> Path:
    """Return the folder of images."""
    return host.home_dir() / "images"


def ensure_image(
    key: ImageKey,
    installation: Installation,
    *,
    load: Callable[[Cluster], None],
    workspace: Workspace,
    say: Callable[[str], None] = say_nothing,
) -> Path:
    """Return the image of `key`, building it when there is none or it is damaged.

    `load` fills a running cluster; every database is vacuumed, frozen and analyzed afterwards.
    A second process that asks for the same image waits.

    Raises:
        TeitenError: the load failed, the disk is full, or the result is not sound.
    """
    image = images_dir() / key.digest
    with _locked(key.digest, fcntl.LOCK_EX):
        if image.exists():
            damage = find_damage(image)
            if damage is None:
                return image
            say(f"building the image of {_describe(key)} again: {damage}")
            _remove(image)
        else:
            say(f"building the image of {_describe(key)}")
        store.make_public_dir(images_dir())
        building = workspace.new_dir("image", under=images_dir())
        try:
            _build(key, installation, building, load, workspace)
            building.rename(image)
            host.sync_folder(images_dir())
        except OSError as error:
            raise TeitenError(
                f"The image of {_describe(key)} cannot be stored in {images_dir()}: "
                f"{error.strerror or error}."
            ) from error
        finally:
            shutil.rmtree(building, ignore_errors=True)
    return image


def _build(
    key: ImageKey,
    installation: Installation,
    building: Path,
    load: Callable[[Cluster], None],
    workspace: Workspace,
) -> None:
    building.chmod(0o711)
    data_dir = building / "data"
    data_dir.mkdir(mode=0o700)
    host.server_user().own(data_dir)
    cluster = Cluster.initdb(
        installation, data_dir, workspace.socket_dir(), options=key.initdb_options
    )
    workspace.adopt(cluster)
    cluster.start(_LOADING)
    try:
        load(cluster)
        cluster.check_alive()
        _prepare(cluster)
        cluster.stop("fast")
    finally:
        cluster.kill()
    cluster.forget_settings()
    cluster.log_path.unlink(missing_ok=True)
    shutil.rmtree(data_dir / "log", ignore_errors=True)
    (data_dir / "postmaster.opts").unlink(missing_ok=True)
    files, size = _measure(data_dir)
    manifest = {
        "format": _FORMAT,
        "digest": key.digest,
        "version": key.version,
        "initdb_options": list(key.initdb_options),
        "data": key.data,
        "files": files,
        "bytes": size,
        "built_at": datetime.now(UTC).isoformat(timespec="seconds"),
    }
    (building / _MANIFEST).write_text(json.dumps(manifest, indent=2) + "\n")
    if (damage := find_damage(building)) is not None:
        raise TeitenError(f"The image of {_describe(key)} was built but is not sound: {damage}.")
    host.sync_tree(building)


def _prepare(cluster: Cluster) -> None:
    """Freeze, analyze and make ready for prewarming every database, so that no trial pays."""
    with cluster.connect() as connection:
        rows = connection.execute(
            "SELECT datname, NOT datistemplate AND EXISTS (SELECT FROM pg_available_extensions"
            " WHERE name = 'pg_prewarm') FROM pg_database WHERE datallowconn"
        ).fetchall()
    for name, can_prewarm in rows:
        with cluster.connect(dbname=name) as connection:
            if can_prewarm:
                connection.execute("CREATE EXTENSION IF NOT EXISTS pg_prewarm")
            connection.execute("VACUUM (FREEZE)")
            # Only a second pass finds the visibility map complete and counts it in
            # pg_class.relallvisible, which decides about index-only scans.
            connection.execute("VACUUM (ANALYZE)")
    with cluster.connect() as connection:
        connection.execute("CHECKPOINT")


def find_damage(image: Path) -> str | None:
    """Say what is wrong with an image, or None when it is sound.

    Compared are the count and the sizes of its files, its version and its shutdown state; the
    pages themselves are not read.
    """
    data_dir = image / "data"
    try:
        manifest = json.loads((image / _MANIFEST).read_text())
        files, size = _measure(data_dir)
        if (files, size) != (manifest["files"], manifest["bytes"]):
            return (
                f"it has {files} files of {size} bytes instead of {manifest['files']} of "
                f"{manifest['bytes']}"
            )
        if (data_dir / "postmaster.pid").exists():
            return "a server runs or was killed on it"
        if not (data_dir / "PG_VERSION").read_text().strip():
            return "its PG_VERSION is empty"
        if not read_control(data_dir).is_shut_down:
            return "its server was not shut down cleanly"
    except (OSError, ValueError, KeyError, TeitenError) as error:
        return f"it is incomplete ({error})"
    return None


def _measure(data_dir: Path) -> tuple[int, int]:
    files = size = 0
    pending = [str(data_dir)]
    while pending:
        with os.scandir(pending.pop()) as listing:
            for item in listing:
                if item.is_dir(follow_symlinks=False):
                    pending.append(item.path)
                else:
                    files += 1
                    size += item.stat(follow_symlinks=False).st_size
    return files, size


class UnsoundImageError(TeitenError):
    """An image was removed or damaged; building it again helps."""


def clone_image(image: Path, dst: Path, *, sync: bool = False) -> CloneReport:
    """Clone the image's data directory as `dst` (new or empty); see `clone_tree`.

    Raises:
        UnsoundImageError: there is no sound image.
        TeitenError: the disk is full, or a file cannot be read or written.
    """
    with _locked(image.name, fcntl.LOCK_SH):
        if (damage := find_damage(image)) is not None:
            raise UnsoundImageError(
                f"The image {image} cannot be cloned: {damage}; build it again."
            )
        return clone_tree(image / "data", dst, sync=sync)


def list_images() -> list[ImageInfo]:
    """List the complete images, newest last."""
    found = []
    for path in images_dir().glob(f"*/{_MANIFEST}"):
        with contextlib.suppress(OSError, ValueError, KeyError):
            m = json.loads(path.read_text())
            if m["digest"] == path.parent.name:
                found.append(
                    ImageInfo(
                        digest=m["digest"],
                        version=m["version"],
                        initdb_options=tuple(m["initdb_options"]),
                        data=m["data"],
                        files=m["files"],
                        bytes=m["bytes"],
                        built_at=m["built_at"],
                    )
                )
    return sorted(found, key=lambda x: x.built_at)


def remove_image(digest: str) -> None:
    """Remove an image, waiting until nobody clones it.

    Raises:
        UsageError: there is none of that name.
    """
    image = images_dir() / digest
    if not (image / _MANIFEST).is_file():
        raise UsageError(f"There is no image {digest!r} in {images_dir()}.")
    with _locked(digest, fcntl.LOCK_EX):
        _remove(image)


def _remove(image: Path) -> None:
    # Without its manifest it is no image, should the removal be cut off.
    (image / _MANIFEST).unlink(missing_ok=True)
    shutil.rmtree(image)


@contextlib.contextmanager
def _locked(digest: str, mode: int) -> Iterator[None]:
    folder = store.make_public_dir(images_dir())
    handle = os.open(folder / f".{digest}.lock", os.O_RDWR | os.O_CREAT, 0o644)
    try:
        fcntl.flock(handle, mode)
        yield
    finally:
        os.close(handle)


def _describe(key: ImageKey) -> str:
    words = ", ".join(f"{k} {v}" for k, v in key.data.items()) or "an empty cluster"
    return f"PostgreSQL {key.version} with {words}"
