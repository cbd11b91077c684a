"""The report as typed values: what every exporter renders, and nothing that knows a format."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    import polars as pl

Language = Literal["en", "ja"]
Tone = Literal["better", "worse", "plain"]
FRAME_MARK = "*"


@dataclass(frozen=True)
class Paragraph:
    """Plain text. A verdict is what a reader in a hurry reads; a note is small print."""

    text: str
    role: Literal["text", "verdict", "note"] = "text"
    tone: Tone = "plain"


@dataclass(frozen=True)
class Items:
    """A list of sentences."""

    sentences: tuple[str, ...]


@dataclass(frozen=True)
class Code:
    """Text to be copied as it is. With `folded`, shown only on request where that is possible."""

    title: str
    text: str
    folded: bool = False


@dataclass(frozen=True)
class Cell:
    """One cell: its text, whether the figure is an improvement, and whether it is framed.

    Where no frame can be drawn, `marked_text` carries the mark `FRAME_MARK` instead.
    """

    text: str
    tone: Tone = "plain"
    framed: bool = False

    @property
    def marked_text(self) -> str:
        """The text, with the mark that stands for the frame before it."""
        return f"{FRAME_MARK} {self.text}" if self.framed else self.text


@dataclass(frozen=True)
class Table:
    """A table. `numeric` says of each column whether it is set flush right.

    `folded` tables repeat what a chart shows; they are shown on request where that is possible.
    A short print leaves out those that are not `brief`.
    """

    title: str
    header: tuple[str, ...]
    rows: tuple[tuple[Cell, ...], ...]
    numeric: tuple[bool, ...]
    note: str = ""
    folded: bool = False
    half_width: bool = False
    brief: bool = True


@dataclass(frozen=True)
class Chart:
    """One Vega-Lite specification, used for the screen, print, PNG and SVG alike.

    `name` is unique in a report and fit for a file name. `description` says in words what can be
    seen, for readers who cannot see it.
    """

    name: str
    title: str
    description: str
    specification: Mapping[str, Any] = field(repr=False)
    caption: str = ""
    half_width: bool = False


Block = Paragraph | Items | Code | Table | Chart


@dataclass(frozen=True)
class Section:
    """A part of the report. `brief` ones are all that a short print shows."""

    slug: str
    title: str
    blocks: tuple[Block, ...]
    brief: bool = False


@dataclass(frozen=True)
class Report:
    """A run, told. `trials` and `summary` are the tidy data behind it."""

    title: str
    question: str
    language: Language
    run_name: str
    subtitle: str
    sections: tuple[Section, ...]
    trials: pl.DataFrame = field(repr=False)
    summary: pl.DataFrame = field(repr=False)

    def charts(self) -> Iterator[Chart]:
        """All charts, in order."""
        for section in self.sections:
            yield from (block for block in section.blocks if isinstance(block, Chart))
