"""Markdown: text and tables, with the charts as links to PNG files where there are some."""

from __future__ import annotations

from typing import TYPE_CHECKING

from teiten.report.document import Chart, Code, Items, Paragraph, Table

if TYPE_CHECKING:
    from teiten.report.document import Block, Report


def to_markdown(report: Report, charts: str | None = None) -> str:
    """The report as Markdown.

    `charts` is the folder of `write_png`, relative to where the text will be; without it charts
    are given by their descriptions.
    """
    parts = [f"# {report.title}", report.subtitle]
    if report.question:
        parts.append(f"**{_plain(report.question)}**")
    for section in report.sections:
        parts.append(f"## {section.title}")
        parts += [_block(block, charts) for block in section.blocks]
    return "\n\n".join(parts) + "\n"


def _block(block: Block, charts: str | None) -> str:
    match block:
        case Paragraph(text=text, role="verdict"):
            return f"> {_plain(text)}"
        case Paragraph(text=text):
            return _plain(text)
        case Items(sentences=sentences):
            return "\n".join(f"- {_plain(sentence)}" for sentence in sentences)
        case Code(title=title, text=text):
            return f"{title}:\n\n```\n{text.rstrip()}\n```"
        case Table():
            return _table(block)
        case Chart():
            return _chart(block, charts)


def _table(table: Table) -> str:
    rule = ("--:" if numeric else "---" for numeric in table.numeric)
    lines = [
        f"| {' | '.join(_cell(head) for head in table.header)} |",
        f"|{'|'.join(rule)}|",
        *(f"| {' | '.join(_cell(cell.marked_text) for cell in row)} |" for row in table.rows),
    ]
    text = f"**{_plain(table.title)}**\n\n" + "\n".join(lines)
    return f"{text}\n\n{_plain(table.note)}" if table.note else text


def _chart(chart: Chart, charts: str | None) -> str:
    if charts is None:
        return f"*{_plain(chart.title)}.* {_plain(chart.description)}"
    picture = f"![{_plain(chart.title)}]({charts}/{chart.name}.png)"
    return f"{picture}\n\n{_plain(chart.caption)}" if chart.caption else picture


def _cell(text: str) -> str:
    return _plain(text).replace("|", "\\|").replace("\n", " ")


def _plain(text: str) -> str:
    """Keep Markdown from taking a character of the text for markup."""
    for character in ("\\", "`", "*", "_", "<", "[", "]"):
        text = text.replace(character, f"\\{character}")
    return text
