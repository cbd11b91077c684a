"""What every section looks at: the run, the roles of its factors, and the words."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

from teiten.analysis.analysed import Analysed, analyse_run
from teiten.analysis.roles import roles_of
from teiten.analysis.trials import verdict_responses
from teiten.report.document import Cell, Table, Tone
from teiten.report.numbers import figure
from teiten.report.places import significant_places
from teiten.responses import RESPONSES
from teiten.stats.summary import Direction, summarise

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from teiten.analysis.conclusions import Conclusions
    from teiten.archive import Run
    from teiten.report.layout import Layout, Place
    from teiten.report.words import Words


@dataclass(frozen=True)
class View:
    """A run seen through its layout, in one language."""

    run: Run
    layout: Layout
    words: Words
    conclusions: Conclusions

    @cached_property
    def analysed(self) -> tuple[Analysed, ...]:
        """The published analysis of the responses that the report tells it of.

        None of a run that was looked at after every block: its p-values do not allow for that.
        """
        return analyse_run(self.run) if self.run.study.until_decided is None else ()

    def framed(self, response: str) -> frozenset[Place]:
        """Where the response differs significantly from the reference; those places are framed."""
        return frozenset(
            place
            for analysed in self.analysed
            if analysed.of.response == response
            for place in significant_places(analysed, self.run, self.layout)
        )

    @property
    def margin_text(self) -> str:
        """The study's margin as a percentage."""
        return f"{self.run.study.margin * 100:g}%"

    def title(self, response: str, *, unit: bool = False) -> str:
        """A response's name for a reader, with its unit if asked for."""
        known = RESPONSES.get(response)
        if known is None:
            return response
        name = known.title(self.words.language)
        return f"{name} {self.unit(response)}" if unit else name

    def unit(self, response: str) -> str:
        """A response's unit in brackets."""
        known = RESPONSES.get(response)
        return f"[{known.unit.replace('us/', 'µs/')}]" if known else ""

    def ratio_responses(self) -> list[str]:
        """Recorded responses for which a ratio to the reference means something."""
        return list(verdict_responses(self.run.study, self.run.records))

    def groups(self) -> tuple[Mapping[str, str], ...]:
        """The groups of trials that verdicts are given of (see `Roles.group_keys`)."""
        return roles_of(self.run.study).group_keys()

    def group_words(self, group: Mapping[str, str]) -> str:
        """A group in words, such as `Workload: read`."""
        factors = {f.name: f for f in self.run.study.factor}
        return ", ".join(
            f"{self.layout.title(factors[name])}: {label}" for name, label in group.items()
        )

    def tone(self, response: str, direction: Direction) -> Tone:
        """Whether a direction is an improvement."""
        better = RESPONSES[response].better if response in RESPONSES else "neither"
        if better == "neither" or direction in {"same", "mixed"}:
            return "plain"
        return "better" if better == direction else "worse"

    def medians_table(self, response: str) -> Table:
        """Medians with their ranges: a row an x value (and panel), a column a level."""
        layout = self.layout
        with_panel = len(layout.panels) > 1
        keys = ["level", "panel", "x"]
        found = {
            (row["level"], row["panel"], row["x"]): row
            for row in summarise(layout.trials, keys, response).iter_rows(named=True)
        }
        title = self.words("medians_table", response=self.title(response, unit=True))
        rows = []
        for panel in layout.panels:
            for x in layout.x_labels if layout.has_x else [""]:
                cells = [
                    Cell(_median(found.get((level, panel, x if layout.has_x else level))))
                    for level in layout.levels
                ]
                place = ([Cell(layout.panel_labels(panel))] if with_panel else []) + (
                    [Cell(x)] if layout.has_x else []
                )
                rows.append((*place, *cells))
        heads = ([layout.panel_title] if with_panel else []) + (
            [layout.title(layout.x)] if layout.has_x else []
        )
        numeric = (
            ([False] if with_panel else [])
            + ([layout.x_is_numeric] if layout.has_x else [])
            + [True] * len(layout.levels)
        )
        return Table(title, (*heads, *layout.levels), tuple(rows), tuple(numeric), folded=True)

    def medians_in_words(self, response: str) -> str:
        """The medians as one line, for a chart's description."""
        keys = ["panel", "level", "x"] if self.layout.has_x else ["panel", "level"]
        parts = [
            f"{', '.join(str(row[k]) for k in keys if row[k])}: {figure(row['median'])}"
            for row in summarise(self.layout.trials, keys, response).iter_rows(named=True)
        ]
        return "; ".join(sorted(parts, key=self._natural))

    @staticmethod
    def _natural(text: str) -> list[tuple[int, str]]:
        words = text.replace(",", " ").replace(":", " ").split()
        return [(int(w), "") if w.isdecimal() else (0, w) for w in words]


def text_table(
    title: str, header: Sequence[str], rows: Sequence[Sequence[str]], *, folded: bool = False
) -> Table:
    """A table of words."""
    cells = tuple(tuple(Cell(text) for text in row) for row in rows)
    return Table(title, tuple(header), cells, (False,) * len(header), folded=folded)


def _median(row: dict[str, float] | None) -> str:
    if row is None:
        return "-"
    if row["n"] == 1:
        return figure(row["median"])
    return f"{figure(row['median'])} ({figure(row['lowest'])} … {figure(row['highest'])})"
