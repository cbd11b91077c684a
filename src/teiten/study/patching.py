"""Patches on nested tables: merge, template substitution, and `--set KEY=VALUE`. Pure."""

from __future__ import annotations

import tomllib
from typing import Any

from teiten.errors import UsageError


def merge(base: dict[str, Any], patch: dict[str, Any]) -> dict[str, Any]:
    """Return `base` with `patch` laid over it: tables merge key by key, all else is replaced.

    A table that changes its `kind` is replaced whole, since the keys of one kind mean nothing to
    another.
    """
    merged = dict(base)
    for key, value in patch.items():
        old = merged.get(key)
        if isinstance(old, dict) and isinstance(value, dict) and not _changes_kind(old, value):
            merged[key] = merge(old, value)
        else:
            merged[key] = value
    return merged


def _changes_kind(old: dict[str, Any], new: dict[str, Any]) -> bool:
    return "kind" in old and new.get("kind", old["kind"]) != old["kind"]


def substitute(template: Any, value: object) -> Any:  # noqa: ANN401 - TOML is untyped
    """Replace `{level}` in every string of `template`; a string that is only that takes the value.

    So `{ server = "npm:{level}" }` gives text and `{ clients = "{level}" }` a number.
    """
    if isinstance(template, dict):
        return {key: substitute(item, value) for key, item in template.items()}
    if isinstance(template, list):
        return [substitute(item, value) for item in template]
    if template == "{level}":
        return value
    return (
        template.replace("{level}", scalar_text(value)) if isinstance(template, str) else template
    )


def scalar_text(value: object) -> str:
    """Write a TOML value as text: `true` and not Python's `True`."""
    return str(value).lower() if isinstance(value, bool) else str(value)


def toml_value(text: str) -> Any:  # noqa: ANN401 - TOML is untyped
    """Read the right side of `--set`: a TOML value where it is one, else plain text."""
    try:
        return tomllib.loads(f"value = {text}")["value"]
    except tomllib.TOMLDecodeError:
        return text


def key_path(key: str) -> list[str]:
    """Split a dotted key as TOML does, so that `settings."auto_explain.log_min_duration"` works."""
    words = key.strip().split(".")
    try:
        inner: Any = tomllib.loads(f"{key} = 0")
    except tomllib.TOMLDecodeError:
        return words
    path = []
    while isinstance(inner, dict) and len(inner) == 1:
        ((name, inner),) = inner.items()
        path.append(name)
    return words if isinstance(inner, dict) else path


def apply_setting(document: dict[str, Any], assignment: str) -> dict[str, Any]:
    """Apply one `--set KEY=VALUE` to the document of a study and return the new document.

    `factor.NAME=a,b` chooses the levels of a factor (by label, or new values where the factor
    lists values), `factor.NAME.KEY=…` sets another key of it; any other dotted key is set as it
    stands.

    Raises:
        UsageError: no `=`, an unknown factor or level, or a key below something that is no table.
    """
    key, equals, text = assignment.partition("=")
    path = key_path(key)
    if not equals or not all(path):
        raise UsageError(f"--set {assignment}: write it as KEY=VALUE, such as setup.data.scale=10.")
    if path[0] == "factor":
        return _set_factor(document, path[1:], text.strip(), assignment)
    return _set_path(document, path, toml_value(text.strip()), assignment)


def _set_path(table: dict[str, Any], path: list[str], value: Any, shown: str) -> dict[str, Any]:  # noqa: ANN401
    head, *rest = path
    if not rest:
        return {**table, head: value}
    inner = table.get(head, {})
    if not isinstance(inner, dict):
        raise UsageError(f"--set {shown}: {head} is a value and has no key {'.'.join(rest)}.")
    return {**table, head: _set_path(inner, rest, value, shown)}


def _set_factor(document: dict[str, Any], path: list[str], text: str, shown: str) -> dict[str, Any]:
    listed = document.get("factor", [])
    if not isinstance(listed, list) or not all(isinstance(f, dict) for f in listed):
        raise UsageError(f"--set {shown}: write each factor of the study below [[factor]].")
    factors: list[dict[str, Any]] = list(listed)
    names = [f.get("name") for f in factors]
    if not path or path[0] not in names:
        raise UsageError(
            f"--set {shown}: the study has no factor {path[0] if path else ''!r}; "
            f"it has {', '.join(map(str, names)) or 'none'}."
        )
    at = names.index(path[0])
    factor = factors[at]
    if len(path) == 1:
        factors[at] = _choose_levels(factor, _listed(text, shown), shown)
    else:
        # A label such as 17.10 is text, and would lose its end as a number.
        value = _plain(text) if path[1:] == ["reference"] else toml_value(text)
        factors[at] = _set_path(factor, path[1:], value, shown)
    return {**document, "factor": factors}


def _listed(text: str, shown: str) -> list[str]:
    """The words between the commas of `a,b` or of a TOML list such as `["a", "b"]`."""
    if text.startswith("[") and text.endswith("]"):
        text = text[1:-1]
    words = [_plain(word.strip()) for word in text.split(",")]
    if not all(words):
        raise UsageError(f"--set {shown}: a level is empty; write levels as a,b,c.")
    return words


def _plain(word: str) -> str:
    """The word without TOML's quotes, where it has them."""
    value = toml_value(word)
    return value if isinstance(value, str) else word


def _choose_levels(factor: dict[str, Any], words: list[str], shown: str) -> dict[str, Any]:
    old = factor.get("levels", [])
    if isinstance(old, dict):
        unknown = [w for w in words if w not in old]
        if unknown:
            raise UsageError(
                f"--set {shown}: factor {factor.get('name')} has no level {unknown[0]!r}; "
                f"it has {', '.join(old)}."
            )
        levels: Any = {w: old[w] for w in words}
    elif old and isinstance(old, list) and all(isinstance(x, str) for x in old):
        levels = words
    else:
        levels = [toml_value(w) for w in words]
    chosen = {**factor, "levels": levels}
    labels = list(levels) if isinstance(levels, dict) else [scalar_text(x) for x in levels]
    if "reference" in factor and scalar_text(factor["reference"]) not in labels:
        del chosen["reference"]
    return chosen
