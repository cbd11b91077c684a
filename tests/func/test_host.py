"""Starting and stopping real programs."""

from __future__ import annotations

import os
import select
import signal
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from teiten import host
from teiten.errors import TeitenError, UsageError

if TYPE_CHECKING:
    from collections.abc import Iterator

IS_ROOT = os.geteuid() == 0
needs_root = pytest.mark.skipif(not IS_ROOT, reason="only root can become another user")
ENDS_WITHIN_S = 10


@pytest.fixture
def fresh_user() -> Iterator[None]:
    """Let the test choose the server user, and forget the choice afterwards."""
    host.server_user.cache_clear()
    yield
    host.server_user.cache_clear()


def ends(pid: int) -> bool:
    """Wait for a process that need not be our child; whether it ended in time."""
    try:
        descriptor = os.pidfd_open(pid)
    except ProcessLookupError:
        return True
    try:
        return bool(select.select([descriptor], [], [], ENDS_WITHIN_S)[0])
    finally:
        os.close(descriptor)


def first_line(process: subprocess.Popen[bytes]) -> str:
    assert process.stdout is not None
    return bytes(process.stdout.readline()).decode().strip()


def test_what_a_program_prints_is_returned() -> None:
    done = host.run_program(["sh", "-c", "echo 定点; echo words >&2"])
    assert (done.returncode, done.stdout, done.stderr) == (0, "定点\n", "words\n")


def test_output_that_is_not_utf8_does_not_stop_anything() -> None:
    assert host.run_program(["printf", r"a\377b"]).stdout == "a\N{REPLACEMENT CHARACTER}b"


def test_a_failure_is_told_with_the_programs_last_words() -> None:
    script = "echo first >&2; echo 'no space left' >&2; echo >&2; exit 3"
    with pytest.raises(TeitenError, match=r"^sh failed: no space left$"):
        host.run_program(["sh", "-c", script])
    done = host.run_program(["sh", "-c", script], check=False)
    assert done.returncode == 3
    with pytest.raises(TeitenError, match=r"^sh failed: exit status 4$"):
        host.run_program(["sh", "-c", "exit 4"])


def test_more_output_than_a_pipe_holds_does_not_block() -> None:
    done = host.run_program(
        ["sh", "-c", "head -c 1000000 /dev/zero; head -c 1000000 /dev/zero >&2"]
    )
    assert (len(done.stdout), len(done.stderr)) == (1_000_000, 1_000_000)


