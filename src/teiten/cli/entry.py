"""The `teiten` command: its subcommands, and how it ends."""

from __future__ import annotations

import sys
import textwrap
from collections.abc import Sequence
from typing import Annotated

import typer
from rich.console import Console

from teiten import __version__
from teiten.cli import analyse, calibrate, doctor, report, run, servers, studies, trend
from teiten.errors import TeitenError
from teiten.server.interrupt import InterruptedBySignalError, interruptible

app = typer.Typer(
    name="teiten",
    help="Tell whether PostgreSQL got faster or slower, by how much, how sure we are, and why.",
    no_args_is_help=True,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)


def _show_version(wanted: bool) -> None:  # noqa: FBT001 - typer's callback signature
    if wanted:
        typer.echo(f"teiten {__version__}")
        raise typer.Exit


@app.callback()
def _options(
    *,
    version: Annotated[
        bool,
        typer.Option("--version", callback=_show_version, is_eager=True, help="Print the version."),
    ] = False,
) -> None:
    pass


app.command("compare")(run.compare)
app.command("run")(run.run)
app.command("calibrate")(calibrate.calibrate)
app.command("report")(report.report)
app.command("runs")(report.runs)
app.command("trend")(trend.trend)
app.command("analyse")(analyse.analyse)
app.command("studies")(studies.studies)
app.command("show")(studies.show)
app.add_typer(servers.app, name="servers")
app.command("doctor")(doctor.doctor)


def main() -> None:
    """Run the command line; every error that a user can cause ends as one sentence."""
    try:
        with interruptible():
            app()
    except TeitenError as error:
        _tell(str(error), getattr(error, "__notes__", ()))
        sys.exit(error.exit_code)
    except InterruptedBySignalError as error:
        typer.echo("teiten: stopped; everything that was started has been ended.", err=True)
        sys.exit(error.exit_code)
    except BrokenPipeError:
        sys.stderr.close()  # the reader of our output has gone, and so has the reason to write
        sys.exit(141)
    except OSError as error:  # the last resort: what the operating system refused, and where
        where = f": {error.filename}" if error.filename is not None else ""
        _tell(f"{error.strerror or error}{where}.", getattr(error, "__notes__", ()))
        sys.exit(1)


def _tell(sentence: str, notes: Sequence[str]) -> None:
    console = Console(stderr=True, soft_wrap=True, highlight=False)
    console.print(f"teiten: {sentence}", markup=False, style="bold")
    for note in notes:
        console.print(textwrap.indent(note, "  "), markup=False)
