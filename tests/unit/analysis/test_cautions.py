"""Cautions of made-up runs: what was planted is found, named and given its size."""

from __future__ import annotations

import random
from typing import TYPE_CHECKING

import pytest
from scipy import stats
from tests.unit.analysis.made_up_trials import record_of

from teiten.analysis.cautions import find_cautions
from teiten.analysis.trials import response_groups
from teiten.plan import PlannedTrial, make_plan
from teiten.study import load_study

if TYPE_CHECKING:
    from collections.abc import Callable

    from teiten.analysis.conclusions import Caution

OVERRIDES = ("factor.clients.levels=[1,4,16]", "blocks=6")


def cautions_of(
    change: Callable[[PlannedTrial, PlannedTrial | None], float],
    *,
    overrides: tuple[str, ...] = OVERRIDES,
    noise: float = 0.01,
    study_name: str = "version-readonly",
    seed: int = 0,
) -> tuple[Caution, ...]:
    """`change` gives the factor on a trial's response, from it and the trial before it."""
    study = load_study(study_name, (*overrides, f"seed={seed}"))
    spread = random.Random(seed)  # noqa: S311 - noise, not secrets
    trials = make_plan(study).trials
    records = [
        record_of(trial, {"tps": 1000.0 * spread.gauss(1, noise) * change(trial, before)})
        for before, trial in zip([None, *trials], trials, strict=False)
    ]
    return find_cautions(study, records, response_groups(study, records))


def test_an_outlier_is_named_by_the_number_of_its_trial() -> None:
    found = cautions_of(lambda trial, _: 0.8 if trial.number == 13 else 1.0)
    outlier = next(c for c in found if c.kind == "outlier")
    assert outlier.trials == (13,)
    assert outlier.p < 0.001


def test_a_drift_has_the_change_over_the_run() -> None:
    found = cautions_of(lambda trial, _: 1 - 0.10 * trial.number / 36)
    assert [c.kind for c in found] == ["drift"]
    assert found[0].figure == pytest.approx(-0.10, abs=0.03)


def test_what_a_trial_of_another_group_leaves_behind_is_seen() -> None:
    def slower_after_updates(_: PlannedTrial, before: PlannedTrial | None) -> float:
        return 0.9 if before is not None and before.treatment.levels["workload"] == "update" else 1

    found = cautions_of(slower_after_updates, overrides=("blocks=6",), study_name="demo")
    after = {c.group["workload"]: c for c in found if c.kind == "carry-over"}
    assert set(after) == {"read", "update"}
    assert all(c.figure == pytest.approx(0.11, abs=0.03) for c in after.values())


def test_counts_that_never_vary_raise_no_caution() -> None:
    assert cautions_of(lambda trial, _: float(trial.treatment.number), noise=0.0) == ()


def test_runs_of_pure_noise_seldom_raise_any_caution() -> None:
    runs = 60
    alarms = sum(cautions_of(lambda *_: 1.0, seed=seed) != () for seed in range(runs))
    assert stats.binomtest(alarms, runs, 0.05, alternative="greater").pvalue > 0.001


def test_a_zero_leaves_its_group_without_a_verdict_and_is_told() -> None:
    found = cautions_of(lambda trial, _: 0.0 if trial.number == 5 else 1.0)
    assert [(c.kind, c.response, c.trials) for c in found] == [("not positive", "tps", (5,))]
