"""Systems that get only a row's text and pronoun, and find the candidates themselves: ``gap audit --find-candidates``.

The rows of a suite give both candidates, which hides that a system may not find them in a text: no parser detects "the
technician" as a name.
"""

from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path

import numpy as np

from gapstack.audits.statistics import contrast, shares
from gapstack.audits.suite import Findings, Items, Suite, percents, suite_table
from gapstack.data import Corpus, Gender, Label, Span
from gapstack.data.clusters import same_name
from gapstack.display.render import Cell
from gapstack.errors import MemberError
from gapstack.members.member import Predictor
from gapstack.running_text.answer import Answer
from gapstack.running_text.any_text_resolver import Text
from gapstack.types import Bools, Floats, Probabilities

NOTE = "it gets only the text and the pronoun, and finds the people itself"
_MEASURES = percents(
    found="right one found",
    feminine="feminine",
    masculine="masculine",
    neutral="neutral",
    gap="fem.-masc.",
    both="both found",
)


class CandidateFinder(Predictor):
    """A predictor that resolves a row's pronoun without seeing A and B.

    Each name gets the probability of the people with a mention of that name; NEITHER gets that of all others and of
    nobody.
    """

    def __init__(self, predictor: Predictor):
        self.predictor, self._resolver = predictor, predictor.resolver()
        self._answers: dict[str, dict[Span, Answer]] = {}  # by text and pronoun

    @property
    def contaminated_by(self) -> tuple[str, ...]:
        """Test sets that share rows with the predictor's training data."""
        return self.predictor.contaminated_by

    @property
    def identity(self) -> Mapping[str, str]:
        """Digest of the resolver."""
        return {"resolver": self._resolver.identity}

    def predict_proba(self, corpus: Corpus) -> Probabilities:
        """Resolve each row's pronoun; returns (n, 3) probabilities."""
        rows = [p * (matches.sum(axis=1) == 1) @ matches for p, matches in self._people(corpus)]
        names: Floats = np.array(rows, dtype=np.float64).reshape(-1, 2)
        return np.column_stack([names, np.clip(1 - names.sum(axis=1), 0, None)])

    def found(self, corpus: Corpus) -> Bools:
        """True where A, and B, is among the people found, (n, 2)."""
        rows = [matches.any(axis=0) for _, matches in self._people(corpus)]
        return np.array(rows, dtype=np.bool_).reshape(-1, 2)

    def save(self, folder: Path) -> None:
        """Raise MemberError, since only the predictor itself can be saved."""
        raise MemberError("a predictor that finds its candidates cannot be saved; save the predictor itself")

    def _people(self, corpus: Corpus) -> Iterator[tuple[Floats, Bools]]:
        """For each row the probabilities (k,) of the people found, and a mask (k, 2) of those who are A, and B."""
        texts = [text for text in dict.fromkeys(row.text for row in corpus) if text not in self._answers]
        for text, answers in zip(texts, self._resolver.stream(map(Text, texts)), strict=True):
            self._answers[text] = {answer.pronoun: answer for answer in answers}
        for row in corpus:
            answer = self._answers[row.text].get(row.pronoun)
            people = answer.candidates if answer else ()
            matches = [
                [any(same_name(row.words(mention), name) for mention in each.mentions) for each in people]
                for name in (row.a_text, row.b_text)
            ]
            shown = 1 - answer.other if answer else 1.0
            yield np.array([each.probability / shown for each in people]), np.array(matches, dtype=np.bool_).T


def with_found(
    suite: Suite, items: Items, findings: Findings, finders: Mapping[str, CandidateFinder]
) -> Findings:
    """Add a table of how often candidates are among the people found, by the pronoun's gender."""
    rows = {name: _shares_found(items, finder.found(items.corpus)) for name, finder in finders.items()}
    title = f"{suite.title}: candidates among the people found, percent of the rows"
    note = "The system gets only the text and the pronoun. A candidate who is not found cannot be the answer."
    table = suite_table(f"{suite.name}.candidates", title, _MEASURES, rows, note)
    return replace(findings, tables=(*findings.tables, table))


def _shares_found(items: Items, found: Bools) -> dict[str, Cell]:
    corpus = items.corpus
    groups, named = items.facts.get("group", corpus.groups), corpus.labels != Label.NEITHER
    right: Bools = found[np.arange(len(found)), np.where(named, corpus.labels, Label.A)]
    both: Bools = found[:, Label.A] & found[:, Label.B]
    by_gender = {gender.value: named & (corpus.genders == gender.value) for gender in Gender}
    return {
        **shares(groups, right, {"found": named, **by_gender}),
        "gap": contrast(groups, right, by_gender[Gender.FEMININE.value], by_gender[Gender.MASCULINE.value]),
        **shares(groups, both, {"both": np.ones(len(found), dtype=bool)}),
    }
