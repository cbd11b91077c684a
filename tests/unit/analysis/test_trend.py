from __future__ import annotations

import itertools
import math
from dataclasses import replace
from datetime import datetime, timedelta

import pytest
from tests.unit.analysis.made_up_history import MACHINE, Made, past_runs

from teiten.analysis.followed import Question
from teiten.analysis.trend import FALSE_ALARMS, Series, Trend, gap_that_breaks_s, trend_of

TPS = Question("tps")
DAY_S = 86_400.0
OTHER_HOST = {**MACHINE, "cpu": {"model": "Newer CPU", "threads": 64}}


def weekly(n: int, first: str = "2024-01-01", **same: object) -> list[Made]:
    begin = datetime.fromisoformat(first)
    made = Made(first)
    return [
        replace(made, date=(begin + timedelta(days=7 * i)).isoformat(), **same)  # type: ignore[arg-type]
        for i in range(n)
    ]


def series_of(trend: Trend, level: str, **group: str) -> Series:
    (found,) = (
        s for s in trend.series if s.level == level and group.items() <= dict(s.group).items()
    )
    return found


def lines(series: Series) -> list[int]:
    return [len(stretch.entries) for stretch in series.stretches]


def test_a_step_of_one_level_is_found_in_that_level_alone() -> None:
    made = [replace(m, factors={"18.1": 0.96} if i >= 10 else {}) for i, m in enumerate(weekly(20))]
    trend = trend_of(past_runs(made), TPS)
    (found,) = series_of(trend, "18.1").stretches[0].changes
    assert (found.before, found.after) == (9, 10)
    assert found.earliest <= 10 <= found.latest
    assert found.change == pytest.approx(-0.04, abs=0.01)
    assert found.lower < found.change < found.upper < 0
    assert trend.changes == 1


def test_a_value_is_the_geometric_mean_over_blocks_and_levels_along_x() -> None:
    (run, *_) = past_runs(weekly(1))
    entry = series_of(trend_of([run], TPS), "17.7").entries[0]
    by_block: dict[int, list[float]] = {}
    for record in run.records:
        if record.levels["version"] == "17.7":
            by_block.setdefault(record.block, []).append(math.log(record.responses["tps"]))
    means = [sum(logs) / len(logs) for logs in by_block.values()]
    assert math.log(entry.value) == pytest.approx(sum(means) / 3)
    assert entry.lowest == pytest.approx(math.exp(min(means)))
    assert entry.highest == pytest.approx(math.exp(max(means)))
    assert entry.blocks == 3


def test_incomplete_blocks_do_not_shift_the_mean() -> None:
    """A block cut off after its smallest client count would halve the mean."""
    (whole,) = past_runs(weekly(1))
    cut = replace(whole, records=whole.records[:9])  # two blocks of four, and one trial
    value = series_of(trend_of([cut], TPS), "17.7").entries[0]
    full = series_of(trend_of([whole], TPS), "17.7").entries[0]
    assert value.blocks == 2
    assert value.value == pytest.approx(full.value, rel=0.02)
    stub = replace(whole, name="stub", records=whole.records[:1])
    assert trend_of([whole, stub], TPS).left_out["stub"] in {"no trial", "not complete"}


def test_another_host_another_set_up_and_a_long_gap_break_the_line() -> None:
    made = [
        *weekly(6, "2023-01-01"),
        *weekly(5, "2024-01-01"),
        *weekly(4, "2024-03-01", machine=OTHER_HOST),
        *weekly(3, "2024-05-01", machine=OTHER_HOST, duration_s=60),
    ]
    series = series_of(trend_of(past_runs(made), TPS), "17.7")
    assert lines(series) == [6, 5, 4, 3]
    assert [b.kind for b in series.breaks] == ["gap", "host", "set-up"]
    assert "processor Made-up CPU → Newer CPU" in series.breaks[1].what
    assert series.breaks[2].what == ("load.duration_s 30 → 60",)
    joined = trend_of(past_runs(made), replace(TPS, gap_days=1000))
    assert lines(series_of(joined, "17.7")) == [11, 4, 3]


def test_a_step_across_a_break_is_no_change_point() -> None:
    made = [*weekly(12), *weekly(12, "2024-04-01", machine=OTHER_HOST, base_tps=2000)]
    trend = trend_of(past_runs(made), TPS)
    assert trend.changes == 0
    assert lines(series_of(trend, "17.7")) == [12, 12]


def test_hosts_that_take_turns_have_a_line_each() -> None:
    here, there = weekly(10), weekly(10, "2024-01-03", machine=OTHER_HOST)
    series = series_of(trend_of(past_runs([*here, *there]), TPS), "17.7")
    assert lines(series) == [10, 10]
    assert [b.kind for b in series.breaks] == ["host"]


def test_a_run_without_a_description_of_its_host_is_never_joined() -> None:
    series = series_of(trend_of(past_runs(weekly(3, machine={})), TPS), "17.7")
    assert lines(series) == [1, 1, 1]


@pytest.mark.parametrize(
    "changed",
    [
        {"blocks": 5},
        {"levels": {"17.7": "npm:17.7", "18.4": "npm:18.4"}},
        {"levels": {"18.1": "npm:18.1", "17.7": "npm:17.7"}},
        {"levels": {"17.7": "pypi:17.7", "18.1": "npm:18.1"}},
    ],
)
def test_what_does_not_bear_on_a_level_leaves_its_line_whole(changed: dict[str, object]) -> None:
    made = [*weekly(3), *weekly(3, "2024-02-01", **changed)]
    series = series_of(trend_of(past_runs(made), TPS), "17.7")
    assert lines(series) == [6]
    assert series.breaks == ()


