"""Answers: the candidates of each pronoun with probabilities, and the probability of nobody."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, overload

from gapstack.data import Span, html

NOBODY = "nobody here"
"""Label for no candidate being the antecedent."""


@dataclass(frozen=True)
class Candidate:
    """A person that a pronoun may refer to, with the probability that it does.

    ``span`` and ``name`` are the mention that represents the person, in characters of the text and in words;
    ``mentions`` are all of the person's names around the pronoun.
    """

    span: Span
    name: str
    probability: float
    mentions: tuple[Span, ...]


@dataclass(frozen=True)
class Answer:
    """The answer for one pronoun.

    Attributes
    ----------
    pronoun, form : Span, str
        The pronoun in characters of the text, and as written.
    candidates : tuple of Candidate
        Sorted by decreasing probability.
    nobody : float
        Probability that it refers to none of them; all probabilities sum to 1.
    notes : tuple of str
        Caveats, such as a form that never occurs in training.
    """

    pronoun: Span
    form: str
    candidates: tuple[Candidate, ...]
    nobody: float
    notes: tuple[str, ...] = ()

    @property
    def antecedent(self) -> Candidate | None:
        """The most probable candidate, or None if nobody is more probable."""
        best = self.candidates[0] if self.candidates else None
        return best if best and best.probability > self.nobody else None

    @property
    def shares(self) -> list[tuple[str, float]]:
        """Names and probabilities including nobody, sorted by decreasing probability."""
        named = [(candidate.name, candidate.probability) for candidate in self.candidates]
        return sorted([*named, (NOBODY, self.nobody)], key=lambda share: -share[1])

    @property
    def outcome(self) -> tuple[Span, float, list[tuple[Span, float, tuple[Span, ...]]]]:
        """The pronoun, nobody's probability, and span, probability and mentions of each candidate, without words."""
        links = [(one.span, one.probability, one.mentions) for one in self.candidates]
        return self.pronoun, self.nobody, links

    def to_dict(self) -> dict[str, Any]:
        """The answer as a JSON object."""
        return {
            "pronoun": {"text": self.form, "start": self.pronoun.start, "end": self.pronoun.end},
            "candidates": [
                {
                    "name": one.name,
                    "start": one.span.start,
                    "end": one.span.end,
                    "probability": one.probability,
                    "mentions": [list(mention) for mention in one.mentions],
                }
                for one in self.candidates
            ],
            "nobody": self.nobody,
            "notes": list(self.notes),
        }

    def __str__(self) -> str:
        shares = ", ".join(f"{name} {probability:.0%}" for name, probability in self.shares)
        return f"{self.form} at {self.pronoun.start}: {shares}"


class Answers(Sequence[Answer]):
    """The answers for one text, in the order of its pronouns; ``remark`` is the reason if there are none."""

    def __init__(self, text: str, answers: Sequence[Answer], remark: str = ""):
        self.text, self._answers, self.remark = text, tuple(answers), remark

    def __len__(self) -> int:
        return len(self._answers)

    @overload
    def __getitem__(self, index: int) -> Answer: ...
    @overload
    def __getitem__(self, index: slice) -> Answers: ...
    def __getitem__(self, index: int | slice) -> Answer | Answers:
        if isinstance(index, slice):
            return Answers(self.text, self._answers[index], self.remark)
        return self._answers[index]

    def __iter__(self) -> Iterator[Answer]:
        return iter(self._answers)

    def __repr__(self) -> str:
        return "\n".join(map(str, self)) or f"no answers: {self.remark}"

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
            best = answer.antecedent
            marks[answer.pronoun] = ("pronoun", f"{best.name} {best.probability:.0%}" if best else NOBODY)
        apart: list[tuple[Span, str, str]] = []
        for span, (kind, note) in sorted(marks.items()):
            if not apart or span.start >= apart[-1][0].end:
                apart.append((span, kind, note))
        return apart

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
