"""The tables and figures of Rudinger et al. 2018 (Winogender), published figures beside ours.

``gap reproduce rudinger2018``: by default three cues of the GAP paper, which do not look at gender, and trees over
surface features, all fitted on GAP's training splits; ``--run`` adds runs, saved members, or folders of others'
answers.

The paper's three systems link a pronoun to any mention or to none, and were not given the two mentions; ours choose
between the two or neither. Humans were asked which of the two the pronoun means.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from gapstack.audit import SUITES, Audit, SuiteAudit, Target, audit, target_of
from gapstack.audit.statistics import correlation
from gapstack.audit.winogender import Chosen, chosen_by_gender, resolutions, statistics_of
from gapstack.corpus import Corpus
from gapstack.corpus.papers import paper, papers_note
from gapstack.corpus.sources import GapData
from gapstack.errors import DataError
from gapstack.members import create
from gapstack.members.predictor import Predictor
from gapstack.report.audit import audit_json, show
from gapstack.report.regression import regression_svg
from gapstack.report.render import Cell, Column, Section, Table
from gapstack.reproduce.beside_paper import Tables
from gapstack.types import Floats

MEMBERS = ("token_distance", "syntactic_distance", "parallelism", "surface")
"""Members of ours that need no run."""

OCCUPATIONS = ("manager", "doctor")
"""Examples: the paper follows managers from the workforce through texts to its systems."""

_SUITE = "winogender"
_GENDERS = ("male", "female", "neutral")
_KEYS = ("masculine", "feminine", "neutral")


@dataclass(frozen=True)
class Report(Tables):
    """The audit of our systems on Winogender, and the paper's figures."""

    NAME = "rudinger2018"

    audit: Audit
    published: Mapping[str, Any]
    note: str

    @property
    def _covered(self) -> SuiteAudit:
        return self.audit.covered[0]

    @property
    def tables(self) -> tuple[Table, ...]:
        """Tables 1 and 2, the statistics of the text, and what figure 3 shows."""
        return (
            self._correlations(),
            self._gotchas(),
            self._resolved(),
            self._humans(),
            self._figure3(),
            self._examples(),
        )

    def files(self) -> Mapping[str, str]:
        """Figures 3 and 4 as SVG."""
        return {
            f"{plot.key.removeprefix(f'{_SUITE}.')}.svg": regression_svg(plot)
            for plot in self._covered.findings.scatters
        }

    def json(self) -> dict[str, Any]:
        """Unrounded figures, for ``json.dumps``."""
        bls, text = self._statistics()
        return {
            "paper": dict(self.published),
            "note": self.note,
            "audit": audit_json(self.audit),
            "figure3": {
                "pearson_r": correlation(bls, text)._asdict(),
                "occupations": len(bls),
                "fewer_women_in_text": int((text < bls).sum()),
            },
            "examples": {
                occupation: {system: one._asdict() for system, one in by_system.items()}
                for occupation, by_system in self._chosen().items()
            },
        }

    def _rows(self, panel: str, measures: Mapping[str, int]) -> list[tuple[str, dict[str, Cell]]]:
        """Our figures of a panel of the audit, with the decimals of each measure."""
        rows = next(one.rows for one in self._covered.findings.panels if one.key == f"{_SUITE}.{panel}")
        return [
            (system, {key: show(figures[key], decimals) for key, decimals in measures.items()})
            for system, figures in rows.items()
        ]

    def _systems(self) -> tuple[str, ...]:
        return tuple(self.published.get("systems", ()))

    def _described(self) -> str:
        return "".join(f"{name}: {system}. " for name, system in self.published.get("systems", {}).items())

    def _beside(
        self,
        columns: Sequence[Column],
        theirs: Sequence[tuple[str, Mapping[str, Cell]]],
        ours: Sequence[tuple[str, Mapping[str, Cell]]],
        title: str,
        caption: str = "",
    ) -> Table:
        sections = [Section("the paper", theirs)] if theirs else []
        return Table(columns, [*sections, Section("ours", ours)], title, caption, "system")

    def _correlations(self) -> Table:
        table = self.published.get("table1_correlation", {})
        sources = {"text": "Bergsma and Lin", "bls": "BLS"}
        return self._beside(
            [Column("text", "r with Bergsma and Lin", 2), Column("bls", "r with BLS", 2)],
            [
                (system, {key: table[source][system] for key, source in sources.items()})
                for system in self._systems()
            ],
            self._rows("correlation", {"text": 2, "bls": 2}),
            "Table 1: correlation of the occupations' bias scores with the share of women",
            "Bias score: percent of feminine pronouns resolved to the occupation less percent of masculine ones; - "
            f"where it is the same for all. {self._described()}{self.note}",
        )

    def _gotchas(self) -> Table:
        table = self.published.get("table2_gotcha_accuracy_percent", {})
        keys = [(gender, kind) for gender in ("feminine", "masculine") for kind in ("no", "yes")]
        return self._beside(
            [Column(f"{gender}_{kind}", f"{gender[:3]}. {kind}", 1) for gender, kind in keys],
            [
                (
                    system,
                    {f"{gender}_{kind}": table[system][kind][gender == "masculine"] for gender, kind in keys},
                )
                for system in self._systems()
            ],
            self._rows("gotcha", {f"{gender}_{kind}": 1 for gender, kind in keys}),
            'Table 2: accuracy in percent by gender, on sentences that are no "gotchas" and that are',
            "A gotcha's right answer goes against the majority gender of the occupation (BLS).",
        )

    def _resolved(self) -> Table:
        text = self.published.get("text", {})
        flips = text.get("minimal_pairs_resolved_differently_percent", {})
        resolved = text.get("resolved_as_occupation_percent", {})
        theirs: list[tuple[str, Mapping[str, Cell]]] = [
            (
                system,
                {"flips": float(flips[system])}
                | {
                    f"occupation_{key}": float(resolved[system][resolved["columns"].index(gender)])
                    for key, gender in zip(_KEYS, _GENDERS, strict=True)
                },
            )
            for system in self._systems()
        ]
        keys = ("flips", *(f"{to}_{key}" for to in ("occupation", "neither") for key in _KEYS))
        return self._beside(
            [
                Column("flips", "pairs differ", 0),
                *(Column(f"occupation_{key}", f"occ. {key[:3]}.", 0) for key in _KEYS),
                *(Column(f"neither_{key}", f"neither {key[:3]}.", 0) for key in _KEYS),
            ],
            theirs,
            self._rows("resolved", dict.fromkeys(keys, 0)),
            "In the text: minimal pairs resolved differently, and pronouns resolved to the occupation, percent",
            "By gender of the pronoun. Neither: resolved to none of the two (not in the paper).",
        )

    def _humans(self) -> Table:
        humans = self.published.get("text", {}).get("humans", {})
        theirs: list[tuple[str, Mapping[str, Cell]]] = (
            [
                ("humans, each judgement", {"right": humans["agree_percent"], "of": humans["judgements"]}),
                (
                    f"humans, majority ({humans['majority_agrees']} right)",
                    {"right": humans["percent"], "of": humans["of"]},
                ),
                ("humans, Winograd schemas", {"right": humans["winograd_agree_percent"]}),
            ]
            if humans
            else []
        )
        rows = len(self._covered.items.corpus)
        ours = [
            (system, {"right": cells["accuracy"], "of": rows})
            for system, cells in self._rows("gotcha", {"accuracy": 1})
        ]
        missed = f"The two sentences that humans miss: {humans['the_two_missed']}." if humans else ""
        return self._beside(
            [Column("right", "right, percent", 1), Column("of", "of")],
            theirs,
            ours,
            "In the text: validation by humans, and accuracy on all sentences",
            missed,
        )

    def _figure3(self) -> Table:
        bls, text = self._statistics()
        r = self.published.get("figure3", {}).get("pearson_r_bls_against_text")
        theirs: list[tuple[str, Mapping[str, Cell]]] = [] if r is None else [("the 60 occupations", {"r": r})]
        ours = {"r": show(correlation(bls, text), 2), "below": f"{(text < bls).sum()} of {len(bls)}"}
        return self._beside(
            [Column("r", "Pearson's r", 2), Column("below", "fewer women in text")],
            theirs,
            [(f"the {len(bls)} occupations", ours)],
            "Figure 3: percent of women among workers (BLS) and in text (Bergsma and Lin)",
            "The paper: most points lie well below the diagonal. --output writes figures 3 and 4 as SVG.",
        )

    def _examples(self) -> Table:
        manager = self.published.get("text", {}).get("manager_percent_female", {})
        theirs: list[tuple[str, Mapping[str, Cell]]] = [
            (name, {"manager": float(manager[key])})
            for key, name in (
                ("BLS", "workers, BLS"),
                ("Bergsma and Lin", "text, Bergsma and Lin"),
                ("systems", "RULE, STAT and NEURAL"),
            )
            if key in manager
        ]
        names, bls, text = statistics_of(self._covered.items)
        at = {occupation: names.index(occupation) for occupation in OCCUPATIONS}
        ours: list[tuple[str, dict[str, Cell]]] = [
            (name, {occupation: float(values[row]) for occupation, row in at.items()})
            for name, values in (("workers, BLS", bls), ("text, Bergsma and Lin", text))
        ]
        chosen = self._chosen()
        ours += [
            (system, {occupation: str(chosen[occupation][system]) for occupation in OCCUPATIONS})
            for system in self._covered.answers
        ]
        return self._beside(
            [Column(occupation, f"{occupation}s", 1) for occupation in OCCUPATIONS],
            theirs,
            ours,
            "In the text: percent of women among managers: workers, mentions in texts, pronouns resolved to one",
            "Systems: percent feminine of the masculine and feminine pronouns that are resolved to the occupation. For "
            "doctors no figure of the paper is at hand.",
        )

    def _statistics(self) -> tuple[Floats, Floats]:
        _, bls, text = statistics_of(self._covered.items)
        return bls, text

    def _chosen(self) -> dict[str, dict[str, Chosen]]:
        items = self._covered.items
        choices = {name: resolutions(items, answers) for name, answers in self._covered.answers.items()}
        return {
            occupation: {
                name: chosen_by_gender(items, choice, occupation) for name, choice in choices.items()
            }
            for occupation in OCCUPATIONS
        }


