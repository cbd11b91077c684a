"""A teiten command in a home of its own, which shares only the downloaded servers."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from teiten import host

if TYPE_CHECKING:
    from collections.abc import Iterator

STUDY = """
name = "small"
title = { en = "Two versions, one second" }
blocks = 1
seed = 7
[setup]
data = { kind = "pgbench", scale = 1 }
load = { kind = "pgbench", script = "update.sql", duration_s = 1 }
reset = "trial"
observe = ["procfs", "counters", "pgstat"]
[setup.settings]
shared_buffers = "64MB"
autovacuum = false
[[factor]]
name = "version"
patch = { server = "npm:{level}" }
levels = ["17.7", "18.1"]
[[factor]]
name = "clients"
levels = [1, 2]
"""


@dataclass(frozen=True)
class Teiten:
    """The command line as a user has it: `home` is teiten's own folder, `archive` that of runs."""

    home: Path
    archive: Path
    study: Path

    @property
    def environment(self) -> dict[str, str]:
        return {
            **os.environ,
            "TEITEN_HOME": str(self.home),
            "TEITEN_ARCHIVE": str(self.archive),
            "COLUMNS": "500",
        }

    def start(self, *words: str) -> subprocess.Popen[str]:
        return subprocess.Popen(
            [sys.executable, "-m", "teiten", *words],
            env=self.environment,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )

    def run(self, *words: str) -> subprocess.CompletedProcess[str]:
        with self.start(*words) as process:
            out, err = process.communicate(timeout=300)
        return subprocess.CompletedProcess(words, process.returncode, out, err)

    def run_folder(self) -> Path:
        (folder,) = self.archive.glob("[0-9]*")
        return folder

    def processes(self) -> list[str]:
        """Command lines of all processes that work in this home or on its sockets."""
        found = []
        for entry in Path("/proc").iterdir():
            if not entry.name.isdigit() or int(entry.name) == os.getpid():
                continue
            try:
                words = (entry / "cmdline").read_bytes().replace(b"\0", b" ").decode()
                folder = str((entry / "cwd").readlink())
            except OSError:
                continue
            if str(self.home) in words + folder:
                found.append(words or entry.name)
        return found

    def leftovers(self) -> list[Path]:
        """Work areas that are still there."""
        work = self.home / "work"
        return [p for p in work.iterdir() if p.name != ".lock"] if work.exists() else []


@pytest.fixture(scope="session")
def session_home() -> Iterator[Path]:
    """One home for the session, so that images are built once; its servers are this user's own."""
    # Not pytest's tmp_path: its parents are closed to the user that servers run as.
    with tempfile.TemporaryDirectory(prefix="teiten-test-", dir="/var/tmp") as name:
        home = Path(name)
        home.chmod(0o755)
        servers = host.home_dir() / "servers"
        servers.mkdir(parents=True, exist_ok=True)
        (home / "servers").symlink_to(servers)
        yield home


@pytest.fixture
def teiten(session_home: Path, tmp_path: Path) -> Teiten:
    study = tmp_path / "small.toml"
    study.write_text(STUDY)
    return Teiten(session_home, tmp_path / "runs", study)
