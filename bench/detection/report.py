"""The evaluation, as text: what was found, how often, how often wrongly, in how many minutes."""

from __future__ import annotations

import math
from functools import partial
from typing import TYPE_CHECKING

import numpy as np
from bench.detection import history, methods, samples, slices
from bench.detection.parts import PARTS
from scipy import stats

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

    from bench.detection.samples import Sample
    from numpy.typing import NDArray

    Array = NDArray[np.float64]

SEED = 20260101
COUNT = "callgrind_instructions_per_tx"
BUDGET_S = 120.0
DRAWN = 20_000
TARGET = -0.02
WANTED_POWER = 0.8
LENGTHS_S = (2, 5, 10, 30, 300, 3600)
BLOCKS = (3, 4, 5, 6, 8, 10, 12, 15, 20, 25, 30, 40, 50, 60, 80, 100, 150, 200, 300, 400, 600)


def report(folder: Path) -> None:
    """Print what can be said of the parts that are there."""
    timing = samples.load(folder, "counted-doses")  # counts do not mind a busy host, times do
    for part in PARTS:
        sample = samples.load(folder, part.name)
        if sample is not None:
            print(f"\n== {part.name}: {part.title}")
            _levels(sample, COUNT if part.name.startswith("counted") else "tps")
            if part.name == "timed-read":
                _timed(sample, samples.load(folder, "timed-read-long"))
            elif part.name == "timed-update":
                _windows(sample)
            elif part.name in ("counted-read", "counted-update"):
                _counted(sample, (timing or sample).pair_s())
    _history(folder / history.NAME)
    _slices(folder / slices.NAME)


def interval(found: int, of: int) -> str:
    """A share with its 95% interval (Clopper and Pearson)."""
    if not of:
        return "none"
    bounds = stats.binomtest(found, of).proportion_ci()
    return f"{found} of {of} ({bounds.low:.1%} to {bounds.high:.1%})"


def _levels(sample: Sample, response: str) -> None:
    factor = sample.run.study.factor[0]
    reference = factor.reference_label
    logs = {x: sample.logs(response, reference, x) for x in factor.labels}
    blocks = len(logs[reference])
    spread = np.exp(logs[reference][:, 0]).std(ddof=1) / np.exp(logs[reference][:, 0]).mean()
    print(
        f"{blocks} blocks; {response} at {reference}: coefficient of variation {spread:.4%}; "
        f"{sample.pair_s():.1f} s of machine time a pair"
    )
    for label in factor.labels:
        if label == reference:
            continue
        change = logs[label][:, 1] - logs[label][:, 0]
        half = stats.t.ppf(0.975, blocks - 1) * change.std(ddof=1) / math.sqrt(blocks)
        print(
            f"  {label}: {math.expm1(change.mean()):+.4%} ± {half:.4%} "
            f"(differences within blocks spread by {change.std(ddof=1):.4%})"
        )


