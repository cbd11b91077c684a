"""Laws of laying a patch over a set-up, and the forms of `--set`."""

from __future__ import annotations

import copy
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from teiten.errors import UsageError
from teiten.study.patching import apply_setting, merge, substitute

SCALARS = st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=5)
KEYS = st.sampled_from(["a", "b", "kind"])


def tables(values: st.SearchStrategy[Any]) -> st.SearchStrategy[dict[str, Any]]:
    return st.dictionaries(KEYS, values, max_size=4)


VALUES = st.recursive(SCALARS | st.lists(SCALARS, max_size=3), tables, max_leaves=8)
TABLES = tables(VALUES)
# Tables that merge as tables whatever is in them: no key decides over the others.
SHAPES = st.recursive(
    st.dictionaries(st.sampled_from("abc"), st.none(), max_size=3),
    lambda inner: st.dictionaries(st.sampled_from("abc"), st.none() | inner, max_size=3),
    max_leaves=6,
)


@st.composite
def of_one_shape(draw: st.DrawFn, shape: dict[str, Any]) -> dict[str, Any]:
    """Some of the keys of `shape`, each a table where it is a table there, else a value."""
    keys = draw(st.lists(st.sampled_from(sorted(shape)), unique=True)) if shape else []
    return {
        key: draw(of_one_shape(shape[key])) if isinstance(shape[key], dict) else draw(SCALARS)
        for key in keys
    }


def leaves(table: dict[str, Any], path: tuple[str, ...] = ()) -> dict[tuple[str, ...], Any]:
    found: dict[tuple[str, ...], Any] = {}
    for key, value in table.items():
        found |= leaves(value, (*path, key)) if isinstance(value, dict) else {(*path, key): value}
    return found


@settings(deadline=None)
@given(TABLES)
def test_an_empty_patch_changes_nothing_and_anything_patches_an_empty_table(
    table: dict[str, Any],
) -> None:
    assert merge(table, {}) == table
    assert merge({}, table) == table


@settings(deadline=None)
@given(TABLES, TABLES)
def test_a_patch_laid_twice_is_a_patch_laid_once(
    base: dict[str, Any], patch: dict[str, Any]
) -> None:
    once = merge(base, patch)
    assert merge(once, patch) == once


@settings(deadline=None)
@given(TABLES, TABLES)
def test_every_value_of_the_patch_is_in_the_result(
    base: dict[str, Any], patch: dict[str, Any]
) -> None:
    merged = leaves(merge(base, patch))
    assert leaves(patch).items() <= merged.items()


@settings(deadline=None)
@given(TABLES, TABLES)
def test_what_the_patch_does_not_name_stays(base: dict[str, Any], patch: dict[str, Any]) -> None:
    merged = merge(base, patch)
    assert {k: v for k, v in merged.items() if k not in patch} == {
        k: v for k, v in base.items() if k not in patch
    }


@settings(deadline=None)
@given(st.data(), SHAPES)
def test_patches_of_one_shape_may_be_laid_in_any_grouping(
    data: st.DataObject, shape: dict[str, Any]
) -> None:
    # Where a value takes the place of a table this cannot hold: ({a: {x}} + {a: 1}) + {a: {y}}
    # keeps only y; nor where a `kind` changes. Levels of different factors patch tables as
    # tables.
    a, b, c = (data.draw(of_one_shape(shape)) for _ in range(3))
    assert merge(merge(a, b), c) == merge(a, merge(b, c))


@settings(deadline=None)
@given(TABLES, TABLES)
def test_merging_leaves_its_arguments_as_they_were(
    base: dict[str, Any], patch: dict[str, Any]
) -> None:
    before = copy.deepcopy((base, patch))
    merge(base, patch)
    assert (base, patch) == before


def test_tables_merge_key_by_key_and_lists_are_replaced() -> None:
    base = {"settings": {"work_mem": "1GB", "jit": "on"}, "initdb": ["--a", "--b"]}
    patch = {"settings": {"jit": "off"}, "initdb": ["--c"]}
    assert merge(base, patch) == {
        "settings": {"work_mem": "1GB", "jit": "off"},
        "initdb": ["--c"],
    }


def test_a_table_of_another_kind_takes_nothing_over() -> None:
    base = {"load": {"kind": "pgbench", "script": "update.sql", "duration_s": 60}}
    assert merge(base, {"load": {"kind": "sql", "file": "q1.sql"}}) == {
        "load": {"kind": "sql", "file": "q1.sql"}
    }
    assert merge(base, {"load": {"kind": "pgbench", "duration_s": 5}})["load"] == {
        "kind": "pgbench",
        "script": "update.sql",
        "duration_s": 5,
    }


@settings(deadline=None)
@given(SCALARS)
def test_a_template_that_is_only_the_level_keeps_the_type_of_its_value(value: object) -> None:
    filled = substitute({"clients": "{level}", "deep": [{"x": "{level}"}]}, value)
    assert filled == {"clients": value, "deep": [{"x": value}]}
    assert type(filled["clients"]) is type(value)


def test_a_level_within_text_is_written_as_toml_writes_it() -> None:
    template = {"server": "npm:{level}", "initdb": ["--x={level}"], "scale": 3}
    assert substitute(template, "17.10") == {
        "server": "npm:17.10",
        "initdb": ["--x=17.10"],
        "scale": 3,
    }
    assert substitute("--checksums={level}", True) == "--checksums=true"


def document() -> dict[str, Any]:
    return {
        "blocks": 3,
        "setup": {"data": {"kind": "pgbench", "scale": 2000}, "server": "npm:17.7"},
        "factor": [
            {"name": "version", "reference": "17.7", "levels": ["17.7", "18.1"]},
            {"name": "clients", "levels": [1, 16, 32]},
            {"name": "checksum", "levels": {"off": {"initdb": []}, "on": {"initdb": ["-k"]}}},
        ],
    }


