"""Give a study the servers to compare, wherever they come from. Pure."""

from __future__ import annotations

from collections import Counter
from string import ascii_uppercase
from typing import TYPE_CHECKING, Any

from teiten.study.model import Factor, Study

if TYPE_CHECKING:
    from collections.abc import Sequence

_FACTOR = "version"


def between(study: Study, servers: Sequence[str]) -> Study:
    """Replace the levels of the study's factor `version` by `servers`, the first as reference.

    A bare version means the source `npm:`. The same server may be named twice (an A/A
    comparison); its labels are then told apart by a letter.
    """
    sources = [server if ":" in server else f"npm:{server}" for server in servers]
    counts = Counter(sources)
    seen: Counter[str] = Counter()
    levels: dict[str, dict[str, Any]] = {}
    for source in sources:
        seen[source] += 1
        label = source.removeprefix("npm:")
        if counts[source] > 1:
            label = f"{label} {ascii_uppercase[seen[source] - 1]}"
        levels[label] = {"server": source}
    factors = tuple(
        Factor(name=f.name, title=f.title, reference=next(iter(levels)), levels=levels)
        if f.name == _FACTOR
        else f
        for f in study.factor
    )
    return study.model_copy(update={"factor": factors})
