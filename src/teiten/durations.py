"""Lengths of time as users write and read them: `2h`, `1h30m`, `90m`, `45s`. Pure."""

from __future__ import annotations

import math
import re

from teiten.errors import UsageError

_FORM = re.compile(r"(?:(\d+(?:\.\d+)?)h)?(?:(\d+(?:\.\d+)?)m)?(?:(\d+(?:\.\d+)?)s)?", re.ASCII)
_UNITS_S = (3600.0, 60.0, 1.0)


def duration_s(text: str) -> float:
    """Read a length of time.

    Raises:
        UsageError: it is none, or is zero or without bound.
    """
    found = _FORM.fullmatch(text.strip().lower())
    parts = found.groups(default="0") if found else ("0", "0", "0")
    seconds = sum(float(part) * unit_s for part, unit_s in zip(parts, _UNITS_S, strict=True))
    if not 0 < seconds < math.inf:
        raise UsageError(
            f"{text!r} is no length of time: write hours, minutes and seconds such as 2h, 1h30m, "
            "90m or 45s."
        )
    return seconds


def duration_text(seconds: float) -> str:
    """Write a length of time in whole seconds, as `duration_s` reads it."""
    whole = round(seconds)
    hours, rest = divmod(whole, 3600)
    minutes, rest_s = divmod(rest, 60)
    parts = [f"{n}{unit}" for n, unit in ((hours, "h"), (minutes, "m"), (rest_s, "s")) if n]
    return "".join(parts) or "0s"
