"""Real failures end with their cause in one sentence and a run that resumes."""

from __future__ import annotations

import os
import signal
import subprocess
import time
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
import zstandard

from teiten.archive import open_run
from teiten.server.source import resolve

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tests.func.run.conftest import Teiten

ONE_TRIAL = ("--set", "factor.version=17.7", "--set", "factor.clients=1")


def sentence(stderr: str) -> str:
    """The one line that tells the cause."""
    assert "Traceback" not in stderr
    (line,) = [x for x in stderr.splitlines() if x.startswith("teiten: ")]
    return line


def postmaster_of(teiten: Teiten) -> int:
    """Wait until a trial's server takes pgbench's load and return the postmaster's process id."""
    deadline = time.monotonic() + 120
    while time.monotonic() < deadline:
        for pid_file in teiten.home.glob("work/*/data-*/data/postmaster.pid"):
            pid = int(pid_file.read_text().split()[0])
            if any("--time" in words for words in teiten_clients(teiten)):
                return pid
        time.sleep(0.01)
    raise AssertionError("no server came under load")


def teiten_clients(teiten: Teiten) -> list[str]:
    found = []
    for entry in Path("/proc").iterdir():
        try:
            words = (entry / "cmdline").read_bytes().replace(b"\0", b" ").decode()
        except OSError:
            continue
        if "pgbench" in words and str(teiten.archive) in words:
            found.append(words)
    return found


def test_a_killed_server_is_named_as_the_cause(teiten: Teiten) -> None:
    process = teiten.start(
        "run", str(teiten.study), *ONE_TRIAL, "--set", "setup.load.duration_s=60"
    )
    os.kill(postmaster_of(teiten), signal.SIGKILL)
    _, err = process.communicate(timeout=120)
    assert process.returncode == 1
    assert "PostgreSQL 17.7" in sentence(err)
    assert "ended" in sentence(err)
    assert teiten.processes() == []
    assert teiten.leftovers() == []
    assert not open_run(teiten.run_folder()).is_complete


def test_a_crashed_backend_is_told_with_the_log_and_the_run_resumes(teiten: Teiten) -> None:
    process = teiten.start("run", str(teiten.study), *ONE_TRIAL, "--set", "setup.load.duration_s=4")
    postmaster = postmaster_of(teiten)
    time.sleep(0.5)
    children = Path(f"/proc/{postmaster}/task/{postmaster}/children").read_text().split()
    backends = [int(c) for c in children if b"[local]" in Path(f"/proc/{c}/cmdline").read_bytes()]
    os.kill(backends[0], signal.SIGSEGV)
    _, err = process.communicate(timeout=120)
    assert process.returncode == 1
    assert "signal 11" in sentence(err)
    resumed = teiten.run("run", "--resume", "latest")
    assert resumed.returncode == 0, resumed.stderr
    assert open_run(teiten.run_folder()).is_complete


def test_an_error_in_a_script_is_told_in_pgbench_s_words(teiten: Teiten, tmp_path: Path) -> None:
    (tmp_path / "broken.sql").write_text("SELECT no_such_column FROM pgbench_accounts;\n")
    done = teiten.run("run", str(teiten.study), *ONE_TRIAL, "--set", "setup.load.script=broken.sql")
    assert done.returncode == 1
    assert "no_such_column" in sentence(done.stderr)
    kept = teiten.run_folder() / "failed" / "0001-1"
    assert "no_such_column" in (kept / "baseline" / "pgbench.err").read_text()


def test_a_lost_socket_is_told(teiten: Teiten) -> None:
    process = teiten.start("run", str(teiten.study), *ONE_TRIAL, "--set", "setup.load.warmup_s=4")
    pid_file = None
    postmaster_of(teiten)
    for pid_file in teiten.home.glob("work/*/data-*/data/postmaster.pid"):
        socket_dir = Path(pid_file.read_text().splitlines()[4])
        for socket in socket_dir.glob(".s.PGSQL.*"):
            socket.unlink()
    assert pid_file is not None
    _, err = process.communicate(timeout=120)
    assert process.returncode == 1
    assert "socket" in sentence(err)
    resumed = teiten.run("run", "--resume", "latest")
    assert resumed.returncode == 0, resumed.stderr


