"""Medians, ratios to a reference and their ranges over blocks, as the published decks print them.

Nothing here is a test or an interval: a range over blocks shows what was seen, and no more.

Every function takes a frame with one row a trial, and names the columns to use. Rows without the
response are passed over.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

import polars as pl

if TYPE_CHECKING:
    from collections.abc import Sequence

Direction = Literal["higher", "lower", "same", "mixed"]


@dataclass(frozen=True)
class Comparison:
    """Which columns say what is compared, to which level, within what, and replicated by what."""

    level: str
    reference: str
    within: tuple[str, ...]
    block: str = "block"


def summarise(trials: pl.DataFrame, keys: Sequence[str], response: str) -> pl.DataFrame:
    """Per combination of `keys`: `n`, `median`, `lowest`, `highest`, `mean` of the response.

    Rows come in the order in which the combinations first appear.
    """
    value = pl.col(response)
    return (
        trials.filter(value.is_not_null())
        .group_by(list(keys), maintain_order=True)
        .agg(
            value.len().cast(pl.Int64).alias("n"),
            value.median().alias("median"),
            value.min().alias("lowest"),
            value.max().alias("highest"),
            value.mean().alias("mean"),
        )
    )


def block_ratios(trials: pl.DataFrame, comparison: Comparison, response: str) -> pl.DataFrame:
    """The response over that of the reference in the same block and cell, one row a pair.

    Columns: the level, the cell's columns, the block, `ratio`. Pairs in which a value is not
    positive are left out, for a ratio says nothing there.
    """
    pairing = [*comparison.within, comparison.block]
    positive = trials.filter(pl.col(response) > 0)
    is_reference = pl.col(comparison.level) == comparison.reference
    reference = positive.filter(is_reference).select(*pairing, pl.col(response).alias("_reference"))
    return (
        positive.filter(~is_reference)
        .join(reference, on=pairing, how="inner", maintain_order="left")
        .select(
            comparison.level,
            *pairing,
            (pl.col(response) / pl.col("_reference")).alias("ratio"),
        )
    )


def ratios(trials: pl.DataFrame, comparison: Comparison, response: str) -> pl.DataFrame:
    """Ratio of medians to the reference per level and cell, with the range over blocks.

    Columns: the level, the cell's columns, `ratio`, `blocks` (pairs in it), `lowest`, `highest`
    (of the ratios within blocks; null without a pair). Cells whose medians are not positive are
    left out.
    """
    keys = [comparison.level, *comparison.within]
    medians = summarise(trials, keys, response).filter(pl.col("median") > 0)
    is_reference = pl.col(comparison.level) == comparison.reference
    reference = medians.filter(is_reference).select(
        *comparison.within, pl.col("median").alias("_reference")
    )
    others = medians.filter(~is_reference).select(*keys, "median")
    if comparison.within:
        others = others.join(
            reference, on=list(comparison.within), how="inner", maintain_order="left"
        )
    else:
        others = others.join(reference, how="cross")
    ranges = (
        block_ratios(trials, comparison, response)
        .group_by(keys)
        .agg(
            pl.len().cast(pl.Int64).alias("blocks"),
            pl.col("ratio").min().alias("lowest"),
            pl.col("ratio").max().alias("highest"),
        )
    )
    return (
        others.with_columns((pl.col("median") / pl.col("_reference")).alias("ratio"))
        .join(ranges, on=keys, how="left", maintain_order="left")
        .select(*keys, "ratio", pl.col("blocks").fill_null(0), "lowest", "highest")
    )


def direction(lowest: float, highest: float, margin: float) -> Direction:
    """What ratios between `lowest` and `highest` have in common.

    `same`: all within the margin of 1; `higher` or `lower`: all on one side of 1; else `mixed`.
    """
    if 1 - margin <= lowest and highest <= 1 + margin:
        return "same"
    if lowest > 1:
        return "higher"
    if highest < 1:
        return "lower"
    return "mixed"
