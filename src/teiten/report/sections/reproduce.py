"""How to do it again, and what was not recorded."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING

import tomli_w

from teiten.report.document import Block, Code, Items, Paragraph, Section
from teiten.report.numbers import duration
from teiten.responses import GROUPS

if TYPE_CHECKING:
    from teiten.report.sections.view import View


def reproduce(view: View) -> Section:
    """The command, the study, the versions, how long it took."""
    w = view.words
    study = view.run.study
    document = study.model_dump(mode="json", exclude_none=True)
    blocks: list[Block] = [
        Paragraph(w("reproduce_text")),
        Code(w("command"), "teiten run study.toml"),
    ]
    records = view.run.records
    if records:
        begin, end = records[0].started_at_s, records[-1].ended_at_s
        software = view.run.environment.get("machine", {}).get("software", {})
        client = view.run.environment.get("client", {})
        took = w(
            "reproduce_took",
            teiten=software.get("teiten", "?"),
            pgbench=client.get("version", study.pgbench),
            trials=len(records),
            duration=duration(sum(r.ended_at_s - r.started_at_s for r in records)),
            begin=moment(begin),
            end=moment(end),
            seed=study.seed,
        )
        blocks.append(Paragraph(took))
    blocks.append(
        Code(w("study_file"), tomli_w.dumps(document, multiline_strings=True), folded=True)
    )
    return Section("reproduce", w("reproduce"), tuple(blocks))


def missing(view: View) -> Section:
    """What was not recorded and why, each said once."""
    w = view.words
    sentences = dict.fromkeys(view.run.environment.get("not_recorded", []))
    sentences |= dict.fromkeys(note for record in view.run.records for note in record.notes)
    asked = view.run.study.asked_responses()
    in_groups = {name for members in GROUPS.values() for name in members}
    named = set(view.run.study.responses)
    absent = [
        view.title(name)
        for name in asked
        if not view.layout.has(name) and (name in named or name not in in_groups)
    ]
    if absent and view.run.records:
        separator = "、" if w.language == "ja" else ", "
        sentences[w("missing_response", names=separator.join(absent))] = None
    blocks: tuple[Block, ...] = (
        (Items(tuple(sentences)),) if sentences else (Paragraph(w("all_recorded")),)
    )
    return Section("missing", w("missing"), blocks)


def moment(at_s: float) -> str:
    """A time of day in UTC, to the minute."""
    return datetime.fromtimestamp(at_s, tz=UTC).strftime("%Y-%m-%d %H:%M")
