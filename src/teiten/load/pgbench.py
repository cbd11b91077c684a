"""pgbench: initialise its tables, run a script, and read what it printed and logged."""

from __future__ import annotations

import os
import re
import resource
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING

import polars as pl

from teiten import host
from teiten.errors import ClientFailedError

if TYPE_CHECKING:
    import subprocess
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from teiten.server.source import Installation
    from teiten.study import PgbenchData, PgbenchLoad

MAX_LOGGED_TRANSACTIONS = 1_000_000
"""Bound on the transactions logged in one trial (about 45 MB of text before compression)."""

_SECONDS_SCHEMA = {
    "second": pl.Int64,
    "tps": pl.Float64,
    "latency_mean_ms": pl.Float64,
    "latency_stddev_ms": pl.Float64,
    "failures": pl.Int64,
}


@dataclass(frozen=True)
class PgbenchResult:
    """What one pgbench process did.

    `tps` and latencies leave out connecting, as pgbench reports them. `seconds` has one row a
    second, `transactions_log` one row a logged transaction (`sampling_rate` of all).
    """

    transactions: int
    failed: int
    tps: float
    latency_mean_ms: float
    elapsed_s: float
    threads: int
    client_cpu_s: float
    sampling_rate: float
    seconds: pl.DataFrame
    transactions_log: pl.DataFrame


@dataclass(frozen=True)
class Pgbench:
    """One pgbench, used for all levels of a study so that the client is always the same."""

    installation: Installation

    def initialise(self, conninfo: str, data: PgbenchData) -> None:
        """Create and fill pgbench's tables.

        Raises:
            ClientFailedError: pgbench failed; carries its last words.
        """
        done = host.run_program(
            [
                self.installation.program("pgbench"),
                "--initialize",
                "--quiet",
                f"--scale={data.scale}",
                f"--fillfactor={data.fillfactor}",
                conninfo,
            ],
            env=self.installation.env,
            check=False,
        )
        if done.returncode != 0:
            raise ClientFailedError(f"pgbench could not create its tables: {done.last_words()}")

    def run(
        self,
        conninfo: str,
        load: PgbenchLoad,
        *,
        clients: int,
        scale: int,
        script: str | None,
        limit: Sequence[str],
        seed: int,
        folder: Path,
        log_rate: float = 0.0,
        timeout_s: float = 3600.0,
    ) -> PgbenchResult:
        """Run a script to its end.

        `script` is the script's text (None for pgbench's built-in ones); `limit` is how long
        (`--time=…` or `--transactions=…`); `log_rate` is the share of transactions to log.
        Text output goes into files in `folder`.

        Raises:
            ClientFailedError: pgbench ended with an error, could do no transaction, or did not end
                within `timeout_s` (a server that hangs).
        """
        threads = thread_count(load, clients)
        argv: list[str | Path] = [
            self.installation.program("pgbench"),
            "--no-vacuum",
            f"--client={clients}",
            f"--jobs={threads}",
            f"--protocol={load.protocol}",
            f"--define=scale={scale}",
            f"--random-seed={seed}",
            *(f"--define={name}={value}" for name, value in load.variables.items()),
            *limit,
            *_script_arguments(load, script, folder),
        ]
        if log_rate > 0:
            argv += ["--log", f"--log-prefix={folder / 'pgbench_log'}", "--progress=1"]
        if 0 < log_rate < 1:
            argv.append(f"--sampling-rate={log_rate:.6f}")
        argv.append(conninfo)
        out_path, err_path = folder / "pgbench.out", folder / "pgbench.err"
        _allow_open_files(clients + 100)
        started = time.monotonic()
        with out_path.open("wb") as out, err_path.open("wb") as err:
            process = host.spawn(argv, env=self.installation.env, stdout=out, stderr=err)
            try:
                usage = _wait_with_usage(process, timeout_s)
            finally:
                host.stop_process(process)
        elapsed_s = time.monotonic() - started
        printed = out_path.read_text(errors="replace")
        progress = err_path.read_text(errors="replace")
        if process.returncode != 0:
            raise ClientFailedError(f"pgbench ended with an error: {_cause(progress)}")
        summary = parse_summary(printed)
        if summary["transactions"] == 0:
            raise ClientFailedError(
                f"pgbench completed no transaction in {elapsed_s:.0f} s: {_cause(progress)}"
            )
        return PgbenchResult(
            transactions=int(summary["transactions"]),
            failed=int(summary.get("failed", 0)),
            tps=summary["tps"],
            latency_mean_ms=summary["latency_mean_ms"],
            elapsed_s=elapsed_s,
            threads=threads,
            client_cpu_s=usage.ru_utime + usage.ru_stime,
            sampling_rate=log_rate,
            seconds=parse_progress(progress),
            transactions_log=read_logs(sorted(folder.glob("pgbench_log.*"))),
        )


