"""Where things stand on an axis: round ends, round steps, labels kept apart. Pure."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

_INTERVALS = 5


@dataclass(frozen=True)
class Span:
    """The range of a y axis, so that labels can be kept apart on it."""

    low: float
    high: float
    is_log: bool

    def to_share(self, value: float) -> float:
        """Where on the axis a value is: 0 at its foot, 1 at its top."""
        if self.is_log:
            return math.log(value / self.low) / (math.log(self.high / self.low) or 1.0)
        return (value - self.low) / ((self.high - self.low) or 1.0)

    def from_share(self, share: float) -> float:
        """The value at a place on the axis."""
        if self.is_log:
            return self.low * math.exp(share * math.log(self.high / self.low))
        return self.low + share * (self.high - self.low)

    def moved(self, value: float, by: float) -> float:
        """The place `by` (a share of the axis) above a value, kept on the axis."""
        return self.from_share(min(1.0, max(0.0, self.to_share(value) + by)))


def round_top(high: float) -> float:
    """The end of an axis from zero that holds `high`: a whole number of steps of 1, 2 or 5."""
    if high <= 0:
        return 1.0
    rough = high / _INTERVALS
    power = 10.0 ** math.floor(math.log10(rough))
    step = next(m * power for m in (1, 2, 5, 10) if m * power >= rough * 0.999)
    return math.ceil(high / step - 1e-9) * step


def round_steps(low: float, high: float) -> list[float]:
    """1, 2, 5, 10, ... from the last one not above `low` to the first one not below `high`."""
    first = math.floor(math.log10(low))
    last = math.ceil(math.log10(high))
    steps = [m * 10.0**e for e in range(first, last + 1) for m in (1, 2, 5)]
    begin = max(i for i, step in enumerate(steps) if step <= low)
    end = min(i for i, step in enumerate(steps) if step >= high)
    return steps[begin : end + 1]


def keep_apart(places: Sequence[float], gap: float) -> list[float]:
    """Move ascending places as little as needed so that neighbours are `gap` apart.

    Overlapping neighbours become groups centred on their mean (pool adjacent violators); what
    would stand below 0 is moved up, what would stand above 1 down.
    """
    groups: list[list[float]] = []
    for place in places:
        groups.append([place])
        while len(groups) > 1 and _top(groups[-2], gap) + gap > _bottom(groups[-1], gap):
            last = groups.pop()
            groups[-1] += last
    moved = [_bottom(group, gap) + number * gap for group in groups for number in range(len(group))]
    most = len(moved) - 1
    above_0 = [max(place, number * gap) for number, place in enumerate(moved)]
    return [min(place, 1 - (most - number) * gap) for number, place in enumerate(above_0)]


def _bottom(group: list[float], gap: float) -> float:
    return sum(group) / len(group) - gap * (len(group) - 1) / 2


def _top(group: list[float], gap: float) -> float:
    return _bottom(group, gap) + gap * (len(group) - 1)
