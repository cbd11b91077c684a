"""Verdicts while looking after every block, with error rates that hold under such looking. Pure.

A block gives one difference for each level and group: the logarithm of its ratio to the reference
within the block, averaged over the levels along x. What is common to a block (a noisy hour) cancels
in it. The differences of the blocks are taken as independent and normal, with unknown spread; the
confidence interval of their mean then holds at all looks together (`stats/always_valid.py`).
A block in which a trial of the contrast is missing does not count for that contrast. What the
method bears of noise that is not so, and what not, is simulated in `bench/until_decided.py`.

One interval serves both decisions. It holds the true change at all looks with a probability of at
least 1 - alpha; while it does, a change within the margin is never called outside it, nor the other
way round, nor a change of zero a difference. So there is one error probability, not two to be added
or shared. With m contrasts of a response (levels times groups) alpha is 5% / m (Bonferroni): all
verdicts of a response are right together, at all looks, with a probability of at least 95%.
"""

from __future__ import annotations

import math
from collections import Counter
from typing import TYPE_CHECKING

import numpy as np
from scipy.stats import norm

from teiten.analysis.conclusions import Decision, Estimate, Verdict
from teiten.analysis.roles import roles_of
from teiten.analysis.trials import response_groups, verdict_responses, without_ratio
from teiten.errors import UsageError
from teiten.responses import expand
from teiten.stats.always_valid import Interval, half_width_sds, interval, p_value
from teiten.stats.equivalence import log_margin
from teiten.stats.power import POWER

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from numpy.typing import NDArray

    from teiten.analysis.trials import ResponseGroup
    from teiten.archive import TrialRecord
    from teiten.study import Study

ALPHA = 0.05
DECIDED_BY_DEFAULT = ("tps", "instructions_per_tx", "callgrind_instructions_per_tx")
"""What a run looks at unless the study names it: speed, and what noise does not touch."""

_MOST_BLOCKS = 10_000


def conclude_always_valid(
    study: Study, records: Sequence[TrialRecord], responses: Sequence[str] | None = None
) -> tuple[Verdict, ...]:
    """A verdict for every contrast of `responses` (by default all that verdicts are given of).

    They come in the order of responses, groups and levels. A contrast with no complete block is
    undecided, with an infinite interval around no change. p-values are always valid too:
    one is at most 5% exactly where the interval excludes what it is about.
    """
    names = verdict_responses(study, records) if responses is None else responses
    roles = roles_of(study)
    others = tuple(x for x in roles.compared.labels if x != roles.compared.reference_label)
    groups = {
        (g.response, tuple(g.group.items())): g for g in response_groups(study, records, names)
    }
    # A response with a zero somewhere is still asked about: it must neither count as decided nor
    # make the family of the others smaller, which would then depend on what was measured.
    hopeless = {(x.response, tuple(x.group.items())) for x in without_ratio(study, records, names)}
    asked = [
        (name, key)
        for name in names
        for key in (tuple(group.items()) for group in roles.group_keys())
        if (name, key) in hopeless or (name, key) in groups
    ]
    sizes = Counter(name for name, _ in asked)
    return tuple(
        _verdict(groups[name, key], level, sizes[name] * len(others), study.margin)
        if (name, key) in groups and level in groups[name, key].others
        else _nothing_known(name, dict(key), level, sizes[name] * len(others))
        for name, key in asked
        for level in others
    )


def asked_verdicts(study: Study, records: Sequence[TrialRecord]) -> tuple[Verdict, ...]:
    """The verdicts for which a run with `until_decided` goes on, after at least one block.

    Those of the responses that the study names in `until_decided`; else those of
    `DECIDED_BY_DEFAULT` that were recorded.

    Raises:
        UsageError: of a response that the study names, or of all those of the default, nothing
            can be compared.
    """
    named = expand(study.until_decided.responses) if study.until_decided else ()
    verdicts = conclude_always_valid(study, records, responses_to_decide(study))
    compared = {v.response for v in verdicts}
    missing = [name for name in named if name not in compared]
    if missing or not compared:
        others = tuple(n for n in verdict_responses(study, records) if n not in missing)
        raise UsageError(
            f"The run cannot be decided on {missing[0] if missing else 'anything'}, of which no "
            "trials to compare were recorded: begin a run that is decided on what is recorded "
            f"here (--decide-on {' or '.join(others) or 'RESPONSE'})."
        )
    return verdicts


def responses_to_decide(study: Study) -> tuple[str, ...]:
    """The responses on which a run goes on, as far as they are recorded."""
    named = expand(study.until_decided.responses) if study.until_decided else ()
    return named or DECIDED_BY_DEFAULT


def undecided(verdicts: Iterable[Verdict]) -> tuple[Verdict, ...]:
    """Those of the verdicts that still need blocks."""
    return tuple(v for v in verdicts if v.decision == "undecided")


def decision(change: Interval, margin: float) -> Decision:
    """What an interval of the log ratio says.

    `same`: it lies within the margin; `higher`, `lower`: it excludes no change.
    """
    low, high = log_margin(margin)
    if low < change.lower and change.upper < high:
        return "same"
    if change.lower > 0:
        return "higher"
    return "lower" if change.upper < 0 else "undecided"


