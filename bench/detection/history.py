"""What makes instructions per update differ between trials of one server: its history.

Under valgrind the same server runs the same load after different histories, and the difference is
split by function and set beside what the server's own statistics say. Two kinds of trials:

- `counted`: one client, as teiten counts (`run/counting.py`): on a data directory that earlier
  trials have updated, or on a fresh clone;
- `measured`: two clients, as hardware counters see a measured window. How many transactions it
  holds is drawn at random where the window is one of time, for under valgrind the clock means
  nothing.

Each trial is a line of `trials.jsonl`, and those that are there are not run again.
"""

from __future__ import annotations

import json
import random
import re
import shutil
from collections import Counter
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from teiten.load.pgbench import Pgbench
from teiten.observe import callgrind
from teiten.observe.processes import process_tree, wait_for_new_to_end
from teiten.server.cluster import Cluster
from teiten.server.image import ImageKey, clone_image, ensure_image
from teiten.server.prewarm import prewarm
from teiten.server.source import resolve
from teiten.server.workspace import Workspace
from teiten.study import PgbenchData, PgbenchLoad, load_study

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from pathlib import Path

    from teiten.server.installation import Installation

NAME = "history"
FILE = "trials.jsonl"
TRIALS = 10
TRANSACTIONS = 3000  # a measured window; some 1.5 for each page of the table
SPREAD = 0.2  # of the number of transactions in windows of equal time (see `timed-update`)
_SERVER, _CLIENT, _SCALE, _SEED = "npm:18.1", "pypi:18.6", 1, 20260101
_KEPT_SHARE = 20.0  # instructions per transaction from which a function is kept
_SETTINGS = {"checkpoint_timeout": "60min", "max_wal_size": "16GB"}
_WINDOW_SETTINGS = {"autovacuum": "off", "shared_buffers": "1GB", "huge_pages": "off", **_SETTINGS}


@dataclass(frozen=True)
class Condition:
    """What differs between the trials of one series.

    `fresh`: each on its own clone; `fixed`: a fixed number of transactions; `same`: the same
    random numbers.
    """

    name: str
    counted: bool
    fresh: bool
    fixed: bool
    same: bool


CONDITIONS = (
    Condition("counted, data directory kept", counted=True, fresh=False, fixed=True, same=True),
    Condition("counted, fresh clone", counted=True, fresh=True, fixed=True, same=True),
    Condition("measured, kept, timed", counted=False, fresh=False, fixed=False, same=False),
    Condition("measured, fresh, timed", counted=False, fresh=True, fixed=False, same=False),
    Condition("measured, fresh, fixed", counted=False, fresh=True, fixed=True, same=False),
    Condition(
        "measured, fresh, fixed, same random numbers",
        counted=False,
        fresh=True,
        fixed=True,
        same=True,
    ),
)


def measure(folder: Path, trials: int | None) -> None:
    """Run what is not there yet of all series, with tables filled to 100% and to 80%."""
    path = folder / FILE
    done = Counter((r["condition"], r["fillfactor"]) for r in read(folder))
    with Workspace.open() as workspace:
        for fillfactor in (100, 80):
            for condition in CONDITIONS:
                missing = (trials or TRIALS) - done[condition.name, fillfactor]
                series = _Series(workspace, condition, fillfactor)
                for row in series.run(missing, first=done[condition.name, fillfactor]):
                    print(f"{fillfactor} {condition.name}: {row['instructions_per_tx']:,.0f}")
                    with path.open("a", encoding="utf-8") as file:
                        file.write(json.dumps(row) + "\n")


def read(folder: Path) -> list[dict[str, Any]]:
    """All trials so far; a line that was cut off is left out."""
    path = folder / FILE
    if not path.exists():
        return []
    lines = path.read_text(encoding="utf-8").splitlines(keepends=True)
    return [json.loads(line) for line in lines if line.endswith("}\n")]


def functions(text: str) -> Counter[str]:
    """Instructions of each function itself, from a callgrind output file.

    A name stands in brackets after its number where it first appears; the line after `calls=` is
    the cost of what was called (Callgrind Format Specification, section 3).
    """
    names: dict[str, str] = {}
    costs: Counter[str] = Counter()
    current, of_callee = "", False
    for line in text.splitlines():
        if found := re.match(r"c?fn=\((\d+)\)(?: (.*))?", line):
            number, name = found.groups()
            if name:
                names[number] = name
            if line.startswith("fn="):
                current = number
        elif line.startswith("calls="):
            of_callee = True
        elif re.match(r"[+*\d-]", line):
            if not of_callee:
                costs[current] += int(line.split()[-1])
            of_callee = False
    return Counter({names.get(number, number): cost for number, cost in costs.items()})


