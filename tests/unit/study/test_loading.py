"""What a study file may leave out, where its scripts are found, and the schema for editors."""

from __future__ import annotations

import json
import tomllib
from typing import TYPE_CHECKING, Any

import jsonschema  # type: ignore[import-untyped]
import pytest

from teiten.errors import UsageError
from teiten.study import (
    PgbenchLoad,
    Setup,
    Study,
    UntilDecided,
    catalog_names,
    go_on_until_decided,
    load_study,
    parse_study,
    study_json_schema,
)

if TYPE_CHECKING:
    from pathlib import Path

STUDY = """
name = "small"
title = { en = "Small", ja = "小" }
blocks = 2
seed = 1
[setup]
server = "npm:18.1"
data = { kind = "pgbench" }
load = { kind = "pgbench", script = "own.sql", duration_s = 5 }
[[factor]]
name = "clients"
levels = [1, 2]
"""


def written(folder: Path, script: str = "SELECT 1;\n") -> Path:
    path = folder / "my.toml"
    path.write_text(STUDY, encoding="utf-8")
    (folder / "own.sql").write_text(script, encoding="utf-8")
    return path


def setups(study: Study) -> list[Setup]:
    """The set-ups of a study of one factor."""
    return [study.setup_of((level,)) for level in study.factor[0].resolved_levels()]


def test_a_script_beside_the_study_is_taken_into_it(tmp_path: Path) -> None:
    assert load_study(str(written(tmp_path))).scripts == {"own.sql": "SELECT 1;\n"}


def test_a_study_file_may_replace_a_script_of_teitens_own(tmp_path: Path) -> None:
    path = written(tmp_path)
    (tmp_path / "readonly.sql").write_text("SELECT 2;\n", encoding="utf-8")
    study = load_study(str(path), ["setup.load.script=readonly.sql"])
    assert study.scripts == {"readonly.sql": "SELECT 2;\n"}