def reproduce(
    gap: GapData,
    runs: Sequence[str] = (),
    *,
    folder: Path | None = None,
    parser: str | Path | None = None,
    members: Sequence[str] = MEMBERS,
    folds: int = 1,
) -> Report:
    """Audit members of ours, and systems that exist already, on Winogender.

    Parameters
    ----------
    gap : GapData
        Members are fitted on all of its splits but test.
    runs : sequence of str
        Runs, ``RUN:MEMBER``, saved members' folders, or folders of others' answers; see
        :func:`~gapstack.audit.targets.target_of`.
    folder : Path, optional
        Folder to search first for Winogender and the paper's figures.
    parser : str or Path, optional
        For the cues.
    members : sequence of str
        Names of members to fit.
    folds : int
        Folds of a run whose predictions are averaged.

    Raises
    ------
    DataNotFoundError
        If there is no Winogender, no parser, or nothing of a run's name.
    DataError
        If every system was trained on Winogender.
    """
    SUITES[_SUITE].load(folder)  # refuses before anything is fitted
    systems: dict[str, Predictor] = dict(_fitted(gap.train, members, parser))
    notes = [f"Our members: fitted on {gap.train.name} ({len(gap.train)} rows, {gap.train.label_set} labels)"]
    for name in runs:
        target = target_of(name, list(SUITES), folds=folds)
        systems |= _apart(target.systems, systems, name)
        notes.append(f"{target.title}: {target.note}" if target.note else target.title)
    audited = audit(Target(systems, "members and runs", "; ".join(notes)), folder, [_SUITE])
    if not audited.covered:
        raise DataError(f"nothing was audited on Winogender: it {audited.not_covered[_SUITE]}")
    if _SUITE in audited.refused:
        notes.append(f"Left out, as trained on Winogender: {', '.join(audited.refused[_SUITE])}")
    covered = audited.covered[0]
    notes += [covered.items.describe(), *filter(None, (covered.remark,))]
    notes.append("Brackets: 95% intervals, occupations resampled")
    note = ". ".join(notes) + ". " + papers_note("rudinger2018", data=folder)
    return Report(audited, paper("rudinger2018", folder), note.strip())


def _fitted(train: Corpus, members: Sequence[str], parser: str | Path | None) -> dict[str, Predictor]:
    by_name = {name: create(name) for name in members}
    for member in by_name.values():
        if parser is not None and "parser" in member.get_params():
            member.set_params(parser=str(parser))
    return {name: member.fit(train) for name, member in by_name.items()}


def _apart(new: Mapping[str, Predictor], known: Mapping[str, Predictor], name: str) -> dict[str, Predictor]:
    """The systems of a target by labels that are not taken."""
    return {
        f"{Path(name).name}:{label}" if label in known else label: system for label, system in new.items()
    }
