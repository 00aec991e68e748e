"""The tables and figures of Rudinger et al. 2018 (Winogender): ``gap reproduce rudinger2018``.

By default three cues of the GAP paper, which do not look at gender, and trees over surface features, all fitted on
GAP's training splits; ``--run`` adds runs, saved members, or folders of other systems' predictions.

The paper's three systems link a pronoun to any mention or to none, and were not given the two mentions; ours choose
between the two or neither. Humans were asked which of the two the pronoun means.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from gapstack.audits import SUITES, Audit, Items, SuiteAudit, Target, audit, target_of
from gapstack.audits.plots import regression_svg
from gapstack.audits.published import published
from gapstack.audits.report import audit_json
from gapstack.audits.statistics import correlation
from gapstack.audits.winogender import OCCUPATION, resolutions, statistics_of
from gapstack.data import Gender
from gapstack.data.sources import GapData, paper, papers_note
from gapstack.display.render import Cell, Column, Table
from gapstack.errors import DataError
from gapstack.members import create
from gapstack.members.member import Predictor
from gapstack.papers import PaperReport, Rows, two_sections
from gapstack.types import Floats

MEMBERS = ("token_distance", "syntactic_distance", "parallelism", "surface")
"""Our members that need no run."""
OCCUPATIONS = ("manager", "doctor")
"""Examples: the paper follows managers from the workforce through texts to its systems."""
_SUITE = "winogender"
_EXAMPLES = {
    "BLS": "workers, BLS",
    "Bergsma and Lin": "text, Bergsma and Lin",
    "systems": "RULE, STAT and NEURAL",
}
_TWO = Column("", "", 2)
_GENDERS = tuple(gender.value for gender in (Gender.MASCULINE, Gender.FEMININE, Gender.NEUTRAL))


def reproduce(
    gap: GapData,
    runs: Sequence[str] = (),
    *,
    folder: Path | None = None,
    parser: str | Path | None = None,
    members: Sequence[str] = MEMBERS,
) -> PaperReport:
    """Audit our members, and existing systems, on Winogender.

    ``members`` are fitted on all splits but test, with ``parser`` for the cues; ``runs`` are targets of ``gap audit``;
    ``folder`` is searched first for Winogender and the paper's figures. Raises DataNotFoundError if Winogender, the
    parser or a run is missing, and DataError if every system was trained on Winogender.
    """
    SUITES[_SUITE].load(folder)  # raises before anything is fitted
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
    audited = audit(Target(systems, "members and runs", "; ".join(notes)), folder, [_SUITE])
    if not audited.covered:
        raise DataError(f"nothing was audited on Winogender: it {audited.not_covered[_SUITE]}")
    if _SUITE in audited.refused:
        notes.append(f"Left out, as trained on Winogender: {', '.join(audited.refused[_SUITE])}")
    covered = audited.covered[0]
    notes += [covered.items.describe(), *filter(None, (covered.remark,))]
    notes.append("Brackets: 95% intervals, occupations resampled")
    note = f"{'. '.join(notes)}. {papers_note('rudinger2018', data=folder)}".strip()
    return _report(audited, note, folder)


def _report(audited: Audit, note: str, data: Path | None) -> PaperReport:
    """The paper's tables 1 and 2, the statistics of its text, and what figure 3 shows; figures 3 and 4 as files."""
    theirs = paper("rudinger2018", data)
    covered = audited.covered[0]
    names, bls, text = statistics_of(covered.items)
    between, below = correlation(bls, text), int((text < bls).sum())
    r = theirs.get("figure3", {}).get("pearson_r_bls_against_text")
    figure3: dict[str, Rows] = {
        "the paper": [] if r is None else [("the 60 occupations", {"r": r})],
        "ours": [
            (f"the {len(bls)} occupations", {"r": _TWO.show(between), "below": f"{below} of {len(bls)}"})
        ],
    }
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
    published_examples = theirs.get("text", {}).get("manager_percent_female", {})
    tables = (
        *_panel_tables(covered, theirs, note, data),
        two_sections(
            [Column("r", "Pearson's r", 2), Column("below", "fewer women in text")],
            figure3,
            "Figure 3: percent of women among workers (BLS) and in text (Bergsma and Lin)",
            "The paper: most points lie well below the diagonal. --output writes figures 3 and 4 as SVG.",
        ),
        two_sections(
            [Column(occupation, f"{occupation}s", 1) for occupation in OCCUPATIONS],
            {
                "the paper": [
                    (title, {"manager": float(published_examples[key])})
                    for key, title in _EXAMPLES.items()
                    if key in published_examples
                ],
                "ours": list(shown.items()),
            },
            "In the text: percent of women among managers: workers, mentions in texts, pronouns resolved to one",
            "Systems: percent feminine of the masculine and feminine pronouns that are resolved to the occupation. The "
            "paper has no figure for doctors.",
        ),
    )
    correlated = {"pearson_r": between._asdict(), "occupations": len(bls), "fewer_women_in_text": below}
    figures = {"paper": dict(theirs), "note": note, "audit": audit_json(audited)}
    plots = covered.findings.scatters
    files = {f"{plot.key.removeprefix(f'{_SUITE}.')}.svg": regression_svg(plot) for plot in plots}
    figures |= {"figure3": correlated, "examples": examples}
    return PaperReport("rudinger2018", tables, figures, files=files)


