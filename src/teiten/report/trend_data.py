"""The history of a study as plain data: JSON values, and one row a run."""

from __future__ import annotations

import math
from dataclasses import asdict
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

import polars as pl

from teiten.analysis.trend import FALSE_ALARMS

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from teiten.analysis.trend import Change, Entry, Series, Trend
    from teiten.report.trend_view import Told


def trend_document(told: Told) -> dict[str, Any]:
    """The trend as plain JSON values; times are ISO 8601 in UTC, changes are ratios less 1."""
    trend = told.trend
    series = []
    for each in trend.series:
        names = [e.run for e in each.entries]
        series.append(
            {
                "group": dict(each.group),
                "level": each.level,
                "reference": each.reference,
                "runs": [_entry_data(e) for e in each.entries],
                "stretches": [
                    {
                        "runs": [names[i] for i in stretch.entries],
                        "testable": stretch.testable,
                        "changes": [_change_data(c, names) for c in stretch.changes],
                        "serial_correlation": asdict(stretch.dependence)
                        if stretch.dependence
                        else None,
                    }
                    for stretch in each.stretches
                ],
                "breaks": [
                    {
                        "kind": b.kind,
                        "after": _iso(b.after_s),
                        "before": _iso(b.before_s),
                        "what": list(b.what),
                    }
                    for b in each.breaks
                ],
            }
        )
    question = trend.question
    return {
        "study": told.study.name,
        "response": question.response,
        "at": question.at,
        "relative": question.relative,
        "false_alarms": FALSE_ALARMS,
        "alpha": trend.alpha,
        "fewest_runs": trend.fewest,
        "series": series,
        "published": [
            {**_without(asdict(p), "at_s"), "date": _iso(p.at_s)} for p in told.published
        ],
        "left_out": dict(trend.left_out),
        "not_read": list(told.unread),
    }


def trend_frame(trend: Trend) -> pl.DataFrame:
    """One row a series and run: the value, its range, the line that it is on, change points."""
    rows: list[dict[str, Any]] = []
    for number, series in enumerate(trend.series, 1):
        line_of, before_of, change_of = places(series)
        for i, entry in enumerate(series.entries):
            found, before = change_of.get(i), before_of.get(i)
            rows.append(
                {
                    "series": number,
                    **{f"factor.{name}": label for name, label in series.group.items()},
                    "level": series.level,
                    "reference": series.reference,
                    "run": entry.run,
                    "began_at": _iso(entry.at_s),
                    "value": entry.value,
                    "lowest": entry.lowest,
                    "highest": entry.highest,
                    "blocks": entry.blocks,
                    "flagged_trials": len(entry.flagged),
                    "line": line_of[i] + 1,
                    "change_to_previous": entry.value / series.entries[before].value - 1
                    if before is not None
                    else None,
                    "change_point": found.change if found else None,
                    "change_point_p": found.p if found else None,
                }
            )
    return pl.DataFrame(rows, infer_schema_length=None)


def places(
    series: Series,
) -> tuple[dict[int, int], dict[int, int], dict[int, Change]]:
    """By the index of each entry: its line, the entry before it there, its change point.

    The first entry of a line has none before it.
    """
    line_of: dict[int, int] = {}
    before_of: dict[int, int] = {}
    change_of: dict[int, Change] = {}
    for number, stretch in enumerate(series.stretches):
        for before, i in zip((None, *stretch.entries), stretch.entries, strict=False):
            line_of[i] = number
            if before is not None:
                before_of[i] = before
        change_of |= {found.after: found for found in stretch.changes}
    return line_of, before_of, change_of


def _entry_data(entry: Entry) -> dict[str, Any]:
    return {**_without(asdict(entry), "at_s"), "began_at": _iso(entry.at_s)}


def _change_data(found: Change, runs: Sequence[str]) -> dict[str, Any]:
    places = ("before", "after", "earliest", "latest")
    return {**_finite(asdict(found)), **{key: runs[getattr(found, key)] for key in places}}


def _finite(values: Mapping[str, Any]) -> dict[str, Any]:
    """JSON has no infinity: an end that is not bounded is null."""
    return {k: None if isinstance(v, float) and math.isinf(v) else v for k, v in values.items()}


def _without(values: Mapping[str, Any], key: str) -> dict[str, Any]:
    return {k: v for k, v in values.items() if k != key}


def _iso(at_s: float) -> str:
    return datetime.fromtimestamp(at_s, tz=UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
