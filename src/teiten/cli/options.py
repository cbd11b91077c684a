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

UntilDecidedOption = Annotated[
    bool,
    typer.Option(
        "--until-decided",
        help="Add blocks until every asked contrast is decided, or the budget is spent. The error "
        "rates hold however often one looks.",
    ),
]

BudgetOption = Annotated[
    str | None,
    typer.Option(
        "--budget",
        metavar="TIME",
        help="With --until-decided: wall time for the whole run, such as 2h (the default), 90m or "
        "45s. With --resume: a new budget, counted from the beginning of the run.",
    ),
]

DecideOnOption = Annotated[
    list[str] | None,
    typer.Option(
        "--decide-on",
        metavar="RESPONSE",
        help="With --until-decided: a response that is to be decided; may be given several times. "
        "By default tps and, where they were recorded, counted instructions.",
    ),
]
