"""CPU by mode, by core, and the interrupts behind %soft."""

from __future__ import annotations

from typing import TYPE_CHECKING

import polars as pl

from teiten.report import data
from teiten.report.charts import cpu_cores
from teiten.report.charts.cpu_modes import cpu_modes
from teiten.report.document import Block, Cell, Chart, Section, Table
from teiten.report.numbers import figure

if TYPE_CHECKING:
    from collections.abc import Iterator

    from teiten.report.sections.view import View

_FEWEST_SAMPLES = 2
_EVENLY = 0.75


def cpu(view: View) -> Section | None:
    """All that is known of the CPUs; None when nothing was recorded."""
    blocks: list[Block] = []
    modes = data.cpu_modes(view.run, view.layout)
    if modes.height:
        blocks += _modes(view, modes)
    shown = representatives(view)
    for what, number in shown:
        blocks += _cores(view, what, number)
    blocks += _soft(view)
    for what, number in shown[-1:]:
        blocks += _interrupts(view, what, number)
    return Section("cpu", view.words("cpu"), tuple(blocks)) if blocks else None


def _modes(view: View, modes: pl.DataFrame) -> Iterator[Block]:
    w = view.words
    layout = view.layout
    wide = modes.pivot("mode", index=["level", "panel", "x"], values="pct").fill_null(0.0)
    place = ["panel", "level", *(["x"] if layout.has_x else [])]
    busy = [
        f"{', '.join(row[k] for k in place if row[k])}: {100 - row['idle'] - row['iowait']:.1f}%"
        for row in wide.iter_rows(named=True)
        if "idle" in row and "iowait" in row
    ]
    description = w(
        "cpu_modes_description",
        x=layout.title(layout.x),
        compared=layout.title(layout.compared),
        busy="; ".join(busy),
    )
    yield Chart(
        "cpu-modes",
        w("cpu_modes"),
        description,
        cpu_modes(layout, modes, title=w("cpu_axis")),
        w("cpu_modes_caption"),
    )
    names = [c for c in wide.columns if c not in {"level", "panel", "x"}]
    heads = {
        "panel": layout.panel_title,
        "level": layout.title(layout.compared),
        "x": layout.title(layout.x),
    }
    if len(layout.panels) == 1:
        place.remove("panel")
    rows = [
        (*(Cell(row[k]) for k in place), *(Cell(f"{row[n]:.1f}") for n in names))
        for row in wide.iter_rows(named=True)
    ]
    yield Table(
        w("cpu_axis"),
        (*(heads[k] for k in place), *(f"%{n}" for n in names)),
        tuple(rows),
        (*(k == "x" and layout.x_is_numeric for k in place), *(True for _ in names)),
        folded=True,
    )


def representatives(view: View) -> list[tuple[str, int]]:
    """The trials shown core by core: of the reference and of the newest level, in each panel."""
    layout = view.layout
    levels = dict.fromkeys([layout.reference, layout.newest])
    found = []
    for panel in layout.panels:
        for level in levels:
            number = data.representative(layout, level, panel)
            if number is None:
                continue
            row = layout.trials.row(by_predicate=pl.col("trial") == number, named=True)
            x = f"{layout.title(layout.x)} {row['x']}" if layout.has_x else ""
            found.append((", ".join(part for part in (level, panel, x) if part), number))
    return found


def _cores(view: View, what: str, number: int) -> Iterator[Block]:
    w = view.words
    raw = view.run.raw_frame(number, data.CPU_FILE)
    if raw is None or raw.filter(pl.col("cpu") >= 0)["t_s"].n_unique() < _FEWEST_SAMPLES:
        return
    cells, step_s = data.cores_over_time(raw)
    by_core = cells.group_by("cpu").agg(pl.col("busy", "soft").mean()).sort("soft")
    block = view.layout.trials.filter(pl.col("trial") == number)["block"][0]
    busiest = by_core.row(-1, named=True)
    yield Chart(
        f"cpu-cores-{number}",
        w("cores", what=what),
        w(
            "cores_description",
            n=by_core.height,
            busy=f"{_mean(by_core['busy']):.1f}",
            soft=f"{busiest['soft']:.1f}",
            core=busiest["cpu"],
        ),
        cpu_cores.over_time(
            cells,
            titles=(w("cores_busy"), w("cores_soft")),
            time_title=w("time_s"),
            core_title=w("core"),
            step_s=step_s,
        ),
        w(
            "cores_caption" if view.layout.has_x else "cores_caption_one",
            trial=number,
            block=block,
            x=view.layout.title(view.layout.x),
            step=figure(step_s),
        ),
    )


def _soft(view: View) -> Iterator[Block]:
    w = view.words
    layout = view.layout
    cells = data.soft_by_core(view.run, layout)
    if not cells.height:
        return
    top = cells.sort("soft").row(-1, named=True)
    yield Chart(
        "cpu-soft",
        w("soft"),
        w(
            "soft_description",
            x=layout.title(layout.x),
            soft=f"{top['soft']:.1f}",
            core=top["cpu"],
        ),
        cpu_cores.over_treatments(
            cells,
            title=w("cores_soft"),
            x_title=layout.title(layout.x),
            core_title=w("core"),
            order=layout.x_labels,
        ),
        w("soft_caption"),
    )


def _interrupts(view: View, what: str, number: int) -> Iterator[Block]:
    w = view.words
    raw = view.run.raw_frame(number, data.INTERRUPTS_FILE)
    if raw is None:
        return
    busiest = data.interrupts(raw)
    if not busiest.height:
        return
    cores = raw.filter(pl.col("cpu") >= 0)["cpu"].n_unique()
    rows = [
        (
            Cell(row["irq"]),
            Cell(row["device"] or "-"),
            Cell(figure(row["per_s"], 3)),
            Cell(_cpus(view, sorted(row["cpus"]), cores)),
        )
        for row in busiest.iter_rows(named=True)
    ]
    header = (w("interrupt"), w("source"), w("per_s"), w("cpus"))
    title = w("interrupts", trial=number, what=what)
    yield Table(title, header, tuple(rows), (False, False, True, False))


def _cpus(view: View, cpus: list[int], cores: int) -> str:
    if cores > 1 and len(cpus) >= _EVENLY * cores:
        return view.words("evenly")
    return ", ".join(str(cpu) for cpu in cpus)


def _mean(series: pl.Series) -> float:
    value = series.mean()
    return float(value) if isinstance(value, int | float) else 0.0
