"""Options that several commands share."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

import typer

ArchiveOption = Annotated[
    Path,
    typer.Option(
        "--archive",
        envvar="TEITEN_ARCHIVE",
        help="The folder that holds the runs.",
    ),
]
DEFAULT_ARCHIVE = Path("teiten-runs")

SetOption = Annotated[
    list[str] | None,
    typer.Option(
        "--set",
        metavar="KEY=VALUE",
        help="Override any key of the study, such as setup.data.scale=10, factor.clients=1,4 or "
        "blocks=2. May be given several times.",
    ),
]

LanguageOption = Annotated[
    Literal["en", "ja"],
    typer.Option("--lang", envvar="TEITEN_LANG", help="Language of the report."),
]
