"""Naming the servers to compare."""

from __future__ import annotations

import pytest

from teiten.errors import UsageError
from teiten.plan import make_plan
from teiten.study import load_study
from teiten.study.comparing import between, refuse_own_keys


@pytest.mark.parametrize(
    ("servers", "labels", "sources"),
    [
        (["17.7", "18.1"], ["17.7", "18.1"], ["npm:17.7", "npm:18.1"]),
        (["system:15", "npm:18.1"], ["system:15", "18.1"], ["system:15", "npm:18.1"]),
        (["prefix:/opt/pg", "17.7"], ["prefix:/opt/pg", "17.7"], ["prefix:/opt/pg", "npm:17.7"]),
        # the same server twice measures the noise of the host
        (["17.7", "17.7"], ["17.7 A", "17.7 B"], ["npm:17.7", "npm:17.7"]),
        (["17.7", "npm:17.7"], ["17.7 A", "17.7 B"], ["npm:17.7", "npm:17.7"]),
    ],
)
def test_the_first_server_is_the_reference_and_all_are_run(
    servers: list[str], labels: list[str], sources: list[str]
) -> None:
    before = load_study("demo")
    study = between(before, servers)
    version = study.factor[0]
    assert version.labels == labels
    assert version.reference_label == labels[0]
    assert study.factor[1:] == before.factor[1:]
    plan = make_plan(study)
    found = {t.levels["version"]: t.setup.server for t in plan.treatments}
    assert found == dict(zip(labels, sources, strict=True))


@pytest.mark.parametrize("language", ["en", "ja"])
def test_its_words_name_the_servers_and_not_those_of_the_study(language: str) -> None:
    study = between(load_study("demo"), ["system:15", "16.6"])
    assert study.name == "compare"
    for words in (study.text("title", language), study.text("question", language)):
        assert "system:15" in words
        assert "16.6" in words
        assert "18.1" not in words
        assert words.isascii() == (language == "en")


@pytest.mark.parametrize(
    "assignment",
    [
        "factor.version=17.7,18.1",
        'factor."version"=17.7',
        "factor.version.reference=18.1",
        "title.en=Mine",
        "name=mine",
    ],
)
def test_what_the_servers_decide_cannot_be_set(assignment: str) -> None:
    with pytest.raises(UsageError, match="has no effect") as caught:
        refuse_own_keys(["blocks=1", assignment])
    assert assignment in str(caught.value)


def test_everything_else_can_be_set() -> None:
    refuse_own_keys(["blocks=1", "factor.clients=1", "setup.data.scale=1", "margin=2%"])
