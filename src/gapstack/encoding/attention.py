"""Attention of each head of an encoder between the pronoun and each name (Webster et al. 2018, section 4.4).

With A the (T, T) attention of one head and w the (T,) mean over a mention's pieces of the indicator of that piece's
occurrences, pronoun to name is ``w_pronoun @ A @ w_name``. The paper selects "the candidate that attends most to the
pronoun", ``w_name @ A @ w_pronoun``. The members' default is the sum of both directions, which is better for the
embedded encoder.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

import numpy as np
import torch
from numpy.typing import NDArray

from gapstack.cache import Ragged, content_key, fetch_arrays
from gapstack.data import Corpus, Example, Span
from gapstack.encoding.encoders import Encoder, load_encoder
from gapstack.encoding.frozen import Request, computed_by, forward
from gapstack.encoding.pieces import PieceView, align
from gapstack.errors import MemberError
from gapstack.files import cache_root, fingerprint
from gapstack.language.cues import CueDecisions
from gapstack.language.parses import parses
from gapstack.language.scenes import Candidates, scene
from gapstack.types import Floats32, Ints

Direction = Literal["pronoun-to-name", "name-to-pronoun", "both", "each"]
"""Direction in which attention is read: the paper's is ``name-to-pronoun``; ``both`` is the sum of both directions,
``each`` has either as heads of its own, pronoun to name in the first layers."""


@dataclass(frozen=True, slots=True)
class Attention:
    """Attention of every head between the pronoun and up to k names, in n rows."""

    scores: Floats32
    """(n, k, 2, layers, heads), on the third axis pronoun to name, then name to pronoun. -inf where a row has fewer
    names, or where a name was cut off with the end of a long text."""
    hits: NDArray[np.bool_]
    """True where choosing the name counts as choosing A, and B, (n, k, 2)."""

    def directed(self, direction: Direction = "both") -> Floats32:
        """Scores (n, k, layers, heads) in one direction; twice the layers for ``each``."""
        if direction == "both":
            return np.asarray(self.scores.sum(axis=2))
        if direction == "each":
            n, k, _, layers, heads = self.scores.shape
            return self.scores.reshape(n, k, 2 * layers, heads)
        return self.scores[:, :, 1 if direction == "name-to-pronoun" else 0]

    def pairs(self, direction: Direction = "both") -> Floats32:
        """Scores of A and B, (n, layers, heads, 2): of the best name that counts for each, 0 without one."""
        scores = self.directed(direction)[..., None]
        return np.asarray(np.where(self.hits[:, :, None, None], scores, 0.0).max(axis=1, initial=0.0))

    def choices(self, direction: Direction = "both") -> NDArray[np.bool_]:
        """True where each head's favourite name counts as A, and B, (n, layers, heads, 2); tied names must agree."""
        scores = self.directed(direction)
        best = scores.max(axis=1, keepdims=True, initial=-np.inf)
        winners = (scores == best) & np.isfinite(best)
        # (n, k, layers, heads, 2)
        agrees = ~winners[..., None] | self.hits[:, :, None, None]
        return np.asarray(winners.any(axis=1)[..., None] & agrees.all(axis=1))

    def cue_decisions(self, layer: int, head: int, direction: Direction = "both") -> CueDecisions:
        """Decisions of one head, with margins in decibels of attention over the runner-up; MemberError without it."""
        scores = self.directed(direction)
        if not (0 <= layer < scores.shape[2] and 0 <= head < scores.shape[3]):
            raise MemberError(
                f"no head {head} in layer {layer}: there are {scores.shape[2]} layers of {scores.shape[3]} heads, "
                "both counted from 0"
            )
        answers = self.choices(direction)[:, layer, head]
        of_head = scores[:, :, layer, head].astype(np.float64)
        best = of_head.max(axis=1, keepdims=True, initial=-np.inf)
        second = np.where(of_head < best, of_head, -np.inf).max(axis=1, initial=-np.inf)
        decided = np.isfinite(best[:, 0])
        margins = np.where(decided, np.inf, 0.0)
        runner_up = decided & (second > 0)
        margins[runner_up] = 10 * np.log10(best[runner_up, 0] / second[runner_up])
        # every name that is left ties: nothing was decided unless they all count for the same side
        tied = decided & np.isneginf(second) & (np.isfinite(of_head).sum(axis=1) > 1)
        margins[tied] = 0.0
        return CueDecisions(answers, np.where(decided, 0, -1), margins)


