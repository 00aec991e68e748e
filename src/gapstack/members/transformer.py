"""Attention heads as cues: Transformer-Single and Transformer-Multi (Webster et al. 2018, section 4.4).

The paper reads its own translation model, one head chosen on GAP validation, or three heads combined by extremely
random trees. Here the attention is any encoder's, by default read in both directions; the paper's is
``name-to-pronoun``.
"""

import math
from itertools import product
from typing import Annotated

import numpy as np
from annotated_types import Interval

from gapstack.data import Corpus, Label
from gapstack.encoding.attention import Attention, Direction, attention
from gapstack.encoding.encoders import EncoderName
from gapstack.errors import MemberError, NotFittedError
from gapstack.evaluation.metrics import f1_percent
from gapstack.language.cues import CueDecisions
from gapstack.language.parses import ParserName
from gapstack.language.scenes import Candidates
from gapstack.members.baselines import decision_probabilities, fit_decisions
from gapstack.members.soft_labels import SoftLabelMember, TrainingSet
from gapstack.settings import Count, Natural, NonNegative, ProbabilityFloor, ReadInput, Seed
from gapstack.types import Bools, Floats, Probabilities


def head_f1(training_set: TrainingSet, weights: Attention, direction: Direction) -> Floats:
    """Overall F1 of each head's favourite by the targets, (layers, heads), in percent (the paper's Table 8)."""
    # (n, L, H, 2) -> (L, H, n, 2)
    decided = np.moveaxis(weights.choices(direction), 0, 2).astype(np.float64)
    row_weights = np.repeat(training_set.weights[:, None], Label.NEITHER, axis=1)
    true = row_weights * training_set.targets[:, : Label.NEITHER]
    tp = np.tensordot(decided, true, axes=2)
    return f1_percent(tp, np.tensordot(decided, row_weights, axes=2) - tp, true.sum() - tp)


class TransformerSingle(SoftLabelMember):
    """The name with the most attention of one head, with probabilities from its margin as for the other cues."""

    layer: Natural | None = None
    head: Natural | None = None
    """The head, both counted from 0; by default the one with the best overall F1 on the training rows."""
    direction: Direction = "both"
    """``pronoun-to-name``, ``name-to-pronoun``, their sum ``both``, or ``each`` direction as a head of its own."""
    encoder: EncoderName = None
    """As for :func:`~gapstack.encoding.encoders.load_encoder`; by default the embedded one."""

    candidates: Candidates = "gold-two-mention"
    """``gold-two-mention`` (A and B compete) or ``detected`` (all PERSON names of the snippet do)."""
    parser: ParserName = None
    """spaCy pipeline that detects names; by default ``GAP_PARSER``, else the project's own."""
    ridge: NonNegative = 1.0
    """Strength of the penalty on the squared weights, in units of examples."""

    LEARNED = ("layer", "head", "strength", "doubt")

    def cue_decisions(self, corpus: Corpus) -> CueDecisions:
        """Raw decisions with margins in decibels; NotFittedError before ``fit``, unless layer and head are given."""
        layer, head = getattr(self, "layer_", self.layer), getattr(self, "head_", self.head)
        if layer is None or head is None:
            raise NotFittedError(
                "transformer_single has no head yet; give layer and head, or call fit(corpus)"
            )
        return self._attention(corpus).cue_decisions(layer, head, self.direction)

    def decide(self, corpus: Corpus) -> Bools:
        """Decisions for A and B, (n, 2); raises as :meth:`cue_decisions`."""
        return self.cue_decisions(corpus).answers

    def head_table(self, corpus: Corpus) -> Floats:
        """Overall F1 of every head on a labelled corpus, (layers, heads), in percent; needs no fit."""
        return head_f1(TrainingSet.given(corpus), self._attention(corpus), self.direction)

    def reads(self) -> dict[str, ReadInput]:
        """Inputs: the parser only where other names compete with A and B."""
        reads = super().reads()
        if self.candidates != "detected":
            del reads["parser"]
        return reads

    def _attention(self, corpus: Corpus) -> Attention:
        return attention(corpus, self.encoder, self.candidates, self.parser)

    def _prepare(self, corpus: Corpus) -> None:
        self._attention(corpus)

    def _fit_training_set(self, training_set: TrainingSet) -> None:
        table = head_f1(training_set, self._attention(training_set.corpus), self.direction)
        layers, heads = (
            range(count) if number is None else [number]
            for number, count in zip((self.layer, self.head), table.shape, strict=True)
        )
        self.layer_, self.head_ = max(product(layers, heads), key=lambda at: table[at])
        decisions = self.cue_decisions(training_set.corpus)
        self.strength_, self.doubt_ = fit_decisions(decisions, training_set, self.ridge)

    def _predict_proba(self, corpus: Corpus) -> Probabilities:
        return decision_probabilities(self.cue_decisions(corpus), self.strength_, self.doubt_)