def blocks_to_decide(change: Interval, alpha: float, margin: float) -> int | None:
    """How many blocks in all would decide with 80% probability, were mean and spread the true ones.

    None: more than any run has. Earlier looks may decide too, so it is rather too many than too
    few; that the spread is itself an estimate is not allowed for.
    """
    if math.isnan(change.sd):
        return None

    def enough(n: int) -> bool:
        return _decision_probability(change.mean, change.sd, n, alpha, margin) >= POWER

    few, many = max(change.n, 1), max(change.n, 2)
    while not enough(many):
        if many >= _MOST_BLOCKS:
            return None
        few, many = many, min(2 * many, _MOST_BLOCKS)
    while many - few > 1:
        middle = (few + many) // 2
        few, many = (few, middle) if enough(middle) else (middle, many)
    return many


def _decision_probability(mean: float, sd: float, n: int, alpha: float, margin: float) -> float:
    """Probability that one look after n blocks decides, the true mean and spread being these."""
    width_sds = half_width_sds(n, alpha)
    if math.isinf(width_sds):
        return 0.0
    if sd == 0:
        return 1.0
    half_width, se = width_sds * sd, sd / math.sqrt(n)
    low, high = log_margin(margin)
    low, high = low + half_width, high - half_width
    below, above = norm.cdf((-half_width - mean) / se), norm.sf((half_width - mean) / se)
    within = 0.0
    if low < high:
        # What lies within the margin and also excludes zero is counted once.
        inner_low, inner_high = max(low, -half_width), min(high, half_width)
        within = norm.cdf((inner_high - mean) / se) - norm.cdf((inner_low - mean) / se)
    return float(below + above + max(within, 0.0))


def _verdict(group: ResponseGroup, level: str, family_size: int, margin: float) -> Verdict:
    alpha = ALPHA / family_size
    by_x = _block_differences(group, level)
    blocks = by_x.shape[0]
    change = _interval(by_x.mean(axis=1), alpha)
    decided = decision(change, margin)
    enough = None if decided != "undecided" else blocks_to_decide(change, alpha, margin)
    labels = group.x_labels
    # The intervals along x are a family of their own: all of them hold together.
    alpha_by_x = alpha / max(len(labels), 1)
    return Verdict(
        response=group.response,
        group=group.group,
        level=level,
        decision=decided,
        overall=_estimate(change),
        by_x={
            label: _estimate(_interval(by_x[:, i], alpha_by_x)) for i, label in enumerate(labels)
        },
        p_difference=min(1.0, family_size * p_value(change, 0.0)),
        p_equivalence=min(1.0, family_size * _p_equivalence(change, margin)),
        family_size=family_size,
        blocks=blocks,
        more_blocks=None if enough is None else max(1, enough - blocks),
        detectable=_detectable(change),
        method="always valid",
    )


def _nothing_known(
    response: str, group: Mapping[str, str], level: str, family_size: int
) -> Verdict:
    return Verdict(
        response=response,
        group=group,
        level=level,
        decision="undecided",
        overall=Estimate(0.0, -math.inf, math.inf, 0.0),
        by_x={},
        p_difference=1.0,
        p_equivalence=1.0,
        family_size=family_size,
        blocks=0,
        more_blocks=None,
        detectable=None,
        method="always valid",
    )


def _block_differences(group: ResponseGroup, level: str) -> NDArray[np.float64]:
    """Log ratios to the reference within blocks, shape (complete blocks, levels along x or 1)."""
    seen = group.observations
    compared = seen.factors[0]
    x_codes = seen.factors[1].codes if len(seen.factors) > 1 else np.zeros(seen.n, dtype=np.intp)
    shape = (len(seen.block.levels), len(compared.levels), max(len(group.x_labels), 1))
    logs = np.full(shape, np.nan)
    logs[seen.block.codes, compared.codes, x_codes] = np.log(seen.response)
    differences = (
        logs[:, compared.levels.index(level)] - logs[:, compared.levels.index(group.reference)]
    )
    whole: NDArray[np.float64] = differences[~np.isnan(differences).any(axis=1)]
    return whole


def _interval(differences: NDArray[np.float64], alpha: float) -> Interval:
    if differences.size == 0:
        return Interval(0.0, math.nan, 0, math.inf)
    return interval(differences, alpha)


def _estimate(change: Interval) -> Estimate:
    bounded = math.isfinite(change.half_width)
    return Estimate(
        change=math.expm1(change.mean),
        lower=math.expm1(change.lower) if bounded else -math.inf,
        upper=math.expm1(change.upper) if bounded else math.inf,
        df=float(max(change.n - 1, 0)),
    )


def _p_equivalence(change: Interval, margin: float) -> float:
    low, high = log_margin(margin)
    if not low < change.mean < high:
        return 1.0
    return max(p_value(change, low), p_value(change, high))


def _detectable(change: Interval) -> float | None:
    """The smallest change of which this look excludes zero with 80% probability."""
    if not math.isfinite(change.half_width):
        return None
    return math.expm1(change.half_width + float(norm.ppf(POWER)) * change.sd / math.sqrt(change.n))
