"""Turn what pydantic finds wrong in a study into one sentence: file, key, value, what is allowed.

Pydantic reports one error for every branch of a union and names those branches in its locations;
a user wrote neither. So locations are followed through the document itself, and errors that end
at the same key are one mistake.
"""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from pydantic import ValidationError
    from pydantic_core import ErrorDetails

Location = tuple[int | str, ...]

_TYPES = {
    "dict_type": "a table",
    "model_type": "a table",
    "model_attributes_type": "a table",
    "tuple_type": "a list",
    "list_type": "a list",
    "string_type": "text in quotes",
    "bool_type": "true or false",
    "bool_parsing": "true or false",
    "int_type": "a whole number",
    "int_parsing": "a whole number",
    "int_from_float": "a whole number",
    "float_type": "a number",
    "float_parsing": "a number",
    "finite_number": "a number",
}
_SHOWN_CHARACTERS = 80


def sentence(
    error: ValidationError,
    document: Mapping[str, Any],
    *,
    where: str,
    prefix: str = "",
    context: str = "",
    known: Mapping[str, Iterable[str]] | None = None,
) -> str:
    """One sentence on the first mistake in `document`, and how many more there are.

    `prefix` stands before every key, `context` in brackets at the end. `known` maps a table's key
    (without its number, where it is one of several) to the keys that it may have.
    """
    found = [(_location(e, document), e) for e in error.errors(include_url=False)]
    # A mistake inside a table also makes the table wrong: only the innermost is told.
    innermost = [
        (at, e)
        for at, e in found
        if not any(len(other) > len(at) and other[: len(at)] == at for other, _ in found)
    ]
    first = innermost[0][0]
    branches = [e for at, e in innermost if at == first]
    key = prefix + key_text(first, document)
    text = f"{where}: {_problem(key, first, branches, known or {})}".rstrip(".")
    more = len({at for at, _ in innermost}) - 1
    notes = [x for x in (context, f"and {more} more" if more else "") if x]
    return text + (f" ({'; '.join(notes)})." if notes else ".")


def location_of(error: ValidationError, document: Mapping[str, Any]) -> Location:
    """Where the first mistake is: keys and list positions as they are in `document`."""
    return _location(error.errors(include_url=False)[0], document)


def value_at(document: Mapping[str, Any], location: Location) -> object:
    """The value at a location; None where there is none."""
    at: Any = document
    for part in location:
        if not _has(at, part):
            return None
        at = at[part]
    return at


def key_text(location: Location, document: Mapping[str, Any]) -> str:
    """The key as a user would write it; an element that has a name is called by it."""
    words: list[str] = []
    at: Any = document
    for part in location:
        at = at[part] if _has(at, part) else None
        named = isinstance(part, int) and isinstance(at, dict) and isinstance(at.get("name"), str)
        word = at["name"] if named else str(part)
        words.append(word if re.fullmatch(r"[\w-]+", word, re.ASCII) else json.dumps(word))
    return ".".join(words)


def _has(table: object, part: int | str) -> bool:
    if isinstance(table, dict):
        return part in table
    return isinstance(table, list) and isinstance(part, int) and part < len(table)


def _location(error: ErrorDetails, document: Mapping[str, Any]) -> Location:
    """Follow pydantic's location through the document and drop what is not in it."""
    kept: list[int | str] = []
    at: Any = document
    for part in error["loc"]:
        if _has(at, part):
            kept.append(part)
            at = at[part]
    if error["type"] == "missing":
        kept.append(error["loc"][-1])
    if error["type"].startswith("union_tag_"):
        kept.append(error["ctx"]["discriminator"].strip("'"))
    return tuple(kept)


def _problem(
    key: str,
    location: Location,
    branches: Sequence[ErrorDetails],
    known: Mapping[str, Iterable[str]],
) -> str:
    # Where one branch of a union takes the type of the value, its objection is the one to tell.
    error = next((e for e in branches if e["type"] not in _TYPES), branches[0])
    kind = error["type"]
    if kind in {"missing", "union_tag_not_found"}:
        return f"key {key} is missing"
    if kind == "extra_forbidden":
        table = next((str(p) for p in reversed(location[:-1]) if isinstance(p, str)), "")
        names = ", ".join(known.get(table, ()))
        return f"key {key} is not known{f'; known are {names}' if names else ''}"
    if kind == "union_tag_invalid":
        tags = error["ctx"]["expected_tags"].replace(", ", " or ")
        value: object = error["ctx"]["tag"]
        return f"key {key}{_shown(value)} cannot be used: it should be {tags}"
    if kind == "value_error":
        message = str(error["ctx"]["error"])
        return f"key {key}{_shown(error['input'])}: {message}" if key else message
    return f"key {key}{_shown(error['input'])} cannot be used: it should be {_allowed(branches)}"


def _allowed(branches: Sequence[ErrorDetails]) -> str:
    told = [e for e in branches if e["type"] not in _TYPES] or branches
    words = list(dict.fromkeys(_words(e) for e in told))
    if "a number" in words and "a whole number" in words:
        words.remove("a whole number")
    return " or ".join([*([", ".join(words[:-1])] if words[1:] else []), words[-1]])


def _words(error: ErrorDetails) -> str:
    kind = error["type"]
    if kind == "tuple_type" and isinstance(error["input"], dict):
        return f"a list of tables: write [[{error['loc'][-1]}]]"
    if kind in _TYPES:
        return _TYPES[kind]
    if kind == "too_short":
        return "not empty"
    if kind == "string_pattern_mismatch":
        return f"of the form {error['ctx']['pattern']}"
    return error["msg"].removeprefix("Input should be ")


def _shown(value: object) -> str:
    """The value as ` = value`, on one line; nothing for tables and what is too long."""
    if isinstance(value, dict):
        return ""
    text = json.dumps(value, ensure_ascii=False, default=str)
    return f" = {text}" if len(text) <= _SHOWN_CHARACTERS else ""
