"""The verdict: what a reader in a hurry takes away, with how sure it is."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from teiten.analysis.deciding import responses_to_decide
from teiten.report.charts import along_x
from teiten.report.document import Block, Cell, Chart, Items, Paragraph, Section, Table, Tone
from teiten.report.numbers import change, interval, precise_change, precision
from teiten.report.sections.calibration import calibration_blocks
from teiten.report.sections.environment import differences, distinct

if TYPE_CHECKING:
    from collections.abc import Sequence

    from teiten.analysis.conclusions import Caution, Verdict
    from teiten.report.sections.view import View

HEADLINES = ("tps", "instructions_per_tx", "callgrind_instructions_per_tx")
_SPEEDS = ("tps", "latency_")
_LEAST_SHOWN = 1e-6


def verdict(view: View) -> Section:
    """Sentences, what the run cannot show, the headline chart, and a table of all responses."""
    w = view.words
    layout = view.layout
    if len(layout.levels) < 2:  # noqa: PLR2004 - a comparison needs two
        text = w("no_reference", factor=layout.title(layout.compared))
        blocks: list[Block] = [Paragraph(text, role="verdict")]
        return Section("verdict", w("verdict"), (*blocks, *_remarks(view)), brief=True)
    verdicts = view.conclusions.verdicts
    blocks = list(_sentences(view))
    if not blocks:
        blocks.append(Paragraph(w("no_verdict", reference=layout.reference), role="verdict"))
    blocks += _remarks(view)
    if any(v.response == "tps" for v in verdicts):
        blocks.append(headline_chart(view, "tps"))
    if verdicts:
        blocks.append(_table(view, verdicts))
    return Section("verdict", w("verdict"), tuple(blocks), brief=True)


def in_words(view: View, verdict: Verdict) -> tuple[str, Tone]:
    """A decision in the words of its response, and whether it is an improvement."""
    w = view.words
    if verdict.decision == "same":
        return w("decided_same", margin=view.margin_text), "plain"
    if verdict.decision == "undecided":
        if verdict.more_blocks is None:
            unbounded = math.isinf(verdict.overall.upper)
            return w("undecided_unbounded" if unbounded else "undecided_far"), "plain"
        key = "undecided_one" if verdict.more_blocks == 1 else "undecided_blocks"
        return w(key, n=verdict.more_blocks), "plain"
    tone = view.tone(verdict.response, verdict.decision)
    if verdict.response.startswith(_SPEEDS):
        return w({"better": "faster", "worse": "slower"}.get(tone, verdict.decision)), tone
    return w({"higher": "more", "lower": "less"}[verdict.decision]), tone


def headline_chart(view: View, response: str) -> Chart:
    """The change of a response to the reference along the x axis."""
    w = view.words
    layout = view.layout
    title = w("headline", response=view.title(response), reference=layout.reference)
    specification = along_x.relative(
        layout,
        response,
        title=w("headline_axis", reference=layout.reference),
        margin=view.run.study.margin,
        framed=view.framed(response),
    )
    caption = w("headline_caption", reference=layout.reference, margin=view.margin_text)
    if view.framed(response):
        caption = w("space").join((caption, w("framed_caption", reference=layout.reference)))
    results = [
        f"{view.group_words(v.group)}{': ' if v.group else ''}{v.level} {_estimate(view, v)}"
        for v in view.conclusions.verdicts
        if v.response == response
    ]
    return Chart(
        f"change-{response.replace('_', '-')}",
        title,
        f"{title}. {'; '.join(results)}.",
        specification,
        caption,
    )


def _sentences(view: View) -> list[Block]:
    """One paragraph for each group and level, with a sentence for each headline response."""
    w = view.words
    blocks: list[Block] = []
    for group in view.groups():
        for level in view.layout.levels:
            chosen = [
                v
                for response in HEADLINES
                for v in view.conclusions.verdicts
                if v.response == response and v.group == group and v.level == level
            ]
            if chosen:
                what = w("against", level=level, reference=view.layout.reference)
                where = w("in_panel", panel=view.group_words(group)) if group else ""
                sentences = w("space").join(_sentence(view, v) for v in chosen)
                text = w("verdict_of", what=what, panel=where, sentences=sentences)
                blocks.append(Paragraph(text, role="verdict", tone=in_words(view, chosen[0])[1]))
    return blocks


def _sentence(view: View, verdict: Verdict) -> str:
    return view.words(
        "verdict_sentence",
        response=view.title(verdict.response),
        change=_estimate(view, verdict),
        seen=in_words(view, verdict)[0],
    )


def _estimate(view: View, verdict: Verdict) -> str:
    """`+2.4% (95% interval -1.0% … +6.0%)`."""
    o = verdict.overall
    shown = precise_change(o.change, precision(o.lower, o.upper))
    return view.words("estimate", change=shown, interval=interval(o.lower, o.upper))


def _table(view: View, verdicts: Sequence[Verdict]) -> Table:
    w = view.words
    layout = view.layout
    with_group = any(v.group for v in verdicts)
    with_level = len(layout.levels) > 2  # noqa: PLR2004 - else the title names the level
    rows = []
    for v in verdicts:
        words, tone = in_words(view, v)
        cells = [Cell(", ".join(v.group.values()))] if with_group else []
        cells.append(Cell(view.title(v.response)))
        if with_level:
            cells.append(Cell(v.level))
        cells.append(Cell(precise_change(v.overall.change, precision(*_ends(v))), tone))
        cells.append(Cell(interval(*_ends(v))))
        cells.append(Cell(words, tone))
        cells.append(Cell(_percent(v.detectable)))
        rows.append(tuple(cells))
    header = [layout.group_title] if with_group else []
    header.append(w("response"))
    header += [layout.title(layout.compared)] if with_level else []
    words_first = len(header)
    header += [w("change_overall"), w("interval_95"), w("verdict"), w("detectable")]
    numeric = (*(False for _ in range(words_first)), True, True, False, True)
    others = [level for level in layout.levels if level != layout.reference]
    title = (
        w("verdict_table", reference=layout.reference)
        if with_level
        else w("against", level=others[0], reference=layout.reference)
    )
    return Table(title, tuple(header), tuple(rows), numeric, note=w("detectable_note"))


def _ends(verdict: Verdict) -> tuple[float, float]:
    return verdict.overall.lower, verdict.overall.upper


def _percent(value: float | None) -> str:
    if value is None or not math.isfinite(value):
        return "-"
    if value < _LEAST_SHOWN:
        return f"<{_LEAST_SHOWN:.4%}"
    return f"{100 * value:.2g}%" if value < 1 else f"{100 * value:.0f}%"


def _remarks(view: View) -> list[Block]:
    """How the verdicts were reached, what they cannot show, and what else differs."""
    w = view.words
    run = view.run
    verdicts = view.conclusions.verdicts
    sentences = []
    if verdicts:
        method = "method_always_valid" if verdicts[0].method == "always valid" else "method_mixed"
        sentences.append(w(method, margin=view.margin_text, n=max(v.blocks for v in verdicts)))
        sentences += _limits(view)
    sentences += _course(view)
    done, planned = len(run.records), run.planned_trials
    flagged = int(view.layout.trials["flagged"].sum())
    if done < planned:
        sentences.append(w("incomplete", done=done, planned=planned))
    if flagged:
        sentences.append(w("flagged_included", n=flagged, all=done))
    notes: list[Block] = [Paragraph(w("space").join(sentences), role="note")] if sentences else []
    notes += calibration_blocks(view)
    if cautions := view.conclusions.cautions:
        notes.append(Paragraph(w("cautions"), role="note"))
        notes.append(Items(tuple(_caution(view, c) for c in cautions)))
    servers = run.environment.get("servers", {})
    if differing := differences(servers):
        labels = distinct(servers)
        values_of = (
            f"{key} ({', '.join(f'{s} {v}' for s, v in zip(labels, values, strict=True))})"
            for key, values in differing.items()
        )
        notes.append(Paragraph(w("also_differ", what=w("separator").join(values_of)), role="note"))
    return notes


def _course(view: View) -> list[str]:
    """How a run that goes on until decided came to its end, or that it did not."""
    run = view.run
    if run.study.until_decided is None:
        return []
    told = {v.response for v in view.conclusions.verdicts}
    names = [view.title(r) for r in responses_to_decide(run.study) if r in told]
    what = view.words("enumerate").join(names)
    if run.stop is not None:
        key = {"decided": "ended_decided", "budget spent": "ended_budget"}[run.stop.reason]
        return [view.words(key, blocks=run.stop.blocks, what=what)]
    if run.may_end_earlier:
        return [view.words("not_decided_yet", what=what)]
    return [view.words("ended_last_block", blocks=run.study.laid_out_blocks, what=what)]


def _limits(view: View) -> list[str]:
    """What so few blocks cannot show, of throughput."""
    found = [v for v in view.conclusions.verdicts if v.response == "tps" and v.detectable]
    if not found:
        return []
    worst = max(found, key=lambda v: v.detectable or 0.0)
    where = view.words("in_panel", panel=view.group_words(worst.group)) if worst.group else ""
    return [
        view.words(
            "cannot_show",
            n=worst.blocks,
            response=view.title("tps"),
            panel=where,
            size=_percent(worst.detectable),
        )
    ]


def _caution(view: View, caution: Caution) -> str:
    w = view.words
    where = w("in_panel", panel=view.group_words(caution.group)) if caution.group else ""
    figure = "" if caution.figure is None else change(1 + caution.figure)
    return w(
        f"caution_{caution.kind.replace(' ', '_').replace('-', '_')}",
        response=view.title(caution.response),
        panel=where,
        figure=figure,
        trials=", ".join(str(n) for n in caution.trials),
        p=f"{caution.p:.2g}" if caution.p >= 0.0001 else "<0.0001",  # noqa: PLR2004
    )