def test_other_levels_along_x_break_the_mean_but_not_one_level() -> None:
    made = [*weekly(3), *weekly(3, "2024-02-01", clients=(1, 8, 64))]
    runs = past_runs(made)
    assert lines(series_of(trend_of(runs, TPS), "17.7")) == [3, 3]
    assert lines(series_of(trend_of(runs, replace(TPS, at="8")), "17.7")) == [6]
    assert trend_of(runs, replace(TPS, at="3")).series == ()


def test_what_a_label_stands_for_is_kept_and_may_change() -> None:
    """So `newest` can be followed from release to release."""
    older, newer = {"newest": "npm:18.1"}, {"newest": "npm:18.4"}
    made = [*weekly(2, levels=older), *weekly(2, "2024-02-01", levels=newer)]
    series = series_of(trend_of(past_runs(made), TPS), "newest")
    assert lines(series) == [4]
    assert [e.stands_for for e in series.entries[1:3]] == [
        "server = npm:18.1",
        "server = npm:18.4",
    ]


def test_unlike_workloads_are_followed_apart() -> None:
    trend = trend_of(past_runs(weekly(3, workloads=True)), TPS)
    read, update = (series_of(trend, "17.7", workload=w) for w in ("read", "update"))
    assert read.entries[0].value == pytest.approx(3 * update.entries[0].value, rel=0.05)
    assert len(trend.series) == 4


def test_ratios_to_the_reference_are_within_blocks() -> None:
    """A machine twice as fast from one run on does not move them."""
    made = [replace(m, base_tps=1000.0 * (1 + i % 2), factors={"18.1": 1.1})
            for i, m in enumerate(weekly(10))]  # fmt: skip
    trend = trend_of(past_runs(made, noise=1e-6), Question("tps", relative=True))
    (series,) = trend.series
    assert (series.level, series.reference) == ("18.1", "17.7")
    assert [e.value for e in series.entries] == pytest.approx([1.1] * 10, rel=1e-4)


def test_flagged_trials_are_kept_and_shown() -> None:
    made = weekly(4)
    made[2] = replace(made[2], flagged=(1, 2, 3, 4))
    trend = trend_of(past_runs(made), TPS)
    flagged = {s.level: [e.flagged for e in s.entries] for s in trend.series}
    assert sorted(flagged["17.7"][2] + flagged["18.1"][2]) == [1, 2, 3, 4]
    assert flagged["17.7"][1] == ()


@pytest.mark.parametrize(
    ("response", "why"), [("failed_tx", "not positive"), ("x", "not recorded")]
)
def test_a_response_that_cannot_be_followed_is_left_out(response: str, why: str) -> None:
    trend = trend_of(past_runs(weekly(2)), Question(response))
    assert trend.series == ()
    assert set(trend.left_out.values()) == {why}


def test_the_tests_share_the_rate_of_false_alarms() -> None:
    one = trend_of(past_runs(weekly(12, levels={"18.1": "npm:18.1"})), TPS)
    many = trend_of(past_runs(weekly(12, workloads=True)), TPS)
    assert one.alpha == FALSE_ALARMS
    assert many.alpha == FALSE_ALARMS / 4
    assert one.fewest == 8
    assert many.fewest > one.fewest


def test_lines_too_short_to_show_anything_take_no_share() -> None:
    made = [*weekly(30), *weekly(4, "2024-09-01", machine=OTHER_HOST)]
    trend = trend_of(past_runs(made), TPS)
    assert trend.alpha == FALSE_ALARMS / 2
    assert [s.testable for s in series_of(trend, "17.7").stretches] == [True, False]
    short = trend_of(past_runs(weekly(5)), TPS)
    assert not any(s.testable for each in short.series for s in each.stretches)
    assert short.changes == 0


@pytest.mark.parametrize(
    ("days", "breaking"),
    [
        ([0, 365, 731, 1461, 1826], 730),  # yearly, one year missing
        ([0, 1, 365, 366, 1095, 1096, 1461, 1462], 729),  # two runs a year, one year missing
        ([*range(100), *range(300, 400)], 201),  # nightly, then nothing for long
    ],
)
def test_missing_years_are_gaps(days: list[int], breaking: int) -> None:
    gap_days = gap_that_breaks_s([DAY_S * d for d in days]) / DAY_S
    gaps = [b - a for a, b in itertools.pairwise(days)]
    assert [g for g in gaps if g > gap_days] == [breaking]


@pytest.mark.parametrize("days", [[0], [0, 0], [0, 1, 2, 40, 41], [0, 30, 61, 150], [0, 365, 731]])
def test_usual_distances_are_no_gaps(days: list[int]) -> None:
    gap_days = gap_that_breaks_s([DAY_S * d for d in days]) / DAY_S
    assert all(b - a <= gap_days for a, b in itertools.pairwise(days))


def test_runs_that_resemble_their_neighbours_give_a_caution() -> None:
    wave = [1 + 0.01 * math.sin(i / 1.7) for i in range(40)]
    made = [replace(m, levels={"18.1": "npm:18.1"}, factors={"18.1": w})
            for m, w in zip(weekly(40), wave, strict=True)]  # fmt: skip
    (series,) = trend_of(past_runs(made, noise=1e-4), TPS).series
    (stretch,) = series.stretches
    assert stretch.dependence is not None
    assert stretch.dependence.r > 0.2
