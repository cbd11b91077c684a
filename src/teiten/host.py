"""Run a program, as an unprivileged user where PostgreSQL asks for it.

This is the only module that starts processes. Everything that is started dies with teiten:
children carry a parent-death signal, so that even `kill -9` of teiten leaves none behind.
"""

from __future__ import annotations

import contextlib
import ctypes
import os
import pwd
import shutil
import signal
import subprocess
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

from teiten.errors import TeitenError, UsageError

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

_PR_SET_PDEATHSIG = 1
_LIBC = ctypes.CDLL(None, use_errno=True)

SERVER_USER_VARIABLE = "TEITEN_SERVER_USER"
HOME_VARIABLE = "TEITEN_HOME"


@dataclass(frozen=True)
class ServerUser:
    """The operating system user that PostgreSQL processes run as."""

    name: str
    uid: int
    gid: int

    @property
    def is_self(self) -> bool:
        """Whether that user is the one teiten itself runs as."""
        return self.uid == os.geteuid()

    def own(self, path: Path) -> None:
        """Give `path` (not what is below it) to this user; a no-op when it is ourselves."""
        if not self.is_self:
            os.chown(path, self.uid, self.gid)


@cache
def server_user() -> ServerUser:
    """Choose the user for server processes: ourselves, or an unprivileged one when we are root.

    As root: `$TEITEN_SERVER_USER`, else `postgres` if there is one, else `nobody`.

    Raises:
        UsageError: the named user does not exist, or is root; or we have no user entry.
    """
    if os.geteuid() != 0:
        try:
            me = pwd.getpwuid(os.geteuid())
        except KeyError as error:
            raise UsageError(
                f"User number {os.geteuid()} has no entry in /etc/passwd, and PostgreSQL does not "
                "start without one: add it, or run as another user."
            ) from error
        return ServerUser(me.pw_name, me.pw_uid, me.pw_gid)
    asked = os.environ.get(SERVER_USER_VARIABLE)
    for name in (asked,) if asked else ("postgres", "nobody"):
        try:
            entry = pwd.getpwnam(name)
        except KeyError:
            continue
        if entry.pw_uid == 0:
            break
        return ServerUser(entry.pw_name, entry.pw_uid, entry.pw_gid)
    raise UsageError(
        f"PostgreSQL refuses to run as root and the user {asked or 'nobody'!r} cannot be used: "
        f"set {SERVER_USER_VARIABLE} to an existing unprivileged user."
    )


def home_dir() -> Path:
    """Folder for servers, images and work files: `$TEITEN_HOME`, or the platform's cache folder.

    Root's own cache lies under a home that unprivileged server processes cannot enter, so root
    uses `/var/cache/teiten`.
    """
    if asked := os.environ.get(HOME_VARIABLE):
        return Path(asked).absolute()
    if os.geteuid() == 0:
        return Path("/var/cache/teiten")
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "teiten"


def find_program(name: str, *, hint: str = "") -> Path:
    """Find `name` on PATH.

    Raises:
        TeitenError: it is not installed; `hint` says how to get it.
    """
    found = shutil.which(name)
    if found is None:
        raise TeitenError(f"The program {name} is not installed{f': {hint}' if hint else ''}.")
    return Path(found)


def _dies_with_parent(death_signal: signal.Signals) -> Callable[[], None]:
    parent = os.getpid()

    def before_exec() -> None:
        # Set after the change of user (which clears it) and checked for a parent already gone.
        _LIBC.prctl(_PR_SET_PDEATHSIG, int(death_signal))
        if os.getppid() != parent:
            os._exit(1)

    return before_exec


