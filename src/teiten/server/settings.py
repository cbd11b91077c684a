"""Server settings: which a version knows, which values it takes, how they are written down.

Nothing is guessed here: the server program itself is asked. `postgres -C` reads and checks all
`-c` settings before it looks at any data directory, so that it needs no cluster.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import TYPE_CHECKING

from teiten import host
from teiten.errors import TeitenError, UsageError
from teiten.server.near import near_name

if TYPE_CHECKING:
    from collections.abc import Mapping

    from teiten.server.installation import Installation

_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_$]*(\.[A-Za-z_][A-Za-z0-9_$]*)*")
_MESSAGE = re.compile(r"\bFATAL:\s+(.*)")
_HINT = re.compile(r"\b(?:HINT|DETAIL):\s+(.*)")
_PARAMETER = re.compile(r'parameter "([^"]+)"')
_OURS = frozenset({
    "config_file", "data_directory", "external_pid_file", "hba_file", "ident_file",
    "unix_socket_directories", "unix_socket_group", "unix_socket_permissions",
})  # fmt: skip


@lru_cache(maxsize=32)
def _describe(installation: Installation) -> frozenset[str]:
    done = host.run_program(
        [installation.program("postgres"), "--describe-config"],
        as_server_user=True,
        env=installation.env,
        timeout_s=30,
    )
    return frozenset(x.split("\t")[0] for x in done.stdout.splitlines() if "\t" in x)


def known_settings(installation: Installation) -> frozenset[str]:
    """List the settings a version describes (it leaves out a few that cannot be set in a file).

    Raises:
        TeitenError: the server program cannot be run.
    """
    return _describe(installation)


def check_settings(installation: Installation, settings: Mapping[str, str]) -> None:
    """Check every name and value with the server program itself; needs no cluster.

    Names with a dot belong to extensions and are not known before these are loaded.

    Raises:
        UsageError: a setting is unknown to this version, or its value is refused; the sentence
            names the setting, the version and what is allowed.
    """
    for name, value in settings.items():
        _check_name(name, value)
    if settings:
        _ask_server(installation, tuple(settings.items()))


@lru_cache(maxsize=256)
def _ask_server(installation: Installation, settings: tuple[tuple[str, str], ...]) -> None:
    """Raise if the server refuses the settings; what it took once it takes again."""
    words = [x for name, value in settings for x in ("-c", f"{name}={value}")]
    done = host.run_program(
        # Any folder serves as data directory: it is only asked for a postgresql.auto.conf.
        [installation.program("postgres"), "-D", installation.bindir,
         "-c", "config_file=/dev/null", *words, "-C", "server_version"],
        as_server_user=True,
        env=installation.env,
        timeout_s=30,
        check=False,
    )  # fmt: skip
    if done.returncode != 0:
        _refuse(installation, dict(settings), done)


def _check_name(name: str, value: str) -> None:
    if not _NAME.fullmatch(name):
        raise UsageError(
            f"The setting {name!r} is not a name: write letters, digits and underscores, as in "
            "shared_buffers."
        )
    if name.lower() in _OURS:
        raise UsageError(
            f"The setting {name} cannot be given: teiten chooses the server's directories, "
            "sockets and authentication itself."
        )
    if any(c in value for c in "\n\r\0"):
        raise UsageError(f"The value of the setting {name} has a line break: write it on one line.")


def _refuse(installation: Installation, settings: Mapping[str, str], done: host.Completed) -> None:
    who = f"PostgreSQL {installation.version} ({installation.spec})"
    message = _MESSAGE.search(done.stderr)
    parameter = _PARAMETER.search(done.stderr)
    if message is None or parameter is None:
        raise TeitenError(f"{who} cannot check the settings: {done.last_words()}")
    name = parameter[1]
    if "unrecognized configuration parameter" in message[1]:
        near = near_name(name, known_settings(installation))
        raise UsageError(
            f"{who} does not know the setting {name}"
            f"{f' (did you mean {near}?)' if near else ''}: remove it, or give it only to the "
            "versions that know it."
        )
    given = next((v for k, v in settings.items() if k.lower() == name.lower()), "")
    hint = _HINT.search(done.stderr)
    raise UsageError(
        f"{who} refuses {name} = {given!r}: {message[1].rstrip('.')}"
        f"{f' ({hint[1].rstrip(chr(46))})' if hint else ''}."
    )


def config_lines(settings: Mapping[str, str]) -> str:
    """Write settings in the syntax of postgresql.conf; pure."""
    return "".join(f"{name} = {quote(value)}\n" for name, value in settings.items())


def quote(value: str) -> str:
    r"""Quote a value for postgresql.conf, where '' is a quote and \\ a backslash; pure."""
    doubled = value.replace("\\", "\\\\").replace("'", "''")
    return f"'{doubled}'"
