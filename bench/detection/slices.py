"""Would it pay to have both servers up and to let the load alternate between them?

Servers of one build with their own data are started together; the load runs on each in turn for a
second, in random order, several times; then all are started anew. Each slice is a line of
`slices.jsonl`; rounds that are complete are not run again.
"""

from __future__ import annotations

import json
import random
import shutil
from contextlib import ExitStack
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING

from teiten.load.pgbench import Pgbench
from teiten.server.cluster import Cluster
from teiten.server.image import ImageKey, clone_image, ensure_image
from teiten.server.prewarm import prewarm
from teiten.server.source import resolve
from teiten.server.workspace import Workspace
from teiten.study import PgbenchData, PgbenchLoad, load_study

if TYPE_CHECKING:
    from pathlib import Path

NAME = "slices"
FILE = "slices.jsonl"
ROUNDS = 8
SLICES = 6
LEVELS = {"10000": 10000, "10000 again": 10000, "10200": 10200}
_SERVER, _CLIENT, _SCALE, _SEED = "npm:18.1", "pypi:18.6", 10, 20260101
_SETTINGS = {"autovacuum": "off", "shared_buffers": "256MB"}


@dataclass(frozen=True)
class Slice:
    """One second of load on one of the servers of a round."""

    round: int
    place: int
    level: str
    tps: float
    client_cpu_us_per_tx: float


def read(folder: Path) -> list[Slice]:
    """All slices of complete rounds."""
    path = folder / FILE
    lines = path.read_text(encoding="utf-8").splitlines() if path.exists() else []
    return [Slice(**json.loads(line)) for line in lines]


def measure(folder: Path, rounds: int | None) -> None:
    """Run what is missing; a round is written when it is complete."""
    done = {x.round for x in read(folder)}
    with Workspace.open() as workspace:
        for number in range(rounds or ROUNDS):
            if number in done:
                continue
            lines = [json.dumps(asdict(x)) + "\n" for x in _round(workspace, number)]
            with (folder / FILE).open("a", encoding="utf-8") as file:
                file.write("".join(lines))
            print(f"round {number + 1} of {rounds or ROUNDS}")


def _round(workspace: Workspace, number: int) -> list[Slice]:
    server, client = resolve(_SERVER), resolve(_CLIENT)
    pgbench = Pgbench(client)
    data = PgbenchData(kind="pgbench", scale=_SCALE)
    loaded = {**data.model_dump(mode="json"), "loader": client.identity}
    image = ensure_image(
        ImageKey(server.identity, server.version, data=loaded),
        server,
        load=lambda cluster: pgbench.initialise(cluster.conninfo, data),
        workspace=workspace,
        say=print,
    )
    script = load_study("version-readonly").scripts["readonly.sql"]
    draw = random.Random(f"{_SEED} {number}")  # noqa: S311 - an order, no secret
    slices: list[Slice] = []
    with ExitStack() as up:
        clusters: dict[str, Cluster] = {}
        for level in draw.sample(list(LEVELS), len(LEVELS)):
            directory = workspace.new_dir("data") / "data"
            up.callback(shutil.rmtree, directory.parent, ignore_errors=True)
            clone_image(image, directory, sync=True)
            clusters[level] = Cluster(server, directory, workspace.socket_dir())
            workspace.adopt(clusters[level])
            up.callback(clusters[level].kill)
            clusters[level].start(_SETTINGS)
            prewarm(clusters[level])
        for cycle in range(SLICES):
            for level in draw.sample(list(LEVELS), len(LEVELS)):
                folder = workspace.new_dir("load")
                done = pgbench.run(
                    clusters[level].conninfo,
                    PgbenchLoad(
                        kind="pgbench",
                        script="readonly.sql",
                        duration_s=1,
                        variables={"row_count": LEVELS[level]},
                    ),
                    clients=2,
                    scale=_SCALE,
                    script=script,
                    limit=["--time=1"],
                    seed=_SEED + cycle,
                    folder=folder,
                )
                shutil.rmtree(folder)
                cpu_us = done.client_cpu_s * 1e6 / done.transactions
                slices.append(Slice(number, len(slices), level, done.tps, cpu_us))
    return slices
