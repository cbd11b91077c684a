"""False alarms: planted ones are counted, noise alone raises no more than promised."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np
import pytest
from scipy.stats import binomtest

from teiten.analysis.false_alarms import (
    Alarm,
    count_alarms,
    experiment,
    independent_verdicts,
    published_alarm,
    tally,
)
from teiten.analysis.trials import ResponseGroup, response_groups
from teiten.archive import TrialRecord
from teiten.plan import make_plan
from teiten.stats.observations import observations
from teiten.study import load_study

if TYPE_CHECKING:
    from teiten.study import Study

RESPONSES = ("tps", "server_cpu_us_per_tx", "callgrind_instructions_per_tx")


def a_a_run(
    study: Study,
    seed: int = 1,
    *,
    spread: float = 0.02,
    planted: tuple[int, ...] = (),
    responses: tuple[str, ...] = RESPONSES,
) -> list[TrialRecord]:
    """Pairs of noise; in the `planted` blocks B has half the TPS of A when it reads."""
    rng = np.random.default_rng(seed)
    records = []
    for trial in make_plan(study).trials:
        values = {
            name: 1000 * math.exp(trial.block / 10 + rng.normal(0, spread)) for name in responses
        }
        levels = trial.treatment.levels
        if trial.block in planted and (levels["version"], levels["workload"]) == ("B", "read"):
            values["tps"] /= 2
        records.append(
            TrialRecord(
                number=trial.number,
                block=trial.block,
                treatment=trial.treatment.number,
                levels=levels,
                values=trial.treatment.values,
                started_at_s=1e9 + trial.number,
                measured_at_s=1e9 + trial.number,
                ended_at_s=1e9 + trial.number + 1,
                responses=values,
            )
        )
    return records


def of_tps(study: Study, records: list[TrialRecord], workload: str) -> tuple[int, int, int]:
    (found,) = (
        each.alarms
        for each in count_alarms(study, records).by_response
        if each.response == "tps" and each.group == {"workload": workload}
    )
    return found.verdict.count, found.published.count, found.threshold.count


def test_planted_alarms_are_counted_where_they_are() -> None:
    study = load_study("calibrate", ("blocks=14",))
    records = a_a_run(study, spread=0.001, planted=(4, 5, 6, 10, 11, 12))
    found = count_alarms(study, records)
    verdict, _, threshold = of_tps(study, records, "read")
    assert (verdict, threshold) == (2, 2)
    assert of_tps(study, records, "update")[::2] == (0, 0)
    assert found.experiments.threshold.count == 2
    assert found.experiments.threshold.of == 4  # blocks 13 and 14 are left over
    assert found.all_verdicts.threshold.of == 4 * 2 * len(RESPONSES)
    wanted = binomtest(2, 4).proportion_ci(method="exact")
    ends = (found.experiments.threshold.lower, found.experiments.threshold.upper)
    assert ends == pytest.approx(tuple(wanted))


def test_alarms_in_one_experiment_are_one_experiment_with_alarms() -> None:
    yes, no = Alarm(True, False, True), Alarm(False, False, False)
    keys = [("tps", (("workload", w),)) for w in ("read", "update")]
    found = tally([dict(zip(keys, [yes, yes], strict=True)), dict.fromkeys(keys, no)], 1.5)
    assert (found.experiments.verdict.count, found.experiments.verdict.of) == (1, 2)
    assert (found.all_verdicts.verdict.count, found.all_verdicts.verdict.of) == (2, 4)
    assert found.experiments.published.count == 0
    assert [e.alarms.verdict.count for e in found.by_response] == [1, 1]


def test_noise_alone_raises_no_more_alarms_than_promised() -> None:
    study = load_study("calibrate", ("blocks=120",))
    found = count_alarms(study, a_a_run(study))
    for each in found.by_response:
        share = each.alarms.verdict
        assert share.of == 40
        assert binomtest(share.count, share.of, 0.05, alternative="greater").pvalue > 0.001
        assert share.lower <= 0.05
    together = found.all_verdicts.verdict
    assert together.of == 40 * 6
    assert together.lower <= 0.05 <= together.upper or together.upper < 0.05


def ranked(*pairs: tuple[float, float]) -> ResponseGroup:
    """A pair of values a block, of A and B."""
    trials = observations(
        [value for pair in pairs for value in pair],
        {"version": ["A", "B"] * len(pairs)},
        [str(block) for block in range(len(pairs)) for _ in range(2)],
    )
    return ResponseGroup("tps", {}, trials, np.arange(trials.n), "A")


def test_the_published_protocol_judges_ranks() -> None:
    # Differences of ranks 3, 3, 3: the levels do not overlap, and nothing else varies.
    assert published_alarm(ranked((1, 4), (2, 5), (3, 6)))
    # Blocks far apart: 1, 1, 1, whatever the size of the differences.
    assert published_alarm(ranked((1, 1.001), (2, 2.1), (3, 3.7)))
    assert not published_alarm(ranked((1, 1.001), (2.1, 2), (3, 3.7)))
    # Differences of ranks 3, 4, 2 are a paired t-test with p = 0.035, and 2, 4, 1 one of 0.118.
    assert published_alarm(ranked((1, 4), (2, 6), (3, 5)))
    assert not published_alarm(ranked((1, 3), (2, 6), (4, 5)))
    assert not published_alarm(ranked((1, 1), (2, 2), (3, 3)))


def test_too_few_blocks_are_judged_by_none() -> None:
    study = load_study("calibrate", ("blocks=2",))
    found = count_alarms(study, a_a_run(study))
    assert found.by_response == ()
    assert (found.experiments.verdict.of, found.all_verdicts.verdict.of) == (0, 0)
    assert (found.experiments.verdict.lower, found.experiments.verdict.upper) == (0, 1)


def test_a_response_that_never_varies_raises_no_alarm() -> None:
    study = load_study("calibrate", ("blocks=3",))
    judged = experiment(study, a_a_run(study, spread=0.0))
    assert judged
    assert not any(a.verdict or a.threshold or a.published for a in judged.values())


def test_independent_responses_count_each_and_like_ones_once() -> None:
    study = load_study("calibrate", ("blocks=200",))
    records = a_a_run(study)
    assert independent_verdicts(response_groups(study, records)) == pytest.approx(6, rel=0.15)
    for record in records:
        tps = record.responses["tps"]
        assert isinstance(record.responses, dict)
        record.responses["latency_mean_ms"] = 2000 / tps
    assert independent_verdicts(response_groups(study, records)) == pytest.approx(64 / 12, rel=0.15)
