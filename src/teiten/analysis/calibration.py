"""From an A/A run to what it says about its host."""

from __future__ import annotations

from typing import TYPE_CHECKING

from teiten.analysis.false_alarms import BLOCKS_AN_EXPERIMENT, count_alarms
from teiten.analysis.noise import SERIES, noise_of
from teiten.analysis.roles import compared_factor
from teiten.archive.calibration import Calibration
from teiten.archive.format import SECONDS_FILE
from teiten.environment.identity import host_identity
from teiten.errors import UsageError

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from teiten.archive import Run, TrialRecord
    from teiten.plan import Plan
    from teiten.study import Study

FEWEST_BLOCKS = 2


def calibrate(run: Run) -> Calibration:
    """Compute false alarms, noise and designs from the complete blocks of an A/A run.

    Raises:
        UsageError: the run compares something, or has fewer than two complete blocks.
    """
    refuse_unless_alike(run.study, run.plan, str(run.folder))
    records = whole_blocks(run.plan, run.records)
    blocks = len({r.block for r in records})
    if blocks < FEWEST_BLOCKS:
        raise UsageError(
            f"{run.folder} has {blocks} complete block(s), and noise shows only between two or "
            f"more: go on with it by `teiten run --resume {run.folder}`, or calibrate with more "
            "--blocks."
        )
    alarms = count_alarms(run.study, records)
    return Calibration(
        run=run.name,
        began_at_s=records[0].started_at_s,
        server=run.plan.treatments[0].setup.server,
        host=host_identity(run.environment.get("machine", {})),
        blocks=blocks,
        margin=run.study.margin,
        blocks_an_experiment=BLOCKS_AN_EXPERIMENT,
        experiments=alarms.experiments,
        all_verdicts=alarms.all_verdicts,
        by_response=alarms.by_response,
        noise=noise_of(run.study, run.plan, records, _seconds(run, records)),
    )


def refuse_unless_alike(study: Study, plan: Plan, where: str) -> None:
    """Check that a study compares two levels which are the same in everything.

    Raises:
        UsageError: it does not.
    """
    if study.until_decided is not None:
        raise UsageError(
            f"{where} ends when its verdicts are decided, so its noise is that of the trials at "
            "which it ended: calibrate by a run with a fixed number of blocks."
        )
    compared = compared_factor(study)
    setups: dict[tuple[str, ...], list[object]] = {}
    for treatment in plan.treatments:
        rest = tuple(label for name, label in treatment.levels.items() if name != compared.name)
        setups.setdefault(rest, []).append(treatment.setup)
    if len(compared.labels) != 2 or any(one != other for one, other in setups.values()):  # noqa: PLR2004 - a pair
        raise UsageError(
            f"{where} compares {', '.join(compared.labels)}, and a host is calibrated by two "
            "levels that are the same server set up alike: make such a run by `teiten calibrate`."
        )


def whole_blocks(plan: Plan, records: list[TrialRecord]) -> list[TrialRecord]:
    """The records of the blocks in which every treatment has been run."""
    done: dict[int, int] = {}
    for record in records:
        done[record.block] = done.get(record.block, 0) + 1
    return [r for r in records if done[r.block] == len(plan.treatments)]


def _seconds(run: Run, records: list[TrialRecord]) -> dict[int, dict[str, NDArray[np.float64]]]:
    found = {}
    for record in records:
        raw = run.raw_frame(record.number, SECONDS_FILE)
        if raw is not None:
            found[record.number] = {
                name: raw[name].drop_nulls().drop_nans().to_numpy().astype("float64")
                for name in SERIES
                if name in raw.columns
            }
    return found
