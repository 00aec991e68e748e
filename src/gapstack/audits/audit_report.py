"""Results of an audit, and its report: verdict, headlines, tables, plots and model card."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from math import isnan
from textwrap import shorten
from typing import Any

from gapstack.audits.plots import regression_svg
from gapstack.audits.suite import Findings, Headline, Items, Suite
from gapstack.data import Label
from gapstack.display.render import Cell, Column, Section, StyledCell, Table, point
from gapstack.display.report import Report
from gapstack.display.web import page_cell
from gapstack.errors import printable
from gapstack.evaluation import Difference, Interval
from gapstack.runs.folder import STACK
from gapstack.types import Floats

DIFFERS, NO_CLEAR_DIFFERENCE, AT_CHANCE, BELOW = "differs", "no clear difference", "at chance", "below chance"
"""Verdicts on a system in a suite; the first two are about the difference between the genders."""
_PHRASES = {
    DIFFERS: "A clear difference between the genders",
    NO_CLEAR_DIFFERENCE: "No clear difference, which does not show that there is none,",
    AT_CHANCE: "At chance, where a difference shows how it guesses,",
    BELOW: "Below chance",
}
_CHANCE = 50.0
_REPR_LINES = 8

MARK = "*"  # suffix of a system's name in the results of a suite that it was trained on

CAUTION = (
    "A suite can show that a system is biased, never that it is not: each has few sentences of few kinds, in English, "
    "about occupations of the United States, Wikipedia's people or given names, and measures nothing else."
)


@dataclass(frozen=True)
class SuiteAudit:
    """Results of one suite, with its rows and each system's probabilities (n, 3)."""

    suite: Suite
    items: Items
    findings: Findings
    answers: Mapping[str, Floats]  # (n, 3) in the rows' order
    marked: tuple[str, ...] = ()  # systems that were trained on these rows
    remark: str = ""  # a caveat of the target about its answers


@dataclass(frozen=True, repr=False)
class Audit:
    """Results of :func:`gapstack.audit`."""

    target: str
    """What was audited."""
    note: str
    """A remark on the target, usually empty."""
    systems: tuple[str, ...]
    """Names of the systems."""
    covered: tuple[SuiteAudit, ...]
    """Rows, probabilities and findings of each suite that was run."""
    not_covered: Mapping[str, str]
    """Reason for each suite that was not run."""
    refused: Mapping[str, tuple[str, ...]]
    """Systems excluded from a suite because they were trained on its rows, by suite."""
    average: tuple[str, ...]
    """Test-time augmentations."""
    versions: Mapping[str, str]
    """Versions of the software."""

    @property
    def made_with(self) -> str:
        """Versions of software as text."""
        return ", ".join(f"{name} {version}" for name, version in self.versions.items())

    def __repr__(self) -> str:
        """At most ten lines: what was audited, the verdict on each system, and what was not covered."""
        lead = verdict(self)
        shown = lead if len(lead) <= _REPR_LINES else [*lead[: _REPR_LINES - 1], f"... {len(lead)} verdicts"]
        systems = shorten(", ".join(self.systems), 100, placeholder=", ...")
        suites = ", ".join(covered.suite.name for covered in self.covered)
        lines = [f"Audit of {self.target}; suites: {suites}; systems: {systems}"]
        lines += [shorten(line, 240, placeholder=" ...") for line in shown]
        return "\n".join([*lines, f"Not covered: {', '.join(self.not_covered) or 'nothing'}"])

    def _repr_html_(self) -> str:
        return "".join(table._repr_html_() for table in report(self).tables)


def report(found: Audit, *, details: bool = False) -> Report:
    """Return verdict, tables, model card and plots; ``details`` adds slices and occupations, as the JSON always has."""
    measured = [table for covered in found.covered for table in covered.findings.tables]
    tables = [table for table in measured if details or not table.detail]
    plots = [plot for covered in found.covered for plot in covered.findings.scatters]
    return Report(
        "audit",
        [*headline_tables(found), *tables],
        card_lines(found),
        record(found),
        {f"{plot.key}.svg": regression_svg(plot) for plot in plots},
        verdict(found),
    )


