"""What every section on a study's history looks at: the trend, its names and its words."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime
from functools import cached_property
from typing import TYPE_CHECKING

from teiten.report.layout import factor_title
from teiten.report.numbers import change, figure
from teiten.responses import RESPONSES

if TYPE_CHECKING:
    from collections.abc import Sequence

    from teiten.analysis.published import Published
    from teiten.analysis.trend import Break, Change, Series, Trend
    from teiten.report.document import Tone
    from teiten.report.words import Words
    from teiten.study import Factor, Study

_DAY_S = 86_400.0
_FEW_DAYS = 10
_BREAKS = {"host": "history_break_host", "set-up": "history_break_setup"}


@dataclass(frozen=True)
class Told:
    """What is told: the trend, the study of its newest run, published figures, what was not read.

    `compared` is the followed factor and `x` the one that means go over, or that `at` is a level
    of.
    """

    trend: Trend
    study: Study
    compared: Factor
    x: Factor | None
    published: Sequence[Published] = ()
    unread: Sequence[str] = ()
    empty: Sequence[str] = ()


@dataclass(frozen=True)
class TrendView:
    """A trend in one language."""

    told: Told
    words: Words

    @property
    def trend(self) -> Trend:
        """What is told."""
        return self.told.trend

    def break_words(self, found: Break) -> str:
        """Why a line is broken, in words."""
        if found.kind == "gap":
            return self.words("history_break_gap", days=f"{found.days:,.0f}")
        return self.words(_BREAKS[found.kind])

    def tone(self, found: Change) -> Tone:
        """Whether a change is an improvement."""
        known = RESPONSES.get(self.trend.question.response)
        if known is None or known.better == "neither":
            return "plain"
        return "better" if (found.change > 0) == (known.better == "higher") else "worse"

    def response(self, *, unit: bool) -> str:
        """The response's name for a reader, with its unit if asked for."""
        known = RESPONSES.get(self.trend.question.response)
        if known is None:
            return self.trend.question.response
        name = known.title(self.words.language)
        with_unit = unit and not self.trend.question.relative
        return f"{name} [{known.unit.replace('us/', 'µs/')}]" if with_unit else name

    def shown(self, value: float) -> float:
        """A value as it is drawn: a ratio as a change."""
        return value - 1 if self.trend.question.relative else value

    def value(self, value: float) -> str:
        """A value for a reader: a ratio as a change."""
        return change(value) if self.trend.question.relative else figure(value, 5)

    def level(self, series: Series) -> str:
        """What is followed: a level, and what it is compared with."""
        return series.level if series.reference is None else f"{series.level} / {series.reference}"

    def name(self, series: Series) -> str:
        """What a series is of, as far as it tells it from the others."""
        return ", ".join(part for part in (self.group(series), self.level(series)) if part)

    def group(self, series: Series) -> str:
        """The levels that tell this group from the others, with the names of their factors."""
        titles = {f.name: factor_title(f, self.words.language) for f in self.told.study.factor}
        return ", ".join(
            f"{titles.get(name, name)}: {label}"
            for name, label in series.group.items()
            if name in self.telling
        )

    def labels(self, series: Series) -> str:
        """The same without the names of the factors."""
        return ", ".join(x for name, x in series.group.items() if name in self.telling)

    @cached_property
    def telling(self) -> set[str]:
        """The factors whose levels are not the same in all groups."""
        labels: dict[str, set[str | None]] = {}
        for name in {name for s in self.trend.series for name in s.group}:
            labels[name] = {s.group.get(name) for s in self.trend.series}
        return {name for name, values in labels.items() if len(values) > 1}

    @cached_property
    def levels(self) -> list[str]:
        """The series' levels in the order of the newest study, then as they came."""
        known = dict.fromkeys(self.level(s) for s in self.trend.series)
        order = {label: i for i, label in enumerate(self.told.compared.labels)}
        return sorted(known, key=lambda name: order.get(name.partition(" / ")[0], -1))

    @cached_property
    def times(self) -> list[float]:
        """When the runs began, sorted, in seconds since the epoch."""
        return sorted(e.at_s for s in self.trend.series for e in s.entries)

    def date(self, at_s: float) -> str:
        """The day of a run, with the time of day where all runs are from a few days."""
        days = (self.times[-1] - self.times[0]) / _DAY_S
        return day(at_s) if days > _FEW_DAYS else minute(at_s)


def day(at_s: float) -> str:
    """The day in UTC of a time in seconds since the epoch."""
    return datetime.fromtimestamp(at_s, tz=UTC).strftime("%Y-%m-%d")


def minute(at_s: float) -> str:
    """Day and time of day in UTC of a time in seconds since the epoch."""
    return datetime.fromtimestamp(at_s, tz=UTC).strftime("%Y-%m-%d %H:%M")