def thread_count(load: PgbenchLoad, clients: int) -> int:
    """Threads of pgbench: as the study says, else one a client up to the cores of this host."""
    return min(load.threads or os.cpu_count() or 1, clients)


def with_variables(script: str, variables: Mapping[str, float]) -> str:
    r"""Give `variables` their values in a script's own `\set` commands.

    A value that is only defined on the command line would be overwritten by them, and pgbench
    cannot ask whether a variable has been set.
    """

    def given(command: re.Match[str]) -> str:
        name = command["name"]
        return f"{command['head']} {variables[name]}" if name in variables else command[0]

    return _SET.sub(given, script)


def log_rate_for(expected_tps: float, duration_s: float) -> float:
    """The share of transactions to log so that a trial's log stays within its bound.

    A warm-up may be slower than what follows, so twice its rate must fit.
    """
    expected = 2 * expected_tps * duration_s
    return 1.0 if expected <= MAX_LOGGED_TRANSACTIONS else MAX_LOGGED_TRANSACTIONS / expected


def _script_arguments(load: PgbenchLoad, script: str | None, folder: Path) -> list[str]:
    if script is None:
        return [f"--builtin={load.script.removeprefix('builtin:')}"]
    path = folder / "script.sql"
    path.write_text(with_variables(script, load.variables), encoding="utf-8")
    return [f"--file={path}@1"]  # with a weight, for pgbench takes what follows an @ for one


def _allow_open_files(needed: int) -> None:
    """Raise our soft limit of open files, which pgbench inherits: it needs one a client."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if soft != resource.RLIM_INFINITY and soft < needed:
        ceiling = needed if hard == resource.RLIM_INFINITY else min(needed, hard)
        resource.setrlimit(resource.RLIMIT_NOFILE, (ceiling, hard))


def _wait_with_usage(process: subprocess.Popen[bytes], timeout_s: float) -> resource.struct_rusage:
    """Wait for a program's end and return the CPU time of that program alone."""
    deadline = time.monotonic() + timeout_s
    while time.monotonic() < deadline:
        pid, status, usage = os.wait4(process.pid, os.WNOHANG)
        if pid:
            process.returncode = os.waitstatus_to_exitcode(status)
            return usage
        time.sleep(0.01)
    raise ClientFailedError(f"pgbench did not end within {timeout_s:.0f} s: the server hangs.")


_SET = re.compile(r"^(?P<head>[ \t]*\\set[ \t]+(?P<name>\w+))[ \t]+(?:.*\\\n)*.*$", re.MULTILINE)
"""A set command: a backslash at the end of a line goes on in the next (pgbench's manual)."""

_SUMMARY = {
    "transactions": re.compile(r"^number of transactions actually processed: (\d+)", re.MULTILINE),
    "failed": re.compile(r"^number of failed transactions: (\d+)", re.MULTILINE),
    "tps": re.compile(r"^tps = ([0-9.]+)", re.MULTILINE),
    "latency_mean_ms": re.compile(r"^latency average = ([0-9.]+) ms", re.MULTILINE),
}