@dataclass(frozen=True)
class HeadlineResult:
    """Headline figures of one system in a suite; there is no gap in suites of one gender."""

    suite: str
    headline: Headline
    system: str
    score_column: Column
    score: Cell
    gap_column: Column | None = None
    gap: Cell = None
    verdict: str = ""  # empty without a gap

    @property
    def shown_score(self) -> str:
        """Name and value of the score."""
        return f"{self.headline.score_name} {self.score_column.show(self.score)}"

    @property
    def shown_gap(self) -> str:
        """Name and value of the gap, or "-"."""
        return f"{self.gap_column.title} {self.gap_column.show(self.gap)}" if self.gap_column else "-"

    @property
    def kind(self) -> str:
        """CSS class of the cell that shows the gap."""
        return "clear" if self.verdict == DIFFERS else ""


def headlines(found: Audit) -> Iterator[HeadlineResult]:
    """Headlines of the suites that were run, in order, each for every system."""
    for covered in found.covered:
        tables = {table.key: table for table in covered.findings.tables}
        # chance is 50% only if one of the two names is always right
        guessed = not (covered.items.corpus.labels == Label.NEITHER).any()
        for headline in covered.findings.headlines:
            (name, key), gap = headline.score, headline.gap
            for system, row in tables[name].rows.items():
                of_suite = (covered.suite.name, headline, system, tables[name].column(key), row.get(key))
                if gap is None:
                    yield HeadlineResult(*of_suite)
                    continue
                value = tables[gap[0]].rows[system].get(gap[1])
                verdict = {True: DIFFERS, False: NO_CLEAR_DIFFERENCE, None: ""}[
                    differs(value, headline.neutral)
                ]
                score = row.get(key)
                if verdict and guessed and headline.score_name == "accuracy" and isinstance(score, Interval):
                    verdict = (
                        BELOW if score.high < _CHANCE else AT_CHANCE if score.low <= _CHANCE else verdict
                    )
                yield HeadlineResult(*of_suite, tables[gap[0]].column(gap[1]), value, verdict)


def differs(value: Cell, neutral: float = 0.0) -> bool | None:
    """True if a figure differs from ``neutral``, by its test or its 95% interval; None without either."""
    if not isinstance(value, Interval | Difference) or any(map(isnan, value[:3])):
        return None
    return value.p < 0.05 if isinstance(value, Difference) else not value.low <= neutral <= value.high


def verdict(found: Audit) -> list[str]:
    """One sentence per system: suites in which the genders differ, and in which it is at or below chance."""
    by_system: dict[str, dict[str, list[str]]] = {}
    for line in headlines(found):
        title = line.headline.title
        shown = f"{title} ({line.shown_gap})" if line.verdict in (DIFFERS, NO_CLEAR_DIFFERENCE) else title
        by_system.setdefault(line.system, {}).setdefault(line.verdict, []).append(shown)
    sentences: dict[str, list[str]] = {}
    for system, suites in by_system.items():
        parts = [
            f"{phrase} in {len(suites[level])}: {'; '.join(suites[level])}."
            for level, phrase in _PHRASES.items()
            if level in suites
        ]
        sentences.setdefault(" ".join(parts), []).append(system)
    return [f"{', '.join(names)}. {text}" for text, names in sentences.items() if text]


def headline_tables(found: Audit) -> list[Table]:
    """For one system a row per suite; for several a row per system, those that differ in the fewest suites first."""
    lines = list(headlines(found))
    rows: dict[str, dict[str, Cell]] = {}
    if not lines:
        return []
    if len(found.systems) == 1:
        for line in lines:
            name = line.headline.title + (f" ({line.system})" if line.system.endswith(MARK) else "")
            rows[name] = {
                "verdict": StyledCell(line.verdict or "-", line.verdict, line.kind),
                "gap": StyledCell(line.shown_gap, point(line.gap), line.kind),
                "score": StyledCell(line.shown_score, point(line.score)),
            }
        titles = {"verdict": "verdict", "gap": "gender difference", "score": "score"}
        columns = [Column(*each) for each in titles.items()]
        return [Table(columns, [Section("", list(rows.items()))], "In short", name_title="suite")]
    gap_columns, score_columns = {"clear": Column("clear", "clear differences")}, {}
    scores: dict[str, dict[str, Cell]] = {}
    verdicts: dict[str, list[bool]] = {}
    for line in lines:
        title = line.headline.title
        score_columns[title] = Column(title, line.headline.score_name, group=title)
        scores.setdefault(line.system, {})[title] = page_cell(line.score_column, line.score)
        cells, outcomes = rows.setdefault(line.system, {}), verdicts.setdefault(line.system, [])
        if line.gap_column:
            gap_columns[title] = Column(title, line.gap_column.title, group=title)
            shown = page_cell(line.gap_column, line.gap)
            level = line.verdict if line.verdict in (AT_CHANCE, BELOW) else ""
            note = " ".join(filter(None, (shown.note, level)))
            cells[title] = replace(shown, kind=line.kind, note=note)
        outcomes += [line.verdict == DIFFERS] if line.verdict else []
    for system, outcomes in verdicts.items():
        rows[system]["clear"] = StyledCell(f"{sum(outcomes)} of {len(outcomes)}", sum(outcomes))
    ranked = sorted(rows, key=lambda name: (sum(verdicts[name]), name.removesuffix(MARK) != STACK))
    return [
        Table(
            list(columns.values()),
            [Section("", [(name, cells[name]) for name in ranked])],
            title,
            "",
            "system",
        )
        for title, columns, cells in (
            ("Differences between the genders", gap_columns, rows),
            ("Scores", score_columns, scores),
        )
    ]


