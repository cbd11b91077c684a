"""`teiten trend`."""

from __future__ import annotations

import json
from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from teiten.analysis.followed import PastRun, Question
from teiten.analysis.published import Published, laid_under, read_published
from teiten.analysis.roles import roles_of
from teiten.analysis.trend import Trend, trend_of
from teiten.archive.history import StudyRuns, newest_study, runs_of
from teiten.cli.console import result_console
from teiten.cli.options import DEFAULT_ARCHIVE, ArchiveOption, LanguageOption
from teiten.errors import TeitenError, UsageError
from teiten.report import print_terminal, to_html, to_markdown
from teiten.report.charts.picture import png
from teiten.report.document import Language
from teiten.report.trend import build_trend_report
from teiten.report.trend_data import trend_document, trend_frame
from teiten.report.trend_view import Told

_FEWEST_RUNS = 2
_ROWS_ON_A_TERMINAL = 30


class Format(StrEnum):
    """What `teiten trend` writes."""

    HTML = "html"
    MD = "md"
    CSV = "csv"
    PNG = "png"
    JSON = "json"


def trend(
    study: Annotated[
        str | None, typer.Argument(help="The name of a study; by default that of the newest run.")
    ] = None,
    *,
    response: Annotated[str, typer.Option("--response", help="The response to follow.")] = "tps",
    at: Annotated[
        str | None,
        typer.Option(
            "--at",
            metavar="LEVEL",
            help="Follow one level along the x axis, such as 64 clients, in place of the mean over "
            "all.",
        ),
    ] = None,
    relative: Annotated[
        bool,
        typer.Option("--relative", help="Follow ratios to the reference in the same block."),
    ] = False,
    gap_days: Annotated[
        float | None,
        typer.Option(
            "--gap-days",
            min=0.0,
            help="Break lines where there is no run for so many days; by default 1.75 times the "
            "usual distance, and at least 90.",
        ),
    ] = None,
    published: Annotated[
        Path | None,
        typer.Option(
            "--published",
            metavar="FILE.csv",
            help="Lay published figures under: columns date, value and, if wanted, level, group, "
            "x, label.",
        ),
    ] = None,
    form: Annotated[
        Format,
        typer.Option(
            "--format",
            metavar="FORMAT",
            help="html, png (one file each), md, csv or json (to stdout).",
        ),
    ] = Format.HTML,
    output: Annotated[
        Path | None,
        typer.Option(
            "--output", "-o", help="File to write; html and png: by default in the archive."
        ),
    ] = None,
    archive: ArchiveOption = DEFAULT_ARCHIVE,
    language: LanguageOption = "en",
) -> None:
    """Follow one response over all runs of a study on one host: change points and breaks."""
    name = study or newest_study(archive)
    if name is None:
        raise UsageError(
            f"There is no run in {archive}: make one by `teiten run`, or choose another folder "
            "with --archive."
        )
    found = runs_of(archive, name)
    followed = _follow(found, Question(response, at, relative, gap_days))
    newest = roles_of(found.runs[-1].study)
    told = Told(
        trend=followed,
        study=found.runs[-1].study,
        compared=newest.compared,
        x=newest.averaged if at is None else newest.x,
        published=() if published is None else laid_under(_read(published), at),
        unread=tuple(found.unread.values()),
        empty=found.empty,
    )
    _write(told, form, output, archive, language)


def _write(
    told: Told, form: Format, output: Path | None, archive: Path, language: Language
) -> None:
    """Write the trend where and as it was asked for; the page is also printed as tables."""
    report = build_trend_report(told, language)
    path = output or archive / f"trend-{told.study.name}-{told.trend.question.response}.{form}"
    match form:
        case Format.HTML:
            _save(path, to_html(report).encode())
            short = build_trend_report(told, language, most_rows=_ROWS_ON_A_TERMINAL)
            print_terminal(short, result_console())
            typer.echo(f"\nTrend: {path}")
        case Format.PNG:
            (chart,) = report.charts()
            _save(path, png(chart))
            typer.echo(path)
        case Format.MD | Format.CSV | Format.JSON:
            texts = {
                Format.MD: lambda: to_markdown(report),
                Format.CSV: lambda: trend_frame(told.trend).write_csv(),
                Format.JSON: lambda: json.dumps(trend_document(told), ensure_ascii=False, indent=1),
            }
            text = texts[form]().rstrip("\n")
            if output is None:
                typer.echo(text)
            else:
                _save(path, f"{text}\n".encode())


def _follow(found: StudyRuns, question: Question) -> Trend:
    """The trend, or the sentence that says why there is none."""
    if len(found.runs) < _FEWEST_RUNS:
        problem = next(iter(found.unread.values()), "make another by `teiten run`.")
        raise UsageError(
            f"A trend needs two runs or more with complete trials, and the study {found.study!r} "
            f"has {len(found.runs) or 'none'}: {problem}"
        )
    runs = [
        PastRun(r.name, r.study, r.records, r.environment.get("machine", {})) for r in found.runs
    ]
    followed = trend_of(runs, question)
    if not followed.series:
        raise UsageError(_why_nothing(found, question, set(followed.left_out.values())))
    with_value = {entry.run for series in followed.series for entry in series.entries}
    if len(with_value) < _FEWEST_RUNS:
        raise UsageError(
            f"A trend needs two runs or more, and of the study {found.study!r} only "
            f"{with_value.pop()} has what was asked for of the response {question.response!r}: "
            "choose another with --response."
        )
    return followed


def _why_nothing(found: StudyRuns, question: Question, reasons: set[str]) -> str:
    recorded = {name for run in found.runs for r in run.records for name in r.responses}
    if question.response not in recorded:
        return (
            f"No run of the study {found.study!r} recorded the response {question.response!r}: "
            f"choose one of {', '.join(sorted(recorded))} with --response."
        )
    if question.relative and all(len(roles_of(r.study).compared.labels) == 1 for r in found.runs):
        factor = roles_of(found.runs[-1].study).compared.name
        return (
            f"The factor {factor} of the study {found.study!r} has one level only, so there is no "
            "ratio to a reference: leave out --relative."
        )
    if question.at is not None and not reasons:
        along = [r.x for run in found.runs if (r := roles_of(run.study)).has_x]
        labels = dict.fromkeys(label for factor in along for label in factor.labels)
        if not labels:
            return (
                f"The study {found.study!r} has no factor along the x axis: leave out "
                f"--at {question.at}."
            )
        return (
            f"No run of the study {found.study!r} has the level {question.at} of "
            f"{along[-1].name}: choose one of {', '.join(labels)} with --at."
        )
    return (
        f"The response {question.response!r} cannot be followed over the runs of the study "
        f"{found.study!r} ({', '.join(sorted(reasons))} in each): choose another with --response."
    )


def _read(path: Path) -> tuple[Published, ...]:
    try:
        content = path.read_bytes()
    except OSError as error:
        raise UsageError(f"{path} cannot be read: {error.strerror or error}.") from error
    return read_published(content, str(path))


def _save(path: Path, content: bytes) -> None:
    try:
        path.write_bytes(content)
    except OSError as error:
        raise TeitenError(
            f"Cannot write the trend to {path}: {error.strerror}; choose another file with "
            "--output."
        ) from error
