"""The crossing of factors that a model is fitted to: terms, cells, margins, and what it needs."""

from __future__ import annotations

import itertools
import math
from functools import lru_cache
from typing import TYPE_CHECKING

import numpy as np

from teiten.errors import TeitenError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from teiten.stats.observations import Column, Observations

# Deviations below this share of the response are rounding, not variation.
ROUNDING = 64 * float(np.finfo(np.float64).eps)


class NotAnalysableError(TeitenError, ValueError):
    """The trials cannot be analysed so; the sentence says why and what would help."""


def terms(names: Sequence[str]) -> tuple[tuple[str, ...], ...]:
    """All non-empty subsets of the factors: main effects first, then pairs, and so on."""
    return tuple(
        subset
        for size in range(1, len(names) + 1)
        for subset in itertools.combinations(names, size)
    )


def varying(factors: Sequence[Column]) -> tuple[str, ...]:
    """The names of the factors with two or more levels; the others can have no effect."""
    return tuple(column.name for column in factors if len(column.levels) > 1)


def check(observations: Observations) -> None:
    """Say what keeps the trials from being analysed.

    Raises:
        NotAnalysableError: a value is not finite; no factor has two levels; there is one block; a
            treatment has no trial; no trial is left to estimate the error from; or the response
            depends on nothing but the treatment.
    """
    if not np.all(np.isfinite(observations.response)):
        raise NotAnalysableError("a response is not a finite number; leave that trial out")
    if not varying(observations.factors):
        raise NotAnalysableError(
            "no factor has two levels among the trials, so there is nothing to compare"
        )
    if np.unique(observations.block.codes).size < 2:  # noqa: PLR2004 - the smallest replication
        raise NotAnalysableError(
            "all trials lie in one block, so nothing is replicated; measure a second block"
        )
    counts = cell_counts(observations)
    if not counts.all():
        raise NotAnalysableError(_about_empty_cells(observations, counts))
    if observations.n <= counts.size:
        raise NotAnalysableError(
            f"{observations.n} trials of {counts.size} treatments leave none to estimate the error "
            "from; measure more blocks"
        )
    sums = np.bincount(observations.cells(), weights=observations.response)
    spread = observations.response - (sums / counts)[observations.cells()]
    if np.abs(spread).max() <= ROUNDING * np.abs(observations.response).max():
        raise NotAnalysableError(
            "every treatment gave the same response in all its trials, so there is no error to "
            "test against; compare the values themselves"
        )


def cell_counts(observations: Observations) -> NDArray[np.intp]:
    """Trials per treatment, shape (cells,)."""
    cells = math.prod(len(column.levels) for column in observations.factors)
    return np.bincount(observations.cells(), minlength=cells)


@lru_cache(maxsize=64)
def effect_projections(shape: tuple[int, ...]) -> NDArray[np.float64]:
    """Orthogonal projections of cell means on the effects of each subset of the factors.

    Shape (2^k, cells, cells) for k factors. Subset s holds factor i when bit i of s is set, so 0 is
    the grand mean and the last one the interaction of all. Not to be written to (it is cached).
    """
    projections = []
    for subset in range(2 ** len(shape)):
        product = np.ones((1, 1))
        for i, size in enumerate(shape):
            mean = np.full((size, size), 1 / size)
            product = np.kron(product, np.eye(size) - mean if subset >> i & 1 else mean)
        projections.append(product)
    stacked = np.stack(projections)
    stacked.flags.writeable = False
    return stacked


@lru_cache(maxsize=256)
def effect_contrasts(shape: tuple[int, ...], within: tuple[bool, ...]) -> NDArray[np.float64]:
    """Rows that span the hypothesis of no effect of a term, shape (its df, cells).

    `within[i]` says whether factor i is in the term. The other factors are averaged over with
    equal weights: the Type III hypothesis under sum-to-zero coding. Not to be written to.
    """
    product = np.ones((1, 1))
    for size, has in zip(shape, within, strict=True):
        rows = np.eye(size)[:-1] - np.eye(size)[-1] if has else np.full((1, size), 1 / size)
        product = np.kron(product, rows)
    product.flags.writeable = False
    return product


def margin(shape: Sequence[int], kept: Sequence[bool]) -> NDArray[np.float64]:
    """Weights of the marginal means over the factors not kept, shape (margins, cells).

    Margins come with the last kept factor running fastest; cells are weighted equally.
    """
    product = np.ones((1, 1))
    for size, keep in zip(shape, kept, strict=True):
        product = np.kron(product, np.eye(size) if keep else np.full((1, size), 1 / size))
    return product


def _about_empty_cells(observations: Observations, counts: NDArray[np.intp]) -> str:
    shape = [len(column.levels) for column in observations.factors]
    empty = np.flatnonzero(counts == 0)
    codes = np.unravel_index(int(empty[0]), shape)
    first = ", ".join(
        f"{column.name}={column.levels[int(code)]}"
        for column, code in zip(observations.factors, codes, strict=True)
    )
    others = f" (nor of {empty.size - 1} more treatments)" if empty.size > 1 else ""
    return (
        f"there is no trial of {first}{others}, but the model needs one of every combination of "
        "levels; measure it, or leave one of its levels out"
    )
