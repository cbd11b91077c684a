"""Responses along the x axis: throughput and latency, work per transaction, resources."""

from __future__ import annotations

from typing import TYPE_CHECKING

from teiten.report import data
from teiten.report.charts import along_x
from teiten.report.document import Block, Cell, Chart, Paragraph, Section, Table
from teiten.report.numbers import figure
from teiten.report.sections.cpu import representatives
from teiten.report.sections.verdict import headline_chart

if TYPE_CHECKING:
    from collections.abc import Iterator

    from teiten.report.sections.view import View

_LATENCY = ("latency_mean_ms", "latency_p99_ms")
_EFFICIENCY = (
    "instructions_per_tx",
    "callgrind_instructions_per_tx",
    "instructions_kernel_per_tx",
    "cycles_per_tx",
    "server_cpu_us_per_tx",
)
_RESOURCES = (
    "memory_used_mib",
    "disk_read_mib_s",
    "disk_write_mib_s",
    "network_mib_s",
    "wal_bytes_per_tx",
    "buffers_hit_per_tx",
    "buffers_read_per_tx",
    "blocks_written_per_tx",
    "temp_bytes_per_tx",
)


def throughput(view: View) -> Section | None:
    """TPS and latency, every trial's dot beside the median line."""
    names = [n for n in ("tps", *_LATENCY) if view.layout.has(n)]
    if not names:
        return None
    blocks: list[Block] = []
    for name in names:
        blocks += _trend(view, name)
    return Section("throughput", view.words("throughput"), tuple(blocks))


def efficiency(view: View) -> Section | None:
    """Instructions, cycles and CPU time per transaction, with their changes."""
    names = [n for n in _EFFICIENCY if view.layout.has(n)]
    if not names:
        return None
    blocks: list[Block] = [Paragraph(view.words("efficiency_text"))]
    for name in names:
        blocks += _trend(view, name)
        if len(view.layout.levels) > 1 and name in view.ratio_responses():
            blocks.append(headline_chart(view, name))
    return Section("efficiency", view.words("efficiency"), tuple(blocks))


def resources(view: View) -> Section | None:
    """Memory, disk, network, WAL and buffers, two to a row."""
    names = [n for n in _RESOURCES if view.layout.has(n) and _is_ever_positive(view, n)]
    if not names:
        return None
    blocks: list[Block] = []
    for name in names:
        blocks += _trend(view, name, half_width=True)
    charts = [b for b in blocks if isinstance(b, Chart)]
    others = [b for b in blocks if not isinstance(b, Chart)]
    return Section("resources", view.words("resources"), (*charts, *others, *_devices(view)))


def _devices(view: View) -> Iterator[Block]:
    """Each disk and interface in the trials that the CPU section shows core by core."""
    w = view.words
    for what, number in representatives(view):
        found = data.devices(view.run, number)
        if not found.height:
            continue
        rows = [
            (
                Cell(row["name"]),
                *(Cell(figure(row.get(c), 3)) for c in ("in_mib_s", "out_mib_s")),
                *(Cell(figure(row.get(c), 3)) for c in ("util_pct", "await_ms")),
            )
            for row in found.iter_rows(named=True)
        ]
        header = (w("device"), w("device_in"), w("device_out"), w("device_util"), w("device_wait"))
        title = w("devices", trial=number, what=what)
        yield Table(title, header, tuple(rows), (False, True, True, True, True))


def _is_ever_positive(view: View, response: str) -> bool:
    return bool((view.layout.trials[response].fill_null(0) > 0).any())


def _trend(view: View, response: str, *, half_width: bool = False) -> list[Block]:
    w = view.words
    layout = view.layout
    axis_title = view.unit(response) if half_width else view.title(response, unit=True)
    log_title = f"{axis_title}, {w('log_scale')}" if response.startswith("latency_") else ""
    framed = view.framed(response)
    specification = along_x.absolute(
        layout,
        response,
        title=axis_title,
        half_width=half_width,
        log_title=log_title,
        framed=framed,
    )
    description = w(
        "trend_description",
        response=view.title(response, unit=True),
        x=layout.title(layout.x),
        compared=layout.title(layout.compared),
        medians=view.medians_in_words(response),
    )
    caption = w("trend_caption" if layout.x_is_numeric else "trend_caption_ticks")
    if framed:
        caption = f"{caption} {w('framed_caption', reference=layout.reference)}"
    return [
        Chart(
            response.replace("_", "-"),
            view.title(response),
            description,
            specification,
            "" if half_width else caption,
            half_width=half_width,
        ),
        view.medians_table(response),
    ]
