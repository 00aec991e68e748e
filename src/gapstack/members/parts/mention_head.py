"""What members share that read a frozen encoder at the three mentions, one mean vector each."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gapstack.corpus import Corpus, Gender
from gapstack.encoding.encoders import Encoder
from gapstack.encoding.sizes import Size
from gapstack.errors import MemberError
from gapstack.features.blocks import Features, features
from gapstack.kinds import BlockName, Count, Natural
from gapstack.members.parts.encoder_member import EncoderMember, at_depth
from gapstack.members.parts.frozen_head import Arrays, FrozenHead
from gapstack.members.parts.learner import Lessons
from gapstack.training import Schedule, TrainingPlan
from gapstack.types import Floats32
from gapstack.vectors.null_space import null_space

ON_MENTIONS = TrainingPlan(
    epochs=20,
    batch_size=64,
    head_lr=2e-3,
    schedule=Schedule(shape="linear", warmup=0.1),
    weight_decay=3.0,
    label_smoothing=0.05,
    precision="float32",
)
"""How heads over MiniLM's vectors learn GAP, where a member has no reason for another plan."""


class MentionHead(EncoderMember, FrozenHead):
    """A :class:`FrozenHead` whose inputs are ``mentions`` and, with feature blocks, ``names`` and ``row``.

    ``mentions`` (n, 3, layers * hidden) are the mean vectors of pronoun, A and B, each unit standardised over
    the training rows; ``names`` (n, 2, k) and ``row`` (n, m) the features of both names and of the row, put
    between 0 and 1 by the least and the greatest value of the training rows. A feature without a value is 0.5.

    A subclass gives ``LAYERS`` beside what :class:`FrozenHead` asks for, and offers :attr:`blocks` and
    :attr:`max_pieces` as settings where it reads them.

    Parameters
    ----------
    layers : sequence of int, optional
        Layers that are read, side by side; None for those at the depth of ``LAYERS``.
    null_space : bool
        Project the vectors first to where no linear classifier tells the pronoun's gender (Ravfogel et al. 2020);
        see :func:`gender_null_space`.
    encoder
        See :class:`~gapstack.members.parts.encoder_member.EncoderMember`.
    training, seeds, validation_share, seed
        See :class:`FrozenHead`.
    """

    layers: Sequence[Natural] | None = None
    null_space: bool = False

    PLAN = ON_MENTIONS
    blocks: Sequence[BlockName] = field(default=(), init=False)
    """Hand-made features, by their names in :data:`gapstack.features.blocks.BLOCKS`; none: the text alone."""
    max_pieces: Count | None = field(default=None, init=False)
    """Longest window in pieces; None for the encoder's limit."""

    def _layers(self, encoder: Encoder) -> tuple[int, ...]:
        return self._default_or(self.layers, encoder)

    def _mentions(self, corpus: Corpus) -> Floats32:
        """Give the mean vectors of pronoun, A and B, (n, 3, layers * hidden)."""
        return self._mean_vectors(corpus, self.layers, self.max_pieces)

    def _features(self, corpus: Corpus) -> Features:
        """Give the features of :attr:`blocks`."""
        return features(corpus, self.blocks)

    def _beside(self, corpus: Corpus) -> Arrays:
        """Give the inputs beside ``mentions``."""
        if not self.blocks:
            return {}
        found = self._features(corpus)
        return {"names": found.candidates, "row": found.shared}

    def _arrays(self, corpus: Corpus) -> Arrays:
        return {"mentions": self._mentions(corpus), **self._beside(corpus)}

    def _shapes(self, size: Size) -> Arrays:
        layers = len(at_depth(size.layers, *self.LAYERS) if self.layers is None else self.layers)
        return {"mentions": np.empty((0, 3, layers * size.width)), **self._beside(Corpus([]))}

    def _learn(self, lessons: Lessons) -> None:
        if self.null_space:
            corpus = lessons.corpus
            self.projection_ = gender_null_space(self._mentions(corpus), corpus.genders, self.seed)
        super()._learn(lessons)

    def _scales(self, arrays: Arrays) -> dict[str, NDArray[Any]]:
        scales: dict[str, NDArray[Any]] = {}
        if self.null_space:
            scales["projection"] = self.projection_
        mentions = self._seen(arrays, scales).reshape(-1, arrays["mentions"].shape[-1])
        spread = mentions.std(axis=0)
        scales |= {
            "mentions_mean": mentions.mean(axis=0),
            # encoders have dead units: constant ones stay as they are
            "mentions_spread": np.where(spread > 1e-4, spread, np.float32(1)),
        }
        for name in ("names", "row"):
            if name in arrays:
                values = arrays[name].reshape(math.prod(arrays[name].shape[:-1]), arrays[name].shape[-1])
                scales[f"{name}_low"] = np.nanmin(values, axis=0, initial=np.inf)
                scales[f"{name}_high"] = np.nanmax(values, axis=0, initial=-np.inf)
        return scales

    def _scaled(self, arrays: Arrays, scales: Arrays) -> Arrays:
        scaled = dict(arrays)
        scaled["mentions"] = (self._seen(arrays, scales) - scales["mentions_mean"]) / scales[
            "mentions_spread"
        ]
        for name in ("names", "row"):
            if name in arrays:
                scaled[name] = unit_range(arrays[name], scales[f"{name}_low"], scales[f"{name}_high"])
        return scaled

    def _seen(self, arrays: Arrays, scales: Arrays) -> Floats32:
        """The vectors (n, 3, D) without the gender that they shall not show."""
        if not self.null_space:
            return arrays["mentions"]
        return np.einsum("nmi,mij->nmj", arrays["mentions"], scales["projection"], optimize=True)


def gender_null_space(mentions: Floats32, genders: NDArray[np.str_], seed: int) -> Floats32:
    """Projections that hide the pronoun's gender in its own vector and in those of the names.

    Each of the two has its own: a classifier of both together would leave what the one and the other tell in
    opposite directions.

    Parameters
    ----------
    mentions : (n, 3, D) array
    genders : (n,) array of str
    seed : int

    Returns
    -------
    (3, D, D) array
        For pronoun, A and B; A's is B's.

    Raises
    ------
    MemberError
        If the rows do not have pronouns of both genders.
    """
    gendered = np.isin(genders, [Gender.FEMININE, Gender.MASCULINE])
    feminine = genders[gendered] == Gender.FEMININE
    if not 1 < feminine.sum() < len(feminine) - 1:
        raise MemberError("null_space needs training rows with feminine and with masculine pronouns")
    pronouns, names = mentions[gendered, 0], mentions[gendered, 1:].reshape(-1, mentions.shape[-1])
    own = null_space(pronouns, feminine, seed=seed).projection
    other = null_space(names, np.repeat(feminine, 2), seed=seed).projection
    return np.stack([own, other, other]).astype(np.float32)


def unit_range(
    values: NDArray[np.float64], low: NDArray[np.float64], high: NDArray[np.float64]
) -> NDArray[np.float64]:
    """Values with ``low`` at 0 and ``high`` at 1, those beyond cut off; 0.5 where there is none or they are equal."""
    width = high - low
    is_known = np.isfinite(values) & (width > 0)
    scaled = (values - low) / np.where(width > 0, width, 1)
    return np.where(is_known, np.clip(scaled, 0, 1), 0.5)