@pytest.mark.parametrize(
    ("override", "told"),
    [
        ('setup.settings.shared_bufers="1GB"', "shared_bufers"),
        ('setup.settings.shared_buffers="lots"', "shared_buffers"),
        ("factor.version=99.9", "99.9"),
        ("setup.load.script=missing.sql", "missing.sql"),
        ("pgbench=npm:17.7", "pgbench"),
    ],
)
def test_what_cannot_work_is_refused_before_anything_runs(
    teiten: Teiten, override: str, told: str
) -> None:
    done = teiten.run("run", str(teiten.study), "--set", override)
    assert done.returncode in {1, 2}
    assert told in sentence(done.stderr)
    assert not teiten.archive.exists()


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    """A file system of 24 MiB."""
    folder = tmp_path / "small-disk"
    folder.mkdir()
    mounted = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", "size=24m", "tmpfs", folder],
        capture_output=True,
        check=False,
    )
    if mounted.returncode != 0:
        pytest.skip("this user may not mount a file system")
    yield folder
    subprocess.run(["umount", "-l", folder], check=True)


def test_a_full_archive_disk_is_told_and_the_run_resumes(teiten: Teiten, small_disk: Path) -> None:
    ballast = small_disk / "ballast"
    words = ("--archive", str(small_disk / "runs"))
    process = teiten.start(
        "run", str(teiten.study), *words, *ONE_TRIAL, "--set", "setup.load.duration_s=3"
    )
    while not list((small_disk / "runs").glob("[0-9]*/trials/.0001.partial")):
        assert process.poll() is None, process.communicate()
        time.sleep(0.01)
    with ballast.open("wb") as file:
        try:
            while True:
                file.write(bytes(1 << 16))
                file.flush()
        except OSError:
            pass
    _, err = process.communicate(timeout=120)
    assert process.returncode == 1
    assert "No space left" in sentence(err)
    assert teiten.processes() == []
    ballast.unlink()
    resumed = teiten.run("run", "--resume", "latest", *words)
    assert resumed.returncode == 0, resumed.stderr
    (folder,) = (small_disk / "runs").glob("[0-9]*")
    assert open_run(folder).is_complete


@pytest.mark.parametrize(
    ("override", "told"),
    [
        ("setup.settings.max_connections=4", "max_connections"),
        ('setup.initdb=["-D", "/nowhere"]', "-D"),
    ],
)
def test_what_would_only_fail_later_is_refused_at_once(
    teiten: Teiten, override: str, told: str
) -> None:
    done = teiten.run("run", str(teiten.study), "--set", override)
    assert done.returncode == 2
    assert told in sentence(done.stderr)
    assert not teiten.archive.exists()


def test_a_run_does_not_go_on_with_another_build_of_its_server(
    teiten: Teiten, tmp_path: Path
) -> None:
    link = Path(teiten.home) / f"pg-{tmp_path.name}"
    roots = [resolve(f"npm:{version}").bindir.parent for version in ("17.7", "18.1")]
    link.symlink_to(roots[0])
    words = ["--set", f'factor.version.levels={{a={{server="prefix:{link}"}}}}']
    process = teiten.start("run", str(teiten.study), *words, "--set", "setup.load.duration_s=60")
    postmaster_of(teiten)
    process.send_signal(signal.SIGKILL)
    process.communicate()
    link.unlink()
    link.symlink_to(roots[1])
    resumed = teiten.run("run", "--resume", "latest")
    assert resumed.returncode == 2
    assert "began with" in sentence(resumed.stderr)
    assert teiten.processes() == []


def test_the_server_log_is_kept(teiten: Teiten) -> None:
    words = ("--set", "setup.settings.log_min_duration_statement=0")
    assert teiten.run("run", str(teiten.study), *ONE_TRIAL, *words).returncode == 0
    kept = open_run(teiten.run_folder()).trial_folder(1) / "server.log.zst"
    with zstandard.open(kept, "rt") as log:
        assert "UPDATE pgbench_accounts" in log.read()
