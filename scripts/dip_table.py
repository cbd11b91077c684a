"""Tabulate the dip of uniform samples: the table in `teiten.stats.modes`, in some minutes.

    python scripts/dip_table.py [--samples 100000]

Prints sqrt(n) times the dip, a row a sample size, a column an upper-tail probability.
"""

from __future__ import annotations

import argparse

import numpy as np

from teiten.stats.modes import SIZES, TAILS, dip_statistic

SEED = 1985


def main() -> None:
    """Print the table."""
    options = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    options.add_argument("--samples", type=int, default=100_000)
    args = options.parse_args()
    for n in SIZES:
        noise = np.random.Generator(np.random.PCG64([SEED, n]))
        dips = [dip_statistic(noise.random(n)) for _ in range(args.samples)]
        quantiles = np.sqrt(n) * np.quantile(dips, 1 - np.array(TAILS))
        print(f"    ({', '.join(f'{q:.4f}' for q in quantiles)}),", flush=True)


if __name__ == "__main__":
    main()