def spawn(
    argv: Sequence[str | Path],
    *,
    as_server_user: bool = False,
    death_signal: signal.Signals = signal.SIGKILL,
    cwd: Path | None = None,
    env: Mapping[str, str] | None = None,
    stdin: int | IO[Any] | None = subprocess.DEVNULL,
    stdout: int | IO[Any] | None = None,
    stderr: int | IO[Any] | None = None,
    pass_fds: Sequence[int] = (),
) -> subprocess.Popen[bytes]:
    """Start a program in its own process group; it gets `death_signal` when teiten dies.

    `env` is added to the environment of teiten (with `LC_ALL=C`, so that output can be parsed).
    Must be called from a thread that outlives the program: the kernel ties the death signal to
    the starting thread.

    Raises:
        TeitenError: the program does not exist or cannot be executed.
    """
    user = server_user()
    switch = as_server_user and not user.is_self
    try:
        return subprocess.Popen(
            [os.fspath(a) for a in argv],
            cwd=cwd if cwd is not None else ("/" if switch else None),
            env={**os.environ, "LC_ALL": "C", **(env or {})},
            stdin=stdin,
            stdout=stdout,
            stderr=stderr,
            pass_fds=tuple(pass_fds),
            process_group=0,
            user=user.uid if switch else None,
            group=user.gid if switch else None,
            extra_groups=[] if switch else None,
            preexec_fn=_dies_with_parent(death_signal),  # noqa: PLW1509 - only calls prctl
        )
    except OSError as error:
        # The kernel's "no such file" may be about the folder to run in, which is then named.
        named = f" ({error.filename})" if error.filename not in {None, os.fspath(argv[0])} else ""
        raise TeitenError(
            f"Cannot execute {os.fspath(argv[0])}: {error.strerror}{named}."
        ) from error


def sync_folder(folder: Path) -> None:
    """Make the names in a folder durable (the contents of its files are synced by themselves).

    Raises:
        OSError: it cannot be opened, or the disk failed.
    """
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def sync_tree(root: Path) -> None:
    """Make all files below `root`, and their names, durable.

    Raises:
        OSError: one of them cannot be opened, or the disk failed.
    """
    for here, _, names in os.walk(root):
        for name in names:
            path = os.path.join(here, name)  # noqa: PTH118 - os.walk gives text
            descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC)
            try:
                os.fsync(descriptor)
            finally:
                os.close(descriptor)
        sync_folder(Path(here))


@dataclass(frozen=True)
class Completed:
    """What a finished program printed, and its exit status."""

    argv: tuple[str, ...]
    returncode: int
    stdout: str
    stderr: str

    def last_words(self) -> str:
        """The last line that was printed to stderr (else stdout), for an error message."""
        lines = [x.strip() for x in (self.stderr or self.stdout).splitlines() if x.strip()]
        return lines[-1] if lines else f"exit status {self.returncode}"


def run_program(
    argv: Sequence[str | Path],
    *,
    as_server_user: bool = False,
    cwd: Path | None = None,
    env: Mapping[str, str] | None = None,
    timeout_s: float | None = None,
    check: bool = True,
) -> Completed:
    """Run a program to its end and return what it printed (decoded as UTF-8, errors replaced).

    Raises:
        TeitenError: it cannot be executed, ran out of `timeout_s`, or (with `check`) failed.
    """
    words = tuple(os.fspath(a) for a in argv)
    with spawn(
        words,
        as_server_user=as_server_user,
        cwd=cwd,
        env=env,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    ) as process:
        try:
            out, err = process.communicate(timeout=timeout_s)
        except subprocess.TimeoutExpired as error:
            name = Path(words[0]).name
            raise TeitenError(f"{name} did not end within {timeout_s:g} s.") from error
        finally:
            if process.returncode is None:
                _stop_group(process)
    done = Completed(
        words, process.returncode, out.decode(errors="replace"), err.decode(errors="replace")
    )
    if check and done.returncode != 0:
        raise TeitenError(f"{Path(words[0]).name} failed: {done.last_words()}")
    return done


def _stop_group(process: subprocess.Popen[bytes]) -> None:
    """Stop a program that is not waited for yet, and all that it started in its group."""
    with contextlib.suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGTERM)
    stop_process(process)
    with contextlib.suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)


def stop_process(
    process: subprocess.Popen[bytes],
    *,
    with_signal: signal.Signals = signal.SIGTERM,
    grace_s: float = 5.0,
) -> int:
    """Stop a program that `spawn` started, politely, then by SIGKILL; return its exit status."""
    if process.poll() is None:
        with contextlib.suppress(ProcessLookupError):
            process.send_signal(with_signal)
        try:
            process.wait(grace_s)
        except subprocess.TimeoutExpired:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
            process.wait()
    return process.returncode
