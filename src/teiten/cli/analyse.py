"""`teiten analyse`."""

from __future__ import annotations

import io
import json
import sys
from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console

from teiten.analysis.document import analysis_document
from teiten.analysis.measurements import Measurements, TableColumns, read_measurements
from teiten.cli.console import PLAIN_COLUMNS, result_console
from teiten.cli.options import LanguageOption
from teiten.errors import TeitenError, UsageError
from teiten.report import print_terminal, to_markdown
from teiten.report.analysis_report import build_analysis_report
from teiten.stats.art_analysis import analyse_art
from teiten.stats.design import NotAnalysableError
from teiten.stats.results import ArtAnalysis

_STANDARD_INPUT = "-"


class Format(StrEnum):
    """What `teiten analyse` writes."""

    TEXT = "text"
    MD = "md"
    JSON = "json"


def analyse(
    file: Annotated[
        str,
        typer.Argument(
            metavar="FILE.csv", help="One row a trial, with a header; - reads standard input."
        ),
    ],
    *,
    factor: Annotated[
        list[str],
        typer.Option(
            "--factor",
            metavar="COLUMN",
            help="A factor. May be given several times; the levels of the first are compared "
            "within those of the others.",
        ),
    ],
    response: Annotated[
        list[str],
        typer.Option(
            "--response",
            metavar="COLUMN",
            help="What was measured; a trial whose cell is empty or NA is lost. May be given "
            "several times.",
        ),
    ],
    block: Annotated[
        str,
        typer.Option("--block", metavar="COLUMN", help="The pass over all treatments."),
    ] = "block",
    reference: Annotated[
        str | None,
        typer.Option(
            "--reference",
            metavar="LEVEL",
            help="The level of the first factor that stands first; by default the lowest.",
        ),
    ] = None,
    form: Annotated[
        Format,
        typer.Option(
            "--format",
            help="text (tables), md, or json (all figures; a list where there are several "
            "responses).",
        ),
    ] = Format.TEXT,
    output: Annotated[
        Path | None,
        typer.Option("--output", "-o", help="File to write; by default standard output."),
    ] = None,
    language: LanguageOption = "en",
) -> None:
    """Analyse measurements made anywhere: aligned ranks, mixed model, post-hoc contrasts."""
    where = "Standard input" if file == _STANDARD_INPUT else file
    columns = TableColumns(block, tuple(factor), tuple(response), reference)
    measured = read_measurements(_content(file), where, columns)
    analysed = [(each, _analysed(each, where)) for each in measured]
    if form is Format.JSON:
        documents = [
            {"response": each.response, **analysis_document(analysis, each.response)}
            for each, analysis in analysed
        ]
        _write(json.dumps(documents[0] if len(documents) == 1 else documents, indent=1), output)
        return
    document = build_analysis_report(where, analysed, language)
    if form is Format.MD:
        _write(to_markdown(document).rstrip("\n"), output)
    elif output is None:
        print_terminal(document, result_console())
    else:
        text = io.StringIO()
        print_terminal(document, Console(file=text, width=PLAIN_COLUMNS))
        _write(text.getvalue().rstrip("\n"), output)


def _analysed(measurements: Measurements, where: str) -> ArtAnalysis:
    try:
        return analyse_art(measurements.observations)
    except NotAnalysableError as error:
        raise UsageError(f"{where}, column {measurements.response}: {error}.") from error


def _content(file: str) -> bytes:
    if file == _STANDARD_INPUT:
        return sys.stdin.buffer.read()
    try:
        return Path(file).read_bytes()
    except OSError as error:
        raise UsageError(
            f"Cannot read {file}: {error.strerror}; name a CSV file with one row a trial, or - "
            "for standard input."
        ) from error


def _write(text: str, output: Path | None) -> None:
    if output is None:
        typer.echo(text)
        return
    try:
        output.write_text(f"{text}\n", encoding="utf-8")
    except OSError as error:
        raise TeitenError(
            f"Cannot write the analysis to {output}: {error.strerror}; choose another file with "
            "--output."
        ) from error
