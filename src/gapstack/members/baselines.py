"""Baselines: the class prior, a coin, and the five coreference cues of Webster et al. 2018, section 4.3.

A cue decides for a name in one of the passes of its sieve (:mod:`gapstack.language.cues`), with a margin. A monotone
model turns decisions into probabilities: the logits of (A, B, NEITHER) are (+s, -s, n) where A is chosen and
(-s, +s, n) where B is. For each pass, s is never negative and grows with the margin, and n never grows with it. The
weights are fitted by ridge-penalised maximum likelihood.
"""

from dataclasses import replace
from hashlib import sha256
from typing import Annotated, Any, ClassVar

import numpy as np
from annotated_types import Interval
from scipy.optimize import minimize
from scipy.special import log_softmax, softmax

from gapstack.data import Corpus, Label
from gapstack.language.cues import (
    OURS,
    Closeness,
    Counted,
    Cue,
    CueDecisions,
    Definition,
    decide,
    needs_parses,
)
from gapstack.language.parses import ParserName
from gapstack.language.scenes import Candidates, Context, Setting
from gapstack.members.soft_labels import SoftLabelMember, TrainingSet
from gapstack.settings import NonNegative, ReadInput, Seed
from gapstack.types import Bools, Floats, Probabilities

_HALF_MARGIN = 4.0  # in words or edges: scaled to one half
_MAX_PASSES = 5


class Prior(SoftLabelMember):
    """Label frequencies of the training rows, with add-one smoothing."""

    LEARNED = ("prior",)

    def _fit_training_set(self, training_set: TrainingSet) -> None:
        counts = training_set.weights @ training_set.targets + 1.0
        self.prior_ = counts / counts.sum()

    def _predict_proba(self, corpus: Corpus) -> Probabilities:
        return np.tile(self.prior_, (len(corpus), 1))


class Random(SoftLabelMember):
    """A or B at random; NEITHER has its frequency in the training rows, for a meaningful logloss.

    A hash of the row's id and the seed chooses the earlier or the later name, whichever of them is called A.
    """

    confidence: Annotated[float, Interval(gt=0.5, lt=1)] = 0.6
    """The chosen name's share of the probability of both; above 0.5, below 1."""
    seed: Seed = 0
    """Seed of the coins."""

    LEARNED = ("neither",)

    def _fit_training_set(self, training_set: TrainingSet) -> None:
        neither = float(training_set.weights @ training_set.targets[:, Label.NEITHER])
        self.neither_ = (neither + 1) / (len(training_set) + len(Label))

    def _predict_proba(self, corpus: Corpus) -> Probabilities:
        coins = (sha256(f"{self.seed} {e.id}".encode("utf-8", "surrogatepass")).digest()[0] for e in corpus)
        draws_a = np.array([(coin % 2 == 0) == (e.a < e.b) for coin, e in zip(coins, corpus, strict=True)])
        share_a = np.where(draws_a, self.confidence, 1 - self.confidence)
        named = np.stack([share_a, 1 - share_a], axis=1) * (1 - self.neither_)
        return np.concatenate([named, np.full((len(corpus), 1), self.neither_)], axis=1)


class CueMember(SoftLabelMember):
    """A coreference cue with calibrated probabilities."""

    candidates: Candidates = "gold-two-mention"
    """``gold-two-mention`` (A and B compete) or ``detected`` (all PERSON names of the snippet do)."""
    context: Context = "page-context"
    """``page-context`` (the page's title may be read), or ``snippet-context``, which only the cue URL refuses."""
    ridge: NonNegative = 1.0
    """Strength of the penalty on the squared weights, in units of examples."""
    parser: ParserName = None
    """spaCy pipeline, by folder or package name; by default ``GAP_PARSER``, else the project's own."""

    LEARNED: ClassVar[tuple[str, ...]] = ("strength", "doubt")
    ONE_THREAD: ClassVar[bool] = True
    cue: ClassVar[Cue]

    @property
    def definition(self) -> Definition:
        """Choices within the cue's definition, those that are settings of the member."""
        own: dict[str, Any] = {k: v for k, v in vars(self).items() if k in ("counted", "closeness")}
        return replace(OURS, **own)

    def cue_decisions(self, corpus: Corpus) -> CueDecisions:
        """Decisions with their passes and margins; needs no fit."""
        setting = Setting(self.candidates, self.context)
        return decide(corpus, self.cue, setting, self.parser, self.definition)

    def decide(self, corpus: Corpus) -> Bools:
        """Decisions for A and B, (n, 2); needs no fit."""
        return self.cue_decisions(corpus).answers

    def reads(self) -> dict[str, ReadInput]:
        """Inputs: the parser only where the cue needs one."""
        reads = super().reads()
        if not needs_parses(self.cue, self.candidates, self.definition):
            del reads["parser"]
        return reads

    def _prepare(self, corpus: Corpus) -> None:
        self.cue_decisions(corpus)

    def _fit_training_set(self, training_set: TrainingSet) -> None:
        decisions = self.cue_decisions(training_set.corpus)
        self.strength_, self.doubt_ = fit_decisions(decisions, training_set, self.ridge)

    def _predict_proba(self, corpus: Corpus) -> Probabilities:
        return decision_probabilities(self.cue_decisions(corpus), self.strength_, self.doubt_)


