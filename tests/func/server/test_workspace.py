"""Nothing is left behind: checked on a real process that runs a real server."""

from __future__ import annotations

import json
import os
import signal
import stat
import subprocess
import sys
import tempfile
import textwrap
import time
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from teiten import host
from teiten.errors import NotPermittedError
from teiten.server import procfs
from teiten.server.interrupt import InterruptedBySignalError, interruptible, shielded
from teiten.server.workspace import Workspace

if TYPE_CHECKING:
    from collections.abc import Iterator

    from teiten.server.installation import Installation

# Runs a server with two busy backends, says where, then waits to be told how to end.
OWNER = """
    import json, sys, threading
    from teiten.server import source
    from teiten.server.cluster import Cluster
    from teiten.server.interrupt import interruptible
    from teiten.server.workspace import Workspace

    with interruptible(), Workspace.open() as workspace:
        data, sockets = workspace.new_dir("data"), workspace.socket_dir()
        cluster = Cluster.initdb(source.resolve("npm:17.7"), data, sockets)
        if "adopt" in sys.argv:
            workspace.adopt(cluster)
        cluster.start()
        busy = [cluster.connect() for _ in range(2)]
        for connection in busy:
            sleep = lambda c=connection: c.execute("SELECT pg_sleep(600)")
            threading.Thread(target=sleep, daemon=True).start()
        dirs = [str(workspace.path), str(sockets)]
        print(json.dumps({"dirs": dirs, "postmaster": cluster.postmaster_pid}), flush=True)
        if sys.stdin.readline().strip() == "raise":
            raise SystemExit("asked to fail")
"""


class Owner:
    """The process above."""

    def __init__(self, *words: str) -> None:
        # -W: what it leaves open when it is interrupted is not the subject.
        self.process = subprocess.Popen(
            [sys.executable, "-W", "ignore", "-c", textwrap.dedent(OWNER), *words],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            start_new_session=True,
        )
        assert self.process.stdout is not None
        told = json.loads(self.process.stdout.readline())
        self.dirs = [Path(x) for x in told["dirs"]]
        self.postmaster: int = told["postmaster"]

    def end(self, words: str) -> int:
        self.process.communicate(words, timeout=30)
        return self.process.returncode

    def leftovers(self) -> list[Path]:
        return [x for x in self.dirs if x.exists()]

    def servers(self) -> list[int]:
        return procfs.server_processes(self.dirs[0])


@pytest.fixture
def owner(home: Path, pg17: Installation) -> Iterator[Owner]:  # noqa: ARG001 - its order counts
    started = Owner("adopt")
    yield started
    started.process.kill()
    started.process.communicate()
    procfs.end_server_processes(home)


def test_success_leaves_nothing(owner: Owner) -> None:
    assert len(owner.servers()) > 3
    assert owner.end("finish\n") == 0
    assert (owner.leftovers(), owner.servers()) == ([], [])


def test_error_leaves_nothing(owner: Owner) -> None:
    assert owner.end("raise\n") == 1
    assert (owner.leftovers(), owner.servers()) == ([], [])


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_signal_leaves_nothing(owner: Owner, number: signal.Signals) -> None:
    owner.process.send_signal(number)
    owner.process.send_signal(number)  # an impatient second one changes nothing
    owner.end("")
    assert owner.process.returncode != 0
    assert (owner.leftovers(), owner.servers()) == ([], [])


@pytest.mark.usefixtures("home", "pg17")
def test_server_that_was_not_adopted_is_ended_as_well() -> None:
    forgotten = Owner()
    assert forgotten.end("raise\n") == 1
    assert (forgotten.leftovers(), forgotten.servers()) == ([], [])


def test_kill_9_ends_the_server_and_the_next_start_sweeps(owner: Owner) -> None:
    owner.process.kill()
    owner.process.communicate()
    deadline = time.monotonic() + 20
    while owner.servers():
        assert time.monotonic() < deadline
        time.sleep(0.01)
    assert owner.leftovers() == owner.dirs
    Workspace.open().close()
    assert owner.leftovers() == []


