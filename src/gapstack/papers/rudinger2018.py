"""The tables and figures of Rudinger et al. 2018 (Winogender): ``gap reproduce rudinger2018``.

Audited by default: the bundled model, which can see gender; and, fitted on GAP's training splits, three cues of the GAP
paper, which cannot, and trees over surface features. ``--run`` adds runs, saved members, or folders of other systems'
predictions.

The paper's three systems link a pronoun to any mention or to none, and were not given the two mentions; ours choose
between the two or neither. Humans were asked which of the two the pronoun means.
"""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from gapstack.audits import SUITES, Audit, Items, Target, audit, target_of
from gapstack.audits.audit_report import record
from gapstack.audits.plots import regression_svg
from gapstack.audits.statistics import correlation
from gapstack.audits.winogender import OCCUPATION, resolutions, statistics_of
from gapstack.data import Gender
from gapstack.data.gap_data import GapData
from gapstack.data.sources import paper
from gapstack.display.render import Cell, Column, Section, SectionRows, Table
from gapstack.display.report import Report
from gapstack.errors import DataError
from gapstack.members import create
from gapstack.members.member import Predictor
from gapstack.runs.folder import DEFAULT
from gapstack.types import Floats

MEMBERS = ("token_distance", "syntactic_distance", "parallelism", "surface")
"""Members that are fitted here."""
OCCUPATIONS = ("manager", "doctor")
"""Examples: the paper follows managers from the workforce through texts to its systems."""
_SUITE = "winogender"
_EXAMPLES = {
    "BLS": "workers, BLS",
    "Bergsma and Lin": "text, Bergsma and Lin",
    "systems": "RULE, STAT and NEURAL",
}
_DOCTORS = {"Bergsma and Lin": 9.2}
"""The paper's figure for doctors, which the data set ``papers`` lacks."""


def reproduce(
    gap: GapData,
    runs: Sequence[str] = (DEFAULT,),
    *,
    parser: str | Path | None = None,
    members: Sequence[str] = MEMBERS,
) -> Report:
    """Audit our members and existing systems, by default the bundled model, on Winogender."""
    SUITES[_SUITE].load()  # raises before anything is fitted
    systems: dict[str, Predictor] = {}
    for name in members:
        member = create(name)
        if parser is not None and "parser" in member.get_params():
            member.set_params(parser=str(parser))
        systems[name] = member.fit(gap.train)
    notes = [f"Our members: fitted on {gap.train.name} ({len(gap.train)} rows, {gap.train.label_set} labels)"]
    for name in runs:
        target = target_of(name, list(SUITES))
        known = set(systems)
        for label, system in target.systems.items():
            systems[f"{Path(name).name}:{label}" if label in known else label] = system
        notes.append(f"{target.title}: {target.note}" if target.note else target.title)
    audited = audit(Target(systems, "members and runs", "; ".join(notes)), suites=[_SUITE])
    if not audited.covered:
        raise DataError(
            f"nothing was audited on Winogender: {audited.not_covered[_SUITE]}",
            remedy="Name a system that was not trained on it with --run",
        )
    if _SUITE in audited.refused:
        notes.append(f"Left out, as trained on Winogender: {', '.join(audited.refused[_SUITE])}")
    covered = audited.covered[0]
    notes += [covered.items.describe(), *filter(None, (covered.remark,))]
    notes.append("Brackets: 95% intervals, occupations resampled")
    return _report(audited, notes)


