"""`teiten report` and `teiten runs`."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console
from rich.table import Table

from teiten.archive import list_runs, open_run
from teiten.archive.reader import find_run
from teiten.cli.options import DEFAULT_ARCHIVE, ArchiveOption, LanguageOption
from teiten.report import (
    build_report,
    print_terminal,
    to_markdown,
    write_csv,
    write_html,
    write_png,
)


class Format(StrEnum):
    """What `teiten report` writes."""

    HTML = "html"
    MD = "md"
    CSV = "csv"
    PNG = "png"


def report(
    run: Annotated[str, typer.Argument(help="A run folder, a run's name, or `latest`.")] = "latest",
    *,
    form: Annotated[
        Format,
        typer.Option("--format", help="html (one file), md (to stdout), csv or png (a folder)."),
    ] = Format.HTML,
    output: Annotated[
        Path | None,
        typer.Option(
            "--output", "-o", help="File or folder to write; by default in the run folder."
        ),
    ] = None,
    archive: ArchiveOption = DEFAULT_ARCHIVE,
    language: LanguageOption = "en",
) -> None:
    """Write the report of a run, and print it as tables."""
    folder = find_run(archive, run)
    document = build_report(open_run(folder), language=language)
    match form:
        case Format.HTML:
            path = output or folder / "report.html"
            write_html(document, path)
            print_terminal(document, Console())
            typer.echo(f"\nReport: {path}")
        case Format.MD:
            text = to_markdown(document)
            if output is None:
                typer.echo(text)
            else:
                output.write_text(text, encoding="utf-8")
        case Format.CSV:
            for path in write_csv(document, output or folder / "csv"):
                typer.echo(path)
        case Format.PNG:
            for path in write_png(document, output or folder / "png"):
                typer.echo(path)


def runs(*, archive: ArchiveOption = DEFAULT_ARCHIVE) -> None:
    """List the runs in the archive."""
    table = Table(box=None, pad_edge=False, header_style="bold")
    for heading in ("run", "study", "trials", "state"):
        table.add_column(heading)
    found = list_runs(archive)
    if not found:
        typer.echo(f"No runs in {archive}.")
        return
    for each in found:
        done, planned = len(each.journal.done_trials()), len(each.plan.trials)
        state = "complete" if done == planned else "can be resumed"
        table.add_row(each.name, each.study.text("title"), f"{done}/{planned}", state)
    Console().print(table)
