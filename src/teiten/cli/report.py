"""`teiten report` and `teiten runs`."""

from __future__ import annotations

from datetime import UTC, datetime
from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console
from rich.table import Table
from rich.text import Text

from teiten.archive import RunSummary, list_runs, open_run
from teiten.archive.reader import find_run
from teiten.cli.console import result_console
from teiten.cli.options import DEFAULT_ARCHIVE, ArchiveOption, LanguageOption
from teiten.errors import TeitenError, UsageError
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
    opened = open_run(folder)
    if not opened.records:
        raise UsageError(
            f"Run {folder} has no complete trial to report on: go on with it by "
            f"`teiten run --resume {folder}`."
        )
    document = build_report(opened, language=language)
    match form:
        case Format.HTML:
            path = output or folder / "report.html"
            write_html(document, path)
            print_terminal(document, result_console())
            typer.echo(f"\nReport: {path}")
        case Format.MD:
            text = to_markdown(document)
            if output is None:
                typer.echo(text)
            else:
                try:
                    output.write_text(text, encoding="utf-8")
                except OSError as error:
                    raise TeitenError(
                        f"Cannot write the report to {output}: {error.strerror}; choose another "
                        "file with --output."
                    ) from error
        case Format.CSV:
            for path in write_csv(document, output or folder / "csv"):
                typer.echo(path)
        case Format.PNG:
            for path in write_png(document, output or folder / "png"):
                typer.echo(path)


def runs(*, archive: ArchiveOption = DEFAULT_ARCHIVE) -> None:
    """List the runs in the archive: when they began (UTC), trials done and flagged, state."""
    found = list_runs(archive)
    if not found:
        typer.echo(f"No runs in {archive}.")
        return
    table = Table(box=None, pad_edge=False, header_style="bold")
    for heading in ("run", "study", "began (UTC)", "trials", "flagged", "state"):
        table.add_column(heading, no_wrap=heading != "study")
    for each in found:
        title = each.title or {}
        table.add_row(
            each.name,
            Text(title.get("en", "")),
            "" if each.began_at_s is None else _minute(each.began_at_s),
            "" if each.done is None else _trials(each),
            "" if each.flagged is None else str(each.flagged),
            _state(each),
        )
    result_console().print(table)
    problems = [each.problem for each in found if each.problem is not None]
    if problems:
        Console(soft_wrap=True, highlight=False).print("", *problems, sep="\n", markup=False)


def _trials(run: RunSummary) -> str:
    return f"{run.done}" if run.may_end_earlier else f"{run.done}/{run.planned}"


def _state(run: RunSummary) -> str:
    if run.stop is None:
        return run.state
    return f"{run.state}: {run.stop.reason} after {run.stop.blocks} blocks"


def _minute(at_s: float) -> str:
    return datetime.fromtimestamp(at_s, tz=UTC).strftime("%Y-%m-%d %H:%M")