class _Series:
    """Trials of one condition, one after the other."""

    def __init__(self, workspace: Workspace, condition: Condition, fillfactor: int) -> None:
        self.workspace = workspace
        self.condition = condition
        self.data = PgbenchData(kind="pgbench", scale=_SCALE, fillfactor=fillfactor)
        self.server, self.client = resolve(_SERVER), resolve(_CLIENT)
        self.load = PgbenchLoad(kind="pgbench", script="update.sql", duration_s=1)
        self.script = load_study("version-update").scripts["update.sql"]
        self.work = workspace.new_dir("callgrind")
        self.counter = callgrind.CallgrindCounter(self.work)

    def run(self, trials: int, *, first: int) -> Iterator[dict[str, Any]]:
        if trials <= 0:
            return
        directory = self._clone()
        for number in range(first, first + trials):
            for left in self.work.iterdir():
                left.unlink()
            draw = random.Random(f"{_SEED} {number}")  # noqa: S311 - a simulated window
            count = TRANSACTIONS if self.condition.fixed else _windowed(draw)
            seed = _SEED if self.condition.same else _SEED + number
            if self.condition.counted:
                row = self._counted(directory, draw, number)
            else:
                row = self._measured(directory, count, seed)
            if self.condition.fresh:
                shutil.rmtree(directory.parent)
                directory = self._clone()
            yield {
                "condition": self.condition.name,
                "fillfactor": self.data.fillfactor,
                "trial": number,
                **row,
            }
        shutil.rmtree(directory.parent)

    def _counted(self, directory: Path, draw: random.Random, number: int) -> dict[str, Any]:
        """A window of updates without valgrind, unless on a fresh clone, and the count."""
        if not self.condition.fresh:
            with self._server(directory, _WINDOW_SETTINGS) as cluster:
                _settle(cluster)
                self._run(cluster, _windowed(draw), seed=_SEED + number, clients=2)
        with self._server(directory, {**callgrind.SETTINGS, **_SETTINGS}, watch=True) as cluster:
            folder = self.workspace.new_dir("outputs")
            counted = self.counter.count(
                cluster.postmaster_pid,
                lambda n: self._run(cluster, n, seed=_SEED, clients=1),
                folder,
            )
            shutil.rmtree(folder)
        return {
            "transactions": counted.transactions[1],
            "instructions_per_tx": counted.instructions_per_tx,
        }

    def _measured(self, directory: Path, count: int, seed: int) -> dict[str, Any]:
        """A window of two clients, less one of one transaction each."""
        with self._server(directory, _WINDOW_SETTINGS, watch=True) as cluster:
            _settle(cluster)
            before = self._watched(cluster, 2, seed=_SEED - 1)
            seen = _statistics(cluster)
            after = self._watched(cluster, count, seed=seed)
            now = _statistics(cluster)
        further = after[0] - before[0]
        costs = {name: (after[2][name] - before[2][name]) / further for name in after[2]}
        return {
            "transactions": after[0],
            "instructions_per_tx": (after[1] - before[1]) / further,
            **{f"{name}_per_tx": (now[name] - seen[name]) / after[0] for name in now},
            "functions": {n: c for n, c in costs.items() if abs(c) >= _KEPT_SHARE},
        }

    def _watched(self, cluster: Cluster, count: int, seed: int) -> tuple[int, int, Counter[str]]:
        """Transactions and instructions of a run of two clients, these also by function."""
        before = set(self.work.glob("callgrind.*"))
        known = process_tree(cluster.postmaster_pid)
        done = self._run(cluster, count, seed=seed, clients=2)
        wait_for_new_to_end(cluster.postmaster_pid, known, 60.0)
        ended = set(self.work.glob("callgrind.*")) - before
        texts = [x.read_text() for x in ended if int(x.suffix[1:]) not in known]
        costs: Counter[str] = Counter()
        for text in texts:
            costs.update(functions(text))
        return done, sum(callgrind.parse_summary(text) for text in texts), costs

    def _run(self, cluster: Cluster, count: int, *, seed: int, clients: int) -> int:
        folder = self.workspace.new_dir("load")
        result = Pgbench(self.client).run(
            cluster.conninfo,
            self.load,
            clients=clients,
            scale=_SCALE,
            script=self.script,
            limit=[f"--transactions={count // clients}"],
            seed=seed,
            folder=folder,
        )
        shutil.rmtree(folder)
        return result.transactions

    @contextmanager
    def _server(
        self, directory: Path, settings: Mapping[str, str], *, watch: bool = False
    ) -> Iterator[Cluster]:
        cluster = Cluster(self.server, directory, self.workspace.socket_dir())
        self.workspace.adopt(cluster)
        cluster.start(settings, launcher=self.counter.launcher if watch else ())
        try:
            yield cluster
            cluster.stop()
        finally:
            cluster.kill()

    def _clone(self) -> Path:
        directory = self.workspace.new_dir("data") / "data"
        clone_image(_image(self.workspace, self.server, self.client, self.data), directory)
        return directory


def _windowed(draw: random.Random) -> int:
    return 2 * round(TRANSACTIONS / 2 * draw.lognormvariate(0.0, SPREAD))


def _settle(cluster: Cluster) -> None:
    prewarm(cluster)
    with cluster.connect() as connection:
        connection.execute("VACUUM pgbench_accounts")
        connection.execute("CHECKPOINT")


_STATISTICS = """
SELECT w.wal_records, w.wal_fpi, t.n_tup_hot_upd AS hot_updates,
  pg_relation_size('pgbench_accounts') / 8192 AS heap_pages,
  pg_relation_size('pgbench_accounts_pkey') / 8192 AS index_pages
FROM pg_stat_wal w, pg_stat_user_tables t WHERE t.relname = 'pgbench_accounts'
"""


def _statistics(cluster: Cluster) -> dict[str, float]:
    with cluster.connect() as connection:
        connection.execute("SELECT pg_stat_force_next_flush()")
        cursor = connection.execute(_STATISTICS)
        names = [column.name for column in cursor.description or ()]
        (row,) = cursor.fetchall()
    return {name: float(value) for name, value in zip(names, row, strict=True)}


def _image(
    workspace: Workspace, server: Installation, client: Installation, data: PgbenchData
) -> Path:
    def load(cluster: Cluster) -> None:
        Pgbench(client).initialise(cluster.conninfo, data)

    loaded = {**data.model_dump(mode="json"), "loader": client.identity}
    key = ImageKey(server.identity, server.version, data=loaded)
    return ensure_image(key, server, load=load, workspace=workspace, say=print)
