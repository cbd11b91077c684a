"""The plan of a study: a pure function of the study and its seed.

A randomised complete block design: every treatment once in every block, a fresh random order in
each block (Fisher 1935, ch. IV).
"""

from __future__ import annotations

import itertools
import random
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

    from teiten.study.model import Scalar, Setup, Study


@dataclass(frozen=True)
class Treatment:
    """One combination of levels. `levels` maps factor to label, `values` to what it stands for."""

    number: int
    levels: Mapping[str, str]
    values: Mapping[str, Scalar]
    setup: Setup

    def label(self) -> str:
        """The combination in words, such as `version=17.7, clients=4`."""
        return ", ".join(f"{factor}={label}" for factor, label in self.levels.items())


@dataclass(frozen=True)
class PlannedTrial:
    """One treatment in one block. `number` is the place in the order of the run, from 1."""

    number: int
    block: int
    treatment: Treatment


@dataclass(frozen=True)
class Plan:
    """All trials of a run in the order in which they are run.

    `until_decided`: the run may end after any block, and these are the most that it can have.
    """

    seed: int
    treatments: tuple[Treatment, ...]
    trials: tuple[PlannedTrial, ...]
    until_decided: bool = False

    def trials_of(self, blocks: int) -> tuple[PlannedTrial, ...]:
        """The trials of the first `blocks` blocks."""
        return self.trials[: blocks * len(self.treatments)]


def make_plan(study: Study) -> Plan:
    """Lay out the study's trials: treatments crossed from its factors, blocks in random order.

    The order within a block depends on the seed and the block's number alone, so a study that is
    given more blocks keeps the order of those it had.
    """
    treatments = tuple(
        Treatment(
            number=number,
            levels={f.name: level.label for f, level in zip(study.factor, levels, strict=True)},
            values={f.name: level.value for f, level in zip(study.factor, levels, strict=True)},
            setup=study.setup_of(levels),
        )
        for number, levels in enumerate(
            itertools.product(*(f.resolved_levels() for f in study.factor)), start=1
        )
    )
    trials: list[PlannedTrial] = []
    for block in range(1, study.laid_out_blocks + 1):
        order = list(treatments)
        # A string seed is hashed by SHA-512, the same in every Python release.
        random.Random(f"teiten {study.seed} block {block}").shuffle(order)  # noqa: S311 - design
        trials.extend(
            PlannedTrial(number=number, block=block, treatment=treatment)
            for number, treatment in enumerate(order, start=len(trials) + 1)
        )
    return Plan(
        seed=study.seed,
        treatments=treatments,
        trials=tuple(trials),
        until_decided=study.until_decided is not None,
    )
