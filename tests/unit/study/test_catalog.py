"""The studies that ship: sound, and those of published reports as they were published.

Figures of `version-readonly` and `version-update` are those of the working group's reports of
2024 (16.6 and 17.2) and 2025 (17.7 and 18.1).
"""

from __future__ import annotations

from dataclasses import dataclass

import pytest

from teiten.plan import make_plan
from teiten.study import PgbenchData, Study, catalog_names, load_study

PUBLISHED_SETTINGS = {
    "max_connections": "2000",
    "shared_buffers": "40GB",
    "work_mem": "1GB",
    "maintenance_work_mem": "20GB",
    "checkpoint_timeout": "60min",
    "max_wal_size": "160GB",
    "logging_collector": "on",
    "log_checkpoints": "on",
    "log_lock_waits": "on",
    "autovacuum": "off",
}
# The read script as printed lacks the comma in random(); pgbench needs it.
PUBLISHED_READ_SCRIPT = r"""
\set naccounts 100000 * :scale
\set row_count 10000
\set aid_max :naccounts - :row_count
\set aid random(1, :aid_max)
SELECT count(abalance) FROM pgbench_accounts
   WHERE aid BETWEEN :aid and :aid + :row_count;
"""
PUBLISHED_UPDATE_SCRIPT = r"""
\set naccounts 100000 * :scale
\set aid_val random(1, :naccounts)
UPDATE pgbench_accounts
   SET filler=repeat(md5(current_timestamp::text),2)
   WHERE aid = :aid_val;
"""


def same_statements(script: str) -> list[str]:
    """A pgbench script without what means nothing: spaces, line ends within SQL, case."""
    sql = [x for x in script.strip().splitlines() if not x.startswith("\\")]
    meta = [x for x in script.strip().splitlines() if x.startswith("\\")]
    return ["".join(x.lower().split()) for x in [*meta, " ".join(sql)]]


@pytest.mark.parametrize("name", catalog_names())
def test_a_study_of_the_catalog_is_sound_and_bilingual(name: str) -> None:
    study = load_study(name)
    assert study.name == name
    assert study.text("title", "ja") != study.text("title", "en")
    assert study.text("question", "en").endswith("?")
    assert study.text("question", "ja") != study.text("question", "en")
    for factor in study.factor:
        assert {"en", "ja"} <= factor.title.keys()
    plan = make_plan(study)
    assert len(plan.trials) == study.blocks * len(plan.treatments)


@dataclass(frozen=True)
class Published:
    """One of the published comparisons."""

    study: str
    clients: list[str]
    reset: str
    fillfactor: int
    script: str
    script_text: str


PUBLISHED = [
    Published(
        study="version-readonly",
        clients=["1", "4", "8", "16", "32", "64", "128", "256"],
        reset="study",
        fillfactor=100,
        script="readonly.sql",
        script_text=PUBLISHED_READ_SCRIPT,
    ),
    Published(
        study="version-update",
        clients=["1", "16", "32", "64", "128", "256", "432", "512", "1024"],
        reset="trial",
        fillfactor=80,
        script="update.sql",
        script_text=PUBLISHED_UPDATE_SCRIPT,
    ),
]


@pytest.mark.parametrize("published", PUBLISHED, ids=lambda p: p.study)
@pytest.mark.parametrize("versions", [["17.7", "18.1"], ["16.6", "17.2"]])
def test_the_version_comparisons_are_as_published(
    published: Published, versions: list[str]
) -> None:
    study = load_study(published.study, [f"factor.version={','.join(versions)}"])
    assert study.blocks == 3
    version, client = study.factor
    assert version.labels == versions
    assert version.reference_label == versions[0]
    assert client.labels == published.clients
    script = study.scripts[published.script]
    assert same_statements(script) == same_statements(published.script_text)
    plan = make_plan(study)
    assert len(plan.treatments) == 2 * len(published.clients)
    for treatment in plan.treatments:
        setup = treatment.setup
        assert setup.server == f"npm:{treatment.levels['version']}"
        assert setup.clients == treatment.values["clients"]
        assert setup.guc_settings() == PUBLISHED_SETTINGS
        assert setup.data == PgbenchData(
            kind="pgbench", scale=2000, fillfactor=published.fillfactor
        )
        assert setup.load.script == published.script
        assert setup.reset == published.reset


def test_the_four_published_versions_are_one_run_that_keeps_its_reference() -> None:
    study = load_study("version-update", ["factor.version=16.6,17.2,17.7,18.1"])
    assert study.factor[0].reference_label == "17.7"
    assert len(make_plan(study).treatments) == 4 * 9


def test_a_full_size_study_shrinks_to_a_laptop_without_a_copy() -> None:
    full = load_study("version-readonly")
    small = load_study(
        "version-readonly",
        [
            "setup.data.scale=10",
            "factor.clients=1,2,4",
            "setup.load.duration_s=5",
            "setup.load.warmup_s=1",
            "setup.settings.shared_buffers=512MB",
            "blocks=2",
        ],
    )
    plan = make_plan(small)
    assert len(plan.trials) == 2 * 3 * 2
    setup = plan.treatments[0].setup
    assert setup.data.scale == 10
    assert (setup.load.duration_s, setup.load.warmup_s) == (5, 1)
    assert setup.guc_settings() == PUBLISHED_SETTINGS | {"shared_buffers": "512MB"}
    untouched = Study.model_fields.keys() - {"setup", "factor", "blocks"}
    assert all(getattr(small, key) == getattr(full, key) for key in untouched)
