"""Critical values of several contrasts at once, against published tables and scipy."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from teiten.stats.simultaneous import MaxT, holm, sidak_level, sidak_p


def sharing_a_reference(k: int) -> np.ndarray[tuple[int, int], np.dtype[np.float64]]:
    return np.full((k, k), 0.5) + 0.5 * np.eye(k)


# Dunnett (1964), Biometrics 20:482, table II: two-sided 5%.
@pytest.mark.parametrize(
    ("contrasts", "df", "printed"),
    [(2, 10, 2.57), (3, 10, 2.76), (4, 20, 2.65), (2, 5, 3.03), (5, 60, 2.58)],
)
def test_contrasts_to_one_reference_have_dunnetts_critical_values(
    contrasts: int, df: int, printed: float
) -> None:
    critical = MaxT(sharing_a_reference(contrasts)).critical(0.05, df)
    assert critical == pytest.approx(printed, abs=0.012)


def test_one_contrast_has_students_t() -> None:
    alone = MaxT(np.ones((1, 1)))
    assert alone.critical(0.05, 2) == pytest.approx(stats.t.isf(0.025, 2))
    assert alone.tail(3.3, 4) == pytest.approx(2 * stats.t.sf(3.3, 4))


def test_contrasts_that_are_one_and_the_same_need_no_adjustment() -> None:
    assert MaxT(np.ones((3, 3))).critical(0.05, 7) == pytest.approx(stats.t.isf(0.025, 7), rel=1e-3)


@given(st.integers(2, 12), st.floats(1, 200), st.floats(0.001, 0.2), st.floats(0, 0.95))
def test_a_critical_value_lies_between_none_and_bonferroni_and_gives_its_level(
    k: int, df: float, alpha: float, rho: float
) -> None:
    largest = MaxT((1 - rho) * np.eye(k) + rho)
    critical = largest.critical(alpha, df)
    assert largest.tail(critical, df) == pytest.approx(alpha, rel=2e-3)
    # A fixed set of directions: exact to about 1%.
    assert stats.t.isf(alpha / 2, df) * 0.98 <= critical
    assert critical <= stats.t.isf(alpha / 2 / k, df) * 1.02


def test_the_tail_agrees_with_scipys_multivariate_t() -> None:
    correlation = np.array([[1, 0.7, -0.2], [0.7, 1, 0.1], [-0.2, 0.1, 1]])
    joint = stats.multivariate_t(shape=correlation, df=6, seed=1)
    inside = joint.cdf([2.2] * 3, lower_limit=[-2.2] * 3)
    assert MaxT(correlation).tail(2.2, 6) == pytest.approx(1 - inside, abs=2e-3)


def test_independent_families_share_their_level_by_sidaks_formula() -> None:
    level = sidak_level(0.05, 4)
    assert 1 - (1 - level) ** 4 == pytest.approx(0.05)
    assert sidak_p(level, 4) == pytest.approx(0.05)
    assert sidak_p(1.0, 4) == 1.0


def test_holm_agrees_with_r() -> None:
    # What p.adjust gives for these five by "holm".
    adjusted = holm([0.01, 0.04, 0.03, 0.005, 0.5])
    assert adjusted.tolist() == pytest.approx([0.04, 0.09, 0.09, 0.025, 0.5])
    assert holm([]).size == 0
