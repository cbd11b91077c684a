"""From a table made anywhere (CSV, one row a trial) to what is analysed."""

from __future__ import annotations

import itertools
import math
import re
from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from teiten.analysis.sheet import read_sheet, refuse_pasted_twice
from teiten.errors import UsageError
from teiten.stats.observations import Column, Observations

if TYPE_CHECKING:
    from teiten.analysis.sheet import Row, Sheet

_LOST = frozenset({"", "na", "n/a", "nan", "null"})
_NUMBER = re.compile(r"[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?")
_DIGITS = re.compile(r"([0-9]+)")
_MOST_NAMED = 3


@dataclass(frozen=True)
class TableColumns:
    """Which column is what; `reference` is a level of the first factor (None: its first)."""

    block: str
    factors: tuple[str, ...]
    responses: tuple[str, ...]
    reference: str | None = None

    def options(self) -> dict[str, str]:
        """Each column with the option that names it.

        Raises:
            UsageError: a column is named more than once.
        """
        options: dict[str, str] = {}
        named = {"--block": (self.block,), "--factor": self.factors, "--response": self.responses}
        for option, names in named.items():
            for name in names:
                if name in options:
                    raise UsageError(
                        f"Column {name} is named by {options[name]} and again by {option}: a "
                        "column is the block, a factor or a response, and named once."
                    )
                options[name] = option
        return options


@dataclass(frozen=True)
class Measurements:
    """One response of a table; the first level of the first factor is the reference.

    `lost` are the lines of the trials without a value, `untried` counts the treatments that a
    block does not have at all, `repeated` those that a block has more than once.
    """

    response: str
    observations: Observations
    lost: tuple[int, ...]
    untried: int
    repeated: int


def read_measurements(
    content: bytes, where: str, columns: TableColumns
) -> tuple[Measurements, ...]:
    """Read a table (`read_sheet`), one `Measurements` for each response.

    Levels are ordered by value where all are numbers, else naturally (16.10 after 16.9; always so
    in a column `version`). A trial whose response is empty or NA is lost. A treatment may be
    repeated within a block, as R's models allow; rows that agree in every column are taken for a
    table pasted twice.

    Raises:
        UsageError: the table, or what was asked of it, cannot be analysed.
    """
    sheet = read_sheet(content, where, columns.options())
    refuse_pasted_twice(sheet)
    levels = {name: _levels(sheet, name) for name in (columns.block, *columns.factors)}
    first = columns.factors[0]
    levels[first] = _reference_first(levels[first], columns, where)
    everything = Observations(
        np.zeros(len(sheet.rows)),
        tuple(Column.of(name, sheet.column(name), levels[name]) for name in columns.factors),
        Column.of(columns.block, sheet.column(columns.block), levels[columns.block]),
    )
    _refuse_one_level(everything, where)
    return tuple(_measurements(sheet, everything, response) for response in columns.responses)


def ordered_levels(name: str, labels: set[str]) -> tuple[str, ...]:
    """The levels of a column: by value where all are numbers, else naturally.

    Versions look like numbers and are none: 16.10 comes after 16.9.
    """
    numbers = {label: float(label) for label in labels if _NUMBER.fullmatch(label)}
    are_numbers = len(numbers) == len(labels) == len(set(numbers.values()))
    if are_numbers and name.lower() != "version":
        return tuple(sorted(labels, key=lambda label: numbers[label]))
    return tuple(sorted(labels, key=_natural))


def _measurements(sheet: Sheet, everything: Observations, response: str) -> Measurements:
    values = np.array([_value(sheet, row, response) for row in sheet.rows])
    there = np.isfinite(values)
    lost = tuple(row.line for row, found in zip(sheet.rows, there, strict=True) if not found)
    place = f"{sheet.where}, column {response}"
    _refuse_empty_cells(everything, set(everything.cells()[there].tolist()), place)
    found = everything.with_response(values).only(there)
    _refuse_too_little(found, place)
    in_block = Counter(zip(everything.block.codes.tolist(), everything.cells(), strict=True))
    return Measurements(
        response,
        found,
        lost,
        untried=_treatments(everything) * len(everything.block.levels) - len(in_block),
        repeated=sum(count > 1 for count in in_block.values()),
    )


