"""Noise of simulated A/A runs: what was planted is found again."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np
import pytest

from teiten.analysis.noise import noise_of
from teiten.archive import TrialRecord
from teiten.plan import make_plan
from teiten.stats.detectable import power
from teiten.study import load_study

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray

    from teiten.archive.calibration import Noise
    from teiten.plan import Plan

BETWEEN, WITHIN = 0.02, 0.06
COUNT_NOISE = 1e-5
OVERHEAD_S = 7.0


def simulated(
    plan: Plan, seed: int = 1
) -> tuple[list[TrialRecord], dict[int, dict[str, NDArray[np.float64]]]]:
    """An A/A run: every block has a level of its own, which pairs must take out."""
    rng = np.random.default_rng(seed)
    of_block = rng.normal(0, 0.3, 10_000)
    records, seconds = [], {}
    for trial in plan.trials:
        load = trial.treatment.setup.load
        level = 700 * math.exp(of_block[trial.block] + rng.normal(0, BETWEEN))
        by_second = level * (1 + rng.normal(0, WITHIN, load.duration_s))
        seconds[trial.number] = {"tps": by_second}
        start_s = 1e9 + 20 * trial.number
        records.append(
            TrialRecord(
                number=trial.number,
                block=trial.block,
                treatment=trial.treatment.number,
                levels=trial.treatment.levels,
                values=trial.treatment.values,
                started_at_s=start_s,
                measured_at_s=start_s + 3,
                ended_at_s=start_s + load.duration_s + OVERHEAD_S,
                responses={
                    "tps": float(by_second.mean()),
                    "transactions": float(by_second.sum()),
                    "callgrind_instructions_per_tx": 1e7 * math.exp(rng.normal(0, COUNT_NOISE)),
                    "instructions_per_tx": 1.5e7,
                },
                facts={"counting_s": 4.0},
            )
        )
    return records, seconds


def noises(*overrides: str) -> Mapping[tuple[str, str], Noise]:
    study = load_study("calibrate", overrides)
    plan = make_plan(study)
    records, seconds = simulated(plan)
    found = noise_of(study, plan, records, seconds)
    return {(n.response, ", ".join(n.group.values())): n for n in found}


def test_planted_parts_of_the_variance_are_found() -> None:
    found = noises("blocks=400")
    for workload in ("read", "update"):
        noise = found["tps", workload]
        assert noise.between is not None
        assert noise.within is not None
        assert noise.pairs == 400
        assert noise.spread == pytest.approx(
            math.sqrt(2 * (BETWEEN**2 + WITHIN**2 / 5)), rel=4 / math.sqrt(2 * 399)
        )
        assert noise.spread_lower < noise.spread < noise.spread_upper
        assert noise.between.lower <= BETWEEN**2 <= noise.between.upper
        assert noise.within.value == pytest.approx(WITHIN**2, rel=4 * math.sqrt(2 / 800))
        assert noise.script == ("readonly.sql" if workload == "read" else "update.sql")


def test_what_has_no_series_by_second_has_its_total_alone() -> None:
    noise = noises("blocks=100")["callgrind_instructions_per_tx", "read"]
    assert noise.between is None
    assert noise.within is None
    assert noise.spread == pytest.approx(COUNT_NOISE * math.sqrt(2), rel=0.3)
    assert noise.design.duration_s == noise.duration_s == 5
    assert noise.design.blocks == 2


def test_machine_time_is_that_of_the_trials_without_what_a_response_does_not_need() -> None:
    found = noises("blocks=20")
    tps, counted = found["tps", "read"], found["callgrind_instructions_per_tx", "read"]
    assert counted.trial_s == pytest.approx(5 + OVERHEAD_S)
    assert tps.trial_s == pytest.approx(5 + OVERHEAD_S - 4)
    assert tps.overhead_s == pytest.approx(OVERHEAD_S - 4)
    assert tps.design.machine_s == pytest.approx(
        tps.design.blocks * 2 * (tps.design.duration_s + tps.overhead_s)
    )


def test_more_minutes_find_less() -> None:
    noise = noises("blocks=20")["tps", "update"]
    assert list(noise.detectable) == [1, 2, 5, 10, 30, 60]
    found = [change for change in noise.detectable.values() if change is not None]
    assert found == sorted(found, reverse=True)
    assert len(set(found)) == 6
    ten = noise.detectable[10]
    assert ten is not None
    assert power(math.log1p(ten), noise.spread, 600 // 16) == pytest.approx(0.8, abs=1e-6)


def test_minutes_that_hold_no_two_pairs_find_nothing() -> None:
    noise = noises("blocks=3", "setup.load.duration_s=60")["tps", "read"]
    assert noise.detectable[1] is None
    assert noise.detectable[5] is not None


def test_a_response_that_never_varies_is_found_by_two_blocks() -> None:
    noise = noises("blocks=3")["instructions_per_tx", "read"]
    assert noise.spread == 0
    assert noise.detectable[5] == 0
    assert noise.design.blocks == 2


def test_means_over_clients_are_less_noisy_and_dearer() -> None:
    study = load_study("calibrate", ("blocks=200",))
    document = study.model_dump(exclude_none=True)
    document["factor"] = [document["factor"][0], {"name": "clients", "levels": [1, 2, 4, 8]}]
    averaged = type(study).model_validate(document)
    plan = make_plan(averaged)
    found = noise_of(averaged, plan, *simulated(plan))
    noise = next(n for n in found if n.response == "tps")
    assert noise.trials_a_pair == 8
    assert noise.group == {}
    alone = math.sqrt(2 * (BETWEEN**2 + WITHIN**2 / 5))
    assert noise.spread == pytest.approx(alone / 2, rel=4 / math.sqrt(2 * 199))
    assert noise.between is not None
    assert noise.between.lower <= BETWEEN**2 <= noise.between.upper


def test_pairs_that_lost_a_trial_are_left_out() -> None:
    study = load_study("calibrate", ("blocks=6",))
    plan = make_plan(study)
    records, seconds = simulated(plan)
    lost = next(r for r in records if r.block == 2 and r.levels["workload"] == "read")
    records.remove(lost)
    found = {
        n.group["workload"]: n.pairs
        for n in noise_of(study, plan, records, seconds)
        if n.response == "tps"
    }
    assert found == {"read": 5, "update": 6}
