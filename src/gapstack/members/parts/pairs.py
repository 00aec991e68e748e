"""Two-part inputs: ``[CLS] question [SEP] text [SEP]`` and ``[CLS] text [SEP] ending [SEP]``.

The other part's pieces are inserted into the text's window, which is cut so that both fit and no mention is lost. The
separator is the one that the encoder's tokenizer puts between two texts. Segment numbers (BERT's token types) are all
the same: the embedded encoder was trained with one, RoBERTa has one.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from gapstack.corpus import Corpus
from gapstack.encoding.encoders import Encoder
from gapstack.encoding.pieces import PieceView, align, special_pieces
from gapstack.types import Ints


def before_text(
    corpus: Corpus, encoder: Encoder, questions: Sequence[str], max_pieces: int | None = None
) -> tuple[PieceView, Ints]:
    """Put a question before each text.

    Parameters
    ----------
    corpus : Corpus
        n rows.
    encoder : Encoder
    questions : sequence of str
        n of them.
    max_pieces : int, optional
        Longest input, question and special pieces included; at most, and by default, the encoder's limit.

    Returns
    -------
    view : PieceView
        Mentions are those in the text; pieces of the question have the character range (0, 0).
    text : (n, 2) int64
        Half-open piece range of each text, special pieces left out.

    Raises
    ------
    MemberError
        If a question and the mentions of its text do not fit into the window.
    """
    added = [np.concatenate([ids, between(encoder)]) for ids in pieces(encoder, questions)]
    plain = align(corpus, encoder, max_pieces, reserved=_sizes(added))
    before, after = map(len, special_pieces(encoder))
    view = insert(plain, plain.bounds[:-1] + before, added)
    ends = view.lengths - after
    return view, np.stack([before + _sizes(added), ends], axis=1)


def with_endings(
    corpus: Corpus,
    encoder: Encoder,
    closings: Sequence[str],
    endings: Sequence[Sequence[str]],
    max_pieces: int | None = None,
) -> PieceView:
    """Append closing words and each of k endings to each text, which is cut to leave room for the longest ending.

    Parameters
    ----------
    corpus : Corpus
        n rows.
    encoder : Encoder
    closings : sequence of str
        n of them, each with a leading space.
    endings : sequence of sequence of str
        k for each row.
    max_pieces : int, optional
        As for :func:`before_text`.

    Returns
    -------
    PieceView
        Of n * k inputs, those of a row one after the other.

    Raises
    ------
    MemberError
        If the longest ending, the closing words and the mentions of a text do not fit into the window.
    """
    count = len(endings[0]) if len(endings) else 0
    ends = pieces(encoder, [ending for row in endings for ending in row])
    closed = [np.concatenate([ids, between(encoder)]) for ids in pieces(encoder, closings)]
    added = [np.concatenate([closed[place // count], end]) for place, end in enumerate(ends)]
    longest = _sizes(added).reshape(len(corpus), count).max(axis=1, initial=0)
    view = _repeated(align(corpus, encoder, max_pieces, reserved=longest), count)
    return insert(view, view.bounds[1:] - len(special_pieces(encoder)[1]), added)


def pieces(encoder: Encoder, texts: Sequence[str]) -> list[Ints]:
    """Ids of each text without special pieces."""
    backend = encoder.tokenizer.backend_tokenizer
    backend.no_truncation()
    backend.no_padding()
    encodings = backend.encode_batch(list(texts), add_special_tokens=False)
    return [np.array(encoding.ids, dtype=np.int64) for encoding in encodings]


def between(encoder: Encoder) -> Ints:
    """Ids of the encoder's separator between two texts ([SEP] for BERT)."""
    probe: Any = encoder.tokenizer.backend_tokenizer.encode("a", "a")
    special = np.array(probe.special_tokens_mask, dtype=bool)
    first, second = np.flatnonzero(~special)
    return np.array(probe.ids, dtype=np.int64)[first + 1 : second]


def insert(view: PieceView, places: Ints, added: Sequence[Ints]) -> PieceView:
    """Put ``added[i]`` before piece ``places[i]``, which is text i's or the first after it; mentions move along.

    ``places`` (n,) count over all pieces and lie in no mention.
    """
    sizes = _sizes(added)
    if not len(view):
        return view
    at = np.repeat(places, sizes)
    moved = (view.bounds[:-1] + view.mentions[:, :, 0].T >= places).T * sizes[:, None]
    return replace(
        view,
        ids=np.insert(view.ids, at, np.concatenate(added)),
        chars=np.insert(view.chars, at, 0, axis=0),
        bounds=view.bounds + np.concatenate([[0], np.cumsum(sizes)]),
        mentions=view.mentions + moved[..., None],
    )


def _repeated(view: PieceView, times: int) -> PieceView:
    """Each text ``times`` times in a row."""
    order = np.repeat(np.arange(len(view)), times)
    if not len(order):
        return view
    at = np.concatenate([np.arange(view.bounds[row], view.bounds[row + 1]) for row in order])
    bounds = np.concatenate([[0], np.cumsum(view.lengths[order])])
    return PieceView(view.ids[at], view.chars[at], bounds, view.mentions[order])


def _sizes(parts: Sequence[Ints]) -> Ints:
    return np.array([len(part) for part in parts], dtype=np.int64)
