"""A CSV table as rows of text, each with its line, so that every mistake is told with its place.

Read by Python's `csv` and not by polars: where quoted fields span lines, or a row is short, polars
does not know the line.
"""

from __future__ import annotations

import csv
import io
from dataclasses import dataclass
from typing import TYPE_CHECKING

from teiten.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

SEPARATORS = {",": "comma", ";": "semicolon", "\t": "tab"}


@dataclass(frozen=True)
class Row:
    """The cells of a row, stripped, and the line on which it begins (the first is 1)."""

    line: int
    cells: tuple[str, ...]


@dataclass(frozen=True)
class Sheet:
    """A table; `where` names its file. Every row has a cell for each column of the header."""

    where: str
    header: tuple[str, ...]
    rows: tuple[Row, ...]

    def column(self, name: str) -> list[str]:
        """The cells of a column."""
        return [self.cell(row, name) for row in self.rows]

    def cell(self, row: Row, name: str) -> str:
        """One cell."""
        return row.cells[self.header.index(name)]

    def mistake(self, row: Row, column: str, sentence: str) -> UsageError:
        """The error that tells what is wrong in a cell."""
        return UsageError(f"{self.where}, line {row.line}, column {column}: {sentence}")


def read_sheet(content: bytes, where: str, wanted: Mapping[str, str]) -> Sheet:
    """Read a table that must have the columns `wanted` (each with the option that named it).

    Fields may be quoted, lines may end in CR LF, a byte order mark and blank rows are passed over.
    The separator is that of comma, semicolon and tab under which the header has most of the
    columns wanted.

    Raises:
        UsageError: it is not such a table.
    """
    text = _decoded(content, where)
    headers = {separator: _header(text, separator) for separator in SEPARATORS}
    separator = max(headers, key=lambda s: (len(wanted.keys() & set(headers[s])), len(headers[s])))
    rows = tuple(_rows(text, separator, where))
    if not rows:
        raise UsageError(
            f"{where} is empty: it needs a line with the names of the columns, then one row a "
            "trial."
        )
    header = rows[0].cells
    _refuse_columns(header, where, wanted)
    for row in rows[1:]:
        if len(row.cells) != len(header):
            raise UsageError(
                f"{where}, line {row.line}: {len(row.cells)} cells where the header has "
                f"{len(header)}; put one {SEPARATORS[separator]} between cells, and double quotes "
                "around a cell that holds one."
            )
    if len(rows) == 1:
        raise UsageError(f"{where} has a header but no rows: it needs one row a trial.")
    return Sheet(where, header, rows[1:])


def refuse_pasted_twice(sheet: Sheet) -> None:
    """Refuse a table in which two rows agree in every column.

    Raises:
        UsageError: there are such rows.
    """
    seen: dict[tuple[str, ...], int] = {}
    for row in sheet.rows:
        if row.cells in seen:
            raise UsageError(
                f"{sheet.where}, line {row.line}, is the same as line {seen[row.cells]} in every "
                "column: remove it if it was pasted twice; if it is a trial of its own, add a "
                "column that tells the trials apart, such as their number."
            )
        seen[row.cells] = row.line


def _refuse_columns(header: tuple[str, ...], where: str, wanted: Mapping[str, str]) -> None:
    for name, option in wanted.items():
        if name not in header:
            raise UsageError(
                f"{where} has no column {name}: name one of its columns "
                f"({', '.join(n for n in header if n)}) with {option}."
            )
        if header.count(name) > 1:
            raise UsageError(
                f"{where} has {header.count(name)} columns {name}: give each a name of its own."
            )


def _decoded(content: bytes, where: str) -> str:
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = content.count(b"\n", 0, error.start) + 1
        raise UsageError(
            f"{where}, line {line}, is not UTF-8: save the table as CSV in UTF-8."
        ) from error


def _header(text: str, separator: str) -> tuple[str, ...]:
    """The header under a separator; empty where the text cannot be read with it."""
    try:
        return next((row.cells for row in _rows(text, separator, "")), ())
    except UsageError:
        return ()


def _rows(text: str, separator: str, where: str) -> Iterator[Row]:
    """All rows that hold anything, with the line on which each begins."""
    reader = csv.reader(
        io.StringIO(text, newline=""), delimiter=separator, strict=True, skipinitialspace=True
    )
    line = 1
    while True:
        try:
            cells = next(reader)
        except StopIteration:
            return
        except csv.Error as error:
            raise UsageError(
                f"{where}, line {line}, cannot be read as CSV ({error}): look for a double quote "
                "that is not closed, and double those within a cell."
            ) from error
        stripped = tuple(cell.strip() for cell in cells)
        if any(stripped):
            yield Row(line, stripped)
        line = reader.line_num + 1
