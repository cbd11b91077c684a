"""How small a difference is found, in how many minutes of machine time, and how often wrongly.

    python bench/detect.py measure DIR [PART ...] [--blocks N]
    python bench/detect.py report DIR

`measure` runs the parts (all that need a quiet host unless some are named; `--list` shows them)
and goes on where it was cut off. `report` evaluates what is there. The truth is known, for it was
put in: more rows for the read script to read, more text for the update script to hash, or nothing.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))  # this file is run as a script

from bench.detection import history, slices
from bench.detection.parts import PARTS
from bench.detection.report import report

from teiten.archive import open_run
from teiten.cli.progress import shown_progress
from teiten.run.executor import resume_run, start_run

OTHERS = {history.NAME: history.measure, slices.NAME: slices.measure}
"""Measurements that are no studies."""
QUIET = [*(p.name for p in PARTS if p.quiet), slices.NAME]


def measure(folder: Path, names: list[str], blocks: int | None) -> None:
    """Run the named parts, each to its end; those that are complete are left alone."""
    parts = {p.name: p for p in PARTS}
    for name in names:
        archive = folder / name
        archive.mkdir(parents=True, exist_ok=True)
        if name in OTHERS:
            OTHERS[name](archive, blocks)
            continue
        with shown_progress() as progress:
            begun = sorted(x for x in archive.iterdir() if (x / "plan.json").exists())
            if not begun:
                start_run(parts[name].study(blocks), archive, progress)
            elif not open_run(begun[-1]).is_complete:
                resume_run(begun[-1], progress)


def main() -> None:
    """Measure or report."""
    known = [*(p.name for p in PARTS), *OTHERS]
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    commands = parser.add_subparsers(dest="command", required=True)
    measuring = commands.add_parser("measure")
    measuring.add_argument("folder", type=Path)
    measuring.add_argument("parts", nargs="*", metavar="PART", help=", ".join(known))
    measuring.add_argument("--blocks", type=int, help="in place of each part's own number")
    reporting = commands.add_parser("report")
    reporting.add_argument("folder", type=Path)
    asked = parser.parse_args()
    if asked.command == "report":
        report(asked.folder)
        return
    if unknown := set(asked.parts) - set(known):
        parser.error(f"there is no part {', '.join(sorted(unknown))}; known are {', '.join(known)}")
    measure(asked.folder, asked.parts or QUIET, asked.blocks)


if __name__ == "__main__":
    main()
