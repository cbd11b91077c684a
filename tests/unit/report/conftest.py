from __future__ import annotations

import runpy
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from collections.abc import Callable

    from teiten.archive import Run

MADE_UP_RUN = Path(__file__).parent / "made_up_run.py"


@pytest.fixture(scope="session")
def make_run() -> Callable[..., Run]:
    make: Callable[..., Run] = runpy.run_path(str(MADE_UP_RUN))["made_up_run"]
    return make
