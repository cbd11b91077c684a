"""How much cheaper is a clone than a new load? A fresh, loaded, prewarmed server, both ways.

    python bench/reset.py [--server npm:17.7] [--scale 100] [--pairs 3]

Way 1: initdb, start, pgbench -i, pg_prewarm. Way 2: clone the image, start, pg_prewarm. Both use
the same server, settings, disk and prewarming, and are run in alternating order. Neither waits
for its files to reach the disk before it counts as ready: the time to write out what is then
still in memory is measured apart, and the ratio is given without and with it.
"""

from __future__ import annotations

import argparse
import os
import shutil
import statistics
import time
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from teiten import host
from teiten.errors import TeitenError
from teiten.server.cluster import Cluster
from teiten.server.image import ImageKey, clone_image, ensure_image
from teiten.server.interrupt import interruptible
from teiten.server.prewarm import prewarm
from teiten.server.source import resolve
from teiten.server.workspace import Workspace

if TYPE_CHECKING:
    from collections.abc import Callable

    from teiten.server.installation import Installation

SETTINGS = {"shared_buffers": "2GB"}  # holds scale 100; everything else is the default


@dataclass
class Parts:
    """Seconds by step, in the order in which they ran; `written_s` comes after ready."""

    steps: dict[str, float]
    written_s: float = 0.0
    method: str = ""

    @property
    def ready_s(self) -> float:
        """Seconds until the prewarmed server took connections."""
        return sum(self.steps.values())

    @property
    def on_disk_s(self) -> float:
        """Seconds until everything was on the disk as well."""
        return self.ready_s + self.written_s


class Bench:
    """Both ways to a fresh server, in one work area."""

    def __init__(self, server: Installation, client: Installation, scale: int) -> None:
        """Measure `server`, loaded by the pgbench of `client`."""
        self.server, self.client, self.scale = server, client, scale

    def load(self, cluster: Cluster) -> None:
        """Run pgbench's own initialization."""
        pgbench = self.client.program("pgbench")
        host.run_program([pgbench, "-i", "-q", "-s", str(self.scale), cluster.conninfo])

    def image(self, workspace: Workspace) -> Path:
        """Return the image of the same data."""
        key = ImageKey(
            self.server.identity,
            self.server.version,
            data={"kind": "pgbench", "scale": self.scale, "loader": self.client.identity},
        )
        return ensure_image(key, self.server, load=self.load, workspace=workspace, say=print)

    def by_load(self, workspace: Workspace) -> Parts:
        """Time initdb, start, pgbench -i and prewarm."""
        data, sockets = workspace.new_dir("load"), workspace.socket_dir()
        cluster = Cluster(self.server, data, sockets)
        return self._timed(
            workspace,
            cluster,
            {
                "initdb": lambda: Cluster.initdb(self.server, data, sockets),
                "start": lambda: cluster.start(SETTINGS),
                "pgbench -i": lambda: self.load(cluster),
                "prewarm": lambda: prewarm(cluster),
            },
        )

    def by_clone(self, workspace: Workspace, image: Path) -> Parts:
        """Time clone, start and prewarm."""
        data = workspace.new_dir("clone")
        cluster = Cluster(self.server, data, workspace.socket_dir())
        methods: list[str] = []
        parts = self._timed(
            workspace,
            cluster,
            {
                "clone": lambda: methods.append(clone_image(image, data).method),
                "start": lambda: cluster.start(SETTINGS),
                "prewarm": lambda: prewarm(cluster),
            },
        )
        parts.method = methods[0]
        return parts

    def _timed(
        self, workspace: Workspace, cluster: Cluster, steps: dict[str, Callable[[], object]]
    ) -> Parts:
        workspace.adopt(cluster)
        os.sync()  # nothing of the run before is left to be written
        parts = Parts({})
        for name, step in steps.items():
            began_s = time.perf_counter()
            try:
                step()
            except TeitenError:
                cluster.check_alive()  # the server's own words tell more
                raise
            parts.steps[name] = time.perf_counter() - began_s
        began_s = time.perf_counter()
        os.sync()
        parts.written_s = time.perf_counter() - began_s
        cluster.kill()
        shutil.rmtree(cluster.data_dir)
        return parts


def describe_disk(path: Path) -> str:
    """Name the file system that holds `path`."""
    mounts = [x.split() for x in Path("/proc/self/mounts").read_text().splitlines()]
    holding = [m for m in mounts if path.resolve().is_relative_to(m[1])]
    device, point, kind = max(holding, key=lambda m: len(m[1]))[:3]
    return f"{kind} of {device} on {point}"


def show(name: str, parts: Parts) -> None:
    """Print one measurement."""
    steps = "  ".join(f"{k} {v:.2f}" for k, v in parts.steps.items())
    print(f"{name:<6} {steps}  = {parts.ready_s:.2f} s; written out +{parts.written_s:.2f} s")


def main() -> None:
    """Run the pairs and print medians and ratios."""
    options = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    options.add_argument("--server", default="npm:17.7")
    options.add_argument("--client", default="pypi:18.6", help="whose pgbench loads")
    options.add_argument("--scale", type=int, default=100)
    options.add_argument("--pairs", type=int, default=3)
    args = options.parse_args()
    bench = Bench(resolve(args.server, say=print), resolve(args.client, say=print), args.scale)
    load1 = Path("/proc/loadavg").read_text().split()[0]
    print(f"{args.server}, pgbench of {args.client}, scale {args.scale}")
    print(f"disk: {describe_disk(host.home_dir())}; {os.cpu_count()} CPUs, load average {load1}")
    print(f"both: {SETTINGS}, else defaults (fsync = on); initdb --no-sync; clone not synced")
    loads, clones = [], []
    with interruptible(), Workspace.open() as workspace:
        image = bench.image(workspace)
        for pair in range(args.pairs):
            for way in ("load", "clone") if pair % 2 == 0 else ("clone", "load"):
                if way == "load":
                    loads.append(bench.by_load(workspace))
                    show("load", loads[-1])
                else:
                    clones.append(bench.by_clone(workspace, image))
                    show(clones[-1].method, clones[-1])
    for what, load_times_s, clone_times_s in (
        ("ready", [x.ready_s for x in loads], [x.ready_s for x in clones]),
        ("and all on the disk", [x.on_disk_s for x in loads], [x.on_disk_s for x in clones]),
    ):
        load_s, clone_s = statistics.median(load_times_s), statistics.median(clone_times_s)
        ratios = sorted(x / y for x, y in zip(load_times_s, clone_times_s, strict=True))
        print(
            f"{what}: load {load_s:.2f} s, clone {clone_s:.2f} s (medians); ratio within a pair: "
            f"{statistics.median(ratios):.1f} ({ratios[0]:.1f} to {ratios[-1]:.1f})"
        )


if __name__ == "__main__":
    main()
