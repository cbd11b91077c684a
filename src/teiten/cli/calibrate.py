"""`teiten calibrate`."""

from __future__ import annotations

import dataclasses
import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from teiten.analysis.calibration import calibrate as calibration_of
from teiten.analysis.calibration import refuse_unless_alike
from teiten.archive import open_run
from teiten.archive.calibration import write_calibration
from teiten.archive.reader import find_run
from teiten.cli.console import result_console
from teiten.cli.options import DEFAULT_ARCHIVE, ArchiveOption, LanguageOption, SetOption
from teiten.cli.progress import shown_progress
from teiten.errors import TeitenError, UsageError
from teiten.observe.counters import CountersObserver
from teiten.plan import make_plan
from teiten.report import build_report, print_terminal, write_html
from teiten.report.sections.calibration import full_section
from teiten.report.words import Words
from teiten.run.executor import start_run
from teiten.study import load_study

if TYPE_CHECKING:
    from collections.abc import Sequence

    from teiten.study import Study

_STUDY = "calibrate"


def calibrate(
    server: Annotated[
        str | None,
        typer.Argument(help="The server: a version or a server source; by default npm:18.1."),
    ] = None,
    *,
    blocks: Annotated[
        int | None,
        typer.Option(min=2, help="How many A/A pairs of each kind to run; by default 20."),
    ] = None,
    count: Annotated[
        bool | None,
        typer.Option(
            "--count/--no-count",
            help="Count instructions by valgrind as well; by default where the machine offers no "
            "hardware counters. It takes about 10 s more a trial.",
        ),
    ] = None,
    finished: Annotated[
        str | None,
        typer.Option(
            "--from",
            metavar="RUN",
            help="Run nothing: calibrate from an A/A run that is there (or `latest`).",
        ),
    ] = None,
    overrides: SetOption = None,
    archive: ArchiveOption = DEFAULT_ARCHIVE,
    language: LanguageOption = "en",
) -> None:
    """Measure this host's noise by an A/A run: one server under two names, about 25 minutes.

    Prints how often a difference was found where there is none, the noise floor of every
    response, the smallest change found by machine time, and the cheapest design that finds the
    margin. It is kept in the run as calibration.json, and later runs on the same host quote it.
    A run that was cut off goes on by `teiten run --resume RUN`; then use `--from RUN`.
    """
    if finished is not None:
        if server is not None or blocks is not None or count is not None or overrides:
            raise UsageError(
                "--from calibrates from a run as it is: leave out SERVER, --blocks, --count and "
                "--set."
            )
        folder = find_run(archive, finished)
    else:
        study = _study(server, blocks, overrides or (), count=count)
        refuse_unless_alike(study, make_plan(study), "The study as changed by --set")
        with shown_progress() as progress:
            folder = start_run(study, archive, progress)
    _conclude(folder, language)


def _study(
    server: str | None, blocks: int | None, overrides: Sequence[str], *, count: bool | None
) -> Study:
    """The study that ships, changed by the options; --set has the last word."""
    own = []
    if server is not None:
        own.append(f"setup.server={json.dumps(server if ':' in server else f'npm:{server}')}")
    if blocks is not None:
        own.append(f"blocks={blocks}")
    counted = CountersObserver().limitation() is not None if count is None else count
    if not counted:
        observers = load_study(_STUDY).setup["observe"]
        own.append(f"setup.observe={json.dumps([o for o in observers if o != 'callgrind'])}")
    return load_study(_STUDY, [*own, *overrides])


def _conclude(folder: Path, language: Literal["en", "ja"]) -> None:
    """Compute the calibration, keep it in the run folder, and print it."""
    run = open_run(folder)
    calibration = calibration_of(run)
    try:
        write_calibration(folder, calibration)
    except OSError as error:
        raise TeitenError(
            f"Cannot write the calibration into {folder}: {error.strerror}."
        ) from error
    document = build_report(run, language=language)
    path = folder / "report.html"
    write_html(document, path)
    section = full_section(calibration, Words(language))
    print_terminal(dataclasses.replace(document, sections=(section,)), result_console())
    typer.echo(f"\nReport: {path}")
