"""Change points of a series, with a false-alarm rate that holds by construction.

Whether a series changes at all is a permutation test on ranks. Two statistics are looked at: the
largest standardised rank sum on one side of a split (Pettitt 1979, Applied Statistics 28:126),
which finds a level that changes and stays, and the largest of any run of neighbours against all
others (circular binary segmentation: Olshen, Venkatraman, Lucito and Wigler 2004, Biostatistics
5:557), which finds one that goes back. The smaller of their two p-values is the test's statistic.
If nothing changes, all orders of the values are equally likely, whatever their distribution; so the
null distribution of that minimum depends on the ranks alone and is simulated. A series is split
only after it was rejected as a whole, so at most `alpha` of all series without a change get any
change point. Serial correlation breaks this: see `serial_correlation`.

Location: the set of places that a conditional permutation test does not reject (after Worsley 1986,
Biometrika 73:91). Size: Hodges and Lehmann's shift with the interval of the rank-sum test (1963,
Annals of Mathematical Statistics 34:598).
"""

from __future__ import annotations

import functools
import itertools
import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from scipy.special import ndtri
from scipy.stats import rankdata

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    Floats = NDArray[np.float64]

LEAST = 3
"""The fewest values between two change points, and before the first and after the last one."""

_SEED = 20_240_601
_MOST_ORDERS = 19_999
_FEWEST_ORDERS = 1_999
_WORK = 100_000_000  # sums looked at in one simulation: bounds its time at about a second
_ORDERS_OF_PLACE = 499
_CONFIDENCE = 0.95
_MOST_EXACT_PAIRS = 1_500


@dataclass(frozen=True)
class ChangePoint:
    """A change of level before the value at `index`.

    With 95% confidence the first value of the new level is at `earliest` to `latest`. `shift` is
    the new level less the old one, in the units of the values, with its 95% interval; that is
    infinite where the values on both sides are too few to bound it, and takes the place of the
    change as known. `p` is that of no change between the neighbouring change points.
    """

    index: int
    earliest: int
    latest: int
    shift: float
    lower: float
    upper: float
    p: float


@dataclass(frozen=True)
class SerialCorrelation:
    """How alike neighbours are, `r` from -1 to 1, and the p-value of no likeness (one-sided)."""

    r: float
    p: float


def change_points(values: Floats, alpha: float = 0.05) -> tuple[ChangePoint, ...]:
    """The change points of `values` (shape (n,), in order of time), earliest first.

    `alpha` bounds the probability of any change point in a series without a change. Each side of
    one that is found is searched again at the same level, so in a series that does change, further
    false ones come at up to that rate for each unchanged part.
    """
    found = locate(values, alpha)
    borders = [0, *(at for at, _ in found), len(values)]
    return tuple(
        _described(values, borders[i], at, borders[i + 2], p) for i, (at, p) in enumerate(found)
    )


def locate(values: Floats, alpha: float = 0.05) -> list[tuple[int, float]]:
    """The index and p-value of each change point alone, as `change_points` finds them."""
    return _refined(values, _split(values, 0, alpha), alpha)


def p_no_change(values: Floats) -> float:
    """The p-value of the hypothesis that `values` do not change; 1 where they are too few."""
    return _test(values)[0]


@functools.cache
def smallest_p(n: int) -> float:
    """The p-value of the clearest possible change of n values: half of them low, half high."""
    return p_no_change(np.arange(n, dtype=np.float64))


def serial_correlation(values: Floats, changes: Sequence[int] = ()) -> SerialCorrelation | None:
    """The lag-1 rank correlation within the parts between the `changes`; None for short series.

    The p-value is from permutations within the parts.
    """
    borders = [0, *changes, len(values)]
    parts = [_centred(values[a:b]) for a, b in itertools.pairwise(borders) if b - a >= LEAST]
    parts = [part for part in parts if part.any()]
    if sum(len(part) for part in parts) < 2 * LEAST:
        return None
    generator = np.random.default_rng(_SEED)
    total = sum(float((part**2).sum()) for part in parts)
    seen, null = 0.0, np.zeros(_ORDERS_OF_PLACE)
    for part in parts:
        seen += float((part[1:] * part[:-1]).sum())
        shuffled = _shuffled(part, _ORDERS_OF_PLACE, generator)
        null += (shuffled[:, 1:] * shuffled[:, :-1]).sum(axis=1)
    # The mean under the null is a little below 0, since ranks sum to a constant.
    r = (seen - float(null.mean())) / total
    return SerialCorrelation(r, _share_at_least(np.sort(null), seen))


def _split(values: Floats, offset: int, alpha: float) -> list[int]:
    """Binary segmentation: indices (plus `offset`) of all splits that the test supports."""
    p, at = _test(values)
    if p > alpha:
        return []
    return [
        *_split(values[:at], offset, alpha),
        offset + at,
        *_split(values[at:], offset + at, alpha),
    ]


