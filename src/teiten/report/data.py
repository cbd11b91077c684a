"""Tidy frames for charts and tables, from a run's trials and their raw files."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import polars as pl

from teiten.archive.format import SECONDS_FILE, sysstat_file

if TYPE_CHECKING:
    from teiten.archive import Run
    from teiten.report.layout import Layout

CPU_FILE = sysstat_file("cpu")
INTERRUPTS_FILE = sysstat_file("interrupts")
DISK_FILE = sysstat_file("disk")
NETWORK_FILE = sysstat_file("network")
_ALL_CPUS = -1
_LEAST_TRAFFIC_MIB_S = 0.001
_MODE_PARTS = {
    "usr": ("usr", "nice", "guest", "gnice"),
    "sys": ("sys",),
    "iowait": ("iowait",),
    "soft": ("soft", "irq"),
    "steal": ("steal",),
    "idle": ("idle",),
}
_MOST_TIME_STEPS = 60
_MOST_POINTS_A_TRIAL = 150
_MOST_POINTS = 16_000
_MOST_CELLS = 2_400


def cpu_modes(run: Run, layout: Layout) -> pl.DataFrame:
    """Mean CPU by mode of each treatment: `level`, `x`, `panel`, `mode`, `pct`.

    From the raw samples where they are kept, else from the responses `cpu_MODE_pct`.
    """
    rows: list[dict[str, Any]] = []
    for trial in layout.trials.iter_rows(named=True):
        raw = run.raw_frame(trial["trial"], CPU_FILE)
        if raw is not None and raw.height:
            of_all = raw.filter(pl.col("cpu") == _ALL_CPUS).select(_modes()).mean()
            shares = of_all.row(0, named=True) if of_all.height else {}
        else:
            shares = {mode: trial.get(f"cpu_{mode}_pct") for mode in _MODE_PARTS}
        rows.extend(
            {"level": trial["level"], "x": trial["x"], "panel": trial["panel"]}
            | {"mode": mode, "pct": float(share)}
            for mode, share in shares.items()
            if share is not None
        )
    keys = ["level", "x", "panel", "mode"]
    schema = dict.fromkeys(keys, pl.String()) | {"pct": pl.Float64()}
    frame = pl.DataFrame(rows, schema=schema)
    return frame.group_by(keys, maintain_order=True).agg(pl.col("pct").mean())


def cores_over_time(raw: pl.DataFrame) -> tuple[pl.DataFrame, float]:
    """Busy and %soft by core in steps of time, and the step in seconds.

    The step grows with the length of the trial and the number of cores, so that a chart stays
    small. Columns `start_s`, `cpu`, `busy`, `soft`.
    """
    cores = raw.filter(pl.col("cpu") != _ALL_CPUS)
    span = _number(cores["t_s"].max()) + 1
    steps = max(10, min(_MOST_TIME_STEPS, _MOST_CELLS // max(1, cores["cpu"].n_unique())))
    step_s = float(max(1, math.ceil(span / steps)))
    cells = (
        # A sample stands for the second that ends at its time.
        cores.with_columns(
            (((pl.col("t_s") - 0.5).clip(0) / step_s).floor() * step_s).alias("start_s"),
            *_modes(),
        )
        .with_columns((100 - pl.col("idle") - pl.col("iowait")).alias("busy"))
        .group_by("start_s", "cpu", maintain_order=True)
        .agg(pl.col("busy", "soft").mean().round(1))
    )
    return cells, step_s


def soft_by_core(run: Run, layout: Layout) -> pl.DataFrame:
    """Mean %soft of each core: `heading` (level and panel), `x`, `cpu`, `soft`; maybe empty."""
    frames = []
    for level in layout.levels if layout.has_x else [None]:
        for panel in layout.panels:
            of_panel = layout.of_panel(panel)
            chosen = of_panel if level is None else of_panel.filter(pl.col("level") == level)
            for number, x in chosen.select("trial", "x").iter_rows():
                raw = run.raw_frame(number, CPU_FILE)
                if raw is None or not raw.height:
                    continue
                frames.append(
                    raw.filter(pl.col("cpu") != _ALL_CPUS)
                    .group_by("cpu")
                    .agg((pl.col("soft").fill_null(0) + pl.col("irq").fill_null(0)).mean())
                    .with_columns(
                        pl.lit(", ".join(p for p in (level, panel) if p)).alias("heading"),
                        pl.lit(x).alias("x"),
                        pl.col("cpu").cast(pl.Int64),
                    )
                )
    if not frames:
        return pl.DataFrame()
    return (
        pl.concat(frames)
        .group_by("heading", "x", "cpu", maintain_order=True)
        .agg(pl.col("soft").mean().round(2))
    )


def interrupts(raw: pl.DataFrame, most: int = 8) -> pl.DataFrame:
    """The busiest interrupts of a trial: `irq`, `device`, `per_s` (all CPUs), `cpus`.

    `cpus` are the CPUs that together took nine tenths, busiest first.
    """
    by_cpu = (
        raw.filter((pl.col("cpu") != _ALL_CPUS) & (pl.col("irq") != "sum") & (pl.col("per_s") > 0))
        .group_by("irq", "device", "cpu")
        .agg(pl.col("per_s").sum() / max(1, raw["t_s"].n_unique()))
        .sort("per_s", descending=True)
    )
    return (
        by_cpu.with_columns(
            (pl.col("per_s").cum_sum() - pl.col("per_s")).over("irq").alias("before"),
            pl.col("per_s").sum().over("irq").alias("total"),
        )
        .with_columns((pl.col("before") < 0.9 * pl.col("total")).alias("needed"))
        .group_by("irq", "device", maintain_order=True)
        .agg(pl.col("per_s").sum(), pl.col("cpu").filter(pl.col("needed")).alias("cpus"))
        .sort("per_s", descending=True)
        .head(most)
    )


def devices(run: Run, number: int) -> pl.DataFrame:
    """Mean rates of each disk and network interface of a trial that saw any traffic.

    Columns `name`, `in_mib_s` (read or received), `out_mib_s` (written or sent), `util_pct` and
    `await_ms` (null for interfaces), busiest first; empty when nothing was recorded.
    """
    frames = []
    for file_name, name, read, write in (
        (DISK_FILE, "device", "read_kib_s", "write_kib_s"),
        (NETWORK_FILE, "interface", "receive_kib_s", "send_kib_s"),
    ):
        raw = run.raw_frame(number, file_name)
        if raw is None or not raw.height:
            continue
        of_disks = [c for c in ("util_pct", "await_ms") if c in raw.columns]
        frames.append(
            raw.group_by(name)
            .agg(
                (pl.col(read).mean() / 1024).alias("in_mib_s"),
                (pl.col(write).mean() / 1024).alias("out_mib_s"),
                pl.col(*of_disks).mean() if of_disks else pl.lit(None).alias("util_pct").first(),
            )
            .rename({name: "name"})
            .filter(pl.col("in_mib_s") + pl.col("out_mib_s") > _LEAST_TRAFFIC_MIB_S)
            .sort(pl.col("in_mib_s") + pl.col("out_mib_s"), descending=True)
        )
    return pl.concat(frames, how="diagonal_relaxed") if frames else pl.DataFrame()


def tps_by_second(run: Run, layout: Layout) -> tuple[pl.DataFrame, int]:
    """Transactions by second of every trial, and the step in seconds that it was thinned to.

    A thinned line has two points a step, its lowest and its highest second, so no stall is lost.
    Columns `trial`, `level`, `x`, `panel`, `second`, `tps`; empty when no trial kept seconds.
    """
    found = [
        (trial, raw)
        for trial in layout.trials.select("trial", "level", "x", "panel").iter_rows(named=True)
        if (raw := run.raw_frame(trial["trial"], SECONDS_FILE)) is not None and raw.height
    ]
    if not found:
        return pl.DataFrame(), 1
    longest = max(raw.height for _, raw in found)
    points = max(20, min(_MOST_POINTS_A_TRIAL, _MOST_POINTS // len(found)))
    step = 1 if longest <= points else math.ceil(2 * longest / points)
    frames = [
        _thinned(raw.select("second", pl.col("tps").cast(pl.Float64)), step).with_columns(
            *(pl.lit(value).alias(name) for name, value in trial.items())
        )
        for trial, raw in found
    ]
    return pl.concat(frames), step


def _thinned(series: pl.DataFrame, step: int) -> pl.DataFrame:
    if step == 1:
        return series
    kept = (
        series.with_columns((pl.col("second") // step).alias("step"))
        .group_by("step")
        .agg(
            pl.col("second").sort_by("tps").first().alias("low"),
            pl.col("second").sort_by("tps").last().alias("high"),
        )
    )
    chosen = pl.concat([kept["low"], kept["high"]]).unique()
    return series.filter(pl.col("second").is_in(chosen.implode())).sort("second")


def representative(layout: Layout, level: str, panel: str) -> int | None:
    """The trial nearest the median throughput at the highest x value of a level; None without."""
    trials = layout.of_panel(panel).filter(pl.col("level") == level)
    for x in reversed(layout.x_labels):
        found = trials.filter(pl.col("x") == x)
        if not found.height:
            continue
        if "tps" not in found.columns:
            return int(found["trial"][0])
        distance = (pl.col("tps") - pl.col("tps").median()).abs()
        return int(found.sort(distance, nulls_last=True)["trial"][0])
    return None


def _modes() -> list[pl.Expr]:
    return [
        pl.sum_horizontal(pl.col(part).fill_null(0.0) for part in parts).alias(mode)
        for mode, parts in _MODE_PARTS.items()
    ]


def _number(value: object) -> float:
    return float(value) if isinstance(value, int | float) else 0.0
