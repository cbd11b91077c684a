"""Read a study: from the catalog or a file, with overrides, every mistake in one sentence."""

from __future__ import annotations

import itertools
import json
import tomllib
from importlib import resources
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pydantic import BaseModel, ValidationError

from teiten.errors import UsageError
from teiten.study.model import Factor, PgbenchData, PgbenchLoad, Setup, Study
from teiten.study.patching import apply_setting

if TYPE_CHECKING:
    from collections.abc import Sequence
    from importlib.resources.abc import Traversable

    from pydantic_core import ErrorDetails

_SUFFIX = ".toml"


def _catalog() -> Traversable:
    return resources.files("teiten.study") / "catalog"


def catalog_names() -> list[str]:
    """Names of the studies that ship with teiten, sorted."""
    return sorted(
        entry.name.removesuffix(_SUFFIX)
        for entry in _catalog().iterdir()
        if entry.name.endswith(_SUFFIX)
    )


def load_study(name_or_path: str, overrides: Sequence[str] = ()) -> Study:
    """Load a study from the catalog (by name) or from a file (by path), with `--set` overrides.

    Raises:
        UsageError: there is no such study, or it is not valid; says file, key and what is allowed.
    """
    path = Path(name_or_path)
    if name_or_path in catalog_names():
        text = (_catalog() / f"{name_or_path}{_SUFFIX}").read_text(encoding="utf-8")
        where = f"study {name_or_path}"
    elif path.is_file():
        text = path.read_text(encoding="utf-8")
        where = name_or_path
    else:
        raise UsageError(
            f"There is no study {name_or_path!r}: it is neither a file nor one of "
            f"{', '.join(catalog_names())}."
        )
    return parse_study(text, where=where, overrides=overrides, folder=path.parent)


def parse_study(
    text: str, *, where: str, overrides: Sequence[str] = (), folder: Path | None = None
) -> Study:
    """Check the text of a study file, and that every combination of levels is a valid set-up.

    `folder` is where the scripts that the study names are looked for first.

    Raises:
        UsageError: one sentence that names `where`, the key and what is allowed.
    """
    try:
        document = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise UsageError(f"{where}: not valid TOML: {error}.") from error
    for assignment in overrides:
        document = apply_setting(document, assignment)
    try:
        study = Study.model_validate(document)
    except ValidationError as error:
        raise UsageError(_sentence(error, where, prefix="")) from error
    _check_treatments(study, where)
    return _with_scripts(study, where, folder)


def _check_treatments(study: Study, where: str) -> None:
    """Validate the set-up alone, then each combination, so that a mistake is named where it is."""
    for levels in itertools.product(*(f.resolved_levels() for f in study.factor)):
        try:
            study.setup_of(levels)
        except ValidationError as error:
            combination = ", ".join(
                f"{f.name}={level.label}" for f, level in zip(study.factor, levels, strict=True)
            )
            raise UsageError(
                _sentence(error, where, prefix="setup.") + f" (In the treatment {combination}.)"
            ) from error


def _with_scripts(study: Study, where: str, folder: Path | None) -> Study:
    """Write the text of every script that the study names into its `scripts`.

    Looked for in the study itself, then beside its file, then among teiten's own; so a resolved
    study is one file that needs no other.
    """
    own = resources.files("teiten.load") / "scripts"
    texts = dict(study.scripts)
    combinations = itertools.product(*(f.resolved_levels() for f in study.factor))
    for name in dict.fromkeys(study.setup_of(levels).load.script for levels in combinations):
        if name in texts or name.startswith("builtin:"):
            continue
        places = [place / name for place in (folder, own) if place is not None]
        found = next((place for place in places if place.is_file()), None)
        if found is None:
            raise UsageError(
                f"{where}: key load.script = {json.dumps(name)}: there is no such file beside the "
                f"study or among teiten's own ({', '.join(sorted(f.name for f in own.iterdir()))})."
            )
        texts[name] = found.read_text(encoding="utf-8")
    return study.model_copy(update={"scripts": texts})


_DATA = ("pgbench", "existing")
_MODELS: dict[str, type[BaseModel]] = {"load": PgbenchLoad, "data": PgbenchData, "factor": Factor}
_WHAT_IS_WRONG = {
    "missing": "is missing",
    "extra_forbidden": "is not known",
}


def _sentence(error: ValidationError, where: str, *, prefix: str) -> str:
    """Turn the first of pydantic's errors into one sentence: file, key, value, what is allowed."""
    first: ErrorDetails = error.errors()[0]
    parts = _key_parts(first["loc"])
    key = prefix + ".".join(parts)
    kind = first["type"]
    message = first["msg"].removeprefix("Value error, ")
    message = message.replace("Input should be", "it should be")
    if kind in _WHAT_IS_WRONG:
        problem = _WHAT_IS_WRONG[kind]
        allowed = _allowed_keys(prefix, parts) if kind == "extra_forbidden" else ""
        sentence = f"{where}: key {key} {problem}{allowed}"
    elif kind == "value_error" or isinstance(first["input"], dict):
        sentence = f"{where}: {f'key {key}: ' if key else ''}{message}"
    else:
        shown = json.dumps(first["input"], ensure_ascii=False, default=str)
        sentence = f"{where}: key {key} = {shown} cannot be used: {message}"
    more = error.error_count() - 1
    return sentence.rstrip(".") + (f" (and {more} more)." if more else ".")


def _key_parts(location: tuple[int | str, ...]) -> list[str]:
    """The keys a user wrote, without the names of variants that pydantic puts between them."""
    parts = [str(p) for p in location if not str(p).startswith(("dict[", "list["))]
    return [p for i, p in enumerate(parts) if not (i and parts[i - 1] == "data" and p in _DATA)]


def _allowed_keys(prefix: str, parts: list[str]) -> str:
    model: type[BaseModel] = Setup if prefix else Study
    for part in parts[:-1]:
        model = _MODELS.get(part, model)
    return f"; known are {', '.join(model.model_fields)}"


def study_json_schema() -> dict[str, Any]:
    """JSON schema of a study file, for editors; the set-up is given its own schema."""
    schema = Study.model_json_schema()
    setup = Setup.model_json_schema()
    definitions = schema.setdefault("$defs", {})
    definitions.update(setup.pop("$defs", {}))
    # The study's set-up may leave out what its factors provide, so nothing in it is required.
    setup.pop("required", None)
    definitions["Setup"] = setup
    schema["properties"]["setup"] = {"$ref": "#/$defs/Setup"}
    margin = schema["properties"]["margin"]
    schema["properties"]["margin"] = {"anyOf": [margin, {"type": "string", "pattern": "%$"}]}
    return schema
