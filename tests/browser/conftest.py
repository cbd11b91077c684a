from __future__ import annotations

import os
import runpy
import shutil
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from playwright.sync_api import sync_playwright

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from playwright.sync_api import Browser

    from teiten.archive import Run

MADE_UP_RUN = Path(__file__).parents[1] / "unit" / "report" / "made_up_run.py"


@pytest.fixture(scope="session")
def make_run() -> Callable[..., Run]:
    make: Callable[..., Run] = runpy.run_path(str(MADE_UP_RUN))["made_up_run"]
    return make


@pytest.fixture(scope="session")
def browser() -> Iterator[Browser]:
    chromium = shutil.which("chromium") or shutil.which("chromium-browser")
    if chromium is None:
        pytest.skip("Chromium is not installed")
    arguments = ["--no-sandbox"] if os.geteuid() == 0 else []
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium, args=arguments)
        yield browser
        browser.close()