def _refined(values: Floats, splits: Sequence[int], alpha: float) -> list[tuple[int, float]]:
    """Move each split to the best place between its neighbours; drop what is then not significant.

    A split found before the others can stand off its place, or between two true ones.
    """
    kept = list(splits)
    while kept:
        tested = []
        for i in range(len(kept)):
            low = kept[i - 1] if i else 0
            high = kept[i + 1] if i + 1 < len(kept) else len(values)
            scores = _centred(values[low:high])
            z = _split_statistics(scores[None, :])[0]
            kept[i] = low + LEAST + int(z.argmax())
            tested.append(_share_at_least(_null(tuple(np.sort(scores))).splits, float(z.max())))
        worst = int(np.argmax(tested))
        if tested[worst] <= alpha:
            return list(zip(kept, tested, strict=True))
        del kept[worst]
    return []


def _test(values: Floats) -> tuple[float, int]:
    """The p-value of no change, and where to split if there is one."""
    scores = _centred(values)
    if len(scores) < 2 * LEAST or not scores.any():
        return 1.0, 0
    null = _null(tuple(np.sort(scores)))
    z = _split_statistics(scores[None, :])[0]
    arc_z, begin, end = _best_arc(scores)
    p_split = _share_at_least(null.splits, float(z.max()))
    p_arc = _share_at_least(null.arcs, arc_z)
    p = float((1 + np.searchsorted(null.least_p, min(p_split, p_arc) + 1e-12)) / (null.orders + 1))
    if p_split <= p_arc:
        return p, LEAST + int(z.argmax())
    # Of the two ends of the arc, first the one where the step is clearer; the other may be chance.
    inner = [at for at in (begin, end) if 0 < at < len(scores)]
    return p, max(inner, key=lambda at: _step_at(scores, begin, end, at))


def _step_at(scores: Floats, begin: int, end: int, at: int) -> float:
    """How clear the step is at one end of the arc: its two neighbouring parts compared."""
    low, high = (0, end) if at == begin else (begin, len(scores))
    part = _centred(scores[low:high])
    k, n = at - low, high - low
    spread = float((part**2).sum()) / (n - 1)
    return abs(float(part[:k].sum())) / math.sqrt(spread * k * (n - k) / n) if spread else 0.0


@dataclass(frozen=True)
class _Null:
    """Sorted statistics of random orders: largest of all splits, of all arcs, the smaller p."""

    splits: Floats
    arcs: Floats
    least_p: Floats

    @property
    def orders(self) -> int:
        return len(self.splits)


