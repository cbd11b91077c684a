"""How fast and how near to R is the published analysis?

    PYTHONPATH=. python bench/stats.py [--repeats 20] [--deviations]

Prints the median time of the whole analysis (Levene, aligned ranks, contrasts, model of
logarithms) for the reference data sets, the time of one fit with its F tests, and the ratio to
the time that R took for the same file (lme4, pbkrtest, car, emmeans and ARTool; the optimiser's
default and converged fits both; measured once on a machine of the same kind, and kept in the file;
other runs took 25 s for 2 x 8 x 3 and 160 s for 2 x 2 x 6 x 3). With `--deviations`: the largest
deviations from R by key and column over all files, and the file.
"""

from __future__ import annotations

import argparse
import statistics
import time
from functools import partial
from typing import TYPE_CHECKING

import numpy as np
from scipy.stats import studentized_range
from tests.unit.stats.r_reference import NAMES, pairs, reference, trials

from teiten.stats import tukey
from teiten.stats.art_analysis import analyse_art
from teiten.stats.kenward_roger import anova
from teiten.stats.mixed_model import fit_mixed_model

if TYPE_CHECKING:
    from collections.abc import Callable

    from teiten.stats.observations import Observations

NEXT_TO_NOTHING = 1e-6


def main() -> None:
    """Parse, measure, print."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--repeats", type=int, default=20)
    parser.add_argument("--deviations", action="store_true")
    arguments = parser.parse_args()
    if arguments.deviations:
        print_deviations()
    else:
        print_times(arguments.repeats)
        print_tukey(arguments.repeats)


def print_times(repeats: int) -> None:
    """Times of the analysis and of one log model with its F tests, by data set."""
    print(f"medians of {repeats} runs; ratio: R's time over that of the whole analysis")
    print(f"{'data set':24}{'whole, s':>10}{'one fit, ms':>13}{'R, s':>8}{'ratio':>9}")
    for name in NAMES:
        observed = trials(name)
        logs = observed.with_response(np.log(observed.response))
        whole_s = median_s(partial(analyse_art, observed), repeats)
        fit_s = median_s(partial(_tested, logs), repeats)
        r_s = reference(name)["seconds"]
        print(f"{name:24}{whole_s:10.4f}{fit_s * 1e3:13.2f}{r_s:8.1f}{r_s / whole_s:9.0f}")


def print_tukey(repeats: int) -> None:
    """Tukey's adjustment of a family, beside SciPy's distribution called once for all of it."""
    t = np.linspace(0.1, 12, 276)
    df = np.full(276, 27.47)
    ours_s = median_s(lambda: tukey.adjusted_p(t, df, 24), repeats)
    scipy_s = median_s(lambda: studentized_range.sf(t * np.sqrt(2), 24, df), 1)
    print(
        f"276 adjusted p-values: {ours_s:.4f} s, SciPy {scipy_s:.2f} s, "
        f"ratio {scipy_s / ours_s:.0f}"
    )


def print_deviations() -> None:
    """The largest deviation by key and column, with the value that R gives there."""
    absolute: dict[str, tuple[float, str]] = {}
    relative: dict[str, tuple[float, str]] = {}
    for name in NAMES:
        for pair in pairs(name):
            if isinstance(pair.reference, str | bool):
                continue
            by_term = pair.key in {"n", "artc_family"} or pair.key.startswith("aligned")
            where = pair.key if by_term else f"{pair.key}: {pair.column}"
            deviation = abs(pair.ours - pair.reference)
            absolute[where] = max(absolute.get(where, (0, name)), (deviation, name))
            # What is zero but for rounding has no relative deviation.
            if abs(pair.reference) > NEXT_TO_NOTHING:
                share = deviation / abs(pair.reference)
                relative[where] = max(relative.get(where, (0, name)), (share, name))
    print(f"{'key: column':36}{'absolute':>11}{'relative':>16}")
    for where in sorted(absolute):
        parts = f"{absolute[where][0]:9.1e} {absolute[where][1][:3]}"
        if where in relative:
            parts += f"{relative[where][0]:11.1e} {relative[where][1][:3]}"
        print(f"{where:36}{parts}")


def _tested(observed: Observations) -> object:
    return anova(fit_mixed_model(observed))


def median_s(action: Callable[[], object], repeats: int) -> float:
    """The median duration of an action, after one run that warms caches."""
    action()
    times = []
    for _ in range(repeats):
        started = time.perf_counter()
        action()
        times.append(time.perf_counter() - started)
    return statistics.median(times)


if __name__ == "__main__":
    main()
