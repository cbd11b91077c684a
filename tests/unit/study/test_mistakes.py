"""Every mistake in a study is one sentence that names file, key, value and what is allowed."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from teiten.errors import UsageError
from teiten.study import load_study, parse_study

if TYPE_CHECKING:
    from pathlib import Path

STUDY = """
name = "small"
title = { en = "Small" }
blocks = 2
seed = 1
[setup]
server = "npm:18.1"
[setup.settings]
work_mem = "64MB"
[setup.data]
kind = "pgbench"
scale = 3
[setup.load]
kind = "pgbench"
script = "readonly.sql"
duration_s = 5
[[factor]]
name = "clients"
levels = [1, 2]
"""


def told(text: str, *overrides: str) -> str:
    """The sentence about a study that has a mistake."""
    with pytest.raises(UsageError) as caught:
        parse_study(text, where="my.toml", overrides=overrides)
    return str(caught.value)


def assert_is_one_sentence(sentence: str, *, where: str = "my.toml") -> None:
    assert sentence.startswith(f"{where}: ")
    assert sentence.endswith(".")
    assert not sentence.endswith("..")
    assert re.fullmatch(r"[^\r\n]+", sentence)
    # A full stop before a capital would begin a second sentence.
    assert not re.search(r"\.\)?\s+\(?[A-Z]", sentence)
    for jargon in ("[type=", "http", "pydantic", "dict[", "list[", "union", "Input ", "tuple"):
        assert jargon not in sentence


MISTAKES = [
    # a mistake of each kind: what is set, the key told, what is told of it
    ("blocks=many", "blocks", ['"many"', "a whole number"]),
    ("blocks=0", "blocks", ["= 0 ", "greater than or equal to 1"]),
    ("blocks=1.5", "blocks", ["1.5", "a whole number"]),
    ("seed=-1", "seed", ["-1", "greater than or equal to 0"]),
    ("name='My study'", "name", ['"My study"', "^[a-z0-9][a-z0-9-]*$"]),
    ("title='Small'", "title", ['"Small"', "a table"]),
    ("title={ja='小'}", "title", ["English", "title = { en ="]),
    ("margin=one", "margin", ['"one"', '"1%"']),
    ("margin=1.2.3%", "margin", ['"1.2.3%"', "percentage"]),
    ("margin=0%", "margin", ["greater than 0"]),
    ("responses=tps", "responses", ["a list"]),
    ("responses=['speed']", "responses", ["'speed'", "tps", "latency_mean_ms"]),
    ("until_decided=true", "until_decided", ["a table"]),
    ("until_decided.budget_s=0", "until_decided.budget_s", ["= 0 ", "greater than 0"]),
    ("until_decided.budget=9", "until_decided.budget", ["is not known", "budget_s, responses"]),
    ("until_decided.responses=['speed']", "until_decided.responses", ["'speed'", "tps"]),
    ("until_decided.most_blocks=1", "until_decided.most_blocks", ["= 1 ", "equal to 2"]),
    ("block=3", "block", ["is not known", "blocks"]),
    ("scripts.x=3", "scripts.x", ["= 3 ", "text in quotes"]),
    ("setup=3", "setup", ["a table"]),
    ("setup.server=17.7", "setup.server", ["17.7", "text in quotes"]),
    ("setup.prewarm=maybe", "setup.prewarm", ['"maybe"', "true or false"]),
    ("setup.reset=never", "setup.reset", ['"never"', "'trial', 'block' or 'study'"]),
    ("setup.observe=sysstat", "setup.observe", ['"sysstat"', "a list"]),
    ("setup.observe=['sar']", "setup.observe.0", ['"sar"', "'sysstat'", "'pgstat'"]),
    ("setup.initdb=-k", "setup.initdb", ['"-k"', "a list"]),
    ("setup.dat.scale=3", "setup.dat", ["is not known", "server, initdb, settings, data"]),
    ("setup.data.scal=3", "setup.data.scal", ["is not known", "kind, scale, fillfactor"]),
    ("setup.data.scale=big", "setup.data.scale", ['"big"', "a whole number"]),
    ("setup.data.fillfactor=5", "setup.data.fillfactor", ["= 5 ", "greater than or equal to 10"]),
    ("setup.data.kind=tpch", "setup.data.kind", ['"tpch"', "'pgbench' or 'existing'"]),
    ("setup.data={scale=3}", "setup.data.kind", ["is missing"]),
    ("setup.load.kind=sql", "setup.load.kind", ['"sql"', "'pgbench'"]),
    ("setup.load.duration=3", "setup.load.duration", ["is not known", "script, duration_s"]),
    ("setup.load.duration_s=0", "setup.load.duration_s", ["= 0 "]),
    ("setup.load.duration_s=nan", "setup.load.duration_s", ["number"]),
    ("setup.load.protocol=fast", "setup.load.protocol", ["'simple', 'extended' or 'prepared'"]),
    ("setup.load={kind='pgbench',duration_s=1}", "setup.load.script", ["is missing"]),
    ("setup.load.script=x.sql", "setup.load.script", ['"x.sql"', "readonly.sql, update.sql"]),
    (
        "setup.settings.work_mem=[1]",
        "setup.settings.work_mem",
        ["[1]", "true or false, a number or text in quotes"],
    ),
    ("setup.settings.auto_explain.x=1", "setup.settings.auto_explain", ["a number or text"]),
    ('setup.settings."auto_explain.x"=[]', 'setup.settings."auto_explain.x"', ["= [] "]),
    ("factor.clients.level=3", "factor.clients.level", ["is not known", "name, title, reference"]),
    ("factor.clients.levels=3", "factor.clients.levels", ["= 3 ", "a table or a list"]),
    ("factor.clients.levels=[]", "factor.clients.levels", ["empty"]),
    ("factor.clients.levels=[[1]]", "factor.clients.levels.0", ["[1]", "a number or text"]),
    ("factor.clients.levels={a=3}", "factor.clients.levels.a", ["= 3 ", "a table"]),
    ("factor.clients=1,1", "factor.clients", ["repeat", "1, 1"]),
    ("factor.clients.reference=7", "factor.clients", ["reference '7'", "(1, 2)"]),
    ("factor.clients.name=Clients", "factor.Clients.name", ['"Clients"', "^[a-z]"]),
]


@pytest.mark.parametrize(("override", "key", "words"), MISTAKES, ids=[m[0] for m in MISTAKES])
def test_a_mistake_is_told_with_file_key_value_and_what_is_allowed(
    override: str, key: str, words: list[str]
) -> None:
    sentence = told(STUDY, override)
    assert_is_one_sentence(sentence)
    assert re.match(rf"my\.toml: key {re.escape(key)}[ :]", sentence)
    for word in words:
        assert word in sentence
    assert "more" not in sentence  # one mistake is counted once


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", ["key name is missing (and 5 more)"]),
        ("name = ", ["not valid TOML", "end of document"]),
        ("name = 'a\n'", ["not valid TOML", "line 1"]),
        (STUDY.replace("[[factor]]", "[factor]"), ["key factor ", "[[factor]]"]),
        (STUDY + '"a\\nb" = 1\n', ['key factor.clients."a\\nb" is not known']),
        (STUDY + "[[factor]]\nname = 'clients'\nlevels = [3]\n", ["two factors", "clients"]),
        (STUDY + "[[factor]]\nlevels = [3]\n", ["key factor.1.name is missing"]),
        (STUDY.replace('server = "npm:18.1"', ""), ["key setup.server is missing"]),
    ],
)
def test_a_text_that_is_no_study_is_told_in_one_sentence(text: str, words: list[str]) -> None:
    sentence = told(text)
    assert_is_one_sentence(sentence)
    for word in words:
        assert word in sentence


def test_several_mistakes_are_counted() -> None:
    sentence = told(STUDY, "blocks=0", "seed=-1", "factor.clients.levels=[[1], [2]]")
    assert sentence.startswith("my.toml: key blocks = 0 ")
    assert sentence.endswith(" (and 3 more).")
    assert_is_one_sentence(sentence)


def test_a_mistake_in_a_level_names_the_treatment_and_one_in_the_set_up_does_not() -> None:
    in_level = told(STUDY, "factor.clients=1,-2")
    assert_is_one_sentence(in_level)
    assert in_level.startswith("my.toml: key setup.clients = -2 cannot be used")
    assert in_level.endswith("(in the treatment clients=-2).")
    assert "treatment" not in told(STUDY, "setup.data.scale=0")


@settings(deadline=None)
@given(
    st.sampled_from(
        ["blocks", "title", "margin", "responses", "setup", "factor.clients.levels"]
        + [f"setup.{key}" for key in ("server", "data", "load", "settings", "observe", "clients")]
    ),
    st.sampled_from(
        [
            *("0", "-1", "1.5", "inf", "nan", "true", "''", '"a\\nb"', "[]", "[[]]", "[{}]", "{}"),
            *("{a={}}", "{kind=1}", "{kind='pgbench',x=[]}", "1979-05-27", "07:32:00"),
            "'[type=x]'",
        ]
    ),
)
def test_whatever_value_is_put_anywhere_is_accepted_or_told_on_one_line(
    key: str, value: str
) -> None:
    try:
        parse_study(STUDY, where="my.toml", overrides=[f"{key}={value}"])
    except UsageError as error:
        sentence = str(error)
        assert sentence.startswith(("my.toml: ", "--set "))
        assert sentence.endswith(".")
        assert "\n" not in sentence


def test_an_unknown_study_is_told_with_those_there_are() -> None:
    with pytest.raises(UsageError) as caught:
        load_study("version-readnoly")
    sentence = str(caught.value)
    assert "'version-readnoly'" in sentence
    assert "version-readonly" in sentence
    assert "version-update" in sentence
    assert "\n" not in sentence


def test_a_file_in_another_encoding_is_told_and_not_a_traceback(tmp_path: Path) -> None:
    path = tmp_path / "sjis.toml"
    path.write_bytes(STUDY.replace('en = "Small"', 'en = "Small", ja = "定点観測"').encode("cp932"))
    with pytest.raises(UsageError) as caught:
        load_study(str(path))
    assert str(caught.value) == f"{path} is not UTF-8 text: save it in that encoding."


def test_a_script_in_another_encoding_is_told_with_its_key(tmp_path: Path) -> None:
    (tmp_path / "own.sql").write_bytes("SELECT '定点';".encode("euc_jp"))
    (tmp_path / "my.toml").write_text(STUDY, encoding="utf-8")
    with pytest.raises(UsageError, match=r"key setup\.load\.script: own\.sql is not UTF-8"):
        load_study(str(tmp_path / "my.toml"), ["setup.load.script=own.sql"])
