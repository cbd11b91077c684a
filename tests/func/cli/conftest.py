"""The command as a user has it, on run folders whose numbers are made up."""

from __future__ import annotations

import os
import runpy
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from collections.abc import Callable

    from teiten.archive import Run

MADE_UP_RUN = Path(__file__).parents[2] / "unit" / "report" / "made_up_run.py"
_ALL_POWERFUL = "-dac_override,-dac_read_search,-fowner"


@dataclass(frozen=True)
class Command:
    """`teiten` on one archive, by a user who is bound by the modes of files, as root is not."""

    archive: Path

    def __call__(
        self, *words: str, stdin: str = "", stdout: int | None = None
    ) -> subprocess.CompletedProcess[str]:
        bound = ["setpriv", f"--bounding-set={_ALL_POWERFUL}"] if os.geteuid() == 0 else []
        return subprocess.run(
            [*bound, sys.executable, "-m", "teiten", *words],
            env={**os.environ, "TEITEN_ARCHIVE": str(self.archive), "COLUMNS": "200"},
            input=stdin,
            stdout=subprocess.PIPE if stdout is None else stdout,
            stderr=subprocess.PIPE,
            text=True,
            timeout=120,
            check=False,
        )


@pytest.fixture
def teiten(tmp_path: Path) -> Command:
    if os.geteuid() == 0 and shutil.which("setpriv") is None:
        pytest.skip("root without setpriv (util-linux) may read and write everything")
    return Command(tmp_path / "runs")


@pytest.fixture(scope="session")
def make_run() -> Callable[..., Run]:
    make: Callable[..., Run] = runpy.run_path(str(MADE_UP_RUN))["made_up_run"]
    return make