@functools.lru_cache(maxsize=512)
def _null(scores: tuple[float, ...]) -> _Null:
    """The null distribution for these (sorted) scores: without ties, one for each length."""
    n = len(scores)
    orders = min(_MOST_ORDERS, max(_FEWEST_ORDERS, _WORK // (n * n // 2)))
    generator = np.random.default_rng(_SEED)
    batches = []
    for begin in range(0, orders, 1000):
        batch = _shuffled(np.array(scores), min(1000, orders - begin), generator)
        batches.append((_split_statistics(batch).max(axis=1), _arc_statistics(batch)))
    splits, arcs = (np.concatenate(part) for part in zip(*batches, strict=True))
    by_split, by_arc = np.sort(splits), np.sort(arcs)
    # Each order is among those that it is compared with, so nothing is added as for a new one.
    p_split = 1 - np.searchsorted(by_split, splits - 1e-9) / orders
    p_arc = 1 - np.searchsorted(by_arc, arcs - 1e-9) / orders
    return _Null(by_split, by_arc, np.sort(np.minimum(p_split, p_arc)))


def _centred(values: Floats) -> Floats:
    """Ranks (ties share their mean) less their mean."""
    ranks = np.asarray(rankdata(values), dtype=np.float64)
    return np.asarray(ranks - (len(values) + 1) / 2)


def _shuffled(scores: Floats, orders: int, generator: np.random.Generator) -> Floats:
    return generator.permuted(np.tile(scores, (orders, 1)), axis=1)


def _share_at_least(null: Floats, seen: float) -> float:
    """The Monte Carlo p-value of `seen` against the sorted `null`.

    Davison and Hinkley, Bootstrap Methods and their Application (1997), section 4.2.
    """
    return float((1 + len(null) - np.searchsorted(null, seen - 1e-9)) / (1 + len(null)))


def _split_statistics(scores: Floats) -> Floats:
    """|z| of the rank sum before each split LEAST … n - LEAST; shapes (m, n) to (m, splits)."""
    n = scores.shape[1]
    k = np.arange(LEAST, n - LEAST + 1)
    spread = (scores[0] ** 2).sum() / (n - 1)
    sums = np.abs(np.cumsum(scores, axis=1)[:, LEAST - 1 : n - LEAST])
    return np.asarray(sums / np.sqrt(spread * k * (n - k) / n))


def _arc_statistics(scores: Floats) -> Floats:
    """The largest |z| of any arc for each row of `scores` (m, n), as in `_best_arc`."""
    n = scores.shape[1]
    sums = np.concatenate([np.zeros((len(scores), 1)), np.cumsum(scores, axis=1)], axis=1)
    spread = (scores[0] ** 2).sum() / (n - 1)
    best = np.zeros(len(scores))
    for length in range(LEAST, n - LEAST + 1):
        z = np.abs(sums[:, length:] - sums[:, : n - length + 1])
        z[:, 1:LEAST] = 0
        z[:, n - length - LEAST + 1 : n - length] = 0
        z /= math.sqrt(spread * length * (n - length) / n)
        np.maximum(best, z.max(axis=1), out=best)
    return best


def _best_arc(scores: Floats) -> tuple[float, int, int]:
    """The largest |z| of any arc, and its begin and end.

    An arc is a run of neighbours; it and what is left on each of its sides hold LEAST values or,
    at the ends of the series, none.
    """
    n = len(scores)
    sums = np.concatenate([[0.0], np.cumsum(scores)])
    spread = float((scores**2).sum()) / (n - 1)
    z = np.abs(sums[None, :] - sums[:, None]) * _weights_of_arcs(n) / math.sqrt(spread)
    begin, end = np.unravel_index(int(z.argmax()), z.shape)
    return float(z[begin, end]), int(begin), int(end)


@functools.lru_cache(maxsize=64)
def _weights_of_arcs(n: int) -> Floats:
    """By begin and end: 1 over the standard error of an arc's sum in units of spread, or 0."""
    at = np.arange(n + 1)
    length = at[None, :] - at[:, None]
    side = (at == 0) | (at == n) | ((at >= LEAST) & (at <= n - LEAST))
    allowed = (length >= LEAST) & (length <= n - LEAST) & side[:, None] & side[None, :]
    error = np.sqrt(np.where(allowed, length * (n - length) / n, 1.0))
    return np.asarray(allowed / error)


def _described(values: Floats, low: int, at: int, high: int, p: float) -> ChangePoint:
    shift, lower, upper = shift_of(values[low:at], values[at:high])
    places = _places(_centred(values[low:high]))
    inside = [low + place for place in places] or [at]
    return ChangePoint(at, min(at, *inside), max(at, *inside), shift, lower, upper, p)


def _places(scores: Floats) -> list[int]:
    """The splits that are not rejected as the place of the only change.

    If the change is at k, the values before k are exchangeable, and so are those after it. To
    shuffle both leaves z at k as it is, and shows how far z elsewhere rises above it by chance.
    """
    n = len(scores)
    seen = float(_split_statistics(scores[None, :]).max())
    generator = np.random.default_rng(_SEED)
    kept = []
    for k in range(LEAST, n - LEAST + 1):
        shuffled = np.concatenate(
            [_shuffled(part, _ORDERS_OF_PLACE, generator) for part in (scores[:k], scores[k:])],
            axis=1,
        )
        null = np.sort(_split_statistics(shuffled).max(axis=1))
        if _share_at_least(null, seen) > 1 - _CONFIDENCE:
            kept.append(k)
    return kept


def shift_of(before: Floats, after: Floats) -> tuple[float, float, float]:
    """Hodges and Lehmann's shift from `before` to `after`, and its 95% interval.

    The interval is that of R's `wilcox.test(after, before, conf.int = TRUE)`: the exact rank-sum
    distribution for small samples, its normal approximation for large ones.
    """
    pairs = np.sort((after[:, None] - before[None, :]).ravel())
    cut = _lower_tail_count(len(before), len(after), (1 - _CONFIDENCE) / 2)
    if cut < 1:
        return float(np.median(pairs)), -math.inf, math.inf
    return float(np.median(pairs)), float(pairs[cut - 1]), float(pairs[-cut])


@functools.lru_cache(maxsize=4096)
def _lower_tail_count(m: int, n: int, tail: float) -> int:
    """How many values of the rank-sum statistic U, from 0 up, have at most `tail` probability."""
    if m * n > _MOST_EXACT_PAIRS:
        # U's mean and variance, with the correction for continuity.
        z = float(ndtri(tail))
        return max(0, math.floor(m * n / 2 + z * math.sqrt(m * n * (m + n + 1) / 12) + 0.5))
    # Ways to reach each U: the coefficients of Gauss's binomial (m + n over m), as whole numbers.
    ways = [1] + [0] * (m * n)
    for i in range(1, m + 1):
        for u in range(m * n, n + i - 1, -1):
            ways[u] -= ways[u - n - i]
        for u in range(i, m * n + 1):
            ways[u] += ways[u - i]
    total, reached, count = math.comb(m + n, m), 0, 0
    while (reached + ways[count]) <= tail * total:
        reached += ways[count]
        count += 1
    return count
