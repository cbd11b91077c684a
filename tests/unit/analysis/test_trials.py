"""From records to observations: groups, levels, and trials that cannot be used."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np
from tests.unit.analysis import made_up_trials

from teiten.analysis.trials import response_groups, verdict_responses
from teiten.plan import PlannedTrial, make_plan
from teiten.study import load_study

if TYPE_CHECKING:
    from collections.abc import Callable

    from teiten.archive import TrialRecord
    from teiten.study import Study

THREE_CLIENTS = ("factor.clients.levels=[1,4,16]", "blocks=3")


def records_of(
    study: Study, measure: Callable[[PlannedTrial], dict[str, float]]
) -> list[TrialRecord]:
    return made_up_trials.records_of(make_plan(study).trials, measure)


def test_levels_keep_the_order_of_the_study_whatever_the_order_of_the_run() -> None:
    study = load_study("version-readonly", THREE_CLIENTS)
    records = records_of(study, lambda t: {"tps": 100.0 + t.number})
    (group,) = response_groups(study, records[::-1])
    compared, x = group.observations.factors
    assert compared.levels == tuple(study.factor[0].labels)
    assert group.x_labels == x.levels == ("1", "4", "16")
    assert group.trials.tolist() == list(range(1, len(records) + 1))
    assert group.observations.response.tolist() == [100.0 + n for n in group.trials]
    labels = [x.levels[code] for code in x.codes]
    assert labels == [r.levels["clients"] for r in records]
    assert group.blocks == 3
    assert group.others == tuple(v for v in compared.levels if v != group.reference)


def test_trials_without_the_response_are_left_out_and_the_others_kept() -> None:
    study = load_study("version-readonly", THREE_CLIENTS)
    lost = 4
    records = records_of(
        study, lambda t: {"tps": 9.0} | ({"cycles_per_tx": 5.0} if t.number != lost else {})
    )
    by_name = {g.response: g for g in response_groups(study, records)}
    assert by_name["tps"].observations.n == len(records)
    assert by_name["cycles_per_tx"].observations.n == len(records) - 1
    assert lost not in by_name["cycles_per_tx"].trials


def test_a_response_that_was_once_zero_gets_no_ratio() -> None:
    study = load_study("version-readonly", (*THREE_CLIENTS, 'responses=["tps","failed_tx"]'))
    records = records_of(study, lambda t: {"tps": 9.0, "failed_tx": float(t.number % 2)})
    assert verdict_responses(study, records) == ("tps", "failed_tx")
    assert [g.response for g in response_groups(study, records)] == ["tps"]


def test_a_response_without_a_better_direction_gets_no_verdict() -> None:
    study = load_study("version-readonly", (*THREE_CLIENTS, 'responses=["cpu"]'))
    records = records_of(study, lambda _: {"cpu_busy_pct": 50.0, "latency_mean_ms": 2.0})
    assert verdict_responses(study, records) == ("latency_mean_ms",)


def test_a_run_cut_off_in_its_first_block_is_compared_where_it_can_be() -> None:
    study = load_study("version-readonly", THREE_CLIENTS)
    records = records_of(study, lambda _: {"tps": 9.0})
    for cut in range(1, len(records)):
        for group in response_groups(study, records[:cut]):
            cells = group.observations.cells()
            size = math.prod(len(f.levels) for f in group.observations.factors)
            assert set(cells) == set(range(size))
            assert np.isin(group.trials, [r.number for r in records[:cut]]).all()


def test_unlike_workloads_are_told_apart_and_clients_are_not() -> None:
    study = load_study("demo")
    names = [f.name for f in study.factor]
    records = records_of(study, lambda t: {"tps": 100.0 * t.treatment.number})
    groups = response_groups(study, records)
    assert sum(g.observations.n for g in groups) == len(records)
    for group in groups:
        assert set(group.group) <= set(names)
        of_group = [r for r in records if all(r.levels[k] == v for k, v in group.group.items())]
        assert group.trials.tolist() == [r.number for r in of_group]


def test_a_response_recorded_at_one_level_along_x_has_no_factor_along_x() -> None:
    study = load_study("demo", ("blocks=2",))
    records = records_of(
        study,
        lambda t: (
            {"callgrind_instructions_per_tx": 5.0} if t.treatment.levels["clients"] == "1" else {}
        ),
    )
    groups = response_groups(study, records)
    assert [dict(g.group) for g in groups] == [{"workload": "read"}, {"workload": "update"}]
    for group in groups:
        assert [f.name for f in group.observations.factors] == ["version"]
        assert group.observations.n == 4
