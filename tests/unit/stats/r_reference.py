"""What R says of the data sets in tests/data/stats, beside what teiten says.

Used by the tests and by `bench/stats.py --deviations`.
"""

from __future__ import annotations

import csv
import json
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from teiten.analysis.document import analysis_document
from teiten.stats.art_analysis import analyse_art
from teiten.stats.observations import Observations, observations

if TYPE_CHECKING:
    from collections.abc import Iterator

FOLDER = Path(__file__).parents[2] / "data" / "stats"
NAMES = tuple(sorted(path.stem for path in FOLDER.glob("*.json")))
# What says something of the run of R, not of the data.
_ABOUT_R = {"file", "messages", "versions", "seconds"}


@dataclass(frozen=True)
class Pair:
    """One value twice. `key` is the reference's top-level key, `path` leads to the value below it.

    `column` is the last name on the path: the column of a table, or the key of a single value;
    variance components are shares of the fit's whole variance, in the column `variance`.
    """

    key: str
    path: str
    column: str
    ours: Any
    reference: Any


def reference(name: str) -> dict[str, Any]:
    document: dict[str, Any] = json.loads((FOLDER / f"{name}.json").read_text())
    return document


def trials(name: str) -> Observations:
    said = reference(name)
    with (FOLDER / f"{name}.csv").open(newline="") as file:
        rows = list(csv.DictReader(file))
    return observations(
        [float(row["tps"]) for row in rows],
        {factor: [row[factor] for row in rows] for factor in said["factors"]},
        [row["block"] for row in rows],
        said["levels"],
    )


def pairs(name: str) -> Iterator[Pair]:
    """Every value of every key of one reference file, rows matched by their names.

    Raises:
        KeyError: teiten says nothing under some key, or has no such row.
    """
    said = reference(name)
    ours = analysis_document(analyse_art(trials(name)), "tps")
    for key in said.keys() - _ABOUT_R:
        own = ours[key.removesuffix("_tight").removesuffix("_default")]
        yield from _below(key, (), own, said[key])


def _below(key: str, path: tuple[str, ...], ours: Any, theirs: Any) -> Iterator[Pair]:  # noqa: ANN401 - JSON
    if path and path[-1] == "variance":
        whole = sum(theirs.values())
        for name in theirs:
            shares = ours[name] / whole, theirs[name] / whole
            yield Pair(key, ".".join((key, *path, name)), "variance", *shares)
    elif isinstance(theirs, dict):
        if "contrast" in theirs:
            ours = _in_order_of(ours, theirs)
        for name in theirs.keys() - _ABOUT_R:
            yield from _below(key, (*path, name), ours[name], theirs[name])
    elif isinstance(theirs, list):
        for one, other in zip(ours, theirs, strict=True):
            yield from _below(key, path, one, other)
    else:
        column = path[-1] if path else key
        yield Pair(key, ".".join((key, *path)), column, ours, theirs)


def _in_order_of(ours: dict[str, list[Any]], theirs: dict[str, list[Any]]) -> dict[str, list[Any]]:
    """Our rows in the order of theirs; a row is named by all its columns of texts."""
    texts = [name for name, column in theirs.items() if isinstance(column[0], str)]
    place = {row: i for i, row in enumerate(zip(*(ours[name] for name in texts), strict=True))}
    order = [place[row] for row in zip(*(theirs[name] for name in texts), strict=True)]
    return {name: [column[i] for i in order] for name, column in ours.items()}
