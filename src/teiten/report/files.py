"""Folders of files: tidy CSV for other programs, PNG for slides."""

from __future__ import annotations

from typing import TYPE_CHECKING

import polars as pl

from teiten.errors import TeitenError
from teiten.report.charts.picture import png

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from teiten.report.document import Report


def write_csv(report: Report, folder: Path) -> list[Path]:
    """Write `trials.csv` (one row a trial) and `summary.csv` (one a treatment and response).

    Raises:
        TeitenError: the folder cannot be written.
    """
    trials = report.trials.with_columns(
        pl.col("flags").list.join(" "),
        pl.col("notes").list.join(" "),
        pl.col("started_at").dt.to_string("iso:strict"),
    )
    return _write(
        folder,
        {
            "trials.csv": trials.write_csv().encode(),
            "summary.csv": report.summary.write_csv().encode(),
        },
    )


def write_png(report: Report, folder: Path) -> list[Path]:
    """Write every chart as `NAME.png`.

    Raises:
        TeitenError: the folder cannot be written.
    """
    return _write(folder, {f"{chart.name}.png": png(chart) for chart in report.charts()})


def _write(folder: Path, files: Mapping[str, bytes]) -> list[Path]:
    try:
        folder.mkdir(parents=True, exist_ok=True)
        for name, content in files.items():
            (folder / name).write_bytes(content)
    except OSError as error:
        raise TeitenError(
            f"Cannot write into {folder}: {error.strerror}; choose another folder with --output."
        ) from error
    return [folder / name for name in files]
