"""Suites of sentences about one woman and one man, so that the pronoun's gender decides.

- surnames, people who are mentioned by surname alone: "Mary Johnson met Peter. Johnson said she liked him". Each
  sentence comes in a mirrored pair: the two first names are exchanged, so that the same surname is a woman's and a
  man's. Systems that read "Johnson" as a man's first name fail for women.
- two_genders: "Emily is married to Paul. He works in a bank". First names of many countries, titles, relation words or
  earlier pronouns show who is a woman. Every sentence occurs with the two names in both orders and with pronouns of
  both genders.

The sentences are templates with names filled in. A placeholder such as ``{they}`` stands for "she" or "he", and every
such pronoun of a sentence is a row.
"""

import tomllib
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from string import Formatter
from typing import Any, NamedTuple

import numpy as np

from gapstack.audits.statistics import contrast, shares
from gapstack.audits.suite import Findings, Headline, Items, Suite, percents, predictions, suite_table
from gapstack.data import Corpus, Example, Gender, Label, Span
from gapstack.data.person_words import HE, SHE
from gapstack.display.render import Cell
from gapstack.evaluation.metrics import normalise
from gapstack.types import Bools, Floats

FEMININE, MASCULINE = Gender.FEMININE, Gender.MASCULINE
OTHER_GENDER = {FEMININE: MASCULINE, MASCULINE: FEMININE}
_PRONOUNS = {FEMININE: SHE, MASCULINE: HE}
FUNCTIONS = {"they": "subject", "them": "object", "their": "possessive"}
"""Function of the pronoun of each placeholder."""


class AgreementRow(NamedTuple):
    """A labelled example; ``group`` is resampled as a whole, ``gender`` and ``slices`` are breakdowns."""

    example: Example
    group: str
    gender: Gender
    slices: tuple[str, ...]


def pronouns(gender: Gender, prefix: str = "") -> dict[str, str]:
    """Pronouns of a gender by placeholder, such as ``they``, or ``other_They`` with a prefix and a capital."""
    words = {f"{prefix}{form}": getattr(_PRONOUNS[gender], function) for form, function in FUNCTIONS.items()}
    upper = {f"{prefix}{form.capitalize()}": words[f"{prefix}{form}"].capitalize() for form in FUNCTIONS}
    return words | upper


def questions(
    name: str, template: str, words: Mapping[str, str], person: str, other: str, gender: Gender
) -> Iterator[tuple[str, Example]]:
    """Fill a template in, and yield an example for each of its pronouns, after the placeholder in lower case.

    ``words`` are the words by placeholder; ``person`` is the placeholder of the person of this gender, ``other`` that
    of the other person.
    """
    mine, others = pronouns(gender), pronouns(OTHER_GENDER[gender], "other_")
    words = {**words, **mine, **others}
    text, spans = "", dict[str, Span]()
    for literal, placeholder, *_ in Formatter().parse(template):
        text += literal
        if placeholder:
            spans[placeholder] = Span(len(text), len(text) + len(words[placeholder]))
            text += words[placeholder]
    a, b = sorted((spans[person], spans[other]))
    for placeholder, span in spans.items():
        if placeholder in mine or placeholder in others:
            right = spans[person if placeholder in mine else other]
            form = placeholder.lower()
            yield form, Example(f"{name}-{form}", text, span, a, b, None, Label.A if right == a else Label.B)


def read_lists(name: str) -> dict[str, Any]:
    """Templates and names of a suite, from its TOML file in this folder."""
    return tomllib.loads(Path(__file__).with_name(f"{name}.toml").read_text(encoding="utf-8"))


@dataclass(frozen=True)
class GenderAgreement(Suite):
    """Accuracy, and predictions of the person of the other gender, by gender."""

    name: str
    title: str
    rows: Callable[[], Iterable[AgreementRow]]
    women: str  # titles of columns, by AgreementRow.gender
    men: str
    slices: tuple[str, ...]  # breakdowns of AgreementRow.slices
    note: str
    paper: str = "gapstack"
    dataset: str = ""
    licence: str = "Apache-2.0"
    contamination_ids: frozenset[str] = frozenset()
    together: str = "group"

    def version(self) -> str:
        """The title, and the source of the sentences."""
        return f"{self.title}, gapstack's own sentences"

    def load(self, *, cap: int | None = None) -> Items:
        """Fill the templates in; facts are group, gender and the breakdowns, (n,) each."""
        examples, groups, genders, slices = zip(*self.rows(), strict=True)
        facts = {"group": np.array(groups), "gender": np.array([gender.value for gender in genders])}
        facts |= dict(zip(self.slices, np.array(slices).T, strict=True))
        return Items(Corpus(examples, name=self.name), self.version(), facts, note=self.note)

    def measure(self, items: Items, systems: Mapping[str, Floats]) -> Findings:
        """A table over all rows and one for each breakdown; the first breakdown of a single system is not a detail."""
        every = np.ones(len(items.corpus), dtype=bool)
        measures = percents(
            accuracy="accuracy",
            feminine=self.women,
            masculine=self.men,
            gap=f"{self.women}-{self.men}",
            other="other gender",
            other_feminine=self.women,
            other_masculine=self.men,
            probability="p(other gender)",
            neither="neither",
        )
        key, title = f"{self.name}.accuracy", f"{self.title}: accuracy in percent"
        rows = {name: _scores(items, p, every) for name, p in systems.items()}
        note = (
            "Other gender: predictions that name the person of the other gender than the pronoun's. "
            "p(other gender): the mean probability of that name."
        )
        tables = [suite_table(key, title, measures, rows, note)]
        for place, breakdown in enumerate(self.slices):
            values = items.facts[breakdown]
            rows = {
                f"{name}, {value}": _scores(items, p, values == value)
                for name, p in systems.items()
                for value in dict.fromkeys(values.tolist())
            }
            title, detail = f"{self.title} by {breakdown}", place > 0 or len(systems) > 1
            tables.append(suite_table(f"{self.name}.{breakdown}", title, measures, rows, detail=detail))
        return Findings(tuple(tables), headlines=(Headline(self.title, (key, "accuracy"), (key, "gap")),))