def _report(audited: Audit, notes: Sequence[str]) -> Report:
    """The audit's tables with the paper's figures, tables of the figures in its text, and figures 3 and 4 as files."""
    theirs = paper("rudinger2018")
    covered = audited.covered[0]
    by_key = {table.key.removeprefix(f"{_SUITE}."): table for table in covered.findings.tables}
    names, bls, text = statistics_of(covered.items)
    between, below = correlation(bls, text), int((text < bls).sum())
    r = theirs["figure3"]["pearson_r_bls_against_text"]
    correlated: SectionRows = [
        (f"the {len(bls)} occupations", {"r": between, "below": f"{below} of {len(bls)}"})
    ]
    examples: dict[str, dict[str, dict[str, int]]] = {occupation: {} for occupation in OCCUPATIONS}
    shown: dict[str, dict[str, Cell]] = {
        source: {occupation: float(values[names.index(occupation)]) for occupation in OCCUPATIONS}
        for source, values in (("workers, BLS", bls), ("text, Bergsma and Lin", text))
    }
    for occupation, by_system in examples.items():
        for system, answers in covered.answers.items():
            feminine, gendered = _chosen(covered.items, answers, occupation)
            by_system[system] = {"feminine": feminine, "gendered": gendered}
            share = f"{100 * feminine / max(1, gendered):.1f} ({feminine} of {gendered})"
            shown.setdefault(system, {})[occupation] = share if gendered else "none resolved to it"
    managers = theirs["text"]["manager_percent_female"]
    examined: SectionRows = [
        (title, {"manager": float(managers[key]), "doctor": _DOCTORS.get(key)})
        for key, title in _EXAMPLES.items()
    ]
    tables = (
        *(by_key[key] for key in ("correlation", "gotcha", "resolved")),
        _humans_table(theirs["text"]["humans"], by_key["gotcha"], len(covered.items.corpus)),
        Table(
            [Column("r", "Pearson's r", 2), Column("below", "fewer women in text")],
            [Section("the paper", [("the 60 occupations", {"r": r})]), Section("ours", correlated)],
            "Figure 3: percent of women among workers (BLS) and in text (Bergsma and Lin)",
            "The paper: most points lie well below the diagonal. --output writes figures 3 and 4 as SVG.",
            "system",
        ),
        Table(
            [Column(occupation, f"{occupation}s", 1) for occupation in OCCUPATIONS],
            [Section("the paper", examined), Section("ours", list(shown.items()))],
            "In the text: percent of women among managers and doctors: workers, mentions, pronouns resolved to one",
            "Systems: percent feminine of the masculine and feminine pronouns that are resolved to the occupation.",
            "system",
        ),
    )
    notes = [*notes, *(f"{name}: {what}" for name, what in theirs["systems"].items())]
    figures = {"paper": theirs, "note": ". ".join(notes), "audit": record(audited)}
    figures["figure3"] = {"pearson_r": between, "occupations": len(bls), "fewer_women_in_text": below}
    figures["examples"] = examples
    plots = covered.findings.scatters
    files = {f"{plot.key.removeprefix(f'{_SUITE}.')}.svg": regression_svg(plot) for plot in plots}
    return Report("rudinger2018", tables, [f"{note}." for note in notes], figures, files)


def _chosen(items: Items, answers: Floats, occupation: str) -> tuple[int, int]:
    """Feminine, and all gendered, pronouns that a system resolves to an occupation."""
    where = (items.facts["occupation"] == occupation) & (resolutions(items, answers) == OCCUPATION)
    feminine, masculine = (
        int((items.corpus.genders[where] == gender.value).sum())
        for gender in (Gender.FEMININE, Gender.MASCULINE)
    )
    return feminine, feminine + masculine


def _humans_table(humans: Mapping[str, Any], gotcha: Table, count: int) -> Table:
    """Accuracy of humans and systems on all sentences."""
    majority = {"accuracy": humans["percent"], "of": humans["of"]}
    judged: SectionRows = [
        ("humans, each judgement", {"accuracy": humans["agree_percent"], "of": humans["judgements"]}),
        (f"humans, majority ({humans['majority_agrees']} right)", majority),
        ("humans, Winograd schemas", {"accuracy": humans["winograd_agree_percent"]}),
    ]
    ours = [(system, {"accuracy": row["accuracy"], "of": count}) for system, row in gotcha.rows.items()]
    return Table(
        [Column("accuracy", "right, percent", 1), Column("of", "of")],
        [Section("the paper", judged), Section("ours", ours)],
        "In the text: validation by humans, and accuracy on all sentences",
        f"The two sentences that humans miss: {humans['the_two_missed']}.",
        "system",
    )
