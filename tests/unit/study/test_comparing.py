"""Naming the servers to compare."""

from __future__ import annotations

import pytest

from teiten.plan import make_plan
from teiten.study import load_study
from teiten.study.comparing import between


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
    before = load_study("compare")
    study = between(before, servers)
    version = study.factor[0]
    assert version.labels == labels
    assert version.reference_label == labels[0]
    assert study.factor[1:] == before.factor[1:]
    plan = make_plan(study)
    found = {t.levels["version"]: t.setup.server for t in plan.treatments}
    assert found == dict(zip(labels, sources, strict=True))
