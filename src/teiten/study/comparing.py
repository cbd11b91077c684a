"""Give a study the servers to compare, wherever they come from. Pure."""

from __future__ import annotations

from collections import Counter
from string import ascii_uppercase
from typing import TYPE_CHECKING, Any

from teiten.errors import UsageError
from teiten.study.model import Factor, Study
from teiten.study.patching import key_path

if TYPE_CHECKING:
    from collections.abc import Sequence

_FACTOR = "version"
_TITLE = {"en": "Server", "ja": "サーバー"}
_OWN_KEYS = (["factor", _FACTOR], ["name"], ["title"], ["question"])


def refuse_own_keys(overrides: Sequence[str]) -> None:
    """Refuse `--set` on a key that `between` sets.

    Raises:
        UsageError: there is one.
    """
    for assignment in overrides:
        path = key_path(assignment.partition("=")[0])
        if any(path[: len(own)] == own for own in _OWN_KEYS):
            raise UsageError(
                f"--set {assignment} has no effect, since `teiten compare` sets that key from the "
                "servers A and B: leave it out, or use `teiten run`."
            )


def between(study: Study, servers: Sequence[str]) -> Study:
    """Replace the levels of the study's factor `version` by `servers`, the first as reference.

    A bare version means the source `npm:`. The same server may be named twice (an A/A
    comparison); its labels are then told apart by a letter. The study's name, title and question
    become those of the comparison.
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
        Factor(name=f.name, title=_TITLE, reference=next(iter(levels)), levels=levels)
        if f.name == _FACTOR
        else f
        for f in study.factor
    )
    return study.model_copy(update={"factor": factors, **_words(list(levels))})


def _words(labels: Sequence[str]) -> dict[str, Any]:
    first, *others = labels
    rest, rest_ja = " or ".join(others), "、".join(others)
    return {
        "name": "compare",
        "title": {
            "en": f"PostgreSQL servers compared: {' and '.join(labels)}",
            "ja": f"PostgreSQLサーバーの比較: {'と'.join(labels)}",
        },
        "question": {
            "en": f"Is the server {rest} faster than {first}?",
            "ja": f"サーバー {rest_ja} は {first} より速いか",
        },
    }
