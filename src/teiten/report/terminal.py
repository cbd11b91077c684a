"""The report as tables on a terminal; plain text when the output is none."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from rich import box
from rich.cells import cell_len
from rich.padding import Padding
from rich.table import Table as RichTable
from rich.text import Text

from teiten.report.document import Chart, Code, Items, Paragraph, Table

if TYPE_CHECKING:
    from rich.console import Console, JustifyMethod

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
    texts = fitted(table, console.width)
    heads = list(table.header)
    if not _figures_fit(table, heads, texts, console.width):
        heads = _broken_heads(table)
    whole = _figures_fit(table, heads, texts, console.width)
    for head, numeric in zip(heads, table.numeric, strict=True):
        justify: JustifyMethod = "right" if numeric else "left"
        grid.add_column(Text(head), justify=justify, overflow="fold", no_wrap=numeric and whole)
    for row, words in zip(table.rows, texts, strict=True):
        grid.add_row(*(Text(t, style=_STYLES[c.tone]) for c, t in zip(row, words, strict=True)))
    console.print()
    console.print(grid)


def fitted(table: Table, width: int) -> list[list[str]]:
    """The cells' texts in the fullest form that fits: ranges beside, below, or left out.

    A figure is never broken over two lines; words in the other columns are.
    """
    whole = [[cell.marked_text for cell in row] for row in table.rows]
    forms = (
        whole,
        [[_BRACKETS.sub(r"\n\1", text) for text in row] for row in whole],
        [[_BRACKETS.sub("", text) for text in row] for row in whole],
    )
    heads = _broken_heads(table)
    return next((form for form in forms if _figures_fit(table, heads, form, width)), forms[-1])


_BRACKETS = re.compile(r"\s(\([^()]* … [^()]*\))$")
_GAP = 3  # padding on both sides, and the space between columns


def _figures_fit(table: Table, heads: list[str], rows: list[list[str]], width: int) -> bool:
    """Whether every figure fits on its line, when words are broken as far as they can be."""
    needed = 0
    for column, numeric in enumerate(table.numeric):
        texts = [heads[column], *(row[column] for row in rows)]
        parts = [part for t in texts for part in (t.split("\n") if numeric else t.split())]
        needed += _GAP + max(map(cell_len, parts), default=0)
    return needed <= width


def _broken_heads(table: Table) -> list[str]:
    """The header with "18.1 / 17.7" on two lines above its figures."""
    return [
        head.replace(" / ", " /\n") if numeric else head
        for head, numeric in zip(table.header, table.numeric, strict=True)
    ]
