"""How often do change points appear in noise, and are true ones found? Ours next to its peers.

    python bench/change_points.py [--series 1000] [--no-peers]

The same series go to all: teiten's `stats/change_points.py` at 5%, Apache Otava (the successor of
Hunter: E-divisive with t-tests) at its defaults, and ruptures as in its first example (PELT, kernel
rbf, penalty 10: it has no default). The peers are installed by pip into a temporary environment
that is removed at the end; they are no dependency. Prints tables in Markdown.

False alarms: the share of series of pure noise that get any change point, with its 95% binomial
interval (Clopper and Pearson). Steps: the share of series with a step in which a change point is
found within a tenth of the series from it, the median distance of the nearest one, and how many
further change points a series gets.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
import time
import venv
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from scipy.signal import lfilter
from scipy.stats import binomtest

from teiten.stats.change_points import locate, serial_correlation

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from typing import Any

    from numpy.typing import NDArray

    Series = NDArray[np.float64]
    Found = list[list[int]]

PEERS = {"otava": "apache-otava==0.8.0", "ruptures": "ruptures==1.1.10"}
PEER_PROGRAM = """
import json, sys, time, warnings
import numpy as np
warnings.simplefilter("ignore")

def otava(values):
    from otava.analysis import compute_change_points
    points, _ = compute_change_points(values.tolist())  # of an array it takes no windows
    return [int(p.index) for p in points]

def ruptures(values):
    import ruptures
    return [int(i) for i in ruptures.Pelt(model="rbf").fit(values).predict(pen=10)[:-1]]

name, budget_s = sys.argv[1], float(sys.argv[3])
found = {}
with np.load(sys.argv[2]) as sets:
    work = {key: sets[key].size * sets[key].shape[1] for key in sets.files}
    for key in sets.files:
        globals()[name](sets[key][0])  # what is loaded at the first call counts for nobody
        began, found[key] = time.process_time(), []
        for values in sets[key]:
            found[key].append(globals()[name](values))
            if time.process_time() - began > budget_s * work[key] / sum(work.values()):
                break
