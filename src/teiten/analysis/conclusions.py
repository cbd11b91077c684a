"""What is concluded of a run: plain values that the report, the commands and the executor share."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from collections.abc import Mapping

Decision = Literal["higher", "lower", "same", "undecided"]
Method = Literal["mixed model", "always valid"]


@dataclass(frozen=True)
class Estimate:
    """One level against the reference: the ratio of the responses, less 1, with its interval.

    `lower` and `upper` bound `change` with 95% confidence, together with all other contrasts of
    the same family; they are infinite where the trials are too few to bound it. Computed on the
    logarithm and written back: 0.02 is 2% higher than the reference.
    """

    change: float
    lower: float
    upper: float
    df: float


@dataclass(frozen=True)
class Verdict:
    """What is known of one level against the reference, in one response and one group of trials.

    `group` maps the factors that tell experiments apart (such as `workload`) to their levels;
    means go over the levels of the factor along x (such as `clients`), whose own estimates are
    `by_x`, by label. `p_difference` is that of no difference, `p_equivalence` that of a
    difference as large as the margin (two one-sided tests); both are adjusted for the family of
    `family_size` contrasts. None: the method has no p-value.
    `more_blocks` says of an undecided contrast how many more blocks would decide it with 80%
    probability if the estimate were true; None: decided, or more than would ever be run.
    `detectable` is the smallest change that as many blocks find with 80% probability.
    """

    response: str
    group: Mapping[str, str]
    level: str
    decision: Decision
    overall: Estimate
    by_x: Mapping[str, Estimate]
    p_difference: float | None
    p_equivalence: float | None
    family_size: int
    blocks: int
    more_blocks: int | None
    detectable: float | None
    method: Method


CautionKind = Literal[
    "not positive", "several modes", "outlier", "drift", "carry-over", "unequal spread"
]


@dataclass(frozen=True)
class Caution:
    """Something in the trials of one response and group that its verdicts do not allow for.

    `p` is that of the test, adjusted for all tests of the run; 0 where there is nothing to test (a
    value that is not positive has no ratio, so its group has no verdict). `trials` are the numbers
    of those concerned: outliers, and values that are not positive. `figure` is the size of the
    effect where it has one, as a ratio less 1 (drift: the change over the whole run; carry-over:
    the change after another treatment).
    """

    kind: CautionKind
    response: str
    group: Mapping[str, str]
    p: float
    figure: float | None = None
    trials: tuple[int, ...] = ()


@dataclass(frozen=True)
class Conclusions:
    """All verdicts of a run with what else should be known: the input of the report's verdict."""

    margin: float
    verdicts: tuple[Verdict, ...]
    cautions: tuple[Caution, ...]