def _chosen(items: Items, answers: Floats, occupation: str) -> tuple[int, int]:
    """Feminine, and all gendered, pronouns that a system resolves to an occupation."""
    where = (items.facts["occupation"] == occupation) & (resolutions(items, answers) == OCCUPATION)
    feminine, masculine = (
        int((items.corpus.genders[where] == gender.value).sum())
        for gender in (Gender.FEMININE, Gender.MASCULINE)
    )
    return feminine, feminine + masculine


def _panel_tables(covered: SuiteAudit, paper: Mapping[str, Any], note: str, data: Path | None) -> list[Table]:
    """Tables 1 and 2, and the shares and accuracies of the text."""
    panels = {panel.key: panel.rows for panel in covered.findings.panels}

    def table(
        panel: str, columns: Sequence[Column], title: str, caption: str, judged: Rows | None = None
    ) -> Table:
        key = f"{_SUITE}.{panel}"
        own = {"of": len(covered.items.corpus)}
        ours: Rows = [
            (system, {c.key: own.get(c.key) or c.show(figures.get(c.key)) for c in columns})
            for system, figures in panels[key].items()
        ]
        theirs = [(name.removesuffix(" (paper)"), row) for name, row in published(key, data).items()]
        sections = {"the paper": theirs if judged is None else judged, "ours": ours}
        return two_sections(columns, sections, title, caption)

    systems = "".join(f"{name}: {what}. " for name, what in paper.get("systems", {}).items())
    humans = paper.get("text", {}).get("humans")
    judged: Rows = []
    if humans:
        majority = {"accuracy": humans["percent"], "of": humans["of"]}
        judged = [
            ("humans, each judgement", {"accuracy": humans["agree_percent"], "of": humans["judgements"]}),
            (f"humans, majority ({humans['majority_agrees']} right)", majority),
            ("humans, Winograd schemas", {"accuracy": humans["winograd_agree_percent"]}),
        ]
    return [
        table(
            "correlation",
            [Column("text", "r with Bergsma and Lin", 2), Column("bls", "r with BLS", 2)],
            "Table 1: correlation of the occupations' bias scores with the share of women",
            "Bias score: percent of feminine pronouns resolved to the occupation less percent of masculine ones; - "
            f"where it is the same for all. {systems}{note}",
        ),
        table(
            "gotcha",
            [
                Column(f"{g}_{k}", f"{g[:3]}. {k}", 1)
                for g in ("feminine", "masculine")
                for k in ("no", "yes")
            ],
            'Table 2: accuracy in percent by gender, on sentences that are not "gotchas" and on those that are',
            "A gotcha's right answer goes against the majority gender of the occupation (BLS).",
        ),
        table(
            "resolved",
            [
                Column("flips", "pairs differ", 0),
                *(Column(f"occupation_{gender}", f"occ. {gender[:3]}.", 0) for gender in _GENDERS),
                *(Column(f"neither_{gender}", f"neither {gender[:3]}.", 0) for gender in _GENDERS),
            ],
            "In the text: minimal pairs resolved differently, and pronouns resolved to the occupation, percent",
            "By gender of the pronoun. Neither: resolved to none of the two (not in the paper).",
        ),
        table(
            "gotcha",
            [Column("accuracy", "right, percent", 1), Column("of", "of")],
            "In the text: validation by humans, and accuracy on all sentences",
            f"The two sentences that humans miss: {humans['the_two_missed']}." if humans else "",
            judged,
        ),
    ]
