"""Texts whose pronouns are replaced by the names of the people that they refer to, with maps of offsets both ways."""

from __future__ import annotations

from bisect import bisect_right
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import accumulate
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from gapstack.data import Span
from gapstack.data.example import PLURAL
from gapstack.data.person_words import AMBIGUOUS, POSSESSIVES
from gapstack.files import scratch_cache
from gapstack.language.grammar import Role, role_of
from gapstack.language.parses import docs, text_key
from gapstack.running_text.windows import sentences

if TYPE_CHECKING:
    from gapstack.running_text.answer import Answers, Candidate

MIN_PROBABILITY = 0.8
"""Pronouns with a less probable antecedent are left."""
POSSESSIVE = POSSESSIVES | {"my", "mine", "your", "yours"}
"""Forms that are always possessive."""
_DETERMINERS = frozenset(
    {"a", "an", "the", "this", "that", "my", "your", "his", "her", "their", "our", "its"}
)
_PRONOUNS = frozenset({"my", "your", "his", "her", "their", "our", "its"})
_REFLEXIVE = ("self", "selves")
_OBJECTS = (Role.OBJECT, Role.DATIVE)


class ReplacedPronoun(NamedTuple):
    """A replaced pronoun: its place in the original and in the rewritten text, the person, and the probability."""

    original: Span
    rewritten: Span
    person: str
    probability: float


@dataclass(frozen=True)
class Rewritten:
    """A text with names in place of pronouns; everything else is unchanged."""

    original: str
    text: str
    replacements: tuple[ReplacedPronoun, ...]

    def to_rewritten(self, offset: int) -> int:
        """Offset in the rewritten text; one inside a replaced pronoun maps to the start of its name."""
        return _moved(offset, [(one.original, one.rewritten) for one in self.replacements])

    def to_original(self, offset: int) -> int:
        """Offset in the original text; one inside a name put in maps to the start of its pronoun."""
        return _moved(offset, [(one.rewritten, one.original) for one in self.replacements])

    def restored(self) -> str:
        """The original text, made from the rewritten one by putting the pronouns back."""
        back = [(one.rewritten, self.original[slice(*one.original)]) for one in self.replacements]
        return _replaced(self.text, back)

    def to_dict(self) -> dict[str, Any]:
        """The rewritten text and its replacements as a JSON object."""
        return {
            "text": self.text,
            "replacements": [
                {
                    "pronoun": self.original[slice(*one.original)],
                    "start": one.original.start,
                    "end": one.original.end,
                    "rewritten": self.text[slice(*one.rewritten)],
                    "rewritten_start": one.rewritten.start,
                    "rewritten_end": one.rewritten.end,
                    "person": one.person,
                    "probability": one.probability,
                }
                for one in self.replacements
            ],
        }

    def __str__(self) -> str:
        return self.text


def rewrite(
    answers: Answers,
    min_probability: float = MIN_PROBABILITY,
    *,
    short: bool = False,
    brackets: bool = False,
    parser: str | Path | None = None,
) -> Rewritten:
    """See :meth:`~gapstack.running_text.answer.Answers.rewritten`."""
    text = answers.text
    chosen = sorted(
        (answer.pronoun, answer.antecedent)
        for answer in answers
        if answer.antecedent is not None
        and answer.antecedent.probability >= min_probability
        and not answer.form.lower().endswith(_REFLEXIVE)
    )
    possessive = possessives(text, [pronoun for pronoun, _ in chosen], parser)
    names = _Names(answers)
    edits = list[tuple[Span, str]]()
    people = list[tuple[str, float]]()
    for pronoun, candidate in chosen:
        form = text[slice(*pronoun)]
        person, phrase = names.phrase(candidate, short=short)
        if form[0].isupper() and form != "I" and not brackets:
            phrase = phrase[0].upper() + phrase[1:]
        if pronoun in possessive:
            phrase += possessive_ending(phrase, plural=form.lower() in PLURAL)
        elif phrase.endswith(".") and text[pronoun.end : pronoun.end + 1] == "." and not brackets:
            phrase = phrase[:-1]  # the full stop of the sentence is also that of "Jr."
        edits.append((pronoun, f"{form} [{phrase}]" if brackets else phrase))
        people.append((person, candidate.probability))
    replacements = tuple(
        ReplacedPronoun(*spans, *person) for spans, person in zip(_aligned(edits), people, strict=True)
    )
    return Rewritten(text, _replaced(text, edits), replacements)


class _Names:
    """The words that stand for each person: the full name, or from the second time on a shorter one of the text."""

    def __init__(self, answers: Answers):
        self.used = Counter[str]()
        self.full: dict[Span, tuple[str, bool]] = {}
        for person in answers.entities:
            words = [" ".join(answers.text[slice(*mention)].split()) for mention in person.mentions]
            name = _without_pronoun(person.full_name, words)
            self.full |= dict.fromkeys(person.mentions, (name, person.named))
        self.short = short_names(answers.text, self.full)

    def phrase(self, candidate: Candidate, *, short: bool) -> tuple[str, str]:
        """Full name of a candidate, and the words that stand for it this time, as within a sentence."""
        full_name, named = self.full.get(candidate.span, (candidate.full_name, True))
        self.used[full_name] += 1
        words = self.short.get(full_name, full_name) if short and self.used[full_name] > 1 else full_name
        return full_name, words if named else _described(words)


