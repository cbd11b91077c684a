"""Agreement with R, value by value, on every key of every reference file."""

from __future__ import annotations

import math
from functools import cache
from itertools import groupby

import pytest
from tests.unit.stats.r_reference import NAMES, Pair, pairs

# Absolute and relative tolerance by column. Against R's optimiser run to convergence:
CONVERGED = {
    "F": (0, 1e-5),
    "df": (5e-3, 0),
    "df_res": (5e-3, 0),
    "p": (1e-6, 0),
    "p_value": (1e-6, 0),
    "SE": (5e-5, 0),
    "F_scaling": (1e-9, 0),
    "estimate": (1e-7, 0),
    "emmean": (1e-7, 0),
    "t_ratio": (1e-9, 2e-5),
    "lower_CL": (1e-6, 0),
    "upper_CL": (1e-6, 0),
    "variance": (1e-5, 0),
    "theta": (2e-5, 0),
    "sigma": (0, 1e-5),
    "beta": (1e-7, 0),
    "reml_criterion": (1e-7, 0),
}
# Against its default, which stops early:
DEFAULT = {
    "F": (0, 5e-3),
    "df": (1e-1, 0),
    "df_res": (1e-1, 0),
    "p": (5e-4, 0),
    "p_value": (5e-4, 0),
    "SE": (0, 2.5e-3),
    "F_scaling": (1e-4, 0),
    "estimate": (1e-5, 0),
    "emmean": (1e-5, 0),
    "t_ratio": (1e-9, 2.5e-3),
    "lower_CL": (1e-4, 0),
    "upper_CL": (1e-4, 0),
    "variance": (5e-3, 0),
    "theta": (5e-2, 0),
    "sigma": (0, 5e-3),
    "beta": (1e-5, 0),
    "reml_criterion": (1e-3, 0),
}
# For logarithms the default stops so early that R's own two fits differ by up to 4% in F.
DEFAULT_OF_LOGARITHMS = DEFAULT | {
    "F": (0, 5e-2),
    "df": (5e-1, 0),
    "p": (5e-3, 0),
    "p_value": (5e-3, 0),
    "SE": (0, 2.5e-2),
    "t_ratio": (1e-9, 2.5e-2),
    "lower_CL": (1e-3, 0),
    "upper_CL": (1e-3, 0),
    "variance": (2e-2, 0),
    "theta": (1e-1, 0),
    "sigma": (0, 1e-2),
    "reml_criterion": (2e-2, 0),
}
# Nothing that an optimiser has a hand in:
DIRECT = {
    "levene": (1e-12, 1e-12),
    "aligned": (1e-8, 0),
    "aligned_col_sums": (1e-8, 0),
}
# Here R's optimiser ends short of the optimum though run to convergence, as its larger criteria
# show: by 6e-10 for the logarithms of d02, by up to 8e-8 for the ties of d08.
STOPPED_SHORT = {
    ("d02_2x9x3_strong", "log_lmm_tight"): {"p": (2e-6, 0)},
    ("d08_2x8x3_ties", "art_fits_tight"): {"theta": (1e-2, 0), "variance": (1e-4, 0)},
    ("d08_2x8x3_ties", "artc_fit_tight"): {"theta": (1e-2, 0), "variance": (1e-4, 0)},
    ("d08_2x8x3_ties", "artc_all_cells_tight"): {"p_value": (1e-4, 0)},
}


@cache
def by_key(name: str) -> dict[str, list[Pair]]:
    ordered = sorted(pairs(name), key=lambda pair: pair.key)
    return {key: list(group) for key, group in groupby(ordered, key=lambda pair: pair.key)}


def tolerance(name: str, pair: Pair) -> tuple[float, float]:
    if pair.key in DIRECT:
        return DIRECT[pair.key]
    if pair.key.endswith("_tight"):
        return (CONVERGED | STOPPED_SHORT.get((name, pair.key), {}))[pair.column]
    if pair.key == "log_lmm_default":
        return DEFAULT_OF_LOGARITHMS[pair.column]
    return DEFAULT[pair.column]


@pytest.mark.parametrize("name", NAMES)
def test_every_number_agrees(name: str) -> None:
    for found in by_key(name).values():
        for pair in found:
            if isinstance(pair.reference, str | bool):
                continue
            if pair.key in {"n", "aligned_ranks", "artc_family"}:
                assert pair.ours == pair.reference, pair
                continue
            absolute, relative = tolerance(name, pair)
            assert math.isclose(pair.ours, pair.reference, rel_tol=relative, abs_tol=absolute), pair


@pytest.mark.parametrize("name", NAMES)
def test_every_name_agrees(name: str) -> None:
    for found in by_key(name).values():
        for pair in found:
            if isinstance(pair.reference, str):
                assert pair.ours == pair.reference, pair


@pytest.mark.parametrize("name", [name for name in NAMES if not name.startswith("d08")])
def test_boundary_fits_are_the_same(name: str) -> None:
    # d08 aside: there only the better optimum lies on the boundary.
    for key, found in by_key(name).items():
        if key.endswith("_tight"):
            for pair in found:
                if pair.column == "singular":
                    assert pair.ours == pair.reference, pair


@pytest.mark.parametrize("name", NAMES)
def test_no_criterion_is_above_rs(name: str) -> None:
    # It is minus twice the log-likelihood: whoever has less is nearer the optimum.
    criteria = [
        pair for found in by_key(name).values() for pair in found if pair.column == "reml_criterion"
    ]
    assert criteria
    for pair in criteria:
        assert pair.ours <= pair.reference + 1e-9, pair
