"""A cluster's life: initdb, settings, start, readiness, stop, and noticing that it crashed."""

from __future__ import annotations

import contextlib
import os
import pwd
import secrets
import signal
import subprocess
import time
from typing import TYPE_CHECKING, Any, Self

import psycopg
from psycopg import sql
from psycopg.conninfo import make_conninfo

from teiten import host
from teiten.errors import ServerCrashedError, TeitenError
from teiten.server import logfile, procfs
from teiten.server.settings import check_settings, config_lines

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from teiten.server.installation import Installation

_SETTINGS_FILE = "teiten.conf"
_SUPERUSER = "postgres"
_READY = "ready"  # line 8 of postmaster.pid, see pg_ctl's wait_for_postmaster_start
_READY_LINE = 7
_DEFAULT_PORT = "5432"
_MAX_LOG_BYTES = 1 << 20


class Cluster:
    """A data directory and, between `start` and `stop`, the server that runs on it.

    The server's own output goes to `log_path`, beside the data directory.
    """

    def __init__(self, installation: Installation, data_dir: Path, socket_dir: Path) -> None:
        """Describe the cluster in `data_dir`; nothing is touched before `initdb` or `start`."""
        self.installation = installation
        self.data_dir = data_dir
        self.socket_dir = socket_dir
        self.log_path = data_dir.with_name(f"{data_dir.name}.log")
        self._process: subprocess.Popen[bytes] | None = None
        self._settings: dict[str, str] = {}
        self._log_start = 0
        self._started_at_s = 0.0
        self._checkpointer: int | None = None
        self._replaced_checkpointers = 0
        self._password: str | None = None

    @classmethod
    def initdb(
        cls,
        installation: Installation,
        data_dir: Path,
        socket_dir: Path,
        *,
        options: Sequence[str] = (),
    ) -> Self:
        """Make a new cluster in the empty directory `data_dir`, whose owner is the server user.

        `options` are initdb's own, such as "--data-checksums". It is not synced to disk.

        Raises:
            TeitenError: initdb failed, with its last words.
        """
        argv: list[str | Path] = [
            installation.program("initdb"),
            *("-D", data_dir, "-U", _SUPERUSER, "-A", "peer", "-N", "-E", "UTF8", "--locale=C"),
            *options,
        ]
        done = host.run_program(argv, as_server_user=True, env=installation.env, check=False)
        if done.returncode != 0:
            errors = [x for x in done.stderr.splitlines() if "error:" in x or "FATAL" in x]
            raise TeitenError(
                f"initdb of {installation.spec} failed in {data_dir}: "
                f"{errors[-1] if errors else done.last_words()}"
            )
        with (data_dir / "postgresql.conf").open("a") as file:
            file.write(f"\ninclude_if_exists '{_SETTINGS_FILE}'\n")
        return cls(installation, data_dir, socket_dir)

    @property
    def port(self) -> str:
        """The port, which is part of the socket's name."""
        return self._settings.get("port", _DEFAULT_PORT)

    @property
    def conninfo(self) -> str:
        """A libpq connection string for the superuser over the Unix socket."""
        return make_conninfo(
            host=str(self.socket_dir), port=self.port, user=_SUPERUSER, dbname="postgres"
        )

    @property
    def password_file(self) -> Path:
        """The libpq password file (0600) for TCP, present when the settings open TCP."""
        return self.socket_dir / "pgpass"

    @property
    def is_running(self) -> bool:
        """Whether the postmaster runs (it may be recovering from a crash)."""
        return self._process is not None and self._process.poll() is None

    @property
    def postmaster_pid(self) -> int:
        """The postmaster's process id.

        Raises:
            ServerCrashedError: it does not run.
        """
        if self._process is None or self._process.poll() is not None:
            raise ServerCrashedError(f"{self._name()} is not running.")
        return self._process.pid

    def start(
        self,
        settings: Mapping[str, str] | None = None,
        *,
        timeout_s: float = 600.0,
        launcher: Sequence[str] = (),
    ) -> None:
        """Start the server with `settings` and wait until it takes connections.

        `launcher` is a command line that runs the server, such as valgrind with its options.

        Raises:
            UsageError: this version refuses a setting.
            ServerCrashedError: it ended before it was ready, with the telling line of its log.
            TeitenError: it was not ready within `timeout_s`, or runs already.
        """
        if self.is_running:
            raise TeitenError(f"{self._name()} is running already.")
        given = dict(settings or {})
        check_settings(self.installation, given)
        self._settings = {k.lower(): v for k, v in given.items()}
        self._clear_leftovers()
        self._write_settings(given)
        self._write_authentication()
        self._spawn(launcher)
        try:
            self._wait_ready(timeout_s)
            if self._settings.get("listen_addresses"):
                self._set_password()
        except BaseException:
            self.kill()
            raise
        self._checkpointer = procfs.checkpointer_pid(self.postmaster_pid)
        self._replaced_checkpointers = 0

    def stop(self, mode: str = "fast", *, timeout_s: float = 600.0) -> None:
        """Stop the server: "fast" (with a checkpoint) or "immediate"; a no-op when stopped.

        Raises:
            ServerCrashedError: a fast stop did not end with a clean shutdown.
        """
        process = self._process
        if process is None:
            return
        if process.poll() is None:
            if mode == "fast" and self.restarts_seen():
                # A fast shutdown asked for during crash recovery can wait for ever.
                self._wait_connectable(30.0)
                timeout_s = min(timeout_s, 60.0)
            process.send_signal(signal.SIGINT if mode == "fast" else signal.SIGQUIT)
            with contextlib.suppress(subprocess.TimeoutExpired):
                process.wait(timeout_s)
        status = process.poll()
        if status != 0 and mode == "fast":
            self.kill()
            raise self._crash("did not shut down cleanly")
        self.kill()

    def kill(self) -> None:
        """End the server and all its processes at once; never raises, a no-op when stopped."""
        process, self._process = self._process, None
        if process is None:
            return
        host.stop_process(process, with_signal=signal.SIGQUIT, grace_s=5.0)
        procfs.end_server_processes(self.data_dir, grace_s=2.0)

    def connect(self, **parameters: Any) -> psycopg.Connection:  # noqa: ANN401 - libpq's own
        """Connect as superuser with autocommit; `parameters` override the connection string.

        Raises:
            ServerCrashedError: the server is not running.
            TeitenError: it refuses the connection.
        """
        try:
            return psycopg.connect(self.conninfo, autocommit=True, **parameters)
        except psycopg.OperationalError as error:
            if not self.is_running:
                raise self._crash("ended") from error
            raise TeitenError(
                f"{self._name()} refuses a connection: {str(error).strip().splitlines()[-1]}"
            ) from error

    def log_tail(self, lines: int = 20) -> str:
        """Return the last lines of the log since the last start, wherever the server wrote it."""
        return "\n".join(self._log().splitlines()[-lines:])

    def restarts_seen(self) -> int:
        """Count the crash restarts since `start` (all backends ended, recovery, new backends)."""
        if self.is_running:
            now = procfs.checkpointer_pid(self.postmaster_pid)
            if self._checkpointer is not None and now != self._checkpointer:
                self._replaced_checkpointers += 1
            self._checkpointer = now
        return max(self._replaced_checkpointers, logfile.count_restarts(self._log()))

    def check_alive(self) -> None:
        """Check that the server has run without interruption since `start`.

        Raises:
            ServerCrashedError: it ended or restarted; the message has the telling line of its
                log, and the log's tail is attached as a note.
        """
        if not self.is_running:
            raise self._crash("ended")
        if self.restarts_seen():
            raise self._crash("lost a server process and restarted")

    def forget_settings(self) -> None:
        """Remove the settings of the last start from the data directory (also ALTER SYSTEM's)."""
        for name in (_SETTINGS_FILE, "postgresql.auto.conf"):
            self._write(name, "")

    def _name(self) -> str:
        return f"PostgreSQL {self.installation.version} ({self.installation.spec})"

    def _crash(self, what: str) -> ServerCrashedError:
        log = self._log()
        line = logfile.telling_line(log)
        error = ServerCrashedError(
            f"{self._name()} {what}: {line}" if line else f"{self._name()} {what} without a word."
        )
        error.add_note("\n".join(log.splitlines()[-20:]))
        return error

    def _clear_leftovers(self) -> None:
        """Remove what a killed server left, so that it cannot be taken for a running one.

        PostgreSQL decides by whether some process has the recorded id, which may be a stranger's.
        """
        pid_file = self.data_dir / "postmaster.pid"
        if pid_file.exists():
            procfs.end_server_processes(self.data_dir)
            pid_file.unlink(missing_ok=True)
        for left in self.socket_dir.glob(f".s.PGSQL.{self.port}*"):
            left.unlink(missing_ok=True)

    def _write_settings(self, given: Mapping[str, str]) -> None:
        settings = {
            "listen_addresses": "",
            "lc_messages": "C",  # the log is read by this program
            "port": _DEFAULT_PORT,
            **given,
            "unix_socket_directories": str(self.socket_dir),
            "unix_socket_permissions": "0700",
        }
        if self._settings.get("listen_addresses") and "password_encryption" not in self._settings:
            settings |= {"password_encryption": "scram-sha-256"}
        self._write(_SETTINGS_FILE, config_lines(settings))

    def _write_authentication(self) -> None:
        """Let ourselves and the server user in by peer; over TCP only by password."""
        users = sorted({pwd.getpwuid(os.geteuid()).pw_name, host.server_user().name})
        self._write("pg_ident.conf", "".join(f'teiten "{u}" {_SUPERUSER}\n' for u in users))
        lines = ["local all all peer map=teiten", "local replication all peer map=teiten"]
        if self._settings.get("listen_addresses"):
            lines += [f"host {x} all {y} scram-sha-256"
                      for x in ("all", "replication") for y in ("0.0.0.0/0", "::0/0")]  # fmt: skip
        self._write("pg_hba.conf", "\n".join(lines) + "\n")

    def _write(self, name: str, text: str) -> None:
        path = self.data_dir / name
        path.write_text(text)
        path.chmod(0o600)
        host.server_user().own(path)

    def _spawn(self, launcher: Sequence[str]) -> None:
        with self.log_path.open("ab") as log:
            self._log_start = log.tell()
            self._started_at_s = time.time()
            self._process = host.spawn(
                [*launcher, self.installation.program("postgres"), "-D", self.data_dir],
                as_server_user=True,
                # An immediate shutdown, which ends the backends as well.
                death_signal=signal.SIGQUIT,
                env=self.installation.env,
                stdout=log,
                stderr=log,
            )

    def _wait_ready(self, timeout_s: float) -> None:
        deadline = time.monotonic() + timeout_s
        pause_s = 0.002
        while not self._says_ready():
            if not self.is_running:
                raise self._crash("did not start")
            if time.monotonic() > deadline:
                raise TeitenError(
                    f"{self._name()} was not ready within {timeout_s:g} s: "
                    f"{logfile.telling_line(self._log()) or 'it logged nothing'}"
                )
            time.sleep(pause_s)
            pause_s = min(pause_s * 1.5, 0.01)
        self.connect().close()

    def _wait_connectable(self, timeout_s: float) -> None:
        deadline = time.monotonic() + timeout_s
        while self.is_running and time.monotonic() < deadline:
            try:
                self.connect().close()
            except TeitenError:
                time.sleep(0.05)
            else:
                return

    def _says_ready(self) -> bool:
        try:
            lines = (self.data_dir / "postmaster.pid").read_text().splitlines()
        except OSError:
            return False
        return len(lines) > _READY_LINE and lines[_READY_LINE].strip() == _READY

    def _set_password(self) -> None:
        self._password = secrets.token_urlsafe(24)
        with self.connect() as connection:
            connection.execute(
                sql.SQL("ALTER ROLE {} PASSWORD {}").format(
                    sql.Identifier(_SUPERUSER), sql.Literal(self._password)
                )
            )
        self.password_file.unlink(missing_ok=True)
        handle = os.open(self.password_file, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        with os.fdopen(handle, "w") as file:
            file.write(f"*:*:*:{_SUPERUSER}:{self._password}\n")

    def _log(self) -> str:
        """Read the log since the last start, from our file and from the logging collector's."""
        parts = [_read_end(self.log_path, self._log_start)]
        folder = self.data_dir / self._settings.get("log_directory", "log")
        with contextlib.suppress(OSError):
            files = sorted((p.stat().st_mtime, p) for p in folder.iterdir() if p.is_file())
            parts += [_read_end(p, 0) for t, p in files if t >= self._started_at_s - 1]
        return "\n".join(x for x in parts if x)


def _read_end(path: Path, start: int) -> str:
    """Read a log from `start`, but no more than its last part."""
    try:
        with path.open("rb") as file:
            size = file.seek(0, os.SEEK_END)
            file.seek(max(start, size - _MAX_LOG_BYTES))
            return file.read().decode(errors="replace")
    except OSError:
        return ""