def _counted(sample: Sample, pair_s: float) -> None:
    """Repetitions of looking after every block, in blocks that no other repetition has.

    `pair_s` is what two trials take on a quiet host. As many more repetitions are made of blocks
    drawn at random, with random signs of what they differ from their mean.
    """
    factor = sample.run.study.factor[0]
    most = int(BUDGET_S // pair_s)
    print(
        f"Looked at after every block, always valid at 5%, for {BUDGET_S:.0f} s at {pair_s:.1f} s "
        f"a pair: at most {most} blocks"
    )
    draw = np.random.default_rng(SEED)
    for label in [x for x in factor.labels if x != factor.reference_label]:
        logs = sample.logs(COUNT, factor.reference_label, label)
        differences = logs[:, 1] - logs[:, 0]
        mean = 0.0 if label.endswith("again") else differences.mean()
        noise = draw.choice(differences - mean, DRAWN) * draw.choice([-1.0, 1.0], DRAWN)
        for what, series in (("measured", differences), ("resampled", mean + noise)):
            stops = methods.repetitions(list(series), most)
            found = [x.blocks for x in stops if x.found]
            after = f", after {np.mean(found):.1f} blocks" if found else ""
            after += f" ({np.mean(found) * pair_s:.0f} s)" if found else ""
            print(f"  {label}, {what}: found in {interval(len(found), len(stops))}{after}")


def _timed(sample: Sample, long: Sample | None) -> None:
    undisturbed = sample.without_foreign_load()
    kept = undisturbed.trials["block"].n_unique()
    for name, trials in (("all blocks", sample), (f"the {kept} without foreign load", undisturbed)):
        for response in ("tps", "server_cpu_us_per_tx"):
            print(f"Machine time to find 2% in {response} with {WANTED_POWER:.0%} power, {name}:")
            _minutes(trials, response)
    if long is not None:
        _published(undisturbed, long)


def _minutes(sample: Sample, response: str) -> None:
    """Power and false alarms by resampling pairs of trials that differ in nothing."""
    noise, covariates = sample.noise(response)
    sign = -1.0 if response == "tps" else 1.0
    shifted = noise + np.array([0.0, sign * abs(math.log1p(TARGET))])
    draw = np.random.default_rng(SEED)
    ways: dict[str, tuple[methods.Method, Array]] = {
        "Welch's t-test": (methods.welch, covariates),
        "fixed threshold of 2.5%": (methods.threshold, covariates),
        "pairs in blocks": (methods.paired, covariates),
        "pairs, client CPU adjusted for": (methods.adjusted, covariates[:, :1]),
        "pairs, foreign CPU adjusted for": (methods.adjusted, covariates[:, 2:]),
        "pairs, all covariates": (methods.adjusted, covariates),
    }
    print(f"  differences within blocks spread by {(noise[:, 1] - noise[:, 0]).std():.2%}")
    for name, (method, seen) in ways.items():
        find = partial(methods.resampled, method, shifted, seen, draw=draw, repetitions=400)
        needed = methods.fewest(find, WANTED_POWER, BLOCKS)
        at = needed or BLOCKS[-1]
        alarms = methods.resampled(method, noise, seen, at, draw=draw, repetitions=2000)
        minutes = f"{needed * sample.pair_s() / 60:.1f} minutes" if needed else "never"
        print(f"  {name}: {minutes} ({at} blocks; false alarms {alarms:.1%})")


def _published(sample: Sample, long: Sample) -> None:
    """What trials of any length would give the published protocol, from parts of the variance."""
    noise, _ = sample.noise("tps")
    short_s = float(sample.run.plan.treatments[0].setup.load.duration_s)
    overhead_s = sample.pair_s() / 2 - short_s
    parts = methods.noise_parts(
        noise[:, 1] - noise[:, 0], short_s, long.seconds(), window=int(short_s)
    )
    long_s = float(long.run.plan.treatments[0].setup.load.duration_s)
    seen = long.logs("tps", "10000", "10000 again")
    seen_sd = (seen[:, 1] - seen[:, 0]).std(ddof=1) / math.sqrt(2)
    print(
        f"Variance of log TPS (fitted): between starts {math.sqrt(parts.between):.3%} SD, within "
        f"{math.sqrt(parts.within):.3%} SD of one second; so a trial of {long_s:.0f} s spreads by "
        f"{parts.sd(long_s):.3%} (seen: {seen_sd:.3%} in {len(seen)} blocks)"
    )
    print("Published protocol, 3 blocks, ART (simulated with that variance):")
    shape = (2, methods.PUBLISHED_CLIENTS, 3)
    _at_lengths("one pair", methods.published_pair, (3, 2), parts, overhead_s)
    _at_lengths("2 x 8 x 3, one cell", methods.published_cell, shape, parts, overhead_s)
    _at_lengths("2 x 8 x 3, version", methods.published_design, shape, parts, overhead_s)


def _at_lengths(
    name: str,
    method: Callable[[Array], bool],
    shape: tuple[int, ...],
    parts: methods.NoiseParts,
    overhead_s: float,
) -> None:
    draw = np.random.default_rng(SEED)
    told = []
    alarms = methods.simulated(method, shape, parts.sd(LENGTHS_S[0]), 0.0, draw=draw)
    for length_s in LENGTHS_S:
        find = partial(methods.simulated, method, shape, parts.sd(length_s), draw=draw)
        power = find(TARGET)
        minutes = math.prod(shape) * (length_s + overhead_s) / 60
        told.append(f"{length_s} s: {power:.0%} in {minutes:.0f} min")
        if power >= WANTED_POWER:
            break
    print(f"  {name}: {'; '.join(told)}; false alarms {alarms:.1%}")


def _windows(sample: Sample) -> None:
    """How many transactions fall into windows of equal time, and what that does."""
    labels = sample.run.study.factor[0].labels
    counts = np.concatenate([sample.values("transactions", x).ravel() for x in labels])
    images = np.concatenate([sample.values("wal_fpi_per_tx", x).ravel() for x in labels])
    print(
        f"  transactions in a trial spread by {counts.std(ddof=1) / counts.mean():.1%}, full-page "
        f"images per transaction by {images.std(ddof=1) / images.mean():.1%} "
        f"(correlation {np.corrcoef(counts, images)[0, 1]:+.2f})"
    )


def _history(folder: Path) -> None:
    rows = history.read(folder)
    if not rows:
        return
    print("\n== history: instructions per update of one server, by what was done before")
    for fillfactor in (100, 80):
        for condition in history.CONDITIONS:
            trials = [
                r
                for r in rows
                if r["condition"] == condition.name and r["fillfactor"] == fillfactor
            ]
            if len(trials) > 1:
                _series(f"fillfactor {fillfactor}, {condition.name}", trials)


def _series(name: str, trials: Sequence[dict[str, float | dict[str, float]]]) -> None:
    total = np.array([t["instructions_per_tx"] for t in trials], dtype=float)
    print(
        f"{name}: coefficient of variation {total.std(ddof=1) / total.mean():.4%} "
        f"({len(trials)} trials, mean {total.mean():,.0f})"
    )
    by_function = [t["functions"] for t in trials if isinstance(t.get("functions"), dict)]
    if len(by_function) != len(trials) or not total.std():
        return
    names = {n for costs in by_function if isinstance(costs, dict) for n in costs}
    shares = {}
    for function in names:
        costs = np.array([c.get(function, 0.0) for c in by_function if isinstance(c, dict)])
        shares[function] = float(np.cov(costs, total)[0, 1] / total.var(ddof=1))
    most = sorted(shares, key=lambda n: -abs(shares[n]))[:6]
    print("    share of the variance: " + ", ".join(f"{n} {shares[n]:+.0%}" for n in most))
    for key in ("transactions", "wal_fpi_per_tx", "hot_updates_per_tx"):
        seen = np.array([t[key] for t in trials], dtype=float)
        if seen.std() > 0:
            print(f"    correlation with {key}: {np.corrcoef(seen, total)[0, 1]:+.2f}")


def _slices(folder: Path) -> None:
    seen = slices.read(folder)
    if not seen:
        return
    rounds = sorted({x.round for x in seen})
    means = np.array(
        [
            [
                np.mean([math.log(x.tps) for x in seen if x.round == r and x.level == level])
                for level in slices.LEVELS
            ]
            for r in rounds
        ]
    )
    steps = np.array(
        [
            [
                math.log(x.tps / y.tps)
                for x, y in zip(
                    [s for s in seen if s.round == r and s.level == "10000 again"],
                    [s for s in seen if s.round == r and s.level == "10000"],
                    strict=True,
                )
            ]
            for r in rounds
        ]
    )
    print(f"\n== slices: servers up together, {slices.SLICES} slices of 1 s each, then new starts")
    for column, level in enumerate(slices.LEVELS):
        if column:
            change = means[:, column] - means[:, 0]
            half = stats.t.ppf(0.975, len(change) - 1) * change.std(ddof=1) / len(change) ** 0.5
            print(
                f"  {level}: {math.expm1(change.mean()):+.3%} ± {half:.3%} in {len(change)} rounds "
                f"(spread {change.std(ddof=1):.3%})"
            )
    expected = steps.std(axis=1, ddof=1).mean() / math.sqrt(slices.SLICES)
    print(
        f"  differences of neighbouring slices spread by {steps.std(axis=1, ddof=1).mean():.3%}; "
        f"were that all, rounds would spread by {expected:.3%}"
    )
