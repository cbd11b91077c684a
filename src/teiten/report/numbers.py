"""Figures as a reader wants them: few digits, thousands separated, signs that line up."""

from __future__ import annotations

import math

MINUS = "\N{MINUS SIGN}"
NO_BREAK = "\N{NO-BREAK SPACE}"
_SMALL_PERCENT = 0.1
_LEAST_PERCENT = 0.0001
_SMALL_SPREAD = 0.002
_MOST_DECIMALS = 4


def figure(value: float | None, digits: int = 4) -> str:
    """A number to `digits` significant digits, whole parts never cut (`12,345`, `0.01234`)."""
    if value is None or not math.isfinite(value):
        return "-"
    if value == 0:
        return "0"
    decimals = max(0, digits - 1 - math.floor(math.log10(abs(value))))
    text = f"{abs(value):,.{min(decimals, 8)}f}"
    if decimals and value == int(value):
        text = text.split(".", maxsplit=1)[0]
    return f"{MINUS}{text}" if value < 0 else text


def ratio_figure(ratio: float | None) -> str:
    """A ratio with three decimals."""
    return "-" if ratio is None or not math.isfinite(ratio) else f"{ratio:.3f}"


def change(ratio: float) -> str:
    """A ratio as a signed change in percent (`+2.4%`), two decimals below 0.1%."""
    percent = (ratio - 1) * 100
    decimals = 2 if abs(percent) < _SMALL_PERCENT else 1
    shown = round(percent, decimals)
    if shown == 0:
        return "0.0%"
    return f"{'+' if shown > 0 else MINUS}{abs(shown):,.{decimals}f}%"


def change_range(low: float, high: float) -> str:
    """The range of a change (`+1.6% … +3.3%`), or `±0.002%` where its ends would look the same."""
    half_percent = (high - low) * 50
    if half_percent >= _SMALL_PERCENT / 2:
        return f"{change(low)}{NO_BREAK}…{NO_BREAK}{change(high)}"
    if half_percent < _LEAST_PERCENT:
        return f"±<{_LEAST_PERCENT}%" if half_percent else "±0%"
    decimals = -math.floor(math.log10(half_percent))
    return f"±{half_percent:.{decimals}f}%"


def precision(low: float, high: float) -> int:
    """Decimals of a percentage that its interval gives a meaning to: 1 to 4.

    `low` and `high` are changes (ratios less 1).
    """
    half_percent = (high - low) * 50
    if not math.isfinite(half_percent):
        return 1
    if half_percent <= 0:
        return _MOST_DECIMALS
    return min(_MOST_DECIMALS, max(1, math.ceil(-math.log10(half_percent))))


def precise_change(value: float, decimals: int) -> str:
    """A change (a ratio less 1) as a signed percentage with so many decimals."""
    shown = round(100 * value, decimals)
    sign = "" if shown == 0 else "+" if shown > 0 else MINUS
    return f"{sign}{abs(shown):,.{decimals}f}%"


def interval(low: float, high: float) -> str:
    """An interval of a change (`-1.0% … +6.0%`), as precise as it is narrow."""
    if not (math.isfinite(low) and math.isfinite(high)):
        return "-"
    decimals = precision(low, high)
    ends = precise_change(low, decimals), precise_change(high, decimals)
    return f"{ends[0]}{NO_BREAK}…{NO_BREAK}{ends[1]}"


def ratio_range(ratio: float, low: float, high: float, separator: str = " ") -> str:
    """A ratio and its range, with a fourth decimal where three would hide it."""
    decimals = 3 if high - low >= _SMALL_SPREAD else 4
    return f"{ratio:.{decimals}f}{separator}({low:.{decimals}f} … {high:.{decimals}f})"


def duration(seconds: float) -> str:
    """A time as `1 h 02 min`, `3 min 20 s` or `12 s`."""
    whole = round(seconds)
    hours, minutes = whole // 3600, whole % 3600 // 60
    if hours:
        return f"{hours} h {minutes:02d} min"
    return f"{minutes} min {whole % 60:02d} s" if minutes else f"{whole} s"
