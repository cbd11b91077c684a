"""Write docs/commands.md from the program's own help; `make docs` runs this, a test holds it."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from typer.testing import CliRunner

from teiten.cli import app

if TYPE_CHECKING:
    from collections.abc import Iterator

    from typer import Typer

REFERENCE = Path(__file__).parent.parent / "docs" / "commands.md"
WIDTH = 92
HEADING = "# Commands\n\nGenerated from the program by `make docs`; do not edit.\n"


def command_paths(group: Typer) -> Iterator[tuple[str, ...]]:
    """Give the words that call each command of a group, subgroups included."""
    for command in group.registered_commands:
        if command.name is not None:
            yield (command.name,)
    for inner in group.registered_groups:
        if inner.name is not None and inner.typer_instance is not None:
            yield (inner.name,)
            yield from ((inner.name, *path) for path in command_paths(inner.typer_instance))


def help_of(path: tuple[str, ...]) -> str:
    """The text that `--help` prints, at a fixed width."""
    result = CliRunner().invoke(
        app,
        [*path, "--help"],
        prog_name="teiten",
        env={"COLUMNS": str(WIDTH), "TERMINAL_WIDTH": str(WIDTH), "NO_COLOR": "1"},
    )
    return result.output.rstrip()


def reference() -> str:
    """The whole reference as Markdown."""
    sections = [
        f"## `{' '.join(('teiten', *path))}`\n\n```text\n{help_of(path)}\n```\n"
        for path in ((), *command_paths(app))
    ]
    return "\n".join(
        ["# Commands\n\nGenerated from the program by `make docs`; do not edit.\n", *sections]
    )


if __name__ == "__main__":
    REFERENCE.write_text(reference(), encoding="utf-8")
