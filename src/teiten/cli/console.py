"""Where commands print their results."""

from __future__ import annotations

import os
import sys

from rich.console import Console

PLAIN_COLUMNS = 100
"""Width of output that goes into a file or a pipe, unless COLUMNS says otherwise."""


def result_console() -> Console:
    """A console on stdout, as wide as the terminal, or of a fixed width where there is none."""
    plain = not sys.stdout.isatty() and "COLUMNS" not in os.environ
    return Console(width=PLAIN_COLUMNS if plain else None)
