"""Versions of the software around the measurement, and the limits of its processes."""

from __future__ import annotations

import os
import platform
import re
import resource
from pathlib import Path
from typing import Any

from teiten import __version__
from teiten.environment.read import read_text
from teiten.errors import TeitenError
from teiten.host import run_program

_VERSION_COMMANDS = {
    "sysstat": ["sadf", "-V"],
    "perf": ["perf", "--version"],
    "valgrind": ["valgrind", "--version"],
}
_LIMITS = {
    "open_files": resource.RLIMIT_NOFILE,
    "processes": resource.RLIMIT_NPROC,
    "locked_memory_bytes": resource.RLIMIT_MEMLOCK,
    "stack_bytes": resource.RLIMIT_STACK,
    "core_bytes": resource.RLIMIT_CORE,
}


def parse_os_release(text: str) -> str | None:
    """PRETTY_NAME of os-release(5)."""
    found = re.search(r"^PRETTY_NAME=(['\"]?)(.*)\1$", text, re.MULTILINE)
    return found[2] if found else None


def parse_version(text: str) -> str | None:
    """The first version number (two parts or more) that a program printed about itself."""
    found = re.search(r"\d+(?:\.\d+)+[\w.~+-]*", text)
    return found[0] if found else None


def program_version(name: str) -> str | None:
    """Version of one of the measuring programs, or None when it is not installed."""
    try:
        done = run_program(_VERSION_COMMANDS[name], check=False, timeout_s=5)
    except TeitenError:
        return None
    return parse_version(done.stdout + done.stderr) if done.returncode == 0 else None


def describe_software() -> dict[str, Any]:
    """Operating system, C library, Python, teiten, and the programs that measure."""
    release = read_text(Path("/etc/os-release")) or read_text(Path("/usr/lib/os-release")) or ""
    return {
        "operating_system": parse_os_release(release),
        "c_library": " ".join(platform.libc_ver()).strip() or None,
        "python": platform.python_version(),
        "teiten": __version__,
        **{name: program_version(name) for name in _VERSION_COMMANDS},
    }


def describe_limits() -> dict[str, Any]:
    """Soft limits of this process and its children; None is unlimited."""
    soft = {name: resource.getrlimit(kind)[0] for name, kind in _LIMITS.items()}
    unlimited = resource.RLIM_INFINITY
    return {
        **{name: None if value == unlimited else value for name, value in soft.items()},
        "user_is_root": os.geteuid() == 0,
    }
