"""Inputs with added pieces: a question before the text, endings after it, and tags around its mentions.

The text's window is cut so that all fit and no mention is lost. Token types are all the same.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np

from gapstack.data import Corpus
from gapstack.encoding.encoders import Encoder
from gapstack.encoding.pieces import PieceView, align, special_pieces
from gapstack.errors import MemberError
from gapstack.types import Ints

TAGS = ("<P>", "<A>", "<B>")
"""Attree's tags of pronoun, A and B, as in :data:`gapstack.encoding.pieces.MENTIONS`; the opening tag closes too."""


def before_text(
    corpus: Corpus, encoder: Encoder, questions: Sequence[str], max_pieces: int | None = None
) -> tuple[PieceView, Ints]:
    """Put a question before each text, ``[CLS] question [SEP] text [SEP]``; also returns texts' ranges (n, 2)."""
    added = [np.concatenate([ids, separator(encoder)]) for ids in pieces(encoder, questions)]
    plain = align(corpus, encoder, max_pieces, reserved=_sizes(added))
    before, after = map(len, special_pieces(encoder))
    view = insert(plain, plain.bounds[:-1] + before, added)
    return view, np.stack([before + _sizes(added), view.lengths - after], axis=1)


def with_endings(
    corpus: Corpus,
    encoder: Encoder,
    closings: Sequence[str],
    endings: Sequence[Sequence[str]],
    max_pieces: int | None = None,
) -> PieceView:
    """Append closing words and each of k endings, ``[CLS] text closing [SEP] ending [SEP]``: n * k inputs."""
    count = len(endings[0]) if len(endings) else 0
    ends = pieces(encoder, [ending for row in endings for ending in row])
    closed = [np.concatenate([ids, separator(encoder)]) for ids in pieces(encoder, closings)]
    added = [np.concatenate([closed[place // count], end]) for place, end in enumerate(ends)]
    longest = _sizes(added).reshape(len(corpus), count).max(axis=1, initial=0)
    view = align(corpus, encoder, max_pieces, reserved=longest)
    if len(view):
        order = np.repeat(np.arange(len(view)), count)
        at = np.concatenate([np.arange(*view.bounds[row : row + 2]) for row in order])
        bounds = np.concatenate([[0], np.cumsum(view.lengths[order])])
        view = PieceView(view.ids[at], view.chars[at], bounds, view.mentions[order])
    return insert(view, view.bounds[1:] - len(special_pieces(encoder)[1]), added)


def tagged(
    corpus: Corpus, encoder: Encoder, max_pieces: int | None = None, tags: Sequence[str] = TAGS
) -> PieceView:
    """Tag mentions by ordinary pieces, ``<A> name <A>``, which mentions of the result leave out (Attree 2019)."""
    added = pieces(encoder, tags)
    return insert_tags(align(corpus, encoder, max_pieces, reserved=2 * int(_sizes(added).sum())), added)


def insert_tags(view: PieceView, tags: Sequence[Ints]) -> PieceView:
    """Put the pieces ``tags`` of pronoun, A and B before and after theirs; a closing tag precedes an opening one."""
    ranges = view.bounds[:-1, None, None] + view.mentions
    places = [ranges[:, mention, side] for side in (1, 0) for mention in range(len(tags))]
    return insert(view, np.concatenate(places), [tag for tag in [*tags, *tags] for _ in range(len(view))])


def pieces(encoder: Encoder, texts: Sequence[str]) -> list[Ints]:
    """Ids of each text without special pieces."""
    backend = encoder.tokenizer.backend_tokenizer
    backend.no_truncation()
    backend.no_padding()
    encodings = backend.encode_batch(list(texts), add_special_tokens=False)
    return [np.array(encoding.ids, dtype=np.int64) for encoding in encodings]


def mask_token(encoder: Encoder) -> str:
    """The encoder's mask; MemberError if it has none."""
    mask: str | None = encoder.tokenizer.mask_token
    if mask is None:
        raise MemberError(
            f"encoder {encoder.name} has no mask among its pieces; use one trained to fill masks"
        )
    return mask


def separator(encoder: Encoder) -> Ints:
    """Ids of the encoder's separator between two texts ([SEP] for BERT), of its end of text where it has none."""
    probe: Any = encoder.tokenizer.backend_tokenizer.encode("a", "a")
    ids, special = np.array(probe.ids, dtype=np.int64), np.array(probe.special_tokens_mask, dtype=bool)
    first, last = np.flatnonzero(~special)[[0, -1]]
    between = ids[first:last][special[first:last]]
    end = encoder.tokenizer.eos_token_id
    return between if len(between) or end is None else np.array([end], dtype=np.int64)


def insert(view: PieceView, places: Ints, added: Sequence[Ints]) -> PieceView:
    """Put ``added[i]`` before piece ``places[i]``, counted over all texts and outside mentions, which move along."""
    if not len(view):
        return view
    sizes = _sizes(added)
    at = np.repeat(places, sizes)
    # pieces that are added before each original piece
    shift = np.cumsum(np.bincount(at, minlength=len(view.ids) + 1))
    added_to_text = sizes.reshape(-1, len(view)).sum(axis=0)
    bounds = view.bounds + np.concatenate([[0], np.cumsum(added_to_text)])
    ranges = view.bounds[:-1, None, None] + view.mentions - [0, 1]
    return PieceView(
        np.insert(view.ids, at, np.concatenate(added)),
        np.insert(view.chars, at, 0, axis=0),
        bounds,
        ranges + shift[ranges] + [0, 1] - bounds[:-1, None, None],
    )


def _sizes(parts: Sequence[Ints]) -> Ints:
    return np.array([len(part) for part in parts], dtype=np.int64)
