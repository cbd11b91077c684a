"""The evaluation of the proof of detection, on numbers whose truth is known."""

from __future__ import annotations

import numpy as np
import pytest
from bench.detection import methods
from bench.detection.history import functions
from bench.detection.parts import PARTS

CALLGRIND = """\
events: Ir
summary: 160

fn=(1) main
0 10
cfn=(2) work
calls=3 0
0 120
+1 30

fn=(2)
0 100
* 20
totals: 160
"""


def test_a_function_is_charged_what_it_spends_itself() -> None:
    assert functions(CALLGRIND) == {"main": 40, "work": 120}


def test_all_parts_are_studies_whose_second_level_is_the_first_again() -> None:
    for part in PARTS:
        first, again, *_ = part.study().factor[0].resolved_levels()
        assert first.patch == again.patch
        assert first.label != again.label


def test_repetitions_share_no_block() -> None:
    draw = np.random.default_rng(1)
    stops = methods.repetitions(list(draw.normal(10.0, 1.0, 100)), 20)
    assert all(x.found for x in stops)
    assert 80 < sum(x.blocks for x in stops) <= 100


def test_what_is_never_found_is_looked_for_as_long_as_allowed() -> None:
    assert methods.repetitions([0.0, 1.0, 0.0, -1.0] * 5, 5) == [methods.Stop(5, found=False)] * 4


def test_a_covariate_that_carries_the_noise_is_taken_out() -> None:
    draw = np.random.default_rng(2)
    clock = draw.normal(0.0, 0.05, (30, 2))
    pairs = clock + draw.normal(0.0, 0.001, (30, 2)) + np.array([0.0, -0.01])
    differences = (clock[:, 1] - clock[:, 0])[:, np.newaxis]
    assert methods.adjusted(pairs, differences)
    assert not methods.paired(pairs, differences)
    assert not methods.adjusted(pairs - np.array([0.0, -0.01]), differences)


def test_variance_between_starts_is_told_from_that_within() -> None:
    draw = np.random.default_rng(3)
    between, within = 0.01, 0.03  # standard deviations; within: of one second
    short = draw.normal(0.0, np.hypot(between, within / np.sqrt(2)) * np.sqrt(2), 4000)
    series = [np.exp(draw.normal(0.0, within, 300)) for _ in range(20)]
    parts = methods.noise_parts(short, 2.0, series, window=2)
    assert parts.between == pytest.approx(between**2, rel=0.25)
    assert parts.within == pytest.approx(within**2, rel=0.1)


def test_three_blocks_of_one_pair_find_nothing_for_sure_whatever_the_noise() -> None:
    draw = np.random.default_rng(4)
    power = methods.simulated(methods.published_pair, (3, 2), 1e-4, -0.02, draw=draw)
    assert 0.4 < power < 0.6
