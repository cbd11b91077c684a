"""Linear mixed models of replicated crossings: every treatment has a mean, every block its errors.

The model of `lme4::lmer(y ~ a * b + (1|block) + (1|block:a) + (1|block:b), REML = TRUE)`: fixed
means of all cells, and random effects of the block and of the block crossed with each proper
non-empty subset of the factors. Variances maximise the restricted likelihood and are not negative.

Balanced trials need no matrices (all covariances commute; each stratum has one mean square); where
trials were lost, the same is done with matrices.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from teiten.stats import design
from teiten.stats.mixed_balanced import fit_balanced
from teiten.stats.mixed_fit import RESIDUAL, MixedFit, block_counts
from teiten.stats.mixed_matrices import fit_by_matrices

if TYPE_CHECKING:
    from teiten.stats.observations import Observations

__all__ = ["RESIDUAL", "MixedFit", "fit_mixed_model"]


def fit_mixed_model(observations: Observations) -> MixedFit:
    """Fit the model to the trials.

    Raises:
        NotAnalysableError: see `design.check`; or nothing varies within treatments and blocks.
    """
    design.check(observations)
    counts = block_counts(observations)
    if counts.min() == counts.max():
        return fit_balanced(observations)
    return fit_by_matrices(observations)
