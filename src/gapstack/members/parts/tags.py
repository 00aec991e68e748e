"""Mentions tagged in the encoder's input: ``<A> name <A>``, ``<P> pronoun <P>`` (Attree 2019, section 3.1).

Tags are put around the mentions' word pieces rather than into the text, so a window that holds the mentions
holds their tags, and a mention that begins inside a word is still the mention.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from gapstack.corpus import Corpus
from gapstack.encoding.encoders import Encoder
from gapstack.encoding.pieces import PieceView, align

TAGS = ("<P>", "<A>", "<B>")
"""Of pronoun, A and B, in the order of :data:`gapstack.encoding.pieces.MENTIONS`; one opens and closes alike."""


@dataclass(frozen=True, slots=True)
class TaggedPieces:
    """Pieces with tags among them.

    Attributes
    ----------
    view : PieceView
        Its mentions are the mentions' own pieces, counted in the sequence with tags; tags have the character
        range (0, 0).
    is_text : (pieces,) bool
        Mask over all pieces: True on those that stay in the encoder's output, False on tags, which are dropped.
    """

    view: PieceView
    is_text: NDArray[np.bool_]


def tagged(corpus: Corpus, encoder: Encoder, max_pieces: int | None = None) -> TaggedPieces:
    """Tokenise a corpus, cut what is too long, and tag its mentions.

    Tags are no new vocabulary: the encoder's tokenizer makes several pieces of each (BERT's: ``< a >``).

    Parameters
    ----------
    corpus : Corpus
    encoder : Encoder
    max_pieces : int, optional
        Longest window, tags and special pieces included; at most, and by default, the encoder's limit.

    Raises
    ------
    MemberError
        If the mentions and tags of a text do not fit into the window.
    """
    backend = encoder.tokenizer.backend_tokenizer
    backend.no_padding()  # tokenizer.json may ask for it
    tags = [np.array(backend.encode(tag, add_special_tokens=False).ids, dtype=np.int64) for tag in TAGS]
    plain = align(corpus, encoder, max_pieces, reserved=2 * sum(map(len, tags)))
    return insert_tags(plain, tags)


def insert_tags(plain: PieceView, tags: list[NDArray[np.int64]]) -> TaggedPieces:
    """Put the pieces ``tags`` of pronoun, A and B before and after theirs.

    Where two tags meet, the one that closes comes first.
    """
    ranges = plain.bounds[:-1, None, None] + plain.mentions
    sizes = np.array([len(tag) for tag in tags])
    # one entry for each tag's piece: first all that close, then all that open, since insertion at one place
    # keeps the order of the list
    count = len(plain)
    places = np.concatenate(
        [np.repeat(ranges[:, mention, side], sizes[mention]) for side in (1, 0) for mention in range(3)]
    )
    pieces = np.concatenate([np.tile(tags[mention], count) for _ in range(2) for mention in range(3)])
    total = len(plain.ids)
    # how many tag pieces lie before each original piece, those right before it included
    shift = np.cumsum(np.bincount(places, minlength=total + 1))[:total]
    is_text = np.zeros(total + len(places), dtype=bool)
    is_text[np.arange(total) + shift] = True
    chars = np.zeros((len(is_text), 2), dtype=np.int64)
    chars[is_text] = plain.chars
    bounds = plain.bounds + 2 * int(sizes.sum()) * np.arange(count + 1)
    first, last = ranges[..., 0], ranges[..., 1] - 1
    mentions = np.stack([first + shift[first], last + shift[last] + 1], axis=-1) - bounds[:-1, None, None]
    return TaggedPieces(PieceView(np.insert(plain.ids, places, pieces), chars, bounds, mentions), is_text)