def _treatments(observations: Observations) -> int:
    return math.prod(len(factor.levels) for factor in observations.factors)


def _levels(sheet: Sheet, name: str) -> tuple[str, ...]:
    for row in sheet.rows:
        if not sheet.cell(row, name):
            raise sheet.mistake(
                row, name, f"the cell is empty; write which {name} the trial belongs to."
            )
    return ordered_levels(name, set(sheet.column(name)))


def _natural(label: str) -> tuple[tuple[int, int, str], ...]:
    parts = _DIGITS.split(label)
    return tuple((0, int(p), "") if p.isdecimal() else (1, 0, p) for p in parts if p)


def _reference_first(levels: tuple[str, ...], columns: TableColumns, where: str) -> tuple[str, ...]:
    reference = columns.reference
    if reference is None:
        return levels
    if reference not in levels:
        raise UsageError(
            f"{where}, column {columns.factors[0]}, has no level {reference}: give --reference "
            f"one of {', '.join(levels)}."
        )
    return (reference, *(level for level in levels if level != reference))


def _value(sheet: Sheet, row: Row, response: str) -> float:
    """The number in a cell; NaN where the trial was lost."""
    text = sheet.cell(row, response)
    if text.lower() in _LOST:
        return math.nan
    if _NUMBER.fullmatch(text) and math.isfinite(float(text)):
        return float(text)
    hint = " with a decimal point and no other separators" if "," in text else ""
    raise sheet.mistake(
        row,
        response,
        f"“{text}” is not a finite number; write one such as 1234.5{hint}, or leave the cell "
        "empty if the trial was lost.",
    )


def _refuse_one_level(everything: Observations, where: str) -> None:
    block = everything.block
    if len(block.levels) < 2:  # noqa: PLR2004 - blocks are replicates
        raise UsageError(
            f"{where}, column {block.name}: there is one block only ({block.levels[0]}), and one "
            "block cannot tell an effect from chance; measure every treatment in another block."
        )
    if len(block.levels) == everything.n:
        raise UsageError(
            f"{where}, column {block.name}: every trial is a block of its own; name with --block "
            "the column that says in which pass over all treatments a trial was made."
        )
    for factor in everything.factors:
        if len(factor.levels) < 2:  # noqa: PLR2004 - a comparison needs two
            raise UsageError(
                f"{where}, column {factor.name}: all trials have the level {factor.levels[0]}, so "
                f"there is nothing to compare; name another column with --factor."
            )


def _refuse_empty_cells(everything: Observations, tried: set[int], place: str) -> None:
    combinations = itertools.product(*(factor.levels for factor in everything.factors))
    names = [factor.name for factor in everything.factors]
    empty = [
        " and ".join(f"{name} {level}" for name, level in zip(names, levels, strict=True))
        for cell, levels in enumerate(combinations)
        if cell not in tried
    ]
    if len(empty) == _treatments(everything):
        raise UsageError(f"{place}: no trial has a value; name another column with --response.")
    if empty:
        shown = ", ".join(empty[:_MOST_NAMED])
        more = f" (and {len(empty) - _MOST_NAMED} more)" if len(empty) > _MOST_NAMED else ""
        raise UsageError(
            f"{place}: there is no trial with {shown}{more}; every combination of levels needs "
            "one, so measure it or remove the rows of a level that lacks it."
        )


def _refuse_too_little(found: Observations, place: str) -> None:
    if len(found.block.levels) < 2:  # noqa: PLR2004 - blocks are replicates
        raise UsageError(
            f"{place}: only block {found.block.levels[0]} has values; measure every treatment in "
            "another block."
        )
    treatments = _treatments(found)
    if found.n <= treatments:
        raise UsageError(
            f"{place}: {found.n} trials of {treatments} treatments are too few; measure the "
            "treatments again in another block."
        )
    if np.ptp(found.response) == 0:
        raise UsageError(
            f"{place}: all values are {found.response[0]:g}, so there is nothing to analyse; name "
            "another column with --response."
        )