@pytest.mark.parametrize(
    ("assignment", "path", "value"),
    [
        ("setup.data.scale=10", ("setup", "data", "scale"), 10),
        ("blocks=1", ("blocks",), 1),
        ("  blocks = 1 ", ("blocks",), 1),
        ("setup.prewarm=false", ("setup", "prewarm"), False),
        ("setup.server=npm:18.1", ("setup", "server"), "npm:18.1"),
        ('setup.server="npm:18.1"', ("setup", "server"), "npm:18.1"),
        ("setup.settings.work_mem=64MB", ("setup", "settings", "work_mem"), "64MB"),
        ("setup.settings.jit=on", ("setup", "settings", "jit"), "on"),
        (
            'setup.settings."auto_explain.log_min_duration"=0',
            ("setup", "settings", "auto_explain.log_min_duration"),
            0,
        ),
        (
            "setup.initdb=['-k', '--wal-segsize=64']",
            ("setup", "initdb"),
            ["-k", "--wal-segsize=64"],
        ),
        ("setup.server=dsn:host=db port=5432", ("setup", "server"), "dsn:host=db port=5432"),
        ("margin=0.5%", ("margin",), "0.5%"),
        ("setup.load={kind='pgbench'}", ("setup", "load"), {"kind": "pgbench"}),
    ],
)
def test_set_writes_one_value_at_one_key(
    assignment: str, path: tuple[str, ...], value: object
) -> None:
    before = document()
    after = apply_setting(before, assignment)
    found: Any = after
    for key in path:
        found = found[key]
    assert found == value
    assert type(found) is type(value)
    assert before == document()
    flat_before, flat_after = leaves(before), leaves(after)
    untouched = {k: v for k, v in flat_before.items() if k[: len(path)] != path}
    assert untouched.items() <= flat_after.items()


@pytest.mark.parametrize(
    ("assignment", "levels"),
    [
        ("factor.clients=1,2,4", [1, 2, 4]),
        ("factor.clients=8", [8]),
        ("factor.clients=[1, 2, 4]", [1, 2, 4]),
        ("factor.version=16.6,17.2,17.7,18.1", ["16.6", "17.2", "17.7", "18.1"]),
        ("factor.version=17.10", ["17.10"]),
        ('factor.version="17.7", "18.1"', ["17.7", "18.1"]),
        ("factor.version=['17.7','18.1']", ["17.7", "18.1"]),
        ("factor.checksum=on", {"on": {"initdb": ["-k"]}}),
        ("factor.checksum=on,off", {"on": {"initdb": ["-k"]}, "off": {"initdb": []}}),
    ],
)
def test_set_chooses_the_levels_of_a_factor(assignment: str, levels: object) -> None:
    name = assignment.partition("=")[0].removeprefix("factor.")
    changed = {f["name"]: f for f in apply_setting(document(), assignment)["factor"]}
    unchanged = {f["name"]: f for f in document()["factor"]}
    assert changed.pop(name)["levels"] == levels
    del unchanged[name]
    assert changed == unchanged


def test_the_reference_stays_while_it_is_a_level() -> None:
    def version(assignment: str) -> dict[str, Any]:
        factor: dict[str, Any] = apply_setting(document(), assignment)["factor"][0]
        return factor

    assert version("factor.version=16.6,17.7")["reference"] == "17.7"
    assert "reference" not in version("factor.version=16.6,17.2")


def test_other_keys_of_a_factor_can_be_set() -> None:
    # A label that looks like a number is still the label: 17.10 is not 17.1.
    changed = apply_setting(document(), "factor.version.reference=17.10")["factor"][0]
    assert changed["reference"] == "17.10"
    changed = apply_setting(document(), "factor.clients.title={en = 'Connections'}")["factor"][1]
    assert changed["title"] == {"en": "Connections"}


@pytest.mark.parametrize(
    ("assignment", "words"),
    [
        ("blocks", ["KEY=VALUE"]),
        ("=3", ["KEY=VALUE"]),
        ("setup..scale=3", ["KEY=VALUE"]),
        ("blocks.x=3", ["blocks is a value", "no key x"]),
        ("factor=3", ["version, clients, checksum"]),
        ("factor.cores=3", ["no factor 'cores'", "version, clients, checksum"]),
        ("factor.checksum=maybe", ["checksum has no level 'maybe'", "off, on"]),
        ("factor.clients=1,,2", ["level is empty"]),
        ("factor.version=", ["level is empty"]),
        ("factor.clients.levels.x=1", ["levels is a value"]),
    ],
)
def test_a_set_that_cannot_be_followed_is_told_in_one_sentence(
    assignment: str, words: list[str]
) -> None:
    with pytest.raises(UsageError) as caught:
        apply_setting(document(), assignment)
    sentence = str(caught.value)
    assert sentence.startswith(f"--set {assignment}: ")
    assert sentence.endswith(".")
    assert "\n" not in sentence
    for word in words:
        assert word in sentence


@pytest.mark.parametrize("factor", [3, {"name": "clients"}, ["clients"]])
def test_factors_that_are_no_list_of_tables_are_refused_by_set(factor: object) -> None:
    with pytest.raises(UsageError, match=r"\[\[factor\]\]"):
        apply_setting({"factor": factor}, "factor.clients=1")


@settings(deadline=None)
@given(st.text(max_size=20))
def test_any_text_is_set_or_refused_in_one_sentence(assignment: str) -> None:
    try:
        apply_setting(document(), assignment)
    except UsageError as error:
        assert str(error).endswith(".")  # noqa: PT017 - either outcome is right
