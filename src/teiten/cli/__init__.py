"""Commands: parse, call, print; nothing else."""

from teiten.cli.entry import app, main

__all__ = ["app", "main"]
