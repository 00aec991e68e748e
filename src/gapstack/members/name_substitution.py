"""Name substitution: both names replaced by common first names of the pronoun's gender, each one word piece.

It removes what the names reveal (fame, gender, number of pieces), in every row and for A and B alike: both mentions,
and every other occurrence of a name as whole words that overlaps no mention, unless both names have the same words. The
longer name is searched first, so "Ann" is not found in "Ann Lee". Names that occur in the text are not used, unless
fewer than two are left.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from gapstack.data import Corpus, Example
from gapstack.data.example import Gender, Replacement, edit, occurrences
from gapstack.encoding.encoders import Encoder
from gapstack.errors import MemberError
from gapstack.members.added_pieces import pieces
from gapstack.types import Floats

COMMON_NAMES: dict[str, tuple[str, ...]] = {
    Gender.FEMININE: (
        *("Mary", "Elizabeth", "Anna", "Margaret", "Sarah", "Helen", "Alice", "Laura", "Emma", "Julia"),
        *("Barbara", "Susan", "Rachel", "Emily", "Linda", "Nancy"),
    ),
    Gender.MASCULINE: (
        *("John", "Robert", "David", "Michael", "James", "Peter", "Thomas", "Paul", "Richard", "Henry"),
        *("George", "Daniel", "Edward", "Frank", "Joseph", "Simon"),
    ),
    Gender.NEUTRAL: (
        *("Alex", "Chris", "Sam", "Jamie", "Robin", "Jordan", "Taylor", "Morgan", "Terry", "Casey"),
        *("Jackie", "Kelly", "Leslie", "Charlie"),
    ),
}
"""English first names by the pronoun's gender."""


def single_pieces(encoder: Encoder, names: Mapping[str, Sequence[str]], gender: str) -> dict[str, int]:
    """A gender's names that are one piece of the encoder's vocabulary, with its id; MemberError if fewer than two."""
    listed = names.get(gender, ())
    # after another word, since some vocabularies write the space before a word into its piece
    alone, *behind = pieces(encoder, ["a", *(f"a {name}" for name in listed)])
    ids_of = {
        name: int(ids[-1])
        for name, ids in zip(listed, behind, strict=True)
        if len(ids) == len(alone) + 1 and ids[-1] != encoder.tokenizer.unk_token_id
    }
    if len(ids_of) < 2:
        known = ", ".join(listed) or "(none given)"
        raise MemberError(
            f"encoder {encoder.name} has {len(ids_of)} of the {gender} names {known} as one "
            "word piece; expected two at least. Give names that are in its vocabulary, or use another encoder"
        )
    return ids_of


def unused(text: str, names: Sequence[str]) -> list[str]:
    """Names that do not occur in the text as words, whatever their case; all names if fewer than two are left."""
    free = [name for name in names if not occurrences(text, name, any_case=True)]
    return free if len(free) >= 2 else list(names)


def substitute_names(example: Example, a: str, b: str, pronoun: str | None = None) -> Example:
    """Replace the names by ``a`` and ``b`` wherever they occur, and the pronoun by ``pronoun``."""
    names = {example.a: a, example.b: b}
    mentions = [example.pronoun, *names]
    replacements = [Replacement(*span, name) for span, name in names.items()]
    if pronoun is not None:
        replacements.append(Replacement(*example.pronoun, pronoun))
    if example.a_text != example.b_text:
        for span in sorted(names, key=lambda span: (span.start - span.end, example.words(span))):
            for place in occurrences(example.text, example.words(span)):
                if not any(place.overlaps(other) for other in mentions):
                    mentions.append(place)
                    replacements.append(Replacement(*place, names[span]))
    return edit(example, replacements)


def masked_texts(
    corpus: Corpus,
    names: Mapping[str, Mapping[str, int]],
    mask: str,
    most: int,
    seed: int,
    answers: Floats | None = None,
) -> tuple[Corpus, list[int]]:
    """Make at most ``most`` examples of texts, whose pronoun is the mask, and the ids of the masked names.

    Names are drawn for each text from ``names`` (by gender, see :func:`single_pieces`). Labels are not used. Without
    ``answers``, a later mention of A or B that follows both names is masked, as most pronouns do. Half of the examples
    mask the name that comes first: it is repeated far more often, and a model would learn to prefer it. With
    probabilities ``answers`` (n, 3), the pronouns are masked, and the names are the likelier ones, if above 0.5.
    """
    rng = np.random.default_rng(seed)

    def drawn(example: Example) -> tuple[str, str]:
        a, b = rng.choice(unused(example.text, list(names[example.gender])), 2, replace=False)
        return str(a), str(b)

    if answers is not None:
        chosen: list[tuple[Example, int]] = []
        for row in rng.permutation(np.flatnonzero(answers[:, :2].max(axis=1) >= 0.5))[:most].tolist():
            pair = drawn(corpus[row])
            name = pair[int(answers[row, :2].argmax())]
            copy = replace(substitute_names(corpus[row], *pair, mask), label=None)
            chosen.append((copy, names[corpus[row].gender][name]))
        texts = Corpus([copy for copy, _ in chosen], name=f"{corpus.name}, masked pronouns")
        return texts, [target for _, target in chosen]
    by_order: tuple[list[tuple[Example, int]], ...] = ([], [])
    for example in corpus:
        pair = drawn(example)
        copy = substitute_names(example, *pair)
        # the mentions are added, since one may be a part of a word
        mentions = set(zip((copy.a, copy.b), pair, strict=True))
        mentions |= {(place, name) for name in pair for place in occurrences(copy.text, name)}
        first = [min(place for place, other in mentions if other == name) for name in pair]
        for place, name in sorted(mentions):
            if place > max(first):
                masked = edit(
                    _Masked(copy.id, copy.text, place, copy.a, copy.b, copy.url), [Replacement(*place, mask)]
                )
                by_order[first[pair.index(name)] == max(first)].append((masked, names[example.gender][name]))
    each = min(most // 2, *map(len, by_order))
    chosen = [part[place] for part in by_order for place in rng.permutation(len(part))[:each]]
    examples = [replace(masked, id=f"{place}", label=None) for place, (masked, _) in enumerate(chosen)]
    return Corpus(examples, name=f"{corpus.name}, repeated names"), [target for _, target in chosen]


@dataclass(frozen=True, slots=True)
class _Masked(Example):
    """An example whose pronoun is a masked mention, and so may be the very span of A or B."""

    def __post_init__(self) -> None:
        pass  # spans may coincide
