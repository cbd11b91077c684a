"""How long warm-up and measurement go on: for a time, or for a number of transactions."""

from __future__ import annotations

import pytest

from teiten.run.session import measured_limit, warm_up_limit
from teiten.study import PgbenchLoad


@pytest.mark.parametrize(
    ("keys", "warm_up", "measured"),
    [
        ({"duration_s": 20, "warmup_s": 5}, "--time=5", "--time=20"),
        (
            {"duration_s": 20, "warmup_s": 5, "transactions_per_client": 1000},
            "--transactions=250",
            "--transactions=1000",
        ),
        (
            {"duration_s": 600, "warmup_s": 1, "transactions_per_client": 10},
            "--transactions=1",
            "--transactions=10",
        ),
    ],
)
def test_the_warm_up_is_limited_as_the_measurement_is(
    keys: dict[str, int], warm_up: str, measured: str
) -> None:
    load = PgbenchLoad.model_validate({"kind": "pgbench", "script": "update.sql", **keys})
    assert (warm_up_limit(load), measured_limit(load)) == ((warm_up,), (measured,))
