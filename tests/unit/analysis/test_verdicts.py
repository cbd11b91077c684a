"""Verdicts of made-up trials whose truth is known."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np
import pytest
from scipy import stats

from teiten.analysis.trials import ResponseGroup
from teiten.analysis.verdicts import fixed_verdicts
from teiten.stats.observations import Column, Observations

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray

    from teiten.analysis.conclusions import Verdict


def group_of(
    logs: NDArray[np.float64],
    group: Mapping[str, str] | None = None,
    lost: tuple[int, ...] = (),
    reference: str = "v0",
) -> ResponseGroup:
    """`logs` has shape (blocks, versions) or (blocks, versions, clients)."""
    index = [i.ravel() for i in np.indices(logs.shape)]
    factors = [Column("version", tuple(f"v{i}" for i in range(logs.shape[1])), index[1])]
    if logs.ndim > 2:
        factors.append(Column("clients", tuple(f"c{i}" for i in range(logs.shape[2])), index[2]))
    blocks = Column("block", tuple(str(i) for i in range(logs.shape[0])), index[0])
    seen = Observations(np.exp(logs).ravel(), tuple(factors), blocks)
    kept = ~np.isin(np.arange(seen.n), lost)
    return ResponseGroup("tps", group or {}, seen.only(kept), np.flatnonzero(kept) + 1, reference)


def noise(seed: int, shape: tuple[int, ...], sd: float = 0.01) -> NDArray[np.float64]:
    rng = np.random.default_rng(seed)
    logs: NDArray[np.float64] = sd * rng.standard_normal(shape)
    logs += 2 * sd * rng.standard_normal((shape[0], *(1 for _ in shape[1:])))
    return logs


def only(verdicts: tuple[Verdict, ...]) -> Verdict:
    (verdict,) = verdicts
    return verdict


def test_two_versions_without_clients_are_a_paired_t_test() -> None:
    logs = noise(1, (5, 2)) + np.array([0.0, 0.05])
    verdict = only(fixed_verdicts([group_of(logs)], 0.01))
    pairs = stats.ttest_rel(logs[:, 1], logs[:, 0])
    interval = pairs.confidence_interval()
    assert verdict.p_difference == pytest.approx(pairs.pvalue)
    assert math.log1p(verdict.overall.lower) == pytest.approx(interval.low)
    assert math.log1p(verdict.overall.upper) == pytest.approx(interval.high)
    assert verdict.overall.df == pytest.approx(4)
    assert verdict.decision == "higher"
    assert verdict.by_x == {}
    assert verdict.more_blocks is None


def test_decisions_follow_the_truth_when_noise_is_small() -> None:
    logs = noise(2, (6, 5, 3), 0.0005)
    logs += np.log1p([0.0, 0.05, -0.05, 0.002, 0.0])[:, np.newaxis]
    verdicts = fixed_verdicts([group_of(logs)], 0.01)
    assert [v.decision for v in verdicts] == ["higher", "lower", "same", "same"]
    assert [v.level for v in verdicts] == ["v1", "v2", "v3", "v4"]
    assert all(v.family_size == 4 for v in verdicts)
    real_but_small = verdicts[2]
    assert real_but_small.overall.lower > 0
    assert real_but_small.overall.change == pytest.approx(0.002, abs=0.001)
    assert list(real_but_small.by_x) == ["c0", "c1", "c2"]


def test_the_reference_may_be_any_level() -> None:
    logs = noise(3, (5, 2), 0.001) + np.array([0.0, 0.05])
    forwards = only(fixed_verdicts([group_of(logs)], 0.01))
    backwards = only(fixed_verdicts([group_of(logs, reference="v1")], 0.01))
    assert (forwards.decision, backwards.decision) == ("higher", "lower")
    assert 1 + backwards.overall.change == pytest.approx(1 / (1 + forwards.overall.change))


def test_more_comparisons_widen_the_intervals() -> None:
    logs = noise(4, (5, 2))
    alone = only(fixed_verdicts([group_of(logs)], 0.01))
    other = group_of(noise(5, (5, 2)), {"workload": "update"})
    first = fixed_verdicts([group_of(logs, {"workload": "read"}), other], 0.01)[0]
    assert first.family_size == 2
    assert first.overall.change == pytest.approx(alone.overall.change)
    assert first.overall.upper > alone.overall.upper
    assert first.p_difference is not None
    assert alone.p_difference is not None
    assert first.p_difference == pytest.approx(1 - (1 - alone.p_difference) ** 2)


def test_what_never_varies_is_decided_without_an_interval() -> None:
    logs = np.log(np.tile([[14_724_529.0], [13_738_070.0], [14_724_529.0]], (4, 1, 2)))
    verdicts = fixed_verdicts([group_of(logs)], 0.01)
    assert [v.decision for v in verdicts] == ["lower", "same"]
    change = 13_738_070 / 14_724_529 - 1
    assert verdicts[0].overall.lower == pytest.approx(change)
    assert verdicts[0].overall.upper == pytest.approx(change)
    assert verdicts[0].p_difference == 0
    assert verdicts[1].overall.change == verdicts[1].overall.upper == 0
    assert verdicts[1].p_difference == 1
    assert verdicts[1].detectable == 0


def test_one_block_bounds_nothing() -> None:
    logs = noise(6, (1, 2, 3)) + np.array([[0.0], [0.5]])
    verdict = only(fixed_verdicts([group_of(logs)], 0.01))
    assert verdict.decision == "undecided"
    assert verdict.overall.change == pytest.approx(math.expm1(0.5), abs=0.05)
    assert math.isinf(verdict.overall.lower)
    assert math.isinf(verdict.overall.upper)
    assert verdict.more_blocks is verdict.detectable is None
    assert all(math.isinf(e.upper) for e in verdict.by_x.values())


def test_noise_leaves_two_versions_undecided_and_says_what_would_decide() -> None:
    verdict = only(fixed_verdicts([group_of(noise(7, (3, 2, 4), 0.03))], 0.01))
    assert verdict.decision == "undecided"
    assert verdict.overall.lower < 0 < verdict.overall.upper
    assert verdict.more_blocks is not None
    assert verdict.more_blocks > 0
    assert verdict.detectable is not None
    assert verdict.detectable > 0.01


@pytest.mark.parametrize("seed", range(30))
def test_any_lost_trials_leave_verdicts_that_hold_together(seed: int) -> None:
    rng = np.random.default_rng(seed)
    shape = (int(rng.integers(2, 5)), int(rng.integers(2, 4)), int(rng.integers(1, 4)))
    logs = noise(seed, shape)
    lost = rng.choice(logs.size, size=int(rng.integers(0, logs.size // 3 + 1)), replace=False)
    cells = np.arange(logs.size) % (shape[1] * shape[2])
    kept_cells = np.delete(cells, lost)
    lost = lost[np.isin(cells[lost], kept_cells)]
    group = group_of(logs if shape[2] > 1 else logs[:, :, 0], lost=tuple(lost.tolist()))
    for verdict in fixed_verdicts([group], 0.01):
        for estimate in (verdict.overall, *verdict.by_x.values()):
            assert estimate.lower <= estimate.change <= estimate.upper
        assert verdict.p_difference is not None
        assert verdict.p_equivalence is not None
        excludes_zero = verdict.overall.lower > 0 or verdict.overall.upper < 0
        assert excludes_zero == (verdict.p_difference < 0.05)
        if verdict.p_equivalence <= 0.05:
            assert verdict.decision == "same"
        else:
            assert (verdict.decision == "undecided") != excludes_zero


def test_false_alarms_of_pure_noise_keep_their_level() -> None:
    runs = 100
    alarms = same = 0
    at_margin = np.log1p([0.0, 0.01, -0.01])
    for run in range(runs):
        logs = noise(run, (3, 3))
        pure = fixed_verdicts([group_of(logs)], 0.01)
        alarms += any(v.overall.lower > 0 or v.overall.upper < 0 for v in pure)
        marginal = fixed_verdicts([group_of(0.2 * logs + at_margin)], 0.01)
        same += any(v.decision == "same" for v in marginal)
    assert stats.binomtest(alarms, runs, 0.05).pvalue > 0.001
    assert stats.binomtest(same, runs, 0.05, alternative="greater").pvalue > 0.001


def test_two_versions_along_clients_are_a_paired_t_test_of_block_means() -> None:
    """Exact also where the model, whose variances are bounded, would pool them."""
    logs = noise(3, (4, 2, 3))
    verdict = only(fixed_verdicts([group_of(logs)], 0.01))
    differences = (logs[:, 1] - logs[:, 0]).mean(axis=1)
    half = stats.t.ppf(0.975, 3) * differences.std(ddof=1) / math.sqrt(4)
    assert math.log1p(verdict.overall.change) == pytest.approx(differences.mean())
    assert math.log1p(verdict.overall.lower) == pytest.approx(differences.mean() - half)
    assert verdict.overall.df == 3
