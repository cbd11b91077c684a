"""What is known of the host's noise: short for any run, in full for the A/A run itself."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from teiten.analysis.noise import LONGEST_TRIAL_S
from teiten.archive.calibration import read_calibration
from teiten.report.document import Block, Cell, Paragraph, Section, Table
from teiten.report.numbers import duration, figure
from teiten.report.sections.reproduce import moment
from teiten.responses import RESPONSES

if TYPE_CHECKING:
    from collections.abc import Sequence

    from teiten.archive.calibration import Calibration, FalseAlarms, Noise, Share
    from teiten.report.sections.view import View
    from teiten.report.words import Words

_DAY_S = 86_400
_WHOLE_PERCENT = 10
_LEAST_PERCENT = 0.05
_COUNTS = ("instructions_per_tx", "callgrind_instructions_per_tx")


def calibration_blocks(view: View) -> list[Block]:
    """What the newest calibration of this host says, for the run that quotes it.

    Raises:
        UsageError: the run's copy of the calibration is damaged.
    """
    calibration = read_calibration(view.run.folder)
    if calibration is None:
        return [Paragraph(view.words("uncalibrated"), role="note")]
    sentences = calibration_sentences(calibration, view.words)
    return [Paragraph(view.words("space").join(sentences), role="note")]


def calibration_section(view: View) -> Section | None:
    """All tables of the calibration that was made of this very run; None for other runs.

    Raises:
        UsageError: the run's calibration is damaged.
    """
    calibration = read_calibration(view.run.folder)
    if calibration is None or calibration.run != view.run.name:
        return None
    return full_section(calibration, view.words)


def full_section(calibration: Calibration, words: Words) -> Section:
    """A calibration in sentences and all its tables."""
    sentences = words("space").join(calibration_sentences(calibration, words))
    blocks = (Paragraph(sentences), *calibration_tables(calibration, words))
    return Section("calibration", words("calibration"), blocks, brief=True)


def calibration_sentences(calibration: Calibration, words: Words) -> list[str]:
    """False alarms and noise floor in two sentences."""
    counted = calibration.all_verdicts.verdict
    said = {
        "date": moment(calibration.began_at_s).split()[0],
        "blocks": calibration.blocks,
        "server": calibration.server.removeprefix("npm:"),
    }
    if counted.of:
        alarms = words(
            "calibrated_alarms",
            **said,
            count=counted.count,
            of=counted.of,
            size=calibration.blocks_an_experiment,
            lower=_rate(counted.lower),
            upper=_rate(counted.upper),
        )
    else:
        alarms = words("calibrated_too_few", **said)
    floors = [
        _figures(words, _title(words, response), [(n, n.spread) for n in noise])
        for response in _headlines(calibration)
        if (noise := calibration.noise_of(response))
    ]
    if not floors:
        return [alarms]
    return [alarms, words("calibrated_noise", what=words("separator").join(floors))]


def calibration_tables(calibration: Calibration, words: Words) -> list[Block]:
    """Every figure of a calibration: false alarms, noise floor, what can be found, designs."""
    return [
        *([_alarms_table(calibration, words)] if calibration.by_response else []),
        _noise_table(calibration, words),
        _detectable_table(calibration, words),
        _designs_table(calibration, words),
    ]


def _title(words: Words, response: str) -> str:
    return RESPONSES[response].title(words.language)


def _headlines(calibration: Calibration) -> list[str]:
    """TPS, and the instructions by the best counter that there was."""
    counts = [name for name in _COUNTS if calibration.noise_of(name)]
    return ["tps", *counts[:1]]


def _figures(words: Words, response: str, figures: Sequence[tuple[Noise, float]]) -> str:
    texts = [
        words("calibrated_figure", figure=_percent(value), group=", ".join(noise.group.values()))
        if noise.group
        else _percent(value)
        for noise, value in figures
    ]
    return words("calibrated_response", response=response, figures=words("comma").join(texts))


def _alarms_table(calibration: Calibration, words: Words) -> Table:
    def row(name: str, group: str, alarms: FalseAlarms) -> tuple[Cell, ...]:
        shares = (alarms.verdict, alarms.published, alarms.threshold)
        return (Cell(name), Cell(group), *(Cell(_share(words, s)) for s in shares))

    size = calibration.blocks_an_experiment
    everything = words("all_trials")
    rows = [
        row(words("any_alarm", size=size), everything, calibration.experiments),
        row(words("all_verdicts"), everything, calibration.all_verdicts),
        *(
            row(_title(words, each.response), _group(words, each.group), each.alarms)
            for each in calibration.by_response
        ),
    ]
    procedures = [words(f"procedure_{name}") for name in ("verdict", "published", "threshold")]
    return Table(
        words("false_alarms"),
        (words("response"), words("trials_group"), *procedures),
        tuple(rows),
        (False, False, True, True, True),
        words("false_alarms_note", blocks=calibration.blocks, size=size),
    )


def _noise_table(calibration: Calibration, words: Words) -> Table:
    rows = [
        (
            *_place(n, words),
            Cell(_interval(words, n.spread, n.spread_lower, n.spread_upper)),
            *(
                Cell("-" if part is None else _deviation(words, part.value, part.lower, part.upper))
                for part in (n.between, n.within)
            ),
            Cell(figure(n.trial_s, 3)),
        )
        for n in calibration.noise
    ]
    figures = ("spread", "between_trials", "within_trials", "trial_takes")
    return Table(
        words("noise_floor"),
        (words("response"), words("trials_group"), *(words(key) for key in figures)),
        tuple(rows),
        (False, False, True, True, True, True),
        words("noise_note"),
    )


def _detectable_table(calibration: Calibration, words: Words) -> Table:
    minutes = sorted({m for n in calibration.noise for m in n.detectable})
    rows = [
        (
            *_place(n, words),
            *(Cell("-" if (c := n.detectable.get(m)) is None else _percent(c)) for m in minutes),
        )
        for n in calibration.noise
    ]
    return Table(
        words("findable"),
        (words("response"), words("trials_group"), *(words("minutes", n=m) for m in minutes)),
        tuple(rows),
        (False, False, *(True for _ in minutes)),
        words("findable_note"),
    )


def _designs_table(calibration: Calibration, words: Words) -> Table:
    margin = f"{calibration.margin * 100:g}%"
    rows = [
        (
            *_place(n, words),
            Cell(f"{'' if n.between else '= '}{figure(n.design.duration_s, 3)}"),
            Cell(f"{n.design.blocks:,}"),
            Cell(f"{'◆ ' if n.design.machine_s > _DAY_S else ''}{duration(n.design.machine_s)}"),
        )
        for n in calibration.noise
    ]
    figures = ("trial_length", "blocks", "machine_time")
    return Table(
        words("designs", margin=margin),
        (words("response"), words("trials_group"), *(words(key) for key in figures)),
        tuple(rows),
        (False, False, True, True, True),
        words("designs_note", margin=margin, shortest=1, longest=LONGEST_TRIAL_S),
    )


def _place(noise: Noise, words: Words) -> tuple[Cell, Cell]:
    return Cell(_title(words, noise.response)), Cell(_group(words, noise.group))


def _group(words: Words, group: dict[str, str]) -> str:
    return ", ".join(group.values()) or words("all_trials")


def _share(words: Words, share: Share) -> str:
    if not share.of:
        return "-"
    return words(
        "share",
        count=share.count,
        of=share.of,
        lower=_rate(share.lower),
        upper=_rate(share.upper),
    )


def _interval(words: Words, value: float, lower: float, upper: float) -> str:
    ends = {"value": value, "lower": lower, "upper": upper}
    return words("with_interval", **{name: _percent(v) for name, v in ends.items()})


def _deviation(words: Words, value: float, lower: float, upper: float) -> str:
    return _interval(words, math.sqrt(value), math.sqrt(lower), math.sqrt(upper))


def _percent(value: float) -> str:
    return f"{figure(100 * value, 2)}%"


def _rate(share: float) -> str:
    """A rate of alarms: no figure beyond the first decimal of a percent means anything."""
    percent = 100 * share
    return f"{percent:.1f}%" if _LEAST_PERCENT <= percent < _WHOLE_PERCENT else f"{percent:.0f}%"
