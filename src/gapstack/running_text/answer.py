"""Answers: the candidates of each pronoun with probabilities, and the probability of nobody."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple, overload

from gapstack.data import Span, html
from gapstack.errors import DataError
from gapstack.running_text.rewrite import MIN_PROBABILITY, Rewritten, rewrite

NOBODY = "nobody here"
"""Label for no candidate being the antecedent."""
OTHER = "somebody else"
"""Label for a person who is not among the candidates."""
SURE = 0.5
"""Probability that the best answer needs; below it the answer is reported as not sure."""


class KnownPerson(NamedTuple):
    """A person of a whole text: the full name, all mentions without pronouns, and whether one of them is a name."""

    full_name: str
    mentions: tuple[Span, ...]
    named: bool = True


@dataclass(frozen=True)
class Candidate:
    """A person that a pronoun may refer to, with the probability that it does."""

    span: Span
    """The mention that represents the person, in characters of the text."""
    name: str
    """Words of that mention."""
    probability: float
    mentions: tuple[Span, ...]
    """All mentions of the person around the pronoun."""
    full_name: str
    """The longest of them, with its title: "Miss Taylor"."""
    reasons: tuple[str, ...] = ()
    """What speaks for or against the candidate, as far as the model can say."""
    members: tuple[Span, ...] = ()
    """The last mention of each person, for a group of people who are named apart; else empty."""


@dataclass(frozen=True)
class Answer:
    """The answer for one pronoun; all probabilities sum to 1."""

    pronoun: Span
    """Characters of the text."""
    form: str
    """The pronoun as written."""
    candidates: tuple[Candidate, ...]
    """Sorted by decreasing probability."""
    nobody: float
    """Probability that it refers to nobody who is named or described in the text."""
    notes: tuple[str, ...] = ()
    """Caveats, such as a form that never occurs in training."""
    other: float = 0.0
    """Probability of a person who is not among the candidates."""

    @property
    def antecedent(self) -> Candidate | None:
        """The most probable candidate, or None if nobody is more probable."""
        best = self.candidates[0] if self.candidates else None
        return best if best and best.probability > self.nobody else None

    @property
    def sure(self) -> bool:
        """True if a candidate or nobody has a probability of at least :data:`SURE`."""
        return max(self.nobody, *(one.probability for one in self.candidates), 0.0) >= SURE

    @property
    def shares(self) -> list[tuple[str, float]]:
        """Full names and probabilities including nobody, sorted by decreasing probability."""
        named = [(candidate.full_name, candidate.probability) for candidate in self.candidates]
        rest = [(NOBODY, self.nobody), (OTHER, self.other)] if self.other else [(NOBODY, self.nobody)]
        return sorted([*named, *rest], key=lambda share: -share[1])

    def to_dict(self) -> dict[str, Any]:
        """The answer as a JSON object."""
        return {
            "pronoun": {"text": self.form, "start": self.pronoun.start, "end": self.pronoun.end},
            "candidates": [
                {
                    "name": one.name,
                    "full_name": one.full_name,
                    "start": one.span.start,
                    "end": one.span.end,
                    "probability": one.probability,
                    "mentions": [list(mention) for mention in one.mentions],
                    "reasons": list(one.reasons),
                }
                for one in self.candidates
            ],
            "nobody": self.nobody,
            "other": self.other,
            "sure": self.sure,
            "notes": list(self.notes),
        }

    def __str__(self) -> str:
        shares = ", ".join(f"{name} {probability:.0%}" for name, probability in self.shares)
        return f"{self.form} at {self.pronoun.start}: {shares}"


class Answers(Sequence[Answer]):
    """The answers for one text, in the order of its pronouns; ``entities`` are the people of the whole text."""

    def __init__(self, text: str, answers: Sequence[Answer], entities: Sequence[KnownPerson]):
        self.text, self._answers, self.entities = text, tuple(answers), entities

    @property
    def remark(self) -> str:
        """The reason if it is empty."""
        return "" if self._answers else "the text has none of the pronouns looked for"

    def __len__(self) -> int:
        return len(self._answers)

    @overload
    def __getitem__(self, index: int) -> Answer: ...
    @overload
    def __getitem__(self, index: slice) -> Answers: ...
    def __getitem__(self, index: int | slice) -> Answer | Answers:
        if isinstance(index, slice):
            return Answers(self.text, self._answers[index], self.entities)
        return self._answers[index]

    def __iter__(self) -> Iterator[Answer]:
        return iter(self._answers)

    def __repr__(self) -> str:
        return "\n".join(map(str, self)) or f"no answers: {self.remark}"

    @property
    def people(self) -> dict[Span, int]:
        """The number of the person of each mention, counted from 0 in the order of the text.

        Candidates of several pronouns are one person if they share a mention. A group has the number of its first
        member.
        """
        everybody = [candidate for answer in self for candidate in answer.candidates]
        numbers: dict[Span, int] = {}
        for candidate in sorted(everybody, key=lambda one: (len(one.members), min(one.mentions))):
            if candidate.members:
                numbers.setdefault(candidate.span, len(set(numbers.values())))
                continue
            known = [numbers[mention] for mention in candidate.mentions if mention in numbers]
            number = known[0] if known else len(set(numbers.values()))
            numbers = dict.fromkeys(candidate.mentions, number) | numbers
        return numbers

    def marks(self) -> list[tuple[Span, str, str]]:
        """Span, kind and note of every pronoun and name, sorted and without overlaps.

        The kind is ``pronoun`` or ``name``; the note of a pronoun is its antecedent's name and probability.
        """
        marks = {
            mention: ("name", "")
            for answer in self
            for candidate in answer.candidates
            for mention in candidate.mentions
        }
        for answer in self:
            best, rest = answer.antecedent, OTHER if answer.other > answer.nobody else NOBODY
            marks[answer.pronoun] = "pronoun", f"{best.full_name} {best.probability:.0%}" if best else rest
        apart: list[tuple[Span, str, str]] = []
        for span, (kind, note) in sorted(marks.items()):
            if not apart or span.start >= apart[-1][0].end:
                apart.append((span, kind, note))
        return apart

    def rewritten(
        self,
        min_probability: float = MIN_PROBABILITY,
        *,
        short: bool = False,
        brackets: bool = False,
        parser: str | Path | None = None,
    ) -> Rewritten:
        """Replace the pronouns of the text by the names of the people that they refer to.

        Possessives get an ending ("her paper" becomes "Dr. Marsh's paper"); reflexives and everything else stay.

        Parameters
        ----------
        min_probability : float
            Pronouns whose antecedent is less probable stay.
        short : bool
            Full name only the first time; then the shortest name of the text that is nobody else's.
        brackets : bool
            Keep the pronouns: "She [Dr. Marsh]".
        parser : str or Path, optional
            spaCy pipeline that distinguishes the possessive *her* from the object, ``en_gapstack`` by default.

        Raises
        ------
        DataError
            If ``min_probability`` is not between 0 and 1.
        """
        if not 0 <= min_probability <= 1:
            raise DataError(f"a probability of {min_probability}", expected="a number from 0 to 1")
        return rewrite(self, min_probability, short=short, brackets=brackets, parser=parser)

    def to_dict(self) -> dict[str, Any]:
        """The answers as a JSON object."""
        record: dict[str, Any] = {"text": self.text, "answers": [answer.to_dict() for answer in self]}
        return record | ({"remark": self.remark} if self.remark else {})

    def _repr_html_(self) -> str:
        """The text with highlighted pronouns and names, and a table of probabilities."""
        if not self:
            return f"<p>{html.escape(self.text)}</p><p><small>{html.escape(self.remark)}</small></p>"
        rows = [
            (
                html.escape(f"{answer.form} ({answer.pronoun.start})"),
                "<br>".join(html.bar(name, probability) for name, probability in answer.shares),
                html.escape("; ".join(answer.notes)),
            )
            for answer in self
        ]
        return f"<p>{html.coloured(self.text, self.marks())}</p>" + html.table(
            ("pronoun", "refers to", "note"), rows
        )
