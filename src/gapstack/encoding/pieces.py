"""Word pieces aligned to characters, and windows that never lose a mention.

A piece belongs to a mention if their character ranges overlap. A mention whose characters the tokenizer drops gets the
next piece, or the last one at the end of the text.

A long text is cut by the rule of Krige's model (Ionita et al. 2019, section 4.1): the mentions divide it into two outer
and two inner segments, of which the longest, outer ones counting double, is shortened repeatedly. Outer segments lose
pieces at the text's ends, inner ones in their middle. Pieces of mentions are never cut.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gapstack.data import Corpus, Example
from gapstack.encoding.encoders import Encoder
from gapstack.errors import MemberError
from gapstack.types import Ints

MENTIONS = ("pronoun", "a", "b")  # order of the mentions in ``PieceView.mentions``

TextPieces = tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]
"""Ids (L,), character ranges (L, 2) and mention ranges (m, 2) of one text, without special pieces."""


@dataclass(frozen=True, slots=True)
class PieceView:
    """The pieces of n texts, end to end, ready for the encoder (special pieces included)."""

    ids: NDArray[np.int64]
    """Vocabulary ids, (pieces,)."""
    chars: NDArray[np.int64]
    """Half-open character range of each piece in its original text, (pieces, 2); (0, 0) for special pieces."""
    bounds: NDArray[np.int64]
    """Text i has the pieces ``bounds[i]:bounds[i + 1]``."""
    mentions: NDArray[np.int64]
    """Half-open piece ranges of pronoun, A and B, counted from the text's first piece, (n, 3, 2). (n, 1, 2) where each
    text is a window around one of them, see :func:`windows_around`."""

    def __len__(self) -> int:
        return len(self.bounds) - 1

    @property
    def lengths(self) -> NDArray[np.int64]:
        """Number of pieces of each text, (n,)."""
        return np.diff(self.bounds)

    def row(self, index: int) -> slice:
        """Where the pieces of text ``index`` lie."""
        return slice(int(self.bounds[index]), int(self.bounds[index + 1]))

    def have_same_pieces(self, first: int, second: int) -> bool:
        """True if two texts are the same for the encoder."""
        return np.array_equal(self.ids[self.row(first)], self.ids[self.row(second)])


def align(
    corpus: Corpus,
    encoder: Encoder,
    max_pieces: int | None = None,
    *,
    reserved: int | NDArray[np.int64] = 0,
) -> PieceView:
    """Tokenise a corpus and find the pieces of each mention, in windows of ``max_pieces`` less ``reserved``."""
    limit = encoder.max_pieces if max_pieces is None else min(max_pieces, encoder.max_pieces)
    before, after = special_pieces(encoder)
    spaces = np.broadcast_to(limit - len(before) - len(after) - np.asarray(reserved), len(corpus))

    texts: list[TextPieces] = []
    for space, example, (pieces, chars, ranges) in zip(
        spaces, corpus, _tokenised(corpus, encoder), strict=True
    ):
        window = _window(ranges, len(pieces), int(space))
        if window is None:
            raise _too_long(example, "mentions", limit)
        # sorted, and with every mention piece, so a range stays a range
        texts.append((pieces[window], chars[window], np.searchsorted(window, ranges)))
    return joined(texts, encoder, len(MENTIONS))


def windows_around(corpus: Corpus, encoder: Encoder, max_pieces: int = 64) -> PieceView:
    """Tokenise a corpus and cut windows around pronoun, A and B of each row, centred where possible: 3 n texts."""
    limit = min(max_pieces, encoder.max_pieces)
    space = limit - sum(map(len, special_pieces(encoder)))
    texts: list[TextPieces] = []
    for example, (pieces, chars, ranges) in zip(corpus, _tokenised(corpus, encoder), strict=True):
        for mention, (first, end) in zip(MENTIONS, ranges, strict=True):
            if end - first > space:
                raise _too_long(example, mention, limit)
            start = int(np.clip((first + end - space) // 2, 0, max(len(pieces) - space, 0)))
            inside = slice(start, start + space)
            texts.append((pieces[inside], chars[inside], np.array([[first, end]]) - start))
    return joined(texts, encoder, 1)


def _too_long(example: Example, mentions: str, limit: int) -> MemberError:
    return MemberError(
        f"example {example.id!r}: its {mentions} (with what is added) exceed the window of {limit} pieces; "
        "use a larger window or an encoder with a higher limit"
    )


def _tokenised(corpus: Corpus, encoder: Encoder) -> Iterator[TextPieces]:
    for example, (ids, chars) in zip(corpus, tokenised(corpus.texts, encoder), strict=True):
        yield ids, chars, _mention_ranges(example, chars)


def tokenised(
    texts: Sequence[str], encoder: Encoder
) -> Iterator[tuple[NDArray[np.int64], NDArray[np.int64]]]:
    """Ids (L,) and character ranges (L, 2) of each text's pieces, without special ones."""
    for encoding in _backend(encoder).encode_batch(list(texts), add_special_tokens=False):
        yield (
            np.array(encoding.ids, dtype=np.int64),
            np.array(encoding.offsets, dtype=np.int64).reshape(-1, 2),
        )


