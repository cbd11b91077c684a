"""Read a study: from the catalog or a file, with overrides, every mistake in one sentence."""

from __future__ import annotations

import functools
import itertools
import json
import tomllib
from importlib import resources
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pydantic import ValidationError

from teiten.errors import UsageError
from teiten.study import mistakes
from teiten.study.model import Factor, PgbenchData, PgbenchLoad, Setup, Study, UntilDecided
from teiten.study.patching import apply_setting, key_path, merge

if TYPE_CHECKING:
    from collections.abc import Sequence
    from importlib.resources.abc import Traversable

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

    A study of the catalog finds teiten's own scripts first, and others (that `--set` names) in
    the current folder.

    Raises:
        UsageError: there is no such study, or it is not valid; says file, key and what is allowed.
    """
    path = Path(name_or_path)
    if name_or_path in catalog_names():
        text = (_catalog() / f"{name_or_path}{_SUFFIX}").read_text(encoding="utf-8")
        places: list[Traversable] = [_own_scripts(), Path()]
        return _checked(text, f"study {name_or_path}", overrides, places)
    if path.is_file():
        places = [path.parent, _own_scripts()]
        return _checked(_text_of(path, name_or_path), name_or_path, overrides, places)
    raise UsageError(
        f"There is no study {name_or_path!r}: it is neither a file nor one of "
        f"{', '.join(catalog_names())}."
    )


def parse_study(
    text: str, *, where: str, overrides: Sequence[str] = (), folder: Path | None = None
) -> Study:
    """Check the text of a study file, and that every combination of levels is a valid set-up.

    `folder` is where the scripts that the study names are looked for first.

    Raises:
        UsageError: one sentence that names `where`, the key and what is allowed.
    """
    own = _own_scripts()
    return _checked(text, where, overrides, [own] if folder is None else [folder, own])


def go_on_until_decided(
    study: Study, *, budget_s: float | None = None, responses: Sequence[str] = ()
) -> Study:
    """Let a study go on until decided, as its table `until_decided` would; None and () keep it.

    Raises:
        UsageError: a response is not known, or fewer blocks may be run than before the first look.
    """
    given: dict[str, Any] = {} if budget_s is None else {"budget_s": budget_s}
    if responses:
        given["responses"] = list(responses)
    own = {} if study.until_decided is None else study.until_decided.model_dump()
    document = {**study.model_dump(exclude_none=True), "until_decided": {**own, **given}}
    try:
        return Study.model_validate(document)
    except ValidationError as error:
        raise UsageError(
            mistakes.sentence(error, document, where="--until-decided", known=_KNOWN_IN_STUDY)
        ) from error


def _checked(
    text: str, where: str, overrides: Sequence[str], places: Sequence[Traversable]
) -> Study:
    try:
        document = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise UsageError(f"{where}: not valid TOML: {error}.") from error
    for assignment in overrides:
        document = apply_setting(document, assignment)
    try:
        study = Study.model_validate(document)
    except ValidationError as error:
        raise UsageError(
            mistakes.sentence(error, document, where=where, known=_KNOWN_IN_STUDY)
        ) from error
    _check_treatments(study, where)
    for assignment in overrides:
        _check_effect(study, assignment)
    return _with_scripts(study, where, places)


def _check_treatments(study: Study, where: str) -> None:
    """Check each combination of levels; name it where the mistake is not in the set-up alone."""
    for levels in itertools.product(*(f.resolved_levels() for f in study.factor)):
        try:
            study.setup_of(levels)
        except ValidationError as error:
            patched = functools.reduce(merge, (level.patch for level in levels), study.setup)
            combination = ", ".join(
                f"{f.name}={level.label}" for f, level in zip(study.factor, levels, strict=True)
            )
            at = mistakes.location_of(error, patched)
            is_own = mistakes.value_at(study.setup, at) == mistakes.value_at(patched, at)
            raise UsageError(
                mistakes.sentence(
                    error,
                    patched,
                    where=where,
                    prefix="setup.",
                    context="" if is_own else f"in the treatment {combination}",
                    known=_KNOWN_IN_SETUP,
                )
            ) from error


def _check_effect(study: Study, assignment: str) -> None:
    """Refuse a `--set` on the set-up that a factor patches over in every treatment."""
    first, *rest = key_path(assignment.partition("=")[0])
    path = tuple(rest)
    if first != "setup" or not path:
        return
    wanted = mistakes.value_at(study.setup, path)
    for factor in study.factor:
        patched = [merge(study.setup, level.patch) for level in factor.resolved_levels()]
        if all(mistakes.value_at(p, path) != wanted for p in patched):
            raise UsageError(
                f"--set {assignment} has no effect, since the factor {factor.name} sets that key "
                f"in every treatment: use --set factor.{factor.name}=… to choose its levels."
            )


def _with_scripts(study: Study, where: str, places: Sequence[Traversable]) -> Study:
    """Write the text of every script that the study names into its `scripts`.

    Looked for in the study itself, then in `places` in turn; so a resolved study is one file that
    needs no other.
    """
    texts = dict(study.scripts)
    combinations = itertools.product(*(f.resolved_levels() for f in study.factor))
    for name in dict.fromkeys(study.setup_of(levels).load.script for levels in combinations):
        if name in texts or name.startswith("builtin:"):
            continue
        found = next((place / name for place in places if (place / name).is_file()), None)
        if found is None:
            own = ", ".join(sorted(f.name for f in _own_scripts().iterdir()))
            raise UsageError(
                f"{where}: key setup.load.script = {json.dumps(name, ensure_ascii=False)}: there "
                f"is no such file beside the study or among teiten's own ({own})."
            )
        texts[name] = _text_of(found, f"{where}: key setup.load.script: {name}")
    return study.model_copy(update={"scripts": texts})


def _own_scripts() -> Traversable:
    return resources.files("teiten.load") / "scripts"


def _text_of(path: Traversable, shown: str) -> str:
    try:
        return path.read_text(encoding="utf-8").removeprefix("\N{BYTE ORDER MARK}")
    except UnicodeDecodeError as error:
        raise UsageError(f"{shown} is not UTF-8 text: save it in that encoding.") from error
    except OSError as error:
        raise UsageError(f"{shown} cannot be read: {error.strerror}.") from error


# The keys that each table may have, by the table's own key.
_KNOWN_IN_STUDY = {
    "": Study.model_fields,
    "factor": Factor.model_fields,
    "until_decided": UntilDecided.model_fields,
}
_KNOWN_IN_SETUP = {
    "": Setup.model_fields,
    "load": PgbenchLoad.model_fields,
    "data": PgbenchData.model_fields,
}


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
    factor = definitions["Factor"]["properties"]
    # Like the loader, take numbers where they are turned into labels.
    factor["reference"]["anyOf"] += [{"type": "number"}, {"type": "boolean"}]
    # Pydantic writes the least length of a union as if it were one of text.
    del factor["levels"]["minLength"]
    for form in factor["levels"]["anyOf"]:
        form["minProperties" if form["type"] == "object" else "minItems"] = 1
    return schema
