"""Is a difference smaller than a margin? Two one-sided tests (Schuirmann 1987)."""

from __future__ import annotations

import math

from scipy import special


def log_margin(margin: float) -> tuple[float, float]:
    """The bounds on the log ratio between which a ratio differs from 1 by less than `margin`.

    They are log(1 - m) and log(1 + m), what the margin says in words ("less than 1% lower or
    higher"), and not the slightly different ±log(1 + m), which would treat both sides alike but
    count a ratio of 0.9900 as outside 1%.

    `margin` lies in (0, 1).
    """
    return math.log1p(-margin), math.log1p(margin)


def equivalence_p(
    estimate: float, se: float, df: float, bounds: tuple[float, float], tests: int = 1
) -> float:
    """The p-value of "the difference lies outside the bounds": the larger of two t tests.

    With `tests` such claims at once it is multiplied by their number. Bonferroni's bound is used
    for these one-sided tests and not the correlations, because contrasts may lie at opposite ends
    of the margin, and their errors then exclude each other rather than coincide.

    A standard error of zero gives 0 inside the margin and 1 outside.

    Source: Schuirmann (1987), Journal of Pharmacokinetics and Biopharmaceutics 15:657, section 2.
    """
    inside = min(estimate - bounds[0], bounds[1] - estimate)
    if se == 0:
        return 0.0 if inside > 0 else 1.0
    return min(1.0, tests * float(special.stdtr(df, -inside / se)))