def joined(texts: Sequence[TextPieces], encoder: Encoder, mentions: int) -> PieceView:
    """Concatenate texts, each with the encoder's special pieces."""
    before, after = special_pieces(encoder)
    start, end = (np.zeros((len(special), 2), np.int64) for special in (before, after))
    ids = [segment for pieces, _, _ in texts for segment in (before, pieces, after)]
    chars = [segment for _, inner, _ in texts for segment in (start, inner, end)]
    lengths = [len(before) + len(pieces) + len(after) for pieces, _, _ in texts]
    return PieceView(
        ids=np.concatenate([np.empty(0, np.int64), *ids]),
        chars=np.concatenate([start[:0], *chars]),
        bounds=np.concatenate([[0], np.cumsum(lengths, dtype=np.int64)]),
        mentions=np.array([ranges for *_, ranges in texts], np.int64).reshape(-1, mentions, 2) + len(before),
    )


def special_pieces(encoder: Encoder) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Ids of the special pieces before and after a text ([CLS] and [SEP] for BERT)."""
    probe = _backend(encoder).encode("a")
    special = np.array(probe.special_tokens_mask, dtype=bool)
    ids = np.array(probe.ids, dtype=np.int64)
    first, last = np.flatnonzero(~special)[[0, -1]]
    return ids[:first], ids[last + 1 :]


def _backend(encoder: Encoder) -> Any:
    """The tokenizer without the truncation and padding of its ``tokenizer.json``, which our windows replace."""
    backend = encoder.tokenizer.backend_tokenizer
    backend.no_truncation()
    backend.no_padding()
    return backend


def _mention_ranges(example: Example, spans: NDArray[np.int64]) -> NDArray[np.int64]:
    """Piece ranges (3, 2) of pronoun, A and B among pieces with character ranges ``spans``."""
    if not len(spans):
        raise MemberError(
            f"example {example.id!r}: the tokenizer returns no pieces for its text {example.text[:40]!r}; "
            "leave the row out, or use another encoder"
        )
    ranges = np.empty((len(MENTIONS), 2), dtype=np.int64)
    for row, mention in enumerate((example.pronoun, example.a, example.b)):
        inside = np.flatnonzero((spans[:, 0] < mention.end) & (spans[:, 1] > mention.start))
        if not len(inside):
            following = np.flatnonzero(spans[:, 0] >= mention.end)
            inside = following[:1] if len(following) else np.array([len(spans) - 1])
        ranges[row] = inside[0], inside[-1] + 1
    return ranges


def _window(ranges: NDArray[np.int64], total: int, space: int) -> NDArray[np.int64] | None:
    """Sorted indices of at most ``space`` of ``total`` pieces with all of the mentions; None if these are too long."""
    if total <= space:
        return np.arange(total)
    starts = np.sort(ranges[:, 0])
    ends = np.maximum.accumulate(ranges[np.argsort(ranges[:, 0], kind="stable"), 1])
    # the four segments between mentions as half-open ranges; empty where mentions touch or share a piece
    lows = np.concatenate([[0], ends])
    highs = np.maximum(np.concatenate([starts, [total]]), lows)
    lengths = highs - lows
    room = space - (total - int(lengths.sum()))
    if room < 0:
        return None
    keep = np.ones(total, dtype=bool)
    for segment, size in enumerate(_shares(lengths, room)):
        low, high = int(lows[segment]), int(highs[segment])
        cut = high - low - size
        # outer segments lose their far end, inner ones their middle
        begin = low if segment == 0 else high - cut if segment == len(lengths) - 1 else low + (size + 1) // 2
        keep[begin : begin + cut] = False
    return np.flatnonzero(keep)


def _shares(lengths: NDArray[np.int64], room: int) -> list[int]:
    """Remaining pieces of each segment when the longest, outer ones counting double, loses one at a time."""
    shares: list[int] = lengths.tolist()
    weights = {3: 2, 0: 2, 2: 1, 1: 1}  # among equally long segments, the first in this order loses a piece
    for _ in range(sum(shares) - room):
        shares[max(weights, key=lambda segment: shares[segment] * weights[segment])] -= 1
    return shares


def padded_ids(view: PieceView, rows: Ints) -> tuple[NDArray[np.int64], NDArray[np.bool_]]:
    """Piece ids (n, longest) of rows, 0 on padding, and a mask (n, longest), True on pieces."""
    lengths = view.lengths[rows]
    keep = np.arange(lengths.max()) < lengths[:, None]
    ids = np.zeros(keep.shape, dtype=np.int64)
    ids[keep] = np.concatenate([view.ids[view.row(row)] for row in rows])
    return ids, keep


def batches(lengths: Ints, budget: int) -> Iterator[Ints]:
    """Split positions 0..n-1 into runs whose padded size, count times longest, is at most ``budget`` if it can be."""
    if (
        len(lengths) and len(lengths) * lengths.max() <= budget
    ):  # the common case of small rows, without a loop
        yield np.arange(len(lengths))
        return
    start, longest = 0, 0
    for end, length in enumerate(lengths):
        longest = max(longest, int(length))
        if end > start and longest * (end + 1 - start) > budget:
            yield np.arange(start, end)
            start, longest = end, int(length)
    if start < len(lengths):
        yield np.arange(start, len(lengths))