print(json.dumps(found))
"""
PEER_BUDGET_S = 45.0  # of CPU time
LENGTHS = (20, 50, 200)
SIGMAS = (1, 2, 3)
LEVEL, SIGMA = 100.0, 1.0
AUTOREGRESSION = 0.3
CAUTION_P = 0.05


@dataclass(frozen=True)
class Task:
    """Series to look at: of noise alone, or with the level changing at the `true` places."""

    name: str
    n: int
    series: Series
    true: tuple[int, ...] = ()

    @property
    def key(self) -> str:
        """What tells it from the others."""
        return f"{self.name}, n = {self.n}"


def noises() -> Mapping[str, Callable[[np.random.Generator, tuple[int, int]], Series]]:
    """Kinds of noise with unit spread, by name; the last one is not independent."""
    return {
        "normal": lambda g, size: g.standard_normal(size),
        "heavy tails (t, 3 df)": lambda g, size: g.standard_t(3, size) / np.sqrt(3),
        "lognormal": lambda g, size: np.exp(g.standard_normal(size)) / 2.16,
        f"AR(1), {AUTOREGRESSION}": _dependent,
    }


def _dependent(generator: np.random.Generator, size: tuple[int, int]) -> Series:
    shocks = generator.standard_normal((size[0], size[1] + 50))
    scale = np.sqrt(1 - AUTOREGRESSION**2)
    return np.asarray(lfilter([scale], [1, -AUTOREGRESSION], shocks, axis=1)[:, 50:])


def tasks(series: int) -> list[Task]:
    """All series, from one fixed seed."""
    generator = np.random.default_rng(20)
    made = []
    for name, draw in noises().items():
        for n in LENGTHS:
            noise = LEVEL + SIGMA * draw(
                generator, (series if n < max(LENGTHS) else series // 2, n)
            )
            made.append(Task(name, n, noise))
    for n in LENGTHS:
        for name, true in _shapes(n).items():
            for sigmas in SIGMAS:
                values = LEVEL + SIGMA * generator.standard_normal((max(series // 5, 1), n))
                for begin in true:
                    values[:, begin:] += SIGMA * sigmas * (1 if begin == true[0] else -1)
                made.append(Task(f"{name} of {sigmas} sigma", n, values, true))
    return made


def _shapes(n: int) -> dict[str, tuple[int, ...]]:
    return {
        "step in the middle": (n // 2,),
        "step near the end": (n - max(4, n // 10),),
        "there and back": (2 * n // 5, 2 * n // 5 + max(4, n // 6)),
    }


def ours(task: Task) -> Found:
    """The change points of each series."""
    return [[at for at, _ in locate(values)] for values in task.series]


def peers(made: Sequence[Task], folder: Path) -> dict[str, dict[str, Found]]:
    """What the peers find, each as far as its time goes; empty for one that cannot be installed."""
    venv.create(folder / "venv", with_pip=True)
    python, kept = str(folder / "venv/bin/python"), str(folder / "series.npz")
    by_key: dict[str, Any] = {task.key: task.series for task in made}
    np.savez(kept, **by_key)
    found: dict[str, dict[str, Found]] = {}
    for name, package in PEERS.items():
        install = [python, "-m", "pip", "install", "--quiet", "numpy<2.3", package]
        if subprocess.run(install, check=False, capture_output=True).returncode:
            print(f"({package} could not be installed)", file=sys.stderr)
            continue
        command = [python, "-c", PEER_PROGRAM, name, kept, str(PEER_BUDGET_S)]
        done = subprocess.run(command, check=True, capture_output=True, text=True)
        found[name] = json.loads(done.stdout)
    return found


def alarms(found: Found) -> str:
    """The share of series with any change point."""
    seen = sum(map(bool, found))
    interval = binomtest(seen, len(found)).proportion_ci()
    low, high = 100 * interval.low, 100 * interval.high
    return f"{100 * seen / len(found):.1f}% ({low:.1f} … {high:.1f}, of {len(found)})"


def power(task: Task, found: Found) -> str:
    """How often a change point is found, how far off, and how many more there are."""
    near, distances, further = 0, [], 0
    for points in found:
        off = [min((abs(at - true) for at in points), default=task.n) for true in task.true]
        near += all(distance <= task.n // 10 for distance in off)
        distances += [distance for distance in off if points]
        further += max(0, len(points) - len(task.true))
    off_by = f"{np.median(distances):.0f}" if distances else "-"
    return f"{100 * near / len(found):.0f}%, {off_by}, {further / len(found):.2f}"


def cautioned(task: Task, found: Found) -> str:
    """In how many series the serial correlation is noticed."""
    noticed = [
        correlation is not None and correlation.p <= CAUTION_P
        for values, points in zip(task.series, found, strict=True)
        for correlation in [serial_correlation(values, points)]
    ]
    return f"{100 * sum(noticed) / len(noticed):.0f}%"


def main() -> None:
    """Run all series through all methods and print the tables."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--series", type=int, default=1000, help="series of each kind")
    parser.add_argument("--no-peers", action="store_true")
    options = parser.parse_args()
    made = tasks(options.series)
    began = time.monotonic()
    results: dict[str, dict[str, Found]] = {"teiten": {task.key: ours(task) for task in made}}
    print(f"teiten took {time.monotonic() - began:.0f} s for {sum(len(t.series) for t in made)}.")
    if not options.no_peers:
        with tempfile.TemporaryDirectory() as folder:
            results |= peers(made, Path(folder))
    head = f"| {' | '.join(results)} |"
    print(f"\n| noise | n {head} caution given |\n|---|--:|{'--:|' * (len(results) + 1)}")
    for task in made:
        if not task.true:
            cells = " | ".join(alarms(found[task.key]) for found in results.values())
            caution = cautioned(task, results["teiten"][task.key])
            print(f"| {task.name} | {task.n} | {cells} | {caution} |")
    print("\nFound, median distance, further change points:")
    print(f"\n| change | n {head}\n|---|--:|{'--:|' * len(results)}")
    for task in made:
        if task.true:
            cells = " | ".join(power(task, found[task.key]) for found in results.values())
            print(f"| {task.name} | {task.n} | {cells} |")
    print(f"\n{time.monotonic() - began:.0f} s in all.")


if __name__ == "__main__":
    main()