def attention(
    corpus: Corpus,
    encoder: Encoder | str | None = None,
    candidates: Candidates = "gold-two-mention",
    parser: str | Path | None = None,
) -> Attention:
    """Attention of each head between pronoun and A and B, or all PERSON names; float32, stored by content."""
    loaded = encoder if isinstance(encoder, Encoder) else load_encoder(encoder)
    names: list[tuple[Span, ...]] = [(example.a, example.b) for example in corpus]
    hits: list[NDArray[np.bool_]] = [np.eye(2, dtype=bool)] * len(corpus)
    if candidates != "gold-two-mention":
        scenes = [
            scene(example, parse, candidates)
            for example, parse in zip(corpus, parses(corpus, parser), strict=True)
        ]
        names, hits = [of_row.spans for of_row in scenes], [of_row.hits for of_row in scenes]
    view = align(corpus, loaded)
    # A and B are part of the key since the window of a long text depends on them
    keys = [
        content_key(fingerprint(row.text, row.pronoun, row.a, row.b, spans).encode())
        for row, spans in zip(corpus, names, strict=True)
    ]
    request = Request(loaded, (), tuple(range(1, loaded.num_layers + 1)), torch.float32)

    def weights(row: int) -> tuple[Floats32, Floats32]:
        groups = _piece_weights(view, row, corpus[row], names[row])
        return groups, groups

    def compute(rows: Ints, _: Sequence[str]) -> dict[str, Ragged]:
        scores = [
            _scores(maps, weights(row)[0])
            for batch, _, attended in forward(request, view, rows, groups=weights)
            for row, maps in zip(batch.tolist(), attended, strict=True)
        ]
        return {"scores": Ragged(np.concatenate(scores), np.array(list(map(len, scores))))}

    folder = cache_root() / "attention" / computed_by(loaded, torch.float32)
    stored = fetch_arrays(folder, keys, ["scores"], compute, view.lengths, "attention")["scores"]
    shape = (len(corpus), int(stored.sizes.max(initial=0)))
    is_name = np.arange(shape[1]) < stored.sizes[:, None]
    scores = np.full((*shape, 2, loaded.num_layers, loaded.num_heads), -np.inf, dtype=np.float32)
    counted = np.zeros((*shape, 2), dtype=bool)
    if len(corpus):
        scores[is_name], counted[is_name] = stored.values, np.concatenate(hits)
    return Attention(scores, counted)


def _scores(maps: torch.Tensor, weights: Floats32) -> Floats32:
    """Scores (k, 2, layers, heads) of a row from attention (layers, heads, 1 + k, 1 + k); -inf for missing names."""
    ways = torch.stack([maps[..., 0, 1:], maps[..., 1:, 0]])
    scores: Floats32 = ways.permute(3, 0, 1, 2).numpy().copy()
    scores[~weights[1:].any(axis=1)] = -np.inf
    return scores


def _piece_weights(view: PieceView, index: int, example: Example, names: Sequence[Span]) -> Floats32:
    """Weights w (1 + k, T) of pronoun and k names over the T pieces of row ``index``; 0 for names outside it."""
    ids, chars = view.ids[view.row(index)], view.chars[view.row(index)]
    mentions = dict(zip((example.pronoun, example.a, example.b), view.mentions[index], strict=True))
    weights = np.zeros((1 + len(names), len(ids)), dtype=np.float32)
    for row, span in enumerate((example.pronoun, *names)):
        if span in mentions:
            pieces = np.arange(*mentions[span])
        else:
            # special pieces have the empty range (0, 0), which overlaps nothing
            pieces = np.flatnonzero((chars[:, 0] < span.end) & (chars[:, 1] > span.start))
        if len(pieces):
            weights[row] = (ids[pieces][:, None] == ids).mean(axis=0)
    return weights
