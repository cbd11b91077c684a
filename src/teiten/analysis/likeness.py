"""When runs of a study may stand on one line: what else held for their trials, as plain text. Pure.

Two trials of different runs are alike if everything agrees but the level that is followed: set-up,
patches of all other factors, load script, client. Seed, blocks, titles, margin and the list of
asked responses change nothing that is measured, and the other levels of the compared factor are
followed by themselves.
"""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from teiten.study.model import Level, Study

Conditions = dict[str, str]
"""Dotted keys of the set-up (and `pgbench`, `script`) with their values as text."""

_HASH_DIGITS = 12


def conditions_of(
    study: Study, treatments: Sequence[Mapping[str, str]], compared: str
) -> Conditions:
    """What holds for trials of `treatments` (factor to label) besides the level of `compared`.

    A key whose value is not the same in all treatments lists its values in their order. Keys that
    stand at their defaults are left out, so that a newer teiten with more keys changes nothing.
    """
    found = [_of_treatment(study, treatment, compared) for treatment in treatments]
    keys = sorted({key for conditions in found for key in conditions})
    joined = {}
    for key in keys:
        values = [conditions.get(key, "default") for conditions in found]
        joined[key] = values[0] if len(set(values)) == 1 else ", ".join(values)
    return joined


def differences(before: Mapping[str, object], now: Mapping[str, object]) -> list[str]:
    """What is not the same, as `key before → now`."""
    return [
        f"{key} {_shown(before, key)} → {_shown(now, key)}"
        for key in sorted({*before, *now})
        if before.get(key) != now.get(key)
    ]


def stands_for(study: Study, compared: str, label: str) -> str:
    """The patch of a level of the compared factor as text: what its label means in this run."""
    return ", ".join(f"{k} = {v}" for k, v in flat(_level(study, compared, label).patch).items())


def flat(table: Mapping[str, Any], prefix: str = "") -> dict[str, str]:
    """A nested table as dotted keys with their values as text."""
    found: dict[str, str] = {}
    for key, value in table.items():
        if isinstance(value, dict):
            found |= flat(value, f"{prefix}{key}.")
        elif isinstance(value, list | tuple):
            found[f"{prefix}{key}"] = " ".join(str(item) for item in value)
        else:
            found[f"{prefix}{key}"] = str(value).lower() if isinstance(value, bool) else str(value)
    return found


def _of_treatment(study: Study, treatment: Mapping[str, str], compared: str) -> Conditions:
    levels = tuple(_level(study, f.name, treatment[f.name]) for f in study.factor)
    setup = study.setup_of(levels)
    of_compared = flat(_level(study, compared, treatment[compared]).patch)
    written = flat(setup.model_dump(mode="json", exclude_defaults=True))
    conditions = {key: value for key, value in written.items() if key not in of_compared}
    if "load.script" in conditions and setup.load.script in study.scripts:
        text = study.scripts[setup.load.script].encode()
        digest = hashlib.sha256(text).hexdigest()[:_HASH_DIGITS]
        conditions["load.script"] = f"{setup.load.script} ({digest})"
    return {**conditions, "pgbench": study.pgbench}


def _level(study: Study, factor: str, label: str) -> Level:
    (found,) = (f for f in study.factor if f.name == factor)
    return next(level for level in found.resolved_levels() if level.label == label)


def _shown(conditions: Mapping[str, object], key: str) -> str:
    value = conditions.get(key)
    return "-" if value is None else str(value)
