"""Simulated trials for the tests of the statistics."""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING

import numpy as np

from teiten.stats.observations import Column, Observations

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

NAMES = ("version", "num", "checksum", "fillfactor")


def crossing(shape: Sequence[int], blocks: int, repeats: int = 1) -> Observations:
    """A full crossing with response 0."""
    cells = list(itertools.product(*(range(size) for size in shape))) * repeats
    rows = np.array([(block, *cell) for block in range(blocks) for cell in cells], dtype=np.intp)
    return Observations(
        np.zeros(len(rows)),
        tuple(
            Column(name, tuple(f"{name[0]}{i}" for i in range(size)), rows[:, place + 1])
            for place, (name, size) in enumerate(zip(NAMES, shape, strict=False))
        ),
        Column("block", tuple(str(block + 1) for block in range(blocks)), rows[:, 0]),
    )


def noise(
    design: Observations, random: np.random.Generator, deviations: Mapping[tuple[str, ...], float]
) -> Observations:
    """Normal noise of deviation 1, plus random effects of the block crossed with factors."""
    response = random.normal(size=design.n)
    for names, deviation in deviations.items():
        group = _joined(design, names)
        response += deviation * random.normal(size=int(group.max()) + 1)[group]
    return design.with_response(response)


def without(design: Observations, trials: Sequence[int]) -> Observations:
    """The same without some trials."""
    kept = np.ones(design.n, dtype=bool)
    kept[list(trials)] = False
    return design.only(kept)


def _joined(design: Observations, names: Sequence[str]) -> NDArray[np.intp]:
    group = design.block.codes
    for name in names:
        column = design.factor(name)
        group = group * len(column.levels) + column.codes
    return group
