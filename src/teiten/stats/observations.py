"""What every analysis looks at: one response, crossed factors and a block, one entry a trial."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray


@dataclass(frozen=True)
class Column:
    """A factor (or the block) of n trials: `codes[i]` is the index into `levels` of trial i."""

    name: str
    levels: tuple[str, ...]
    codes: NDArray[np.intp]

    @classmethod
    def of(cls, name: str, labels: Sequence[str], levels: Sequence[str] | None = None) -> Column:
        """A column from labels; `levels` gives their order (else that of first appearance)."""
        order = tuple(dict.fromkeys(labels)) if levels is None else tuple(levels)
        place = {label: code for code, label in enumerate(order)}
        return cls(name, order, np.array([place[label] for label in labels], dtype=np.intp))


@dataclass(frozen=True)
class Observations:
    """`response` has shape (n,), finite; so have the codes of the `factors` and of the `block`.

    Lost trials are simply not there: cells may hold fewer trials than there are blocks.
    """

    response: NDArray[np.float64]
    factors: tuple[Column, ...]
    block: Column

    @property
    def n(self) -> int:
        """How many trials there are."""
        return int(self.response.shape[0])

    def factor(self, name: str) -> Column:
        """The factor of that name.

        Raises:
            KeyError: there is none.
        """
        for column in self.factors:
            if column.name == name:
                return column
        raise KeyError(name)

    def with_response(self, response: NDArray[np.float64]) -> Observations:
        """The same trials with another response, such as its logarithm or its ranks."""
        return Observations(response, self.factors, self.block)

    def only(self, rows: NDArray[np.bool_]) -> Observations:
        """The trials in which `rows` (shape (n,)) is true; levels that are gone are dropped."""
        return Observations(
            self.response[rows],
            tuple(_kept(column, rows) for column in self.factors),
            _kept(self.block, rows),
        )

    def cells(self) -> NDArray[np.intp]:
        """The index of each trial's treatment, shape (n,), the last factor running fastest."""
        shape = [len(column.levels) for column in self.factors]
        index = np.zeros(self.n, dtype=np.intp)
        for column, size in zip(self.factors, shape, strict=True):
            index = index * size + column.codes
        return index


def observations(
    response: Sequence[float],
    factors: Mapping[str, Sequence[str]],
    block: Sequence[str],
    levels: Mapping[str, Sequence[str]] | None = None,
) -> Observations:
    """Observations from plain columns of equal length; `levels` orders the levels of factors."""
    order = levels or {}
    return Observations(
        np.asarray(response, dtype=np.float64),
        tuple(Column.of(name, labels, order.get(name)) for name, labels in factors.items()),
        Column.of("block", block),
    )


def _kept(column: Column, rows: NDArray[np.bool_]) -> Column:
    used, codes = np.unique(column.codes[rows], return_inverse=True)
    return Column(column.name, tuple(column.levels[i] for i in used), codes.astype(np.intp))
