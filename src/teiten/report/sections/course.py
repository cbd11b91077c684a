"""How the run went: second by second, trial by trial, and which trials to read with care."""

from __future__ import annotations

from typing import TYPE_CHECKING

import polars as pl

from teiten.report import data
from teiten.report.charts.order import order_of_run
from teiten.report.charts.seconds import by_second
from teiten.report.document import Block, Cell, Chart, Paragraph, Section, Table
from teiten.report.numbers import change

if TYPE_CHECKING:
    from collections.abc import Iterator

    from teiten.report.sections.view import View

_IN_ORDER = ("tps", "instructions_per_tx", "server_cpu_us_per_tx")


def course(view: View) -> Section:
    """Series by second, order-of-run plots, flagged trials."""
    blocks: list[Block] = [*_seconds(view)]
    for response in [r for r in _IN_ORDER if view.layout.has(r)][:2]:
        blocks += _order(view, response)
    blocks += _flagged(view)
    return Section("course", view.words("course"), tuple(blocks))


def _seconds(view: View) -> Iterator[Block]:
    w = view.words
    layout = view.layout
    series, step = data.tps_by_second(view.run, layout)
    if not series.height:
        return
    caption = w("seconds_caption")
    if step > 1:
        caption = f"{caption} {w('seconds_thinned', step=step)}"
    yield Chart(
        "tps-by-second",
        w("seconds"),
        w("seconds_description", x=layout.title(layout.x), n=series["trial"].n_unique()),
        by_second(layout, series, title="TPS", time_title=w("time_s")),
        caption,
    )


def _order(view: View, response: str) -> Iterator[Block]:
    w = view.words
    layout = view.layout
    against = (
        layout.trials.filter(pl.col(response).is_not_null())
        .select(pl.col(response) / pl.col(response).median().over("treatment"))
        .to_series()
    )
    finite = [r for r in against.to_list() if r == r]  # noqa: PLR0124 - NaN where all are zero
    if all(r == 1 for r in finite):  # one trial a treatment: there is nothing to be against
        return
    far = max(finite, key=lambda r: abs(r - 1))
    yield Chart(
        f"order-{response.replace('_', '-')}",
        w("order", response=view.title(response)),
        w("order_description", n=len(finite), far=change(far)),
        order_of_run(
            layout,
            response,
            title=w("order_axis"),
            trial_title=w("order_trial"),
            block_word=w("block"),
        ),
        w("order_caption"),
    )


def _flagged(view: View) -> Iterator[Block]:
    w = view.words
    titles = {f.name: view.layout.title(f) for f in view.run.study.factor}
    rows = [
        (
            Cell(str(record.number)),
            Cell(str(record.block)),
            Cell(", ".join(f"{titles[f]} {label}" for f, label in record.levels.items())),
            Cell(" ".join(flag.sentence for flag in record.flags)),
        )
        for record in view.run.records
        if record.flags
    ]
    if not rows:
        yield Paragraph(w("none_flagged"))
        return
    header = (w("trial"), w("block"), w("treatment"), w("why"))
    yield Table(w("flagged"), header, tuple(rows), (True, True, False, False))
