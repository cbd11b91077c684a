"""What was asked, and how: factors, blocks, set-up, load scripts."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from teiten.report.document import Block, Code, Paragraph, Section, Table
from teiten.report.sections.view import text_table
from teiten.study.model import guc_text

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from teiten.report.sections.view import View


def asked(view: View) -> Section:
    """The study in words and tables."""
    w = view.words
    plan = view.run.plan
    study = view.run.study
    trials = view.run.planned_trials
    design = w(
        "design",
        treatments=len(plan.treatments),
        blocks=trials // len(plan.treatments),
        trials=trials,
        seed=study.seed,
    )
    constant = _constant(view)
    settings = {k: v for k, v in constant.items() if k.startswith("settings.")}
    rows = [(key, _shown(value)) for key, value in constant.items() if key not in settings]
    blocks: list[Block] = [
        Paragraph(design),
        _factors(view),
        text_table(w("setup"), (w("key"), w("value")), rows),
    ]
    if settings:
        lines = [f"{k.removeprefix('settings.')} = {guc_text(v)}" for k, v in settings.items()]
        blocks.append(Code(w("settings"), "\n".join(lines)))
    blocks += [Code(w("script", name=name), text.rstrip()) for name, text in study.scripts.items()]
    return Section("asked", w("asked"), tuple(blocks))


def _factors(view: View) -> Table:
    w = view.words
    layout = view.layout
    rows = []
    for factor in view.run.study.factor:
        if factor.name == layout.compared.name:
            role = w("role_compared", reference=layout.reference)
        elif factor.name == layout.x.name:
            role = w("role_x")
        else:
            role = w("role_panel") if len(factor.labels) > 1 else w("role_fixed")
        rows.append((layout.title(factor), ", ".join(factor.labels), role))
    return text_table(w("factors"), (w("factor"), w("levels"), w("role")), rows)


def _constant(view: View) -> dict[str, Any]:
    """Set-up keys with the same value in every treatment."""
    setups = [
        dict(_flat(t.setup.model_dump(mode="json", exclude_none=True)))
        for t in view.run.plan.treatments
    ]
    return {
        key: value
        for key, value in setups[0].items()
        if all(key in s and s[key] == value for s in setups)
    }


def _flat(values: Mapping[str, Any], prefix: str = "") -> Iterator[tuple[str, Any]]:
    for key, value in values.items():
        if isinstance(value, dict):
            yield from _flat(value, f"{prefix}{key}.")
        else:
            yield f"{prefix}{key}", value


def _shown(value: object) -> str:
    if isinstance(value, list):
        return ", ".join(str(v) for v in value) or "-"
    return guc_text(value) if isinstance(value, bool | int | float | str) else str(value)