def card_lines(found: Audit) -> list[str]:
    """The model card as paragraphs: target, data, what was not covered, and the caution."""
    lines = [f"Bias audit of {found.target}" + (f": {found.note}." if found.note else ".")]
    if found.average:
        augmentations = ", ".join(found.average)
        lines.append(f"Probabilities are averaged over test-time augmentations of the rows: {augmentations}.")
    for covered in found.covered:
        name, licence = covered.suite.name, covered.suite.licence
        lines.append(f"{name} ({covered.suite.paper}; {licence}): {covered.items.describe()}.")
        if covered.remark:
            lines.append(f"{name}: {covered.remark}.")
        if covered.marked:
            lines.append(
                f"{name}: {', '.join(covered.marked)} trained on data that share rows with it "
                f"(marked {MARK}): those figures measure neither fairness nor accuracy."
            )
    lines += [
        f"{name}: {', '.join(systems)} excluded, trained on data that share rows with it "
        "(--allow-contaminated includes them)."
        for name, systems in found.refused.items()
    ]
    for reason in dict.fromkeys(found.not_covered.values()):
        names = [name for name, why in found.not_covered.items() if why == reason]
        lines.append(f"Not covered: {', '.join(names)}: {reason}.")
    lines.append("Brackets hold 95% intervals (groups of rows resampled); p is two-sided.")
    lines.append(f"Made with {found.made_with}.")
    return [printable(line) for line in (*lines, CAUTION)]


def record(found: Audit) -> dict[str, Any]:
    """Unrounded figures and metadata, for JSON."""
    shown: dict[str, dict[str, Any]] = {}
    for line in headlines(found):
        title, name = line.headline.title, line.headline.score_name
        record = shown.setdefault(title, {"title": title, "score_name": name, "score": {}, "gap": None})
        record["score"][line.system] = line.score
        if line.gap_column:
            record["gap"] = {**(record["gap"] or {}), line.system: line.gap}
    return {
        "target": found.target,
        "note": found.note,
        "systems": found.systems,
        "average": found.average,
        "verdict": verdict(found),
        "headlines": list(shown.values()),
        "suites": {covered.suite.name: _suite_record(covered) for covered in found.covered},
        "refused": found.refused,
        "not_covered": found.not_covered,
        "versions": found.versions,
        "caution": CAUTION,
    }


def _suite_record(covered: SuiteAudit) -> dict[str, Any]:
    items = covered.items
    return {
        "title": covered.suite.title,
        "paper": covered.suite.paper,
        "version": items.version,
        "rows": len(items.corpus),
        "fingerprint": items.corpus.fingerprint,
        "skipped": items.skipped,
        "note": items.note,
        "marked": covered.marked,
        "remark": covered.remark,
        "panels": {
            table.key: {
                "title": table.title,
                "note": table.caption,
                "measures": [column.key for column in table.columns],
                "rows": table.rows,
                "published": {name: row for section in table.sections[1:] for name, row in section.rows},
            }
            for table in covered.findings.tables
        },
        "plots": {
            plot.key: {"title": plot.title, "names": plot.names, "series": plot.series}
            for plot in covered.findings.scatters
        },
    }
