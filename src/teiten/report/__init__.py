"""Reports: a run told once as typed values, and rendered by one exporter a format."""

from teiten.report.build import build_report
from teiten.report.document import Language, Report
from teiten.report.files import write_csv, write_png
from teiten.report.markdown import to_markdown
from teiten.report.page import to_html, write_html
from teiten.report.terminal import print_terminal

__all__ = [
    "Language",
    "Report",
    "build_report",
    "print_terminal",
    "to_html",
    "to_markdown",
    "write_csv",
    "write_html",
    "write_png",
]