def test_a_catalog_study_runs_its_own_script_wherever_it_is_started(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    elsewhere = load_study("version-readonly")
    (tmp_path / "readonly.sql").write_text("SELECT 2;\n", encoding="utf-8")
    (tmp_path / "own.sql").write_text("SELECT 3;\n", encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    assert load_study("version-readonly") == elsewhere
    named = load_study("version-readonly", ["setup.load.script=own.sql"])
    assert named.scripts == {"own.sql": "SELECT 3;\n"}


def test_builtin_scripts_need_no_file() -> None:
    assert (
        parse_study(STUDY, where="x", overrides=["setup.load.script=builtin:tpcb-like"]).scripts
        == {}
    )


def test_a_byte_order_mark_is_no_mistake(tmp_path: Path) -> None:
    path = written(tmp_path)
    path.write_text(STUDY, encoding="utf-8-sig")
    assert load_study(str(path)).title["ja"] == "小"


def test_a_factor_of_values_patches_the_key_of_its_name_or_another_or_a_template() -> None:
    def levels(factor: str) -> list[Setup]:
        text = STUDY.replace('name = "clients"\nlevels = [1, 2]', factor).replace(
            "own.sql", "readonly.sql"
        )
        return setups(parse_study(text, where="x"))

    assert [s.clients for s in levels('name = "clients"\nlevels = [1, 8]')] == [1, 8]
    by_key = levels('name = "scale"\nkey = "data.scale"\nlevels = [10, 20]')
    assert [s.data.scale for s in by_key] == [10, 20]
    quoted = levels(
        """name = "nested"\nkey = 'settings."auto_explain.x"'\nlevels = [true, false]"""
    )
    assert [s.guc_settings() for s in quoted] == [
        {"auto_explain.x": "on"},
        {"auto_explain.x": "off"},
    ]
    template = levels('name = "version"\npatch = { server = "npm:{level}" }\nlevels = ["17.10"]')
    assert [s.server for s in template] == ["npm:17.10"]
    table = levels(
        'name = "k"\n[factor.levels]\n"off" = {}\n"on" = { initdb = ["-k"], data = { scale = 2 } }'
    )
    assert [(s.initdb, s.data.scale) for s in table] == [((), 1), (("-k",), 2)]


def test_labels_are_written_as_in_the_file() -> None:
    text = STUDY.replace("own.sql", "readonly.sql")
    factor = parse_study(
        text + "[[factor]]\nname = 'prewarm'\nreference = true\nlevels = [false, true]\n", where="x"
    ).factor[1]
    assert factor.labels == ["false", "true"]
    assert factor.reference_label == "true"
    assert [level.value for level in factor.resolved_levels()] == [False, True]


def test_the_first_level_is_the_reference_unless_one_is_named() -> None:
    text = STUDY.replace("own.sql", "readonly.sql")
    assert parse_study(text, where="x").factor[0].reference_label == "1"
    named = parse_study(text, where="x", overrides=["factor.clients.reference=2"])
    assert named.factor[0].reference_label == "2"


def test_a_later_factor_is_laid_over_an_earlier_one() -> None:
    text = STUDY.replace("own.sql", "readonly.sql") + (
        "[[factor]]\nname = 'size'\n[factor.levels]\n'big' = { clients = 99 }\n"
    )
    study = parse_study(text, where="x")
    clients, size = (f.resolved_levels() for f in study.factor)
    assert study.setup_of((clients[0], size[0])).clients == 99


@pytest.mark.parametrize(
    ("margin", "share"), [('"1%"', 0.01), ('" 0.5 % "', 0.005), ('".5%"', 0.005), ("0.02", 0.02)]
)
def test_a_margin_is_a_percentage_or_a_share(margin: str, share: float) -> None:
    text = STUDY.replace("own.sql", "readonly.sql").replace(
        "seed = 1", f"seed = 1\nmargin = {margin}"
    )
    assert parse_study(text, where="x").margin == pytest.approx(share, rel=1e-12)


def test_text_falls_back_to_english() -> None:
    study = parse_study(STUDY.replace("own.sql", "readonly.sql"), where="x")
    assert study.text("title", "ja") == "小"
    assert study.text("title", "fr") == "Small"
    assert study.text("question", "ja") == ""


UNTIL_DECIDED = """
[until_decided]
budget_s = 600
most_blocks = 9
"""


def test_a_study_may_go_on_until_decided_by_itself_or_when_told() -> None:
    text = STUDY.replace("own.sql", "readonly.sql")
    fixed, own = parse_study(text, where="x"), parse_study(text + UNTIL_DECIDED, where="x")
    assert fixed.until_decided is None
    assert fixed.laid_out_blocks == 2
    assert own.until_decided == UntilDecided(budget_s=600, most_blocks=9)
    assert own.laid_out_blocks == 9
    assert go_on_until_decided(fixed).until_decided == UntilDecided()
    told = go_on_until_decided(own, responses=["tps"], budget_s=60)
    assert told.until_decided == UntilDecided(budget_s=60, most_blocks=9, responses=("tps",))
    assert told.model_copy(update={"until_decided": None}) == fixed


def test_what_is_told_of_deciding_is_checked() -> None:
    study = parse_study(STUDY.replace("own.sql", "readonly.sql"), where="x")
    with pytest.raises(UsageError, match=r"^--until-decided: .*'speed' is no response; known"):
        go_on_until_decided(study, responses=["speed"])
    many = study.model_copy(update={"blocks": 300})
    with pytest.raises(UsageError, match=r"most_blocks = 200 is less than the 300 blocks"):
        go_on_until_decided(many)
    text = STUDY.replace("own.sql", "readonly.sql").replace("blocks = 2", "blocks = 20")
    with pytest.raises(UsageError, match="most_blocks = 9 is less than the 20 blocks"):
        parse_study(text + UNTIL_DECIDED, where="x")


def schema_accepts(document: dict[str, Any]) -> bool:
    validator = jsonschema.Draft202012Validator(study_json_schema())
    return bool(validator.is_valid(document))


def test_the_schema_is_plain_json_and_a_valid_schema() -> None:
    schema = study_json_schema()
    assert json.loads(json.dumps(schema)) == schema
    jsonschema.Draft202012Validator.check_schema(schema)


@pytest.mark.parametrize("name", catalog_names())
def test_the_schema_accepts_the_catalog(name: str) -> None:
    assert schema_accepts(load_study(name).model_dump(mode="json", exclude_none=True))


@pytest.mark.parametrize(
    "addition",
    [
        "",
        "reference = 2",
        'reference = "2"',
        'key = "data.scale"',
        'patch = { server = "npm:{level}" }',
    ],
)
def test_the_schema_accepts_what_the_loader_accepts(addition: str) -> None:
    text = STUDY.replace("own.sql", "readonly.sql") + addition + "\n"
    parse_study(text, where="x")
    assert schema_accepts(tomllib.loads(text))


@pytest.mark.parametrize(
    "override",
    [
        "blocks=0",
        "block=3",
        "margin=one",
        "title=Small",
        "setup.dat.scale=3",
        "setup.data.kind=tpch",
        "setup.load.protocol=fast",
        "setup.reset=never",
        "factor.clients.levels=[]",
        "factor.clients.levels={}",
        "factor.clients.level=1",
    ],
)
def test_the_schema_refuses_what_the_loader_refuses(override: str) -> None:
    from teiten.study.patching import apply_setting  # noqa: PLC0415 - only to make the mistake

    text = STUDY.replace("own.sql", "readonly.sql")
    with pytest.raises(UsageError):
        parse_study(text, where="x", overrides=[override])
    assert not schema_accepts(apply_setting(tomllib.loads(text), override))


def test_the_schema_lets_factors_provide_what_the_set_up_leaves_out() -> None:
    document = tomllib.loads(STUDY)
    del document["setup"]["server"]
    assert schema_accepts(document)


def test_the_load_knows_its_defaults() -> None:
    load = PgbenchLoad(kind="pgbench", script="x", duration_s=1)
    assert (load.warmup_s, load.protocol, load.threads) == (0, "simple", None)


def test_an_override_that_a_factor_patches_over_is_refused() -> None:
    with pytest.raises(UsageError, match=r"factor clients sets that key.*factor\.clients="):
        load_study("version-update", ["setup.clients=4"])


def test_an_override_beside_what_a_factor_patches_is_taken() -> None:
    study = load_study("demo", ["setup.load.duration_s=9"])
    levels = tuple(f.resolved_levels()[0] for f in study.factor)
    assert study.setup_of(levels).load.duration_s == 9


def test_a_level_that_names_its_own_number_is_that_number() -> None:
    clients = load_study("demo").factor[-1]
    assert [level.value for level in clients.resolved_levels()] == [1, 4]
    workload = load_study("demo").factor[1]
    assert [level.value for level in workload.resolved_levels()] == ["read", "update"]