def fit_decisions(decisions: CueDecisions, training_set: TrainingSet, ridge: float) -> tuple[Floats, Floats]:
    """Fit the weights of strength and doubt that turn decisions into probabilities."""
    direction, design, doubt = _design(decisions)
    targets, weights = training_set.targets, training_set.weights[:, None]
    split = design.shape[1]

    def loss(parameters: Floats) -> tuple[float, Floats]:
        logits = _logits(direction, design @ parameters[:split], doubt @ parameters[split:])
        error = weights * (softmax(logits, axis=1) - targets)
        of_strength = design.T @ (direction * (error[:, 0] - error[:, 1]))
        gradient = np.concatenate([of_strength, doubt.T @ error[:, 2]])
        cross_entropy = -(weights * targets * log_softmax(logits, axis=1)).sum()
        value = cross_entropy + ridge / 2 * parameters @ parameters
        return float(value), gradient + ridge * parameters

    free, positive, negative = (None, None), (0.0, None), (None, 0.0)
    bounds = [positive] * split + [free, negative, negative, positive] * _MAX_PASSES
    parameters = minimize(loss, np.zeros(len(bounds)), jac=True, bounds=bounds, method="L-BFGS-B").x
    return parameters[:split], parameters[split:]


def decision_probabilities(decisions: CueDecisions, strength: Floats, doubt: Floats) -> Probabilities:
    """Probabilities (n, 3) of decisions by the weights of :func:`fit_decisions`."""
    direction, design, doubt_design = _design(decisions)
    return softmax(_logits(direction, design @ strength, doubt_design @ doubt), axis=1)


def _logits(direction: Floats, strength: Floats, doubt: Floats) -> Floats:
    """Stack (n,) each into (n, 3)."""
    return np.stack([direction * strength, -direction * strength, doubt], axis=1)


def _design(decisions: CueDecisions) -> tuple[Floats, Floats, Floats]:
    """The chosen name, +1 A, -1 B, 0 both or none (n,), and the design matrices of s (n, 3L) and n (n, 4L)."""
    names = decisions.answers.astype(np.float64)
    alone = np.isinf(decisions.margins)
    # reach is 0 for a tie and 1 without a runner-up
    reach = 1.0 - _HALF_MARGIN / (decisions.margins + _HALF_MARGIN)
    elsewhere = ~decisions.answers.any(axis=1)
    ones = np.ones(len(names))
    # n falls with the margin where A or B is chosen, and has a constant where another name is
    doubt = [ones, reach * ~elsewhere, alone & ~elsewhere, elsewhere]
    level = np.eye(_MAX_PASSES + 1)[decisions.levels, :_MAX_PASSES]
    # indicators of the passes times columns: (n, L, c) -> (n, L c)
    designs = [
        (level[:, :, None] * np.stack(columns, axis=1)[:, None, :]).reshape(
            len(level), _MAX_PASSES * len(columns)
        )
        for columns in ([ones, reach, alone], doubt)
    ]
    return names[:, 0] - names[:, 1], designs[0], designs[1]


class TokenDistance(CueMember):
    """The nearest name, counted in words: the weakest cue, as GAP was balanced against it."""

    cue = Cue.TOKEN_DISTANCE


class TopicalEntity(CueMember):
    """The closest name that holds the most frequent word of the names that compete; then token distance."""

    counted: Counted = "candidates"
    """Names whose words are counted: ``candidates`` as in the paper, or ``detected``, all PERSON names."""
    cue = Cue.TOPICAL_ENTITY


class SyntacticDistance(CueMember):
    """The name at the end of the shortest dependency path, unless binding excludes it; then token distance."""

    cue = Cue.SYNTACTIC_DISTANCE


class Parallelism(CueMember):
    """The closest name in the pronoun's grammatical function, subject or object; then syntactic distance."""

    closeness: Closeness = "syntactic"
    """The closest name has the shortest dependency path (``syntactic``) or the fewest words between (``token``)."""
    cue = Cue.PARALLELISM


class Url(CueMember):
    """The syntactically closest name that shares a word with the page title; then parallelism. GAP's best baseline."""

    closeness: Closeness = "syntactic"
    """As for the member ``parallelism``."""
    cue = Cue.URL
