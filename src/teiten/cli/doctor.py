"""`teiten doctor`."""

from __future__ import annotations

import typer
from rich.table import Table
from rich.text import Text

from teiten.cli.console import result_console
from teiten.doctor import diagnose, examine

_STYLE = {"good": "green", "caution": "yellow", "bad": "bold red"}


def doctor() -> None:
    """Tell whether this host is fit to measure on, and what to do where it is not.

    Exits with status 1 when something is bad.
    """
    findings = diagnose(examine())
    table = Table(box=None, pad_edge=False, show_header=False)
    for finding in findings:
        said = Text(finding.found)
        if finding.advice:
            said.append(f"\n{finding.advice}", style="italic")
        table.add_row(finding.topic, Text(finding.status, style=_STYLE[finding.status]), said)
    result_console().print(table)
    if any(f.status == "bad" for f in findings):
        raise typer.Exit(1)
