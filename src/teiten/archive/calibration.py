"""What an A/A run says about its host, as `calibration.json` in a run folder.

The run that was calibrated holds its own; later runs on the same host get a copy of the newest one
when they start, so that their folders need no other.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from pydantic import TypeAdapter, ValidationError

from teiten.archive.format import write_durably
from teiten.archive.reader import run_names
from teiten.environment.identity import host_identity, same_host
from teiten.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

CALIBRATION_FILE = "calibration.json"


@dataclass(frozen=True)
class Share:
    """`count` of `of` with the ends of its 95% interval."""

    count: int
    of: int
    lower: float
    upper: float


@dataclass(frozen=True)
class FalseAlarms:
    """How often a difference was found where there is none, by each procedure.

    `verdict` is teiten's own; `published` the aligned rank transform with Tukey's adjustment at
    5%; `threshold` a ratio of medians further from 1 than a fixed 2.5%.
    """

    verdict: Share
    published: Share
    threshold: Share


@dataclass(frozen=True)
class ResponseAlarms:
    """The false alarms of one response in one group of trials (`group`: labels by factor)."""

    response: str
    group: dict[str, str]
    alarms: FalseAlarms


@dataclass(frozen=True)
class Part:
    """A variance with the ends of its 95% interval."""

    value: float
    lower: float
    upper: float


@dataclass(frozen=True)
class CheapestDesign:
    """Trials of `duration_s` in so many `blocks`; `machine_s` is the time of all of them."""

    duration_s: float
    blocks: int
    machine_s: float


@dataclass(frozen=True)
class Noise:
    """The noise of one response in one group of trials.

    `spread` is the standard deviation of the logarithm of the ratio of one A/A pair of trials (of
    the means over `trials_a_pair` / 2 trials on either side), with its interval, from `pairs`
    pairs. The variance of one trial of T seconds is `between` + `within` / T; both are None for a
    response that has no series by second. `trial_s` is the machine time of one trial, `overhead_s`
    that part of it that is no measurement (a fresh server, warm-up, collecting). `detectable` maps
    minutes of machine time to the smallest change (0.01: 1%) found with 80% power, None where they
    do not hold two pairs; `design` would find the margin.
    """

    response: str
    group: dict[str, str]
    script: str
    clients: int
    duration_s: float
    pairs: int
    trials_a_pair: int
    trial_s: float
    overhead_s: float
    spread: float
    spread_lower: float
    spread_upper: float
    between: Part | None
    within: Part | None
    detectable: dict[int, float | None]
    design: CheapestDesign


@dataclass(frozen=True)
class Calibration:
    """What the A/A run named `run` says of its `host`; `began_at_s` is seconds since the epoch.

    `experiments` counts the runs of `blocks_an_experiment` blocks in which any verdict was a false
    alarm; `all_verdicts` counts the single verdicts.
    """

    run: str
    began_at_s: float
    server: str
    host: dict[str, str | int | None]
    blocks: int
    margin: float
    blocks_an_experiment: int
    experiments: FalseAlarms
    all_verdicts: FalseAlarms
    by_response: tuple[ResponseAlarms, ...]
    noise: tuple[Noise, ...]

    def noise_of(self, response: str) -> tuple[Noise, ...]:
        """The noise of a response, one entry a group of trials."""
        return tuple(n for n in self.noise if n.response == response)


_ADAPTER = TypeAdapter(Calibration)


def write_calibration(folder: Path, calibration: Calibration) -> None:
    """Write (or replace) the calibration in a run folder.

    Raises:
        OSError: it cannot be written.
    """
    text = _ADAPTER.dump_json(calibration, indent=1)
    write_durably(folder / CALIBRATION_FILE, text + b"\n")


def read_calibration(folder: Path) -> Calibration | None:
    """The calibration in a run folder; None where there is none.

    Raises:
        UsageError: the file is damaged.
    """
    path = folder / CALIBRATION_FILE
    try:
        return _ADAPTER.validate_json(path.read_bytes())
    except FileNotFoundError:
        return None
    except ValidationError as error:
        raise UsageError(
            f"{path} is damaged: make it again by `teiten calibrate --from RUN` from the A/A run "
            "it came from, or remove it and go without."
        ) from error


def newest_for(archive: Path, machine: Mapping[str, Any]) -> Calibration | None:
    """The newest calibration in an archive of the host that `machine` describes.

    `machine` is as from `describe_machine`. Damaged files, and those this user may not read, are
    passed over: what they hold cannot be quoted.
    """
    host = host_identity(machine)
    found = (_readable(archive / name) for name in run_names(archive))
    matching = [c for c in found if c is not None and same_host(host, c.host)]
    return max(matching, key=lambda c: c.began_at_s, default=None)


def quote_newest(folder: Path, machine: Mapping[str, Any]) -> Calibration | None:
    """Copy the newest calibration of this host in the archive of `folder` into `folder`.

    A folder that has one keeps it. Returns what the folder then holds, None where the host was
    never calibrated.

    Raises:
        OSError: it cannot be written.
    """
    if (folder / CALIBRATION_FILE).exists():
        return _readable(folder)
    newest = newest_for(folder.absolute().parent, machine)
    if newest is not None:
        write_calibration(folder, newest)
    return newest


def _readable(folder: Path) -> Calibration | None:
    try:
        return read_calibration(folder)
    except (UsageError, OSError):
        return None
