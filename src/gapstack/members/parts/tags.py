"""Mentions tagged in the encoder's input: ``<A> name <A>``, ``<P> pronoun <P>`` (Attree 2019, section 3.1).

Tags are put around the mentions' word pieces and not into the text, so a window that holds the mentions holds their
tags, and a mention may begin inside a word.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from gapstack.corpus import Corpus
from gapstack.encoding.encoders import Encoder
from gapstack.encoding.pieces import PieceView, align

ATTREE = {
    **{"epochs": 20, "batch_size": 8, "encoder_lr": 4e-6, "head_lr": 4e-6, "frozen": []},
    **{"schedule": {"shape": "constant", "warmup": 0.0}, "label_smoothing": 0.0, "patience": 3},
    **{"evaluate_every": 80, "attention_dropout": True},
}
"""Training of the paper (section 4) with BERT-large; ``batch_size`` 16 for BERT-base."""
TAGS = ("<P>", "<A>", "<B>")
"""Of pronoun, A and B, as in :data:`gapstack.encoding.pieces.MENTIONS`; the opening tag closes too."""


@dataclass(frozen=True, slots=True)
class TaggedPieces:
    """Pieces with tags.

    Attributes
    ----------
    view : PieceView
        Mentions without their tags, counted in the sequence with tags; tags have the character range (0, 0).
    is_text : (pieces,) bool
        False on tags, which are dropped from the encoder's output.
    """

    view: PieceView
    is_text: NDArray[np.bool_]


def tagged(
    corpus: Corpus, encoder: Encoder, max_pieces: int | None = None, tags: Sequence[str] = TAGS
) -> TaggedPieces:
    """Tokenise a corpus into windows with tagged mentions.

    Tags are no new vocabulary: the encoder's tokenizer may make several pieces of each (BERT's: ``< a >``).

    Parameters
    ----------
    corpus : Corpus
    encoder : Encoder
    max_pieces : int, optional
        Longest window, tags and special pieces included; at most, and by default, the encoder's limit.
    tags : sequence of str
        Of pronoun, A and B.

    Raises
    ------
    MemberError
        If the mentions and tags of a text do not fit into the window.
    """
    backend = encoder.tokenizer.backend_tokenizer
    backend.no_padding()  # tokenizer.json may ask for it
    pieces = [np.array(backend.encode(tag, add_special_tokens=False).ids, dtype=np.int64) for tag in tags]
    plain = align(corpus, encoder, max_pieces, reserved=2 * sum(map(len, pieces)))
    return insert_tags(plain, pieces)


def insert_tags(plain: PieceView, tags: list[NDArray[np.int64]]) -> TaggedPieces:
    """Put the pieces ``tags`` of pronoun, A and B before and after theirs.

    Where two tags meet, the one that closes comes first.
    """
    ranges = plain.bounds[:-1, None, None] + plain.mentions
    sizes = np.array([len(tag) for tag in tags])
    # one entry for each tag's piece, closing ones first, since insertion at one place keeps the order of the list
    count = len(plain)
    places = np.concatenate(
        [np.repeat(ranges[:, mention, side], sizes[mention]) for side in (1, 0) for mention in range(3)]
    )
    pieces = np.concatenate([np.tile(tags[mention], count) for _ in range(2) for mention in range(3)])
    total = len(plain.ids)
    # number of tag pieces before each original piece
    shift = np.cumsum(np.bincount(places, minlength=total + 1))[:total]
    is_text = np.zeros(total + len(places), dtype=bool)
    is_text[np.arange(total) + shift] = True
    chars = np.zeros((len(is_text), 2), dtype=np.int64)
    chars[is_text] = plain.chars
    bounds = plain.bounds + 2 * int(sizes.sum()) * np.arange(count + 1)
    first, last = ranges[..., 0], ranges[..., 1] - 1
    mentions = np.stack([first + shift[first], last + shift[last] + 1], axis=-1) - bounds[:-1, None, None]
    return TaggedPieces(PieceView(np.insert(plain.ids, places, pieces), chars, bounds, mentions), is_text)
