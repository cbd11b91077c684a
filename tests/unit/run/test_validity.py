from __future__ import annotations

import pytest

from teiten.run.validity import Limits, judge, unjudged

QUIET = {
    "checkpoints": 0.0,
    "autovacuums": 0.0,
    "server_restarted": 0.0,
    "steal_pct": 0.2,
    "foreign_cpu_pct": 1.0,
}
HEALTHY = {"failed_tx": 0.0, "client_cpu_pct": 40.0, "transactions": 5000.0}


def test_a_quiet_trial_has_no_flag() -> None:
    assert judge(QUIET, HEALTHY) == ()


def test_what_was_not_recorded_raises_no_flag() -> None:
    assert judge({}, {}) == ()


@pytest.mark.parametrize(
    ("code", "facts", "responses"),
    [
        ("checkpoint", {"checkpoints": 1.0}, {}),
        ("checkpoint", {"checkpoint_blocks": 1529.0}, {}),
        ("autovacuum", {"autovacuums": 2.0}, {}),
        ("server_restarted", {"server_restarted": 1.0}, {}),
        ("steal", {"steal_pct": 1.1}, {}),
        ("foreign_load", {"foreign_cpu_pct": 5.1}, {}),
        ("failed_transactions", {}, {"failed_tx": 1.0}),
        ("client_saturated", {}, {"client_cpu_pct": 95.0}),
        ("few_transactions", {}, {"transactions": 99.0}),
    ],
)
def test_each_disturbance_raises_its_own_flag_with_its_figure(
    code: str, facts: dict[str, float], responses: dict[str, float]
) -> None:
    flags = judge(QUIET | facts, HEALTHY | responses)
    assert [f.code for f in flags] == [code]
    assert flags[0].sentence.endswith(".")


def test_limits_can_be_changed() -> None:
    assert judge({"steal_pct": 3.0}, {}, Limits(steal_pct=5.0)) == ()


def test_what_could_not_be_judged_is_said() -> None:
    assert unjudged(QUIET) == ()
    assert unjudged({"checkpoints": 0.0, "autovacuums": 0.0, "cpu_steal_pct": 0.0}) == (
        "Not judged, since not observed: other programs.",
    )