def test_messages_are_in_english_and_the_environment_is_added_to(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("LC_ALL", "ja_JP.UTF-8")
    monkeypatch.setenv("KEPT", "1")
    script = "echo $LC_ALL $KEPT $ADDED"
    assert host.run_program(["sh", "-c", script], env={"ADDED": "2"}).stdout == "C 1 2\n"


def test_a_program_never_waits_for_the_terminal() -> None:
    assert host.run_program(["cat"], timeout_s=ENDS_WITHIN_S).stdout == ""


def test_a_program_that_cannot_be_executed_is_told_in_one_sentence(tmp_path: Path) -> None:
    def told(*argv: str | Path, cwd: Path | None = None) -> str:
        with pytest.raises(TeitenError) as caught:
            host.run_program(argv, cwd=cwd)
        return str(caught.value)

    program = tmp_path / "program"
    assert told(program) == f"Cannot execute {program}: No such file or directory."
    program.write_bytes(b"\x7fELF of another machine")
    assert told(program) == f"Cannot execute {program}: Permission denied."
    program.chmod(0o755)
    assert told(program) == f"Cannot execute {program}: Exec format error."
    assert told(program / "x") == f"Cannot execute {program / 'x'}: Not a directory."
    gone = tmp_path / "gone"
    assert told("true", cwd=gone) == f"Cannot execute true: No such file or directory ({gone})."


def test_a_program_that_is_not_installed_is_told_with_what_to_do() -> None:
    assert host.find_program("sh").is_file()
    with pytest.raises(
        TeitenError, match=r"^The program sarx is not installed: install sysstat\.$"
    ):
        host.find_program("sarx", hint="install sysstat")


def test_a_program_out_of_time_ends_with_all_that_it_started(tmp_path: Path) -> None:
    # The shell is gone at once; what it left in the background holds its output open.
    note = tmp_path / "pid"
    with pytest.raises(TeitenError, match=r"^sh did not end within 0\.5 s\.$"):
        host.run_program(["sh", "-c", f"sleep 1000 & echo $! > '{note}'"], timeout_s=0.5)
    assert ends(int(note.read_text(encoding="ascii")))


def test_a_program_that_does_not_listen_is_killed() -> None:
    script = "trap '' TERM INT; echo ready; while :; do sleep 1000; done"
    with host.spawn(["sh", "-c", script], stdout=subprocess.PIPE) as process:
        assert first_line(process) == "ready"
        assert host.stop_process(process, grace_s=0.2) == -signal.SIGKILL


def test_a_program_is_stopped_by_the_signal_that_is_asked_for() -> None:
    script = "trap 'exit 7' INT; echo ready; while :; do sleep 0.05; done"
    with host.spawn(["sh", "-c", script], stdout=subprocess.PIPE) as process:
        assert first_line(process) == "ready"
        assert host.stop_process(process, with_signal=signal.SIGINT) == 7
        assert host.stop_process(process) == 7  # stopping twice does no harm


def test_ctrl_c_at_the_terminal_reaches_teiten_and_not_its_programs() -> None:
    with host.spawn(["sleep", "1000"]) as process:
        assert os.getpgid(process.pid) == process.pid
        assert host.stop_process(process) == -signal.SIGTERM


STARTS_AND_WAITS = """
import sys, signal
from teiten import host
child = host.spawn(
    ["sleep", "1000"], as_server_user=sys.argv[1] == "server", stdout=sys.stderr,
    death_signal=signal.Signals(int(sys.argv[2])))
print(child.pid, flush=True)
child.wait()
"""


@pytest.mark.parametrize("user", ["self", "server"])
@pytest.mark.parametrize("death_signal", [signal.SIGKILL, signal.SIGINT])
def test_a_program_dies_with_teiten_even_by_kill_9(user: str, death_signal: signal.Signals) -> None:
    parent = subprocess.Popen(
        [sys.executable, "-c", STARTS_AND_WAITS, user, str(int(death_signal))],
        stdout=subprocess.PIPE,
    )
    with parent:
        child = int(first_line(parent))
        os.kill(child, 0)
        parent.kill()
    assert ends(child)


def test_the_server_user_is_never_root() -> None:
    user = host.server_user()
    assert user.uid != 0
    assert user.is_self is not IS_ROOT
    script = "id -u; id -G; pwd"
    uid, groups, folder = host.run_program(
        ["sh", "-c", script], as_server_user=True
    ).stdout.splitlines()
    assert int(uid) == user.uid
    if IS_ROOT:
        assert groups.split() == [str(user.gid)]  # none of root's groups is left
        assert folder == "/"


@needs_root
@pytest.mark.usefixtures("fresh_user")
def test_root_may_name_the_server_user(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(host.SERVER_USER_VARIABLE, "nobody")
    assert host.server_user().name == "nobody"


@needs_root
@pytest.mark.usefixtures("fresh_user")
@pytest.mark.parametrize("name", ["root", "no-such-user"])
def test_a_server_user_that_cannot_be_is_told_with_what_to_do(
    monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    monkeypatch.setenv(host.SERVER_USER_VARIABLE, name)
    with pytest.raises(UsageError) as caught:
        host.server_user()
    assert f"'{name}' cannot be used" in str(caught.value)
    assert f"set {host.SERVER_USER_VARIABLE}" in str(caught.value)


def test_a_folder_is_given_to_the_server_user(tmp_path: Path) -> None:
    (tmp_path / "below").mkdir()
    user = host.server_user()
    user.own(tmp_path)
    assert tmp_path.stat().st_uid == user.uid
    assert (tmp_path / "below").stat().st_uid == os.geteuid()


@needs_root
def test_a_user_without_an_entry_is_told() -> None:
    # As in a container that is started under any number.
    code = """
import os
from teiten import errors, host
os.setuid(54321)
try:
    host.server_user()
except errors.UsageError as error:
    print(error)
"""
    done = host.run_program([sys.executable, "-c", code])
    assert done.stdout.startswith("User number 54321 has no entry in /etc/passwd")


def test_the_home_is_where_it_is_asked_to_be_and_absolute(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv(host.HOME_VARIABLE, "cache")
    assert host.home_dir() == tmp_path / "cache"
    monkeypatch.delenv(host.HOME_VARIABLE)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "xdg"))
    expected = Path("/var/cache/teiten") if IS_ROOT else tmp_path / "xdg" / "teiten"
    assert host.home_dir() == expected
