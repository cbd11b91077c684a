"""Which factor is compared, which runs along the x axis, and which tell experiments apart."""

from __future__ import annotations

import itertools
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

    from teiten.study.model import Factor, Study

COMPARED = "version"
ALONG_X = "clients"


@dataclass(frozen=True)
class Roles:
    """The roles of a study's factors.

    In a study with one factor that factor is both compared and on the x axis (`x is compared`).
    """

    compared: Factor
    x: Factor
    facets: tuple[Factor, ...]

    @property
    def has_x(self) -> bool:
        """Whether a factor besides the compared one is on the x axis."""
        return self.x.name != self.compared.name

    @property
    def averaged(self) -> Factor | None:
        """The factor over whose levels a mean says something: a numeric one on the x axis.

        A mean over 1 to 256 clients says something; one over reading and updating does not.
        """
        return self.x if self.has_x and is_numeric(self.x) else None

    @property
    def separating(self) -> tuple[Factor, ...]:
        """The factors that tell experiments apart: trials are never averaged over them."""
        other_x = (self.x,) if self.has_x and self.averaged is None else ()
        return (*self.facets, *other_x)

    def group_keys(self) -> tuple[Mapping[str, str], ...]:
        """All combinations of the separating factors' labels, in the study's order."""
        names = [f.name for f in self.separating]
        return tuple(
            dict(zip(names, labels, strict=True))
            for labels in itertools.product(*(f.labels for f in self.separating))
        )


def roles_of(study: Study) -> Roles:
    """Give every factor its role; factors with one level separate nothing."""
    compared = compared_factor(study)
    x = _x_factor(study, compared)
    facets = tuple(
        f for f in study.factor if f.name not in {compared.name, x.name} and len(f.labels) > 1
    )
    return Roles(compared, x, facets)


def compared_factor(study: Study) -> Factor:
    """The factor named `version`, else the first one."""
    return next((f for f in study.factor if f.name == COMPARED), study.factor[0])


def is_numeric(factor: Factor) -> bool:
    """Whether all levels stand for numbers."""
    return all(
        isinstance(level.value, int | float) and not isinstance(level.value, bool)
        for level in factor.resolved_levels()
    )


def _x_factor(study: Study, compared: Factor) -> Factor:
    others = [f for f in study.factor if f.name != compared.name]
    wide = [f for f in others if len(f.labels) > 1]
    by_preference = (
        [f for f in wide if f.name == ALONG_X]
        + [f for f in reversed(wide) if is_numeric(f)]
        + list(reversed(wide))
        + list(reversed(others))
    )
    return by_preference[0] if by_preference else compared
