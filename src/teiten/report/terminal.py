"""The report as tables on a terminal; plain text when the output is none."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rich import box
from rich.padding import Padding
from rich.table import Table as RichTable
from rich.text import Text

from teiten.report.document import Chart, Code, Items, Paragraph, Table

if TYPE_CHECKING:
    from rich.console import Console

    from teiten.report.document import Block, Report

_STYLES = {"better": "green", "worse": "red", "plain": ""}
_FEWEST_COLUMNS = 80


def print_terminal(report: Report, console: Console, *, brief: bool = False) -> None:
    """Print the report; `brief` prints the verdict and the ratios alone."""
    if not console.is_terminal and console.width < _FEWEST_COLUMNS:
        console.width = _FEWEST_COLUMNS
    console.print(Text(report.title, style="bold"))
    console.print(Text(report.subtitle, style="dim"))
    if report.question:
        console.print(Text(report.question))
    for section in report.sections:
        if brief and not section.brief:
            continue
        console.print()
        console.rule(Text(section.title, style="bold"), align="left", characters="─")
        for block in section.blocks:
            if not (brief and isinstance(block, Table) and not block.brief):
                _print_block(block, console)


def _print_block(block: Block, console: Console) -> None:
    match block:
        case Paragraph(text=text, role="verdict", tone=tone):
            console.print(Text(text, style=f"bold {_STYLES[tone]}".strip()))
        case Paragraph(text=text, role=role):
            console.print(Text(text, style="dim" if role == "note" else ""))
        case Items(sentences=sentences):
            for sentence in sentences:
                console.print(Padding(Text(f"- {sentence}"), (0, 0, 0, 1)))
        case Code(title=title, text=text, folded=False):
            console.print(Text(f"\n{title}"))
            console.print(Padding(Text(text), (0, 0, 0, 4)))
        case Table():
            _print_table(block, console)
        case Chart() | Code():
            pass  # its figures are printed as the table that follows it


def _print_table(table: Table, console: Console) -> None:
    grid = RichTable(
        title=Text(table.title, style="bold"),
        title_justify="left",
        caption=Text(table.note, style="dim") if table.note else None,
        caption_justify="left",
        box=box.SIMPLE_HEAD,
        pad_edge=False,
        show_edge=False,
    )
    for head, numeric in zip(table.header, table.numeric, strict=True):
        grid.add_column(Text(head), justify="right" if numeric else "left", overflow="fold")
    for row in table.rows:
        grid.add_row(*(Text(cell.text, style=_STYLES[cell.tone]) for cell in row))
    console.print()
    console.print(grid)
