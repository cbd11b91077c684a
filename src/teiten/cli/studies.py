"""`teiten studies` and `teiten show`."""

from __future__ import annotations

import json
import math
from datetime import timedelta
from typing import Annotated

import tomli_w
import typer
from rich.table import Table

from teiten.cli.console import result_console
from teiten.cli.options import LanguageOption, SetOption
from teiten.errors import UsageError
from teiten.plan import make_plan
from teiten.run.progress import seconds_left
from teiten.study import catalog_names, load_study, study_json_schema


def studies(*, language: LanguageOption = "en") -> None:
    """List the studies that ship with teiten."""
    table = Table(box=None, pad_edge=False, header_style="bold")
    for heading in ("study", "title", "factors", "trials"):
        table.add_column(heading, justify="right" if heading == "trials" else "left")
    for name in catalog_names():
        study = load_study(name)
        factors = " x ".join(f"{f.name}({len(f.levels)})" for f in study.factor)
        trials = study.blocks * math.prod(len(f.levels) for f in study.factor)
        table.add_row(name, study.text("title", language), factors, str(trials))
    result_console().print(table)


def show(
    study: Annotated[
        str | None, typer.Argument(help="A study of the catalogue, or a study file.")
    ] = None,
    *,
    overrides: SetOption = None,
    plan: Annotated[bool, typer.Option("--plan", help="Print the order of the trials.")] = False,
    schema: Annotated[
        bool, typer.Option("--schema", help="Print the JSON schema of study files, for editors.")
    ] = False,
) -> None:
    """Print a study as it would be run, with overrides applied and scripts written out."""
    if schema:
        typer.echo(json.dumps(study_json_schema(), indent=2))
        return
    if study is None:
        raise UsageError("Name a study to show; `teiten studies` lists them.")
    loaded = load_study(study, overrides or ())
    made = make_plan(loaded)
    if plan:
        for trial in made.trials:
            typer.echo(f"{trial.number:4d}  block {trial.block}  {trial.treatment.label()}")
        left = timedelta(seconds=round(seconds_left(made.trials, [])))
        typer.echo(f"{len(made.trials)} trials, about {left} without loading data.")
        return
    typer.echo(
        tomli_w.dumps(loaded.model_dump(mode="json", exclude_none=True), multiline_strings=True)
    )