def test_backends_that_outlived_everybody_are_swept(owner: Owner) -> None:
    """The worst case: owner and postmaster are killed at once, backends are in a long query."""
    os.kill(owner.process.pid, signal.SIGSTOP)
    os.kill(owner.postmaster, signal.SIGKILL)
    owner.process.kill()
    owner.process.communicate()
    Workspace.open().close()
    assert (owner.leftovers(), owner.servers()) == ([], [])


def test_work_area_in_use_is_not_swept(owner: Owner) -> None:
    Workspace.open().close()
    assert owner.leftovers() == owner.dirs
    assert owner.process.poll() is None
    assert owner.postmaster in owner.servers()


def test_strangers_in_a_leftover_directory_are_spared(home: Path) -> None:
    with Workspace.open() as workspace:
        left = home / "work" / "left-by-nobody"
        data = left / "data-1"
        data.mkdir(parents=True)
        shell = subprocess.Popen(["sleep", "60"], cwd=data)
        # A pid file that names a process which is no server must not get it killed.
        (data / "postmaster.pid").write_text(f"{shell.pid}\n")
        try:
            Workspace.open().close()
            assert not left.exists()
            assert workspace.path.exists()
            assert shell.poll() is None
        finally:
            shell.kill()
            shell.wait()


def test_recorded_directory_that_belongs_to_others_is_spared(home: Path, open_dir: Path) -> None:
    """A leftover's record is data: only what teiten made, by name and owner, is removed."""
    precious = open_dir / "precious"
    precious.mkdir()
    link = Path(tempfile.gettempdir()) / f"teiten-link-{os.getpid()}"
    link.symlink_to(precious)
    left = home / "work" / "left-by-nobody"
    left.mkdir(parents=True)
    (left / "outside.json").write_text(json.dumps([str(precious), str(link), "/etc"]))
    Workspace.open().close()
    assert not left.exists()
    assert precious.is_dir()
    assert not link.is_symlink()


def test_directories_are_private_and_only_the_way_to_them_is_open(workspace: Workspace) -> None:
    made = workspace.new_dir("data")
    sockets = workspace.socket_dir()
    user = host.server_user()
    assert [stat.S_IMODE(x.stat().st_mode) for x in (made, sockets)] == [0o700, 0o700]
    assert {x.stat().st_uid for x in (made, sockets)} == {user.uid}
    assert stat.S_IMODE(workspace.path.stat().st_mode) == 0o711
    assert workspace.path.stat().st_uid == os.geteuid()
    longest_name = ".s.PGSQL.65535.lock"
    assert len(os.fsencode(sockets / longest_name)) < 108
    assert workspace.socket_dir() == sockets


@pytest.mark.usefixtures("home")
def test_directory_on_another_disk_is_removed_too(open_dir: Path) -> None:
    with Workspace.open() as workspace:
        made = workspace.new_dir("wal", under=open_dir)
        assert made.parent == open_dir
        (made / "file").touch()
    assert not made.exists()


@pytest.mark.skipif(os.geteuid() != 0, reason="only root runs servers as another user")
def test_folder_that_the_server_user_cannot_enter_is_named(
    open_dir: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    closed = open_dir / "closed"
    closed.mkdir(mode=0o700)
    monkeypatch.setenv(host.HOME_VARIABLE, str(closed / "home"))
    with pytest.raises(NotPermittedError, match=f"cannot enter {closed}, .*chmod o"):
        Workspace.open()
    assert stat.S_IMODE(closed.stat().st_mode) == 0o700


def test_first_signal_raises_and_later_ones_do_not() -> None:
    cleaned: list[str] = []

    def work() -> None:
        with interruptible():
            try:
                os.kill(os.getpid(), signal.SIGTERM)
            finally:
                os.kill(os.getpid(), signal.SIGINT)
                cleaned.append("whole")

    with pytest.raises(InterruptedBySignalError) as caught:
        work()
    assert cleaned == ["whole"]
    assert caught.value.exit_code == 143


def test_signal_during_a_shielded_step_raises_after_it() -> None:
    done: list[str] = []

    def work() -> None:
        with interruptible():
            with shielded():
                os.kill(os.getpid(), signal.SIGTERM)
                done.append("shielded")
            done.append("after")

    with pytest.raises(InterruptedBySignalError):
        work()
    assert done == ["shielded"]