def _without_pronoun(full_name: str, mentions: Iterable[str]) -> str:
    """The full name, or if it begins with a pronoun ("her brother Paul") the longest mention with a name and none."""
    if full_name.split(maxsplit=1)[0].lower() not in _PRONOUNS:
        return full_name
    names = [words for words in mentions if words.split(maxsplit=1)[0].lower() not in _PRONOUNS]
    return max((words for words in names if words[0].isupper()), key=len, default=full_name)


def short_names(text: str, full: Mapping[Span, tuple[str, bool]]) -> dict[str, str]:
    """The shortest mention of each named person that is part of the full name, and of nobody else's."""
    words_of = {name: set(name.split()) for name, _ in full.values()}
    short: dict[str, str] = {}
    for mention, (name, named) in full.items():
        words = text[slice(*mention)].split()
        others = (known for other, known in words_of.items() if other != name)
        is_shorter = len(" ".join(words)) < len(short.get(name, name))
        if named and is_shorter and set(words) < words_of[name] and not any(map(set(words).__le__, others)):
            short[name] = " ".join(words)
    return short


def _described(words: str) -> str:
    """A description of a person as a later mention within a sentence: "A tall man" becomes "the tall man"."""
    first, _, rest = words.partition(" ")
    if rest and first.lower() in _DETERMINERS:
        return f"{'the' if first.lower() in {'a', 'an'} else first.lower()} {rest}"
    return words


def possessive_ending(name: str, *, plural: bool = False) -> str:
    """Return ``'s``, or ``'`` for people whom a plural pronoun refers to and whose noun ends in s ("the boys'")."""
    last = name.rsplit(maxsplit=1)[-1]
    is_plural_noun = last.endswith("s") and (last.islower() or name.lower().startswith("the "))
    return "'" if plural and is_plural_noun else "'s"


def possessives(text: str, pronouns: Sequence[Span], parser: str | Path | None = None) -> set[Span]:
    """Those of the pronouns of a text that are possessive; the sentences of *her* and its like are parsed."""
    sure = {span for span in pronouns if text[slice(*span)].lower() in POSSESSIVE}
    ambiguous = sorted(span for span in pronouns if text[slice(*span)].lower() in AMBIGUOUS)
    if not ambiguous:
        return sure
    places = [sentence[0].start for sentence in sentences(text)]
    parsed: dict[int, tuple[str, list[tuple[Span, Span]]]] = {}
    for number, spans in _by_sentence(places, ambiguous).items():
        start = places[number]
        end = places[number + 1] if number + 1 < len(places) else len(text)
        # the parser knows "her", but no neopronoun
        edits = [(Span(span.start - start, span.end - start), "her") for span in spans]
        inside = [after for _, after in _aligned(edits)]
        sentence = _replaced(text[start:end], edits)
        written = "".join(" " if letter.isspace() else letter for letter in sentence)
        parsed[number] = written, list(zip(spans, inside, strict=True))
    with scratch_cache():
        trees = dict(docs({written for written, _ in parsed.values()}, parser))
    for written, pairs in parsed.values():
        for span, written_span in pairs:
            words = trees[text_key(written)].char_span(*written_span, alignment_mode="expand")
            # neither the tag of an object ("called her yesterday") nor the label alone ("take her home") is enough
            if words and words[0].tag_ == "PRP$" and role_of(words[0].dep_.lower()) not in _OBJECTS:
                sure.add(span)
    return sure


def _by_sentence(starts: Sequence[int], spans: Iterable[Span]) -> dict[int, list[Span]]:
    """Spans by the number of their sentence."""
    found: dict[int, list[Span]] = {}
    for span in spans:
        found.setdefault(max(bisect_right(starts, span.start) - 1, 0), []).append(span)
    return found


def _aligned(edits: Sequence[tuple[Span, str]]) -> list[tuple[Span, Span]]:
    """Each edit's span before and after all edits are made."""
    # an edit moves all that follows by the difference in length
    moves = accumulate((len(words) - (span.end - span.start) for span, words in edits), initial=0)
    return [
        (span, Span(span.start + move, span.start + move + len(words)))
        for (span, words), move in zip(edits, moves, strict=False)
    ]


def _replaced(text: str, edits: Iterable[tuple[Span, str]]) -> str:
    """The text with the words of some spans, in text order, replaced."""
    return "".join(_pieces(text, edits))


def _pieces(text: str, edits: Iterable[tuple[Span, str]]) -> Iterator[str]:
    at = 0
    for span, words in edits:
        yield text[at : span.start]
        yield words
        at = span.end
    yield text[at:]


def _moved(offset: int, pairs: Sequence[tuple[Span, Span]]) -> int:
    """An offset of one text in the other, by spans of both that stand for each other."""
    before = bisect_right([source.start for source, _ in pairs], offset) - 1
    if before < 0:
        return offset
    source, target = pairs[before]
    return target.end + offset - source.end if offset >= source.end else target.start