def parse_summary(text: str) -> Mapping[str, float]:
    """The figures in pgbench's closing summary (versions 14 to 18).

    Raises:
        ClientFailedError: the summary is not there, so pgbench was cut off.
    """
    found = {name: m[1] for name, pattern in _SUMMARY.items() if (m := pattern.search(text))}
    if "transactions" not in found:
        raise ClientFailedError("pgbench ended without its summary: it was cut off.")
    return {"tps": 0.0, "latency_mean_ms": 0.0} | {k: float(v) for k, v in found.items()}


_PROGRESS = re.compile(
    r"^progress: ([0-9.]+) s, ([0-9.]+) tps, lat ([0-9.]+|NaN|-nan|nan) ms "
    r"stddev ([0-9.]+|NaN|-nan|nan)(?:, (\d+) failed)?",
    re.MULTILINE,
)


def parse_progress(text: str) -> pl.DataFrame:
    """The progress lines of pgbench as one row a second."""
    rows = [
        (
            round(float(second)),
            float(tps),
            float(mean.lstrip("-")),
            float(stddev.lstrip("-")),
            int(failed or 0),
        )
        for second, tps, mean, stddev, failed in _PROGRESS.findall(text)
    ]
    return pl.DataFrame(rows, schema=_SECONDS_SCHEMA, orient="row")


_LOG_FIELDS = {0: "client", 2: "latency_us", 4: "epoch_s", 5: "epoch_us"}


def read_logs(paths: Sequence[Path]) -> pl.DataFrame:
    """The transaction logs of pgbench as one table in the order of completion.

    Columns: `completed_at_us` (since the epoch), `latency_us` (null for a failed transaction),
    `client`. The format is described under "Per-Transaction Logging" in PostgreSQL's manual.
    """
    frames = [
        pl.read_csv(
            path,
            separator=" ",
            has_header=False,
            columns=list(_LOG_FIELDS),
            infer_schema=False,  # the word "failed" may come first in the millionth line
        )
        for path in paths
        if path.stat().st_size > 0
    ]
    if not frames:
        return pl.DataFrame(
            schema={"completed_at_us": pl.Int64, "latency_us": pl.Int64, "client": pl.Int32}
        )
    fields = pl.concat(frames)
    fields.columns = list(_LOG_FIELDS.values())
    return fields.select(
        completed_at_us=pl.col("epoch_s").cast(pl.Int64) * 1_000_000
        + pl.col("epoch_us").cast(pl.Int64),
        latency_us=pl.col("latency_us").cast(pl.Int64, strict=False),
        client=pl.col("client").cast(pl.Int32),
    ).sort("completed_at_us")


def latency_percentiles_ms(log: pl.DataFrame) -> Mapping[str, float]:
    """p50, p90, p95, p99 (nearest rank) and maximum of the logged latencies, in milliseconds."""
    latency = log["latency_us"].drop_nulls()
    if latency.is_empty():
        return {}
    quantiles = {"p50": 0.5, "p90": 0.9, "p95": 0.95, "p99": 0.99}
    values = {
        f"latency_{name}_ms": float(latency.quantile(q, interpolation="nearest") or 0) / 1000
        for name, q in quantiles.items()
    }
    largest = latency.max()
    assert isinstance(largest, int)  # noqa: S101 - the column is Int64 and not empty
    return {**values, "latency_max_ms": largest / 1000}


def _cause(stderr: str) -> str:
    """The line of pgbench's messages that names the cause: its first error."""
    lines = [x.strip() for x in stderr.splitlines() if x.strip()]
    errors = [x for x in lines if "error" in x.lower() or "fatal" in x.lower()]
    told = (errors or [x for x in lines if not x.startswith("progress:")] or ["it said nothing"])[0]
    return told.removeprefix("pgbench: ").rstrip(".") + "."
