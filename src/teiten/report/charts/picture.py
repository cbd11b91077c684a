"""From a specification to a picture: SVG for pages, PNG for slides."""

from __future__ import annotations

import html
import re
from typing import TYPE_CHECKING

import vl_convert

if TYPE_CHECKING:
    from teiten.report.document import Chart

_PIXELS_PER_POINT = 2.0


def png(chart: Chart) -> bytes:
    """The chart as PNG, at twice its nominal size, under its title: it stands alone."""
    titled = {"title": {"text": chart.title, "offset": 14}, **chart.specification}
    return vl_convert.vegalite_to_png(titled, scale=_PIXELS_PER_POINT, allowed_base_urls=[])


def svg(chart: Chart) -> str:
    """The chart as a stand-alone SVG file: text stays text."""
    return vl_convert.vegalite_to_svg(dict(chart.specification), allowed_base_urls=[])


def inline_svg(chart: Chart) -> str:
    """The chart as an SVG element for an HTML page.

    Named for readers who cannot see it; identifiers made unique within the page; what marks say
    of themselves turned into titles, which browsers show under the pointer.
    """
    text = svg(chart)
    prefix = f"{chart.name}-"
    text = re.sub(r'\bid="', f'id="{prefix}', text)
    text = re.sub(r"url\(#", f"url(#{prefix}", text)
    text = re.sub(r'href="#', f'href="#{prefix}', text)
    text = re.sub(
        r'<path aria-label="([^"]*)" role="[^"]*" aria-roledescription="[^"]*"([^>]*?)/>',
        r"<path\2><title>\1</title></path>",
        text,
    )
    text = re.sub(r' (?:role|aria-[a-z]+|pointer-events)="[^"]*"', "", text)
    text = re.sub(r' (?:xmlns(?::xlink)?|version|class)="[^"]*"', "", text)
    text = re.sub(r' (?:d|transform)="[^"]*"', _two_decimals, text)
    named = (
        f'<svg role="img" aria-labelledby="{prefix}t {prefix}d"',
        (
            f'><title id="{prefix}t">{html.escape(chart.title)}</title>'
            f'<desc id="{prefix}d">{html.escape(chart.description)}</desc>'
        ),
    )
    head, rest = text.removeprefix("<svg").split(">", maxsplit=1)
    return named[0] + head + named[1] + rest


def _two_decimals(attribute: re.Match[str]) -> str:
    return re.sub(r"(\d\.\d{2})\d+", r"\1", attribute[0])
