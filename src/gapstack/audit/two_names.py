"""Suites scored by accuracy and broken down by the pronoun's gender: KnowRef, DPR, WSC273, WinoGrande, MAP, GICoref.

Their readers decide what becomes a row: blanks of WSC273 and WinoGrande are filled only where both candidates are
first names of one gender.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path

import numpy as np

from gapstack.audit.statistics import contrast, shares
from gapstack.audit.suite import (
    Findings,
    Headline,
    Items,
    Measure,
    Panel,
    Suite,
    Value,
    forced_choice,
    predictions,
)
from gapstack.corpus import Corpus, Gender, Label
from gapstack.corpus.extra import conll, mined, pages, schemas
from gapstack.corpus.extra.extra_corpus import ExtraRows, file_of, read_text
from gapstack.scoring import gap_scores, gold_decisions
from gapstack.types import Floats

_GENDERS = tuple(gender.value for gender in Gender)
_MEASURES = (
    *(Measure("accuracy", "accuracy"), Measure("forced", "A or B")),
    *(Measure(gender, f"{gender}") for gender in _GENDERS),
    *(
        Measure("gap", "fem.-masc."),
        Measure("neither", "neither"),
        Measure("f1", "F1"),
        Measure("bias", "bias", 3),
    ),
)


class TwoNames(Suite):
    """Accuracy, by gender where there is more than one.

    Parameters
    ----------
    name, title, paper, dataset : str
    contamination_id : str
        See :attr:`~gapstack.audit.suite.Suite.contamination_ids`.
    read : callable
        Takes the data folder or None and fills a :class:`~gapstack.corpus.extra.extra_corpus.ExtraRows`.
    note : str
        Caveat for readers of the figures.
    kind : callable, optional
        Maps a row's id to its kind, for a breakdown.
    """

    def __init__(
        self,
        name: str,
        title: str,
        paper: str,
        dataset: str,
        contamination_id: str,
        read: Callable[[Path | None, ExtraRows], None],
        note: str = "",
        kind: Callable[[str], str] | None = None,
    ):
        self.name, self.title, self.paper, self.dataset = name, title, paper, dataset
        self.contamination_ids = frozenset({contamination_id})
        self._read, self._note, self._kind = read, note, kind

    def load(self, data: Path | None = None, *, cap: int | None = None) -> Items:
        """Read the rows, including those with neutral pronouns."""
        into = ExtraRows(neutral=True)
        self._read(data, into)
        corpus = Corpus(into.examples, name=self.name)
        # the copies of one snippet belong together
        facts = {"group": np.array([e.id.partition("+")[0] for e in corpus], dtype=str)} if self._kind else {}
        if self._kind:
            facts["kind"] = np.array([self._kind(e.id) for e in corpus], dtype=str)
        genders = Counter(corpus.genders.tolist())
        counts = ", ".join(f"{genders[gender]:,} {gender}" for gender in _GENDERS if genders[gender])
        note = f"pronouns: {counts}" + (f". {self._note}" if self._note else "")
        return Items(corpus, self.version(), facts, dict(into.skipped), note)

    def measure(self, items: Items, systems: Mapping[str, Floats]) -> Findings:
        """One panel over all rows, and one by kind of row where the suite has kinds."""
        every = np.ones(len(items.corpus), dtype=bool)
        present = set(items.corpus.genders.tolist())
        absent = {gender for gender in _GENDERS if gender not in present}
        if absent & {Gender.MASCULINE.value, Gender.FEMININE.value}:
            absent |= {"gap", "bias"}
        measures = tuple(measure for measure in _MEASURES if measure.key not in absent)
        panels = [
            Panel(
                f"{self.name}.accuracy",
                f"{self.title}: accuracy in percent",
                measures,
                {name: _scores(items, p, every) for name, p in systems.items()},
                "The prediction is the most probable of A, B, NEITHER; of A and B in 'A or B'. F1 and bias are GAP's.",
            )
        ]
        if "kind" in items.facts:
            kinds = dict.fromkeys(items.facts["kind"].tolist())
            rows = {
                f"{name}, {kind}": _scores(items, p, items.facts["kind"] == kind)
                for name, p in systems.items()
                for kind in kinds
            }
            panels.append(
                Panel(f"{self.name}.kinds", f"{self.title} by kind of row", measures, rows, detail=True)
            )
        key = panels[0].key
        headline = Headline(self.title, (key, "accuracy"), None if "gap" in absent else (key, "gap"))
        return Findings(tuple(panels), headlines=(headline,))


def _scores(items: Items, probabilities: Floats, here: np.ndarray) -> dict[str, Value]:
    """Figures over the rows ``here``, (n,) bool."""
    corpus = items.corpus
    groups = items.facts.get("group", corpus.groups)
    predicted = predictions(items, probabilities)
    right = predicted == corpus.labels
    by_gender = [here & (corpus.genders == gender) for gender in _GENDERS]
    where = np.stack([here, here & (corpus.labels != Label.NEITHER), *by_gender, here], axis=1)
    values = np.stack(
        [
            right,
            forced_choice(items, probabilities) == corpus.labels,
            *[right] * len(_GENDERS),
            predicted == Label.NEITHER,
        ],
        axis=1,
    ).astype(np.float64)
    keys = ("accuracy", "forced", *_GENDERS, "neither")
    figures: dict[str, Value] = dict(zip(keys, shares(groups, values, where), strict=True))
    masculine, feminine = by_gender[0], by_gender[1]
    figures["gap"] = contrast(groups, right.astype(np.float64), feminine, masculine)
    decisions = predicted[:, None] == np.array([Label.A, Label.B])
    scores = gap_scores(gold_decisions(corpus)[here], decisions[here], corpus.genders[here])
    return figures | {"f1": scores.overall.f1, "bias": scores.bias}


def _read_gicoref(data: Path | None, into: ExtraRows) -> None:
    path = file_of("gicoref-map", "coref.combo.conll", data)
    mined.every_pronoun(conll.parse(read_text(path), path, 2, 0), into, prefix="gicoref")


def _rewriting(name: str) -> str:
    """Kind of rewriting of a row of MAP, by its id: ``map-new-106+ent+lex``."""
    return "+".join(sorted(name.partition("+")[2].split("+"))) or "as written"


KNOWREF = TwoNames(
    "knowref", "KnowRef", "Emami et al. 2019", "knowref", "knowref", partial(pages.read_knowref, "test")
)
DPR = TwoNames(
    "dpr",
    "Definite Pronoun Resolution, test",
    "Rahman and Ng 2012",
    "dpr",
    "dpr-test",
    partial(schemas.read_dpr, "test"),
    'its "they" are mostly groups',
)
WSC273 = TwoNames(
    "wsc273",
    "Winograd schemas (WSC273)",
    "Levesque et al. 2012",
    "wsc",
    "wsc273",
    schemas.read_wsc273,
    "the copy's pronouns are blanked; they are filled in where both candidates are first names of one gender",
)
WINOGRANDE = TwoNames(
    "winogrande",
    "WinoGrande, development",
    "Sakaguchi et al. 2020",
    "winogrande",
    "winogrande-dev",
    schemas.read_winogrande_development,
    "blanks are filled with a pronoun where both candidates are first names of one gender",
)
MAP = TwoNames(
    "map",
    "MAP, Maybe Ambiguous Pronoun",
    "Cao and Daumé 2020",
    "gicoref-map",
    "map",
    partial(pages.read_map, rewritten=True),
    "each snippet as written and with cues of gender rewritten (pro: pronouns, ent: names, lex: nouns, addr: titles)",
    _rewriting,
)
GICOREF = TwoNames(
    "gicoref",
    "GICoref",
    "Cao and Daumé 2020",
    "gicoref-map",
    "gicoref",
    _read_gicoref,
    "rows are made of every pronoun whose antecedent and another person are named within 150 words",
)