def _scores(items: Items, probabilities: Floats, where: Bools) -> dict[str, Cell]:
    """Figures over the rows ``where``, (n,)."""
    groups, labels = items.facts["group"], items.corpus.labels
    predicted = predictions(items, probabilities)
    right, wrong = predicted == labels, predicted == 1 - labels
    impossible = normalise(probabilities)[np.arange(len(labels)), 1 - labels]
    by_gender = {gender.value: where & (items.facts["gender"] == gender.value) for gender in OTHER_GENDER}
    women, men = by_gender.values()
    return {
        **shares(groups, right, {"accuracy": where, **by_gender}),
        "gap": contrast(groups, right, women, men),
        **shares(
            groups, wrong, {"other": where, **{f"other_{key}": rows for key, rows in by_gender.items()}}
        ),
        **shares(groups, impossible, {"probability": where}),
        **shares(groups, predicted == Label.NEITHER, {"neither": where}),
    }


def _surname_rows() -> Iterator[AgreementRow]:
    lists = read_lists("surnames")
    for origin in lists["origins"]:
        for place, surname in enumerate(origin["surnames"]):
            pair = origin["first_names"][place % len(origin["first_names"])]
            names = dict(zip(OTHER_GENDER, pair.split(), strict=True))  # the woman's, the man's
            for number, template in enumerate(lists["templates"], 1):
                for gender, first in names.items():
                    other = names[OTHER_GENDER[gender]]
                    words = {"full": f"{first} {surname}", "surname": surname, "other": other}
                    name = f"surnames-{surname}-{number}-{gender}"
                    for form, example in questions(name, template, words, "surname", "other", gender):
                        referent = "other person" if form.startswith("other_") else "surname's bearer"
                        yield AgreementRow(example, surname, gender, (origin["name"], referent))


SURNAMES = GenderAgreement(
    name="surnames",
    title="Surnames",
    rows=_surname_rows,
    women="women",
    men="men",
    slices=("origin", "referent"),
    note="women, men: those who have the surname; each surname is a woman's and a man's in the same sentences, "
    "and intervals resample surnames",
)


def _two_gender_rows() -> Iterator[AgreementRow]:
    for evidence in read_lists("two_genders")["evidence"]:
        templates, relations = evidence["templates"], evidence.get("relations", [", "])
        for place, pair in enumerate(evidence["pairs"]):
            template, relation = templates[place % len(templates)], relations[place % len(relations)]
            described = zip(OTHER_GENDER, pair.split(", "), relation.split(", "), strict=True)
            woman_first = list(described)
            for order in (woman_first, woman_first[::-1]):
                words: dict[str, str] = {}
                for key, (gender, name, relation_word) in zip("pq", order, strict=True):
                    words |= {key: name, f"{key}_relation": relation_word} | pronouns(gender, f"{key}_")
                (first, *_), (second, *_) = order
                for gender, person, other in ((first, "p", "q"), (second, "q", "p")):
                    name = f"two_genders-{pair.replace(', ', '-').replace(' ', '_')}-{first}_first-{gender}"
                    for form, example in questions(name, template, words, person, other, gender):
                        of = OTHER_GENDER[gender] if form.startswith("other_") else gender
                        function = f"{FUNCTIONS[form.removeprefix('other_')]} pronoun"
                        label = "first" if of == first else "second"
                        yield AgreementRow(example, pair, of, (evidence["name"], function, f"named {label}"))


TWO_GENDERS = GenderAgreement(
    name="two_genders",
    title="A woman and a man",
    rows=_two_gender_rows,
    women="fem.",
    men="masc.",
    slices=("evidence", "function", "order"),
    note="columns are by the pronoun's gender; intervals resample pairs of names",
)
