"""Which factor is compared, which runs along the x axis, and which separate panels."""

from __future__ import annotations

import itertools
from dataclasses import dataclass
from typing import TYPE_CHECKING

import polars as pl

from teiten.analysis.roles import is_numeric, roles_of
from teiten.stats.summary import Comparison

if TYPE_CHECKING:
    from collections.abc import Mapping

    from teiten.archive import Run
    from teiten.study.model import Factor


@dataclass(frozen=True)
class Group:
    """Trials that may be averaged: `title` in words ("" for all trials), `label` without names."""

    title: str
    label: str
    trials: pl.DataFrame


@dataclass(frozen=True)
class Place:
    """A level of the compared factor at a place along x (None without x) in a panel."""

    panel: str
    x: str | None
    level: str


@dataclass(frozen=True)
class Layout:
    """The roles of a study's factors in its report.

    In a study with one factor that factor is both compared and on the x axis (`x is compared`).
    `trials` has one row a trial: `trial`, `block`, `treatment`, `level` (of the compared factor),
    `x` (label on the x axis), `panel` (the other levels in words, "" when there are none),
    `flagged`, and the responses.
    """

    compared: Factor
    x: Factor
    facets: tuple[Factor, ...]
    panels: tuple[str, ...]
    trials: pl.DataFrame
    language: str

    @property
    def levels(self) -> list[str]:
        """Labels of the compared factor, in the study's order."""
        return self.compared.labels

    @property
    def reference(self) -> str:
        """The level that ratios are formed to."""
        return self.compared.reference_label

    @property
    def has_x(self) -> bool:
        """Whether a factor besides the compared one is on the x axis."""
        return self.x.name != self.compared.name

    @property
    def x_labels(self) -> list[str]:
        """Labels along the x axis, in the study's order."""
        return self.x.labels

    @property
    def x_is_numeric(self) -> bool:
        """Whether a line along the x axis means something."""
        return is_numeric(self.x)

    @property
    def comparison(self) -> Comparison:
        """Compared within x and panel, block by block."""
        within = ("panel", "x") if self.has_x else ("panel",)
        return Comparison("level", self.reference, within)

    @property
    def newest(self) -> str:
        """The level that stands for the new: the last one that is not the reference."""
        others = [level for level in self.levels if level != self.reference]
        return others[-1] if others else self.reference

    @property
    def groups(self) -> list[Group]:
        """What a mean may go over: numeric x values of a panel, but never unlike things.

        A mean over 1 to 256 clients says something; one over reading and updating does not.
        """
        groups = []
        for panel in self.panels:
            trials = self.of_panel(panel)
            if not self.has_x or self.x_is_numeric:
                groups.append(Group(panel, self.panel_labels(panel), trials))
                continue
            for x in self.x_labels:
                title = ", ".join(p for p in (panel, f"{self.title(self.x)}: {x}") if p)
                label = ", ".join(p for p in (self.panel_labels(panel), x) if p)
                groups.append(Group(title, label, trials.filter(pl.col("x") == x)))
        return groups

    @property
    def group_title(self) -> str:
        """The names of the factors that tell `groups` apart."""
        by_x = self.has_x and not self.x_is_numeric
        return ", ".join(t for t in (self.panel_title, self.title(self.x) if by_x else "") if t)

    @property
    def panel_title(self) -> str:
        """The names of the factors that make the panels."""
        return ", ".join(self.title(f) for f in self.facets)

    def panel_labels(self, panel: str) -> str:
        """A panel without the names of its factors, for a column headed by `panel_title`."""
        for factor in self.facets:
            panel = panel.replace(f"{self.title(factor)}: ", "", 1)
        return panel

    def title(self, factor: Factor) -> str:
        """A factor's name for a reader."""
        return factor_title(factor, self.language)

    def panel_of(self, levels: Mapping[str, str]) -> str:
        """The panel in which trials of these levels are shown."""
        return _panel(levels, self.facets, self.language)

    def of_panel(self, panel: str) -> pl.DataFrame:
        """The trials of one panel."""
        return self.trials.filter(pl.col("panel") == panel)

    def has(self, response: str) -> bool:
        """Whether any trial has the response."""
        return response in self.trials.columns and self.trials[response].is_not_null().any()


def factor_title(factor: Factor, language: str) -> str:
    """A factor's title in `language`, else in English, else its name."""
    return factor.title.get(language) or factor.title.get("en") or factor.name


def lay_out(run: Run, language: str) -> Layout:
    """Give every factor of the run's study its role, and label the trials accordingly."""
    roles = roles_of(run.study)
    compared, x, facets = roles.compared, roles.x, roles.facets
    panels = tuple(
        _panel(dict(zip((f.name for f in facets), labels, strict=True)), facets, language)
        for labels in itertools.product(*(f.labels for f in facets))
    )
    labels = pl.DataFrame(
        {
            "trial": [r.number for r in run.records],
            "level": [r.levels[compared.name] for r in run.records],
            "x": [r.levels[x.name] for r in run.records],
            "panel": [_panel(r.levels, facets, language) for r in run.records],
            "flagged": [bool(r.flags) for r in run.records],
        },
        schema={
            "trial": pl.Int64,
            "level": pl.String,
            "x": pl.String,
            "panel": pl.String,
            "flagged": pl.Boolean,
        },
    )
    trials = run.trials.join(labels, on="trial", how="left", maintain_order="left")
    return Layout(compared, x, facets, panels, trials, language)


def _panel(levels: Mapping[str, str], facets: tuple[Factor, ...], language: str) -> str:
    return ", ".join(f"{factor_title(f, language)}: {levels[f.name]}" for f in facets)
