"""The two names told by others: common first names of the pronoun's gender, each one word piece.

What the names say of their own (fame, gender, number of pieces) goes; what is left is the story. Every row can be
told so, and A and B are treated alike:

- Both mentions are replaced, and so is every other place where a name stands as whole words and no mention has a
  part in it. The longer name is looked for first, so "Ann" is not found in "Ann Lee". Where both have the same
  words, other places stay as they are, since nobody says whose they are.
- Names that the text has as words are not used. If that leaves fewer than two, those at the head of the list are
  used all the same; with a dozen names in it, this wants a text that has nearly all of them.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

import numpy as np

from gapstack.corpus import Corpus, Example, Span
from gapstack.corpus.augment import Replacement, edit
from gapstack.corpus.pronouns import Gender
from gapstack.encoding.encoders import Encoder
from gapstack.errors import MemberError
from gapstack.members.parts.pairs import pieces

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
    """Those of a gender's names that are one piece of the encoder's vocabulary, with its id, in the list's order.

    Raises
    ------
    MemberError
        If there are fewer than two.
    """
    listed = names.get(gender, ())
    # behind another word, since some vocabularies write the space before a word into its piece
    alone, *behind = pieces(encoder, ["a", *(f"a {name}" for name in listed)])
    found = {
        name: int(ids[-1])
        for name, ids in zip(listed, behind, strict=True)
        if len(ids) == len(alone) + 1 and ids[-1] != encoder.tokenizer.unk_token_id
    }
    if len(found) < 2:
        known = ", ".join(listed) or "(none given)"
        raise MemberError(
            f"encoder {encoder.name} has {len(found)} of the {gender} names {known} as one "
            "word piece; expected two at least. Give names that are in its vocabulary, or use another encoder"
        )
    return found


def usable(text: str, names: Sequence[str]) -> list[str]:
    """Names that the text does not have as words, whatever their case; all of them if that leaves fewer than two."""
    free = [name for name in names if not re.search(rf"(?<!\w){re.escape(name)}(?!\w)", text, re.IGNORECASE)]
    return free if len(free) >= 2 else list(names)


def tell(example: Example, a: str, b: str, pronoun: str | None = None) -> Example:
    """Put ``a`` and ``b`` in the place of the names wherever they stand, and ``pronoun`` in the pronoun's."""
    names = {example.a: a, example.b: b}
    taken = [example.pronoun, *names]
    replacements = [Replacement(*span, name) for span, name in names.items()]
    if pronoun is not None:
        replacements.append(Replacement(*example.pronoun, pronoun))
    if example.a_text != example.b_text:
        for span in sorted(names, key=lambda span: (span.start - span.end, example.words(span))):
            for place in places(example.text, example.words(span)):
                if not any(place.overlaps(other) for other in taken):
                    taken.append(place)
                    replacements.append(Replacement(*place, names[span]))
    return edit(example, replacements)


def repeated(
    corpus: Corpus, names: Mapping[str, Mapping[str, int]], mask: str, most: int, seed: int
) -> tuple[Corpus, list[int]]:
    """Make riddles of texts that name A or B again: told by other names, with a later mention masked.

    The mention masked is not a name's first and stands behind both names, as most pronouns do, and as many riddles
    ask for the name that comes first as for the other: the first is named again far more often, and a model would
    learn to say it. Names are drawn for each riddle. Labels are not looked at.

    Parameters
    ----------
    corpus : Corpus
    names : mapping of gender to mapping of name to id
        Of all genders in the corpus: see :func:`single_pieces`.
    mask : str
    most : int
        Riddles to make, at most.
    seed : int
        Of the names, and of which riddles are kept.

    Returns
    -------
    riddles : Corpus
        The pronoun is the mask.
    answers : list of int
        Ids of the names that are masked.
    """
    chance = np.random.default_rng(seed)
    asked: tuple[list[tuple[Example, int]], ...] = ([], [])
    for example in corpus:
        known = names[example.gender]
        pair = [str(name) for name in chance.choice(usable(example.text, list(known)), 2, replace=False)]
        told = tell(example, *pair)
        # the mentions by themselves, since one may stand within a word
        found = set(zip((told.a, told.b), pair, strict=True))
        found |= {(place, name) for name in pair for place in places(told.text, name)}
        first = [min(place for place, other in found if other == name) for name in pair]
        for place, name in sorted(found):
            if place > max(first):
                riddle = edit(replace(told, pronoun=place), [Replacement(*place, mask)])
                asked[first[pair.index(name)] == max(first)].append((riddle, known[name]))
    each = min(most // 2, *map(len, asked))
    kept = [part[place] for part in asked for place in chance.permutation(len(part))[:each]]
    riddles = [replace(riddle, id=f"{place}", label=None) for place, (riddle, _) in enumerate(kept)]
    return Corpus(riddles, name=f"{corpus.name}, repeated names"), [answer for _, answer in kept]


def places(text: str, words: str) -> Iterator[Span]:
    """Where ``words`` stand as whole words."""
    for match in re.finditer(rf"(?<!\w){re.escape(words)}(?!\w)", text):
        yield Span(*match.span())
