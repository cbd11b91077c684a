"""Near matches for error messages; pure."""

from __future__ import annotations

import difflib
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence


def near_versions(asked: str, versions: Sequence[str], count: int = 3) -> str:
    """List the `count` versions nearest to the one asked for, in their own order."""

    def distance(version: str) -> tuple[int, int]:
        numbers = [_number(x) for x in (*asked.split("."), "0")]
        major, minor = [_number(x) for x in (*version.split("."), "0")][:2]
        return abs(major - numbers[0]), abs(minor - numbers[1])

    nearest = sorted(versions, key=distance)[:count]
    return ", ".join(v for v in versions if v in nearest) or "none"


def near_name(asked: str, names: Iterable[str]) -> str | None:
    """Return the name most like the one asked for, if any is like it at all."""
    found = difflib.get_close_matches(asked.lower(), sorted(names), n=1, cutoff=0.6)
    return found[0] if found else None


def _number(word: str) -> int:
    digits = "".join(c for c in word if c.isdigit())
    return int(digits) if digits else 0
