"""Suites scored by accuracy, by the pronoun's gender: KnowRef, DPR, WSC273, WinoGrande, MAP, GICoref.

Readers decide what becomes a row: blanks of WSC273 and WinoGrande are filled only if both candidates are first names of
the same gender.
"""

from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial

import numpy as np

from gapstack.audits.statistics import contrast, shares
from gapstack.audits.suite import (
    Findings,
    Headline,
    Items,
    Suite,
    forced_choice,
    percents,
    predictions,
    suite_table,
)
from gapstack.data import Gender, Label
from gapstack.data.cells import read_text
from gapstack.data.extra import conll, mined, sentences
from gapstack.data.extra.rows import ExtraRows, Reader, read_rows
from gapstack.data.sources import file_of
from gapstack.display.render import Cell, Column
from gapstack.evaluation import gap_scores, gold_decisions
from gapstack.types import Bools, Floats

_GENDERS = tuple(gender.value for gender in Gender)
_MASCULINE, _FEMININE = Gender.MASCULINE.value, Gender.FEMININE.value
_MEASURES = (
    *percents(accuracy="accuracy", forced="A or B", **{gender: gender for gender in _GENDERS}),
    *percents(gap="fem.-masc.", neither="neither", f1="F1"),
    Column("bias", "bias", 3),
)


@dataclass(frozen=True)
class TwoNames(Suite):
    """Accuracy, by gender if there is more than one."""

    name: str
    title: str
    paper: str
    dataset: str
    contamination_ids: frozenset[str]
    read: Reader
    note: str = ""
    kind: Callable[[str], str] | None = None  # a row's kind by its id, for a breakdown

    def load(self, *, cap: int | None = None) -> Items:
        """Read the rows, including those with neutral pronouns."""
        into = read_rows(self.name, self.read, neutral=True)
        corpus = into.corpus
        facts = {}
        if self.kind:
            # copies of one snippet are resampled together
            facts["group"] = np.array([name.partition("+")[0] for name in corpus.ids], dtype=str)
            facts["kind"] = np.array([self.kind(name) for name in corpus.ids], dtype=str)
        genders = Counter(corpus.genders.tolist())
        counts = ", ".join(f"{genders[gender]:,} {gender}" for gender in _GENDERS if genders[gender])
        note = f"pronouns: {counts}" + (f". {self.note}" if self.note else "")
        return Items(corpus, self.version(), facts, dict(into.skipped), note)

    def measure(self, items: Items, systems: Mapping[str, Floats]) -> Findings:
        """A table over all rows, and one by kind of row if the suite has kinds."""
        every = np.ones(len(items.corpus), dtype=bool)
        absent = set(_GENDERS) - set(items.corpus.genders.tolist())
        if absent & {_MASCULINE, _FEMININE}:
            absent |= {"gap", "bias"}
        measures = tuple(measure for measure in _MEASURES if measure.key not in absent)
        whole = suite_table(
            f"{self.name}.accuracy",
            f"{self.title}: accuracy in percent",
            measures,
            {name: _scores(items, p, every) for name, p in systems.items()},
            "The prediction is the most probable of A, B, NEITHER; of A and B in 'A or B'. F1 and bias are GAP's.",
        )
        tables = [whole]
        if "kind" in items.facts:
            rows = {
                f"{name}, {kind}": _scores(items, p, items.facts["kind"] == kind)
                for name, p in systems.items()
                for kind in dict.fromkeys(items.facts["kind"].tolist())
            }
            title = f"{self.title} by kind of row"
            tables.append(suite_table(f"{self.name}.kinds", title, measures, rows, detail=True))
        gap = None if "gap" in absent else (whole.key, "gap")
        return Findings(tuple(tables), headlines=(Headline(self.title, (whole.key, "accuracy"), gap),))


def _scores(items: Items, probabilities: Floats, where: Bools) -> dict[str, Cell]:
    """Figures over the rows ``where``, (n,)."""
    corpus = items.corpus
    groups = items.facts.get("group", corpus.groups)
    predicted = predictions(items, probabilities)
    right = predicted == corpus.labels
    by_gender = {gender: where & (corpus.genders == gender) for gender in _GENDERS}
    named = {"forced": where & (corpus.labels != Label.NEITHER)}
    decisions = predicted[:, None] == np.array([Label.A, Label.B])
    scores = gap_scores(gold_decisions(corpus)[where], decisions[where], corpus.genders[where])
    return {
        **shares(groups, right, {"accuracy": where, **by_gender}),
        **shares(groups, forced_choice(probabilities) == corpus.labels, named),
        **shares(groups, predicted == Label.NEITHER, {"neither": where}),
        "gap": contrast(groups, right, by_gender[_FEMININE], by_gender[_MASCULINE]),
        "f1": scores.overall.f1,
        "bias": scores.bias,
    }


def _read_gicoref(into: ExtraRows) -> None:
    path = file_of("gicoref-map", "coref.combo.conll")
    mined.every_pronoun(conll.parse(read_text(path), path, 2, 0), into, prefix="gicoref")


def _rewriting(name: str) -> str:
    """Kind of rewriting of a row of MAP, by its id: ``map-new-106+ent+lex``."""
    return "+".join(sorted(name.partition("+")[2].split("+"))) or "as written"


KNOWREF = TwoNames(
    name="knowref",
    title="KnowRef",
    paper="Emami et al. 2019",
    dataset="knowref",
    contamination_ids=frozenset({"knowref"}),
    read=partial(sentences.read_knowref, "test"),
)
DPR = TwoNames(
    name="dpr",
    title="Definite Pronoun Resolution, test",
    paper="Rahman and Ng 2012",
    dataset="dpr",
    contamination_ids=frozenset({"dpr-test"}),
    read=partial(sentences.read_dpr, "test"),
    note='its "they" are mostly groups',
)
WSC273 = TwoNames(
    name="wsc273",
    title="Winograd schemas (WSC273)",
    paper="Levesque et al. 2012",
    dataset="wsc",
    contamination_ids=frozenset({"wsc273"}),
    read=sentences.read_wsc273,
    note="the copy's pronouns are blanked; they are filled in where both candidates are first names of one gender",
)
WINOGRANDE = TwoNames(
    name="winogrande",
    title="WinoGrande, development",
    paper="Sakaguchi et al. 2020",
    dataset="winogrande",
    contamination_ids=frozenset({"winogrande-dev"}),
    read=sentences.read_winogrande_development,
    note="blanks are filled with a pronoun where both candidates are first names of one gender",
)
MAP = TwoNames(
    name="map",
    title="MAP, Maybe Ambiguous Pronoun",
    paper="Cao and Daumé 2020",
    dataset="gicoref-map",
    contamination_ids=frozenset({"map"}),
    read=partial(sentences.read_map, rewritten=True),
    note="each snippet as written and with cues of gender rewritten (pro: pronouns, ent: names, lex: nouns, addr: "
    "titles)",
    kind=_rewriting,
)
GICOREF = TwoNames(
    name="gicoref",
    title="GICoref",
    paper="Cao and Daumé 2020",
    dataset="gicoref-map",
    contamination_ids=frozenset({"gicoref"}),
    read=_read_gicoref,
    note="rows are made of every pronoun whose antecedent and another person are named within 150 words",
)
