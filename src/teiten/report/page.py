"""HTML: one self-contained file that needs no network."""

from __future__ import annotations

from importlib import resources
from typing import TYPE_CHECKING

import jinja2
from markupsafe import Markup

from teiten import __version__
from teiten.errors import TeitenError
from teiten.report.charts.picture import inline_svg
from teiten.report.words import Words

if TYPE_CHECKING:
    from pathlib import Path

    from teiten.report.document import Chart, Report

_TEMPLATE = "report.html.j2"
_STYLE = "style.css"


def to_html(report: Report) -> str:
    """The whole page as text."""
    folder = resources.files("teiten.report") / "templates"
    environment = jinja2.Environment(
        autoescape=True, trim_blocks=True, lstrip_blocks=True, undefined=jinja2.StrictUndefined
    )
    template = environment.from_string((folder / _TEMPLATE).read_text(encoding="utf-8"))
    style = (folder / _STYLE).read_text(encoding="utf-8")
    return template.render(
        report=report,
        words=Words(report.language),
        version=__version__,
        style=Markup(style),  # noqa: S704 - our own file
        picture=_picture,
    )


def write_html(report: Report, path: Path) -> None:
    """Write the page to `path`.

    Raises:
        TeitenError: the file cannot be written.
    """
    try:
        path.write_text(to_html(report), encoding="utf-8")
    except OSError as error:
        raise TeitenError(
            f"Cannot write the report to {path}: {error.strerror}; write it elsewhere with "
            "`teiten report --output`."
        ) from error


def _picture(chart: Chart) -> Markup:
    return Markup(inline_svg(chart))  # noqa: S704 - made by our own chart code, words escaped
