"""Read small files of /proc and /sys: absent, empty or forbidden ones are None."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path


def read_text(path: Path) -> str | None:
    """The file's text without surrounding white space, or None."""
    try:
        return path.read_text(encoding="utf-8", errors="replace").strip() or None
    except OSError:
        return None


def read_number(path: Path) -> int | None:
    """The file's text as an integer, or None."""
    text = read_text(path)
    try:
        return None if text is None else int(text)
    except ValueError:
        return None


def selected(choices: str | None) -> str | None:
    """The chosen word of a kernel file such as `always [madvise] never`.

    A file that shows one word only (as scheduler files do) has that one chosen.
    """
    if choices is None:
        return None
    if found := re.search(r"\[(\S+)\]", choices):
        return found[1]
    words = choices.split()
    return words[0] if len(words) == 1 else None


def parse_cpu_list(text: str | None) -> tuple[int, ...]:
    """CPU numbers of a kernel list such as `0-3,8` (also used for NUMA nodes)."""
    numbers: list[int] = []
    for part in (text or "").split(","):
        first, dash, last = part.strip().partition("-")
        if first.isdigit():
            numbers.extend(range(int(first), int(last if dash else first) + 1))
    return tuple(numbers)
