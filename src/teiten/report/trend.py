"""The history of a study told as a report."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import polars as pl

from teiten.analysis.trend import FALSE_ALARMS
from teiten.report.charts.trend import Dot, History, Mark, Rule, Under, trend_chart
from teiten.report.document import Block, Cell, Chart, Items, Paragraph, Report, Section, Table
from teiten.report.layout import factor_title
from teiten.report.numbers import change
from teiten.report.trend_data import places, trend_frame
from teiten.report.trend_view import Told, TrendView, day, minute
from teiten.report.words import Words
from teiten.stats.change_points import LEAST

if TYPE_CHECKING:
    from collections.abc import Sequence

    from teiten.analysis.trend import Change, Entry, Series, Stretch
    from teiten.report.document import Language

_REASONS = {
    "not recorded": "history_not_recorded",
    "no trial": "history_no_trial",
    "not positive": "history_not_positive",
    "not complete": "history_not_complete",
}


def build_trend_report(told: Told, language: Language = "en", most_rows: int = 0) -> Report:
    """Tell a trend in `language`; tables show the newest `most_rows` runs (0: all)."""
    return _Teller(told, language, most_rows).report()


class _Teller:
    def __init__(self, told: Told, language: Language, most_rows: int) -> None:
        self.told = told
        self.trend = told.trend
        self.language: Language = language
        self.words = Words(language)
        self.view = TrendView(told, self.words)
        self.most_rows = most_rows

    def report(self) -> Report:
        w = self.words
        study = self.told.study
        times = self.view.times
        runs = {e.run for s in self.trend.series for e in s.entries}
        return Report(
            title=w(
                "history_title",
                title=study.text("title", self.language),
                response=self.view.response(unit=False),
            ),
            question=study.text("question", self.language),
            language=self.language,
            run_name=f"trend-{study.name}",
            subtitle=w(
                "history_line",
                n=len(runs),
                study=study.name,
                begin=day(times[0]),
                end=day(times[-1]),
            ),
            sections=tuple(self._sections()),
            trials=trend_frame(self.trend),
            summary=pl.DataFrame(),
        )

    def _sections(self) -> list[Section]:
        w = self.words
        sections = [
            Section("history", w("history"), (*self._findings(), self._chart()), brief=True),
            Section("runs", w("history_runs"), tuple(map(self._table, self.trend.series))),
            Section("breaks", w("history_breaks"), (self._breaks(),)),
        ]
        if self.told.published:
            table = self._published_table()
            sections.append(Section("published", w("history_published"), (table,)))
        method = Paragraph(w("history_method_text"))
        return [*sections, Section("method", w("history_method"), (method,))]

    def _findings(self) -> list[Block]:
        w = self.words
        blocks: list[Block] = [
            Paragraph(self._sentence(s, found), "verdict", self.view.tone(found))
            for s in self.trend.series
            for stretch in s.stretches
            for found in stretch.changes
        ]
        tested = self._tested
        if not blocks and tested:
            blocks.append(Paragraph(w("history_none"), "verdict"))
        notes = self._cautions()
        by_reason: dict[str, list[str]] = {}
        for run, reason in self.trend.left_out.items():
            by_reason.setdefault(_REASONS[reason], []).append(run)
        notes += [
            w("history_left_out", runs=", ".join(runs), reason=w(key))
            for key, runs in by_reason.items()
        ]
        if self.told.empty:
            notes.append(w("history_empty", runs=", ".join(self.told.empty)))
        notes += [w("history_unread", sentence=sentence) for sentence in self.told.unread]
        if notes:
            blocks.append(Items(tuple(notes)))
        if tested:
            rate = w(
                "history_rate",
                rate=f"{FALSE_ALARMS:.0%}",
                n=tested,
                alpha=f"{self.trend.alpha:.2g}",
                least=LEAST,
            )
            blocks.append(Paragraph(rate, "note"))
        return blocks

    def _sentence(self, series: Series, found: Change) -> str:
        w = self.words
        entries = series.entries
        interval = w("history_unbounded")
        if math.isfinite(found.upper):
            interval = w(
                "history_interval", range=f"{change(1 + found.lower)} … {change(1 + found.upper)}"
            )
        place = ""
        if found.earliest < found.latest:
            first, last = (self.view.date(entries[i].at_s) for i in (found.earliest, found.latest))
            place = w("history_place", first=first, last=last)
        return w(
            "history_found",
            what=self.view.name(series),
            change=change(1 + found.change),
            interval=interval,
            before=self.view.date(entries[found.before].at_s),
            after=self.view.date(entries[found.after].at_s),
            place=place,
        )

    @property
    def _tested(self) -> int:
        """How many lines were tested."""
        return sum(x.testable for s in self.trend.series for x in s.stretches)

    def _cautions(self) -> list[str]:
        """Lines whose runs depend on one another, and those that are too short."""
        w = self.words
        short: dict[int, dict[str, None]] = {}
        notes = []
        for series in self.trend.series:
            what = self.view.name(series)
            for stretch in series.stretches:
                if not stretch.testable:
                    short.setdefault(len(stretch.entries), {})[what] = None
                elif stretch.dependence is not None:
                    r, p = f"{stretch.dependence.r:.2f}", f"{stretch.dependence.p:.2g}"
                    notes.append(w("history_dependent", what=what, r=r, p=p))
        for n, names in sorted(short.items()):
            what = w("history_and").join(names)
            notes.append(w("history_short", what=what, n=n, fewest=self.trend.fewest))
        return notes

    def _chart(self) -> Chart:
        w = self.words
        over = w("history_over_blocks")
        if self.told.x is not None:
            x, at = factor_title(self.told.x, self.language), self.trend.question.at
            over = w("history_over_x", x=x) if at is None else w("history_at_x", x=x, at=at)
        caption = w("history_caption", over=over)
        if self.told.published:
            caption += w("history_caption_under")
        sentences = " ".join(
            self._sentence(s, found)
            for s in self.trend.series
            for stretch in s.stretches
            for found in stretch.changes
        )
        title = self.view.response(unit=True)
        if self.trend.question.relative:
            references = dict.fromkeys(str(s.reference) for s in self.trend.series)
            title = w(
                "history_axis_relative",
                response=self.view.response(unit=False),
                reference=", ".join(references),
            )
        runs = {e.run for s in self.trend.series for e in s.entries}
        return Chart(
            name=f"history-{self.trend.question.response.replace('_', '-')}",
            title=title,
            description=w(
                "history_description",
                response=title,
                n=len(runs),
                sentences=sentences or (w("history_none") if self._tested else ""),
            ),
            specification=trend_chart(
                self._panels(),
                levels=self.view.levels,
                reference=""
                if self.trend.question.relative
                else self.told.compared.reference_label,
                title=title,
                time_title=w("history_when"),
                level_title=factor_title(self.told.compared, self.language),
                as_change=self.trend.question.relative,
            ),
            caption=caption,
        )

    def _panels(self) -> list[History]:
        groups: dict[str, list[Series]] = {}
        for series in self.trend.series:
            groups.setdefault(self.view.group(series), []).append(series)
        return [self._panel(title, members) for title, members in groups.items()]

    def _panel(self, title: str, members: Sequence[Series]) -> History:
        dots: list[Dot] = []
        marks: list[Mark] = []
        rules: dict[tuple[str, float, float], Rule] = {}
        for series in members:
            line_of, _, _ = places(series)
            newest = series.entries[-1].kind
            dots += [
                self._dot(series, e, line_of[i], hollow=e.kind != newest)
                for i, e in enumerate(series.entries)
            ]
            marks += [self._mark(series, x, c) for x in series.stretches for c in x.changes]
            for b in series.breaks:
                rule = Rule(b.after_s, b.before_s, self.view.break_words(b))
                rules.setdefault((b.kind, b.after_s, b.before_s), rule)
        under = [
            Under(p.at_s, self.view.shown(p.value), " ".join(t for t in (p.level, p.label) if t))
            for p in self.told.published
            if not p.group or p.group in {self.view.group(members[0]), self.view.labels(members[0])}
        ]
        return History(title, dots, marks, list(rules.values()), under)

    def _dot(self, series: Series, entry: Entry, line: int, *, hollow: bool) -> Dot:
        parts = (
            self.view.level(series),
            minute(entry.at_s),
            self.view.value(entry.value),
            entry.run,
        )
        return Dot(
            at_s=entry.at_s,
            level=self.view.level(series),
            value=self.view.shown(entry.value),
            low=self.view.shown(entry.value if entry.lowest is None else entry.lowest),
            high=self.view.shown(entry.value if entry.highest is None else entry.highest),
            line=line,
            hollow=hollow,
            flagged=bool(entry.flagged),
            description=", ".join(parts),
        )

    def _mark(self, series: Series, stretch: Stretch, found: Change) -> Mark:
        entries = series.entries
        earliest = stretch.entries[stretch.entries.index(found.earliest) - 1]
        text = change(1 + found.change)
        return Mark(
            level=self.view.level(series),
            after_s=entries[found.before].at_s,
            before_s=entries[found.after].at_s,
            from_s=entries[earliest].at_s,
            to_s=entries[found.latest].at_s,
            text=f"{self.view.level(series)}: {text}" if len(self.view.levels) > 1 else text,
        )

    def _table(self, series: Series) -> Table:
        w = self.words
        _, before_of, change_of = places(series)
        starts = {s.entries[0]: s for s in series.stretches}
        with_changes = {b.before_s: b for b in series.breaks}
        rows = []
        for i, entry in enumerate(series.entries):
            before = before_of.get(i)
            found = change_of.get(i)
            remarks = []
            if found:
                remarks.append(w("history_point", change=change(1 + found.change)))
            if i in starts and i and entry.at_s in with_changes:
                kind = self.view.break_words(with_changes[entry.at_s])
                remarks.append(w("history_newline", kind=kind))
            if before is not None and series.entries[before].stands_for != entry.stands_for:
                remarks.append(w("history_means", what=entry.stands_for))
            if entry.flagged:
                remarks.append(w("history_flagged", n=len(entry.flagged)))
            value = self.view.value(entry.value)
            if entry.lowest is not None and entry.highest is not None:
                value += f" ({self.view.value(entry.lowest)} … {self.view.value(entry.highest)})"
            to_previous = (
                "" if before is None else change(entry.value / series.entries[before].value)
            )
            tone = self.view.tone(found) if found else "plain"
            texts = (minute(entry.at_s), value, to_previous)
            remark = Cell(w("history_and").join(remarks), tone)
            rows.append((*map(Cell, texts), remark, Cell(entry.run)))
        cut = len(rows) - self.most_rows if self.most_rows else 0
        header = ("began", "value", "change", "remarks", "run")
        title = {"response": self.view.response(unit=True), "what": self.view.name(series)}
        return Table(
            w("history_table", **title),
            tuple(w(f"history_{key}") for key in header),
            tuple(rows[max(0, cut) :]),
            (False, True, True, False, False),
            folded=True,
            note=w("history_earlier", n=cut) if cut > 0 else "",
        )

    def _breaks(self) -> Block:
        w = self.words
        found: dict[tuple[str, float, float, tuple[str, ...]], list[Series]] = {}
        for series in self.trend.series:
            for b in series.breaks:
                found.setdefault((b.kind, b.after_s, b.before_s, b.what), []).append(series)
        if not found:
            return Paragraph(w("history_no_break"))
        sentences = []
        for (_, after_s, before_s, what), members in sorted(found.items(), key=lambda x: x[0][2]):
            of_one = next(
                b for b in members[0].breaks if (b.after_s, b.before_s) == (after_s, before_s)
            )
            text = "; ".join(what)
            if not what and of_one.kind != "gap":
                text = w("history_host_unknown")
            sentences.append(
                w(
                    "history_break",
                    before=self.view.date(after_s),
                    after=self.view.date(before_s),
                    what=w("history_and").join(dict.fromkeys(map(self.view.name, members))),
                    kind=self.view.break_words(of_one),
                    details=w("history_details", text=text) if text else "",
                )
            )
        return Items(tuple(sentences))

    def _published_table(self) -> Table:
        w = self.words
        rows = [
            tuple(
                Cell(t) for t in (day(p.at_s), p.level, p.group, p.label, self.view.value(p.value))
            )
            for p in self.told.published
        ]
        header = (
            w("history_date"),
            factor_title(self.told.compared, self.language),
            w("treatment"),
            w("history_source"),
            w("value"),
        )
        return Table(w("history_published"), header, tuple(rows), (False,) * 4 + (True,))
