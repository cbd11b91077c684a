"""`teiten run` and `teiten compare`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

import typer

from teiten.archive import open_run
from teiten.archive.reader import find_run
from teiten.cli.console import result_console
from teiten.cli.options import (
    DEFAULT_ARCHIVE,
    ArchiveOption,
    BudgetOption,
    DecideOnOption,
    LanguageOption,
    SetOption,
    UntilDecidedOption,
)
from teiten.cli.progress import shown_progress
from teiten.durations import duration_s
from teiten.errors import UsageError
from teiten.report import build_report, print_terminal, write_html
from teiten.run.executor import resume_run, start_run
from teiten.study import Study, go_on_until_decided, load_study
from teiten.study.comparing import between, refuse_own_keys


def run(
    study: Annotated[
        str | None, typer.Argument(help="A study of the catalogue, or a study file.")
    ] = None,
    *,
    overrides: SetOption = None,
    resume: Annotated[
        str | None,
        typer.Option(metavar="RUN", help="Go on with a run that was cut off (or `latest`)."),
    ] = None,
    until_decided: UntilDecidedOption = False,
    budget: BudgetOption = None,
    decide_on: DecideOnOption = None,
    archive: ArchiveOption = DEFAULT_ARCHIVE,
    language: LanguageOption = "en",
) -> None:
    """Run a study on real servers, write its report and print it."""
    if (study is None) == (resume is None):
        raise UsageError("Name either a study to run or, with --resume, a run to go on with.")
    if resume is not None:
        fixed = {"--set": overrides, "--until-decided": until_decided, "--decide-on": decide_on}
        if given := [option for option, value in fixed.items() if value]:
            raise UsageError(f"{given[0]} cannot change a run that has begun: leave it out.")
        budget_s = None if budget is None else duration_s(budget)
        folder = find_run(archive, resume)
        with shown_progress() as progress:
            resume_run(folder, progress, budget_s=budget_s)
    else:
        assert study is not None  # noqa: S101 - checked above
        asked = load_study(study, overrides or ())
        asked = _until_decided(asked, budget, decide_on, wanted=until_decided)
        with shown_progress() as progress:
            folder = start_run(asked, archive, progress)
    _conclude(folder, language)


def compare(
    reference: Annotated[
        str, typer.Argument(metavar="A", help="The reference: a version or a server source.")
    ],
    other: Annotated[str, typer.Argument(metavar="B", help="The server to compare with it.")],
    *,
    overrides: SetOption = None,
    until_decided: UntilDecidedOption = False,
    budget: BudgetOption = None,
    decide_on: DecideOnOption = None,
    archive: ArchiveOption = DEFAULT_ARCHIVE,
    language: LanguageOption = "en",
) -> None:
    """Compare two servers in a few minutes: reads and updates, few clients, verdict table.

    A and B are versions (17.7) or servers from anywhere (npm:17.7, system:15, prefix:/opt/pg).
    The same server twice shows what this host's noise alone looks like.
    """
    refuse_own_keys(overrides or ())
    study = between(load_study("demo", overrides or ()), [reference, other])
    study = _until_decided(study, budget, decide_on, wanted=until_decided)
    with shown_progress() as progress:
        folder = start_run(study, archive, progress)
    _conclude(folder, language)


def _until_decided(
    study: Study, budget: str | None, decide_on: list[str] | None, *, wanted: bool
) -> Study:
    """Let the study go on until decided, where that is wanted or the study says so itself."""
    if not wanted and study.until_decided is None:
        for option, value in {"--budget": budget, "--decide-on": decide_on}.items():
            if value is not None:
                raise UsageError(f"{option} has no effect without --until-decided: give both.")
        return study
    return go_on_until_decided(
        study,
        budget_s=None if budget is None else duration_s(budget),
        responses=decide_on or (),
    )


def _conclude(folder: Path, language: Literal["en", "ja"]) -> None:
    """Write the report into the run folder and print it."""
    finished = open_run(folder)
    document = build_report(finished, language=language)
    path = folder / "report.html"
    write_html(document, path)
    print_terminal(document, result_console(), brief=True)
    typer.echo(f"\nReport: {path}")
