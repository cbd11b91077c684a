"""How often a difference is found where there is none, in the blocks of an A/A run.

The blocks are split into disjoint experiments of as many blocks as a run usually has, and each is
judged as a run of its own. Experiments share no trial, so they are independent as far as blocks
are; the responses within one are not.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from teiten.analysis.noise import pair_logs
from teiten.analysis.trials import response_groups
from teiten.analysis.verdicts import fixed_verdicts
from teiten.archive.calibration import FalseAlarms, ResponseAlarms, Share
from teiten.stats.aligned_ranks import align
from teiten.stats.aligned_ranks import ranks as ranks_of
from teiten.stats.contrasts import pairwise
from teiten.stats.design import NotAnalysableError
from teiten.stats.mixed_model import fit_mixed_model
from teiten.stats.proportions import dependent, effective_number, exact

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from teiten.analysis.trials import ResponseGroup
    from teiten.archive import TrialRecord
    from teiten.stats.proportions import Proportion
    from teiten.study import Study

    Key = tuple[str, tuple[tuple[str, str], ...]]
    """A response, and the labels of its group by factor."""

BLOCKS_AN_EXPERIMENT = 3
THRESHOLD = 0.025
_PUBLISHED_LEVEL = 0.05


@dataclass(frozen=True)
class Alarm:
    """Whether each procedure called an A/A pair different."""

    verdict: bool
    published: bool
    threshold: bool


Experiment = dict["Key", Alarm]


@dataclass(frozen=True)
class CountedAlarms:
    """The false alarms of a run: experiments with any, of all verdicts, and by response."""

    experiments: FalseAlarms
    all_verdicts: FalseAlarms
    by_response: tuple[ResponseAlarms, ...]


def count_alarms(study: Study, records: Sequence[TrialRecord]) -> CountedAlarms:
    """Judge the disjoint experiments in the blocks of an A/A run, and count what was found.

    Of an experiment, whether it raised any alarm is counted with an exact interval, and so is the
    alarm of one response in one group. The share of all verdicts has the interval of as many
    independent ones as they are worth, by the correlation of the responses' log ratios over all
    blocks (`effective_number`). Blocks that are left over are not judged.
    """
    blocks = sorted({r.block for r in records})
    judged = [
        experiment(study, [r for r in records if r.block in chosen])
        for chosen in _split(blocks, BLOCKS_AN_EXPERIMENT)
    ]
    return tally(judged, independent_verdicts(response_groups(study, records)))


def experiment(study: Study, records: Sequence[TrialRecord]) -> Experiment:
    """Judge some blocks as a run of their own, by every procedure."""
    groups = response_groups(study, records)
    decided = {
        _key(v.response, v.group): v.decision in {"higher", "lower"}
        for v in fixed_verdicts(groups, study.margin)
    }
    by_key = {_key(g.response, g.group): g for g in groups}
    return {
        key: Alarm(
            verdict=alarm,
            published=published,
            threshold=threshold_alarm(by_key[key]),
        )
        for key, alarm in decided.items()
        if len(by_key[key].others) == 1 and (published := published_alarm(by_key[key])) is not None
    }


def published_alarm(group: ResponseGroup) -> bool | None:
    """Whether the published reports' protocol would call the two levels different.

    The contrast of the compared factor on aligned ranks (ART-C), adjusted by Tukey's method.
    Where the levels differ by the same ranks in every block its t is infinite, an alarm: three
    blocks that differ much from each other do so by chance once in four. None where so many trials
    are lost that the contrast cannot be estimated.
    """
    compared = group.observations.factors[0]
    ranks = ranks_of(align(group.observations, [compared.name]))
    try:
        fit = fit_mixed_model(group.observations.with_response(ranks))
    except NotAnalysableError:
        means = [float(ranks[compared.codes == code].mean()) for code in (0, 1)]
        return means[0] != means[1]
    try:
        family = pairwise(fit, [compared.name], "tukey")
    except NotAnalysableError:
        return None
    return any(c.p < _PUBLISHED_LEVEL for c in family.contrasts)


def threshold_alarm(group: ResponseGroup) -> bool:
    """Whether the ratio of medians is further from 1 than 2.5%; along x, their geometric mean."""
    observations = group.observations
    compared = observations.factors[0].codes
    cells = observations.cells()
    logs: dict[int, list[float]] = {0: [], 1: []}
    for cell in np.unique(cells):
        of_cell = cells == cell
        level = int(compared[of_cell][0])
        logs[level].append(math.log(float(np.median(observations.response[of_cell]))))
    ratio = math.exp(math.fsum(logs[1]) / len(logs[1]) - math.fsum(logs[0]) / len(logs[0]))
    return abs(ratio - 1) > THRESHOLD


def independent_verdicts(groups: Sequence[ResponseGroup]) -> float:
    """How many independent verdicts those of a run are worth, by its pairs' log ratios."""
    logs = [found for group in groups if (found := pair_logs(group))]
    if not logs:
        return 0.0
    common = sorted(set.intersection(*(set(found) for found in logs)))
    samples = np.array([[found[block] for found in logs] for block in common], dtype=np.float64)
    return effective_number(samples.reshape(len(common), len(logs)))


def tally(experiments: Sequence[Experiment], independent: float) -> CountedAlarms:
    """Count the alarms of experiments whose verdicts are worth `independent` ones each."""
    keys = list(dict.fromkeys(key for judged in experiments for key in judged))

    def of_all(alarms: Sequence[bool]) -> Share:
        return _share(dependent(sum(alarms), len(alarms), independent * len(experiments)))

    def of_each(alarms: Sequence[bool]) -> Share:
        return _share(exact(sum(alarms), len(alarms)))

    everything = [alarm for judged in experiments for alarm in judged.values()]
    any_alarm = [
        Alarm(
            verdict=any(a.verdict for a in judged.values()),
            published=any(a.published for a in judged.values()),
            threshold=any(a.threshold for a in judged.values()),
        )
        for judged in experiments
    ]
    by_response = tuple(
        ResponseAlarms(
            response,
            dict(group),
            _by_procedure(
                [e[response, group] for e in experiments if (response, group) in e], of_each
            ),
        )
        for response, group in keys
    )
    return CountedAlarms(
        _by_procedure(any_alarm, of_each), _by_procedure(everything, of_all), by_response
    )


def _by_procedure(alarms: Sequence[Alarm], share: Callable[[Sequence[bool]], Share]) -> FalseAlarms:
    return FalseAlarms(
        verdict=share([a.verdict for a in alarms]),
        published=share([a.published for a in alarms]),
        threshold=share([a.threshold for a in alarms]),
    )


def _split(blocks: Sequence[int], size: int) -> Iterable[set[int]]:
    whole = len(blocks) // size * size
    return [set(blocks[start : start + size]) for start in range(0, whole, size)]


def _key(response: str, group: Mapping[str, str]) -> Key:
    return response, tuple(sorted(group.items()))


def _share(found: Proportion) -> Share:
    return Share(found.count, found.of, found.lower, found.upper)