class TransformerMulti(SoftLabelMember):
    """ExtraTrees over the choices of the best attention heads, one instance for each name.

    The paper decides TRUE or FALSE for each name and does not state the number of trees. Here A and B get the trees'
    values, NEITHER the rest to 1, and the three are divided by their sum. With soft labels, a name that may be TRUE is
    an instance of both kinds, each with its share of the row's weight.
    """

    heads: Annotated[int, Interval(ge=1, le=12)] = 3
    """Largest number of heads that chi-square selects; the trees' values are stored for each combination of choices."""
    trees: Count = 100
    """Size of the forest."""
    floor: ProbabilityFloor = 0.03
    """Lower bound of a class before the three are divided by their sum."""
    direction: Direction = "both"
    encoder: EncoderName = None
    candidates: Candidates = "gold-two-mention"
    parser: ParserName = None
    """As for the member ``transformer_single``."""
    seed: Seed = 0
    """Seed of the trees."""

    LEARNED = ("selected", "values")

    def reads(self) -> dict[str, ReadInput]:
        """Inputs: the parser only where other names compete with A and B."""
        reads = super().reads()
        if self.candidates != "detected":
            del reads["parser"]
        return reads

    def decide(self, corpus: Corpus) -> Bools:
        """The paper's decisions: TRUE for each name with a value above one half, (n, 2)."""
        self._check_fitted()
        return self._name_values(corpus) > 0.5

    def _prepare(self, corpus: Corpus) -> None:
        self._choices(corpus)

    def _fit_training_set(self, training_set: TrainingSet) -> None:
        from sklearn.ensemble import ExtraTreesClassifier
        from sklearn.feature_selection import SelectKBest

        choices = self._choices(training_set.corpus)
        # names as instances: all A, then all B
        rows = np.concatenate([choices[:, 0], choices[:, 1]]).astype(np.float64)
        true = training_set.targets[:, : Label.NEITHER].T.ravel()
        # weight of each name as FALSE and as TRUE, (2n, 2)
        kinds = np.tile(training_set.weights, 2)[:, None] * np.column_stack([1.0 - true, true])
        if not kinds.any(axis=0).all():
            raise MemberError(
                "TransformerMulti needs names of both kinds to fit: some that are TRUE, some FALSE"
            )
        # a head that never chooses has no chi-square
        with np.errstate(invalid="ignore"):
            selection = SelectKBest(weighted_chi2, k=min(self.heads, rows.shape[1])).fit(rows, kinds)
        self.selected_ = np.flatnonzero(selection.get_support()).astype(np.int64)
        names, is_true = np.nonzero(kinds)
        forest = ExtraTreesClassifier(self.trees, random_state=self.seed)
        forest.fit(rows[np.ix_(names, self.selected_)], is_true.astype(bool), kinds[names, is_true])
        # choices are few: the forest is its values for every combination of them, numbered by their bits
        bits = np.arange(len(self.selected_))
        self.values_ = forest.predict_proba(np.arange(2 ** len(bits))[:, None] >> bits & 1)[:, 1]

    def _predict_proba(self, corpus: Corpus) -> Probabilities:
        names = self._name_values(corpus)
        return np.maximum(np.column_stack([names, 1.0 - names.sum(axis=1)]), self.floor)

    def _name_values(self, corpus: Corpus) -> Floats:
        """The trees' values for A and B, (n, 2)."""
        return self.values_[self._choices(corpus)[..., self.selected_] @ 2 ** np.arange(len(self.selected_))]

    def _choices(self, corpus: Corpus) -> Bools:
        """True for each head that chooses a name, (n, 2, layers * heads)."""
        choices = attention(corpus, self.encoder, self.candidates, self.parser).choices(self.direction)
        # (n, L, H, 2) -> (n, 2, L * H)
        return np.moveaxis(choices, -1, 1).reshape(len(choices), 2, math.prod(choices.shape[1:3]))


def weighted_chi2(rows: Floats, kinds: Floats) -> Floats:
    """Chi-square of columns, as scikit-learn's, of rows (n, features) that weigh (n, classes) as one of each class."""
    observed = kinds.T @ rows
    shares = kinds.sum(axis=0) / kinds.sum()
    expected = np.outer(shares, observed.sum(axis=0))
    return ((observed - expected) ** 2 / expected).sum(axis=0)
