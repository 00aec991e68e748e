"""Base of the cue members: a cue's decisions become probabilities by one small monotone model.

A decision is the chosen name, the pass of the cue's sieve that chose it, and its margin. The logits of (A, B, NEITHER)
are (+s, -s, n) where A is chosen and (-s, +s, n) where B is, so that swapping the names swaps the probabilities. For
each pass, s is never negative and grows with the margin, and n never grows with it. The weights are fitted by
ridge-penalised maximum likelihood under these bounds.
"""

from __future__ import annotations

from typing import Any, ClassVar, Literal

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize
from scipy.special import log_softmax, softmax

from gapstack.corpus import Corpus
from gapstack.kinds import CandidatesName, ContextName, NotNegative
from gapstack.members.member import Probabilities
from gapstack.members.parts.learned import LearnedArrays
from gapstack.members.parts.learner import Learner, Lessons
from gapstack.rowwise import rowwise
from gapstack.text.cues import OURS, Closeness, Cue, CueDecisions, Definition, decide, needs_parses
from gapstack.text.scenes import Candidates, Context, Setting
from gapstack.types import Floats

_HALF = 4.0  # the margin in words or edges that is scaled to one half
_MOST_PASSES = 5


class CueMember(LearnedArrays, Learner):
    """A coreference cue with calibrated probabilities.

    Parameters
    ----------
    candidates : str
        ``gold-two-mention`` (A and B compete) or ``detected`` (all PERSON names of the snippet do).
    context : str
        ``page-context`` (the page's title may be read) or ``snippet-context``, which the cue URL refuses. The other
        cues decide alike in both.
    ridge : float
        Strength of the penalty on the squared weights, in units of examples.
    parser : str, optional
        spaCy pipeline, by folder or package name; by default ``GAP_PARSER``, else the project's own.
    extra, teacher, gold_weight
        See :class:`~gapstack.members.parts.learner.Learner`; a cue learns from them what its decisions are worth.

    Attributes
    ----------
    strength_, doubt_ : (3 L,) and (4 L,) float64
        Weights of s and n for each of L passes: constant, margin, single candidate, and for n another name chosen.
    """

    candidates: CandidatesName = "gold-two-mention"
    context: ContextName = "page-context"
    ridge: NotNegative = 1.0
    parser: str | None = None

    LEARNED = ("strength", "doubt")
    cue: ClassVar[Cue]

    def cue_decisions(self, corpus: Corpus) -> CueDecisions:
        """Decisions with their passes and margins; needs no fit.

        Raises
        ------
        MemberError
            If the cue reads the page's title in snippet-context.
        DataNotFoundError
            If a text has no stored parse and there is no parser.
        """
        setting = Setting(Candidates(self.candidates), Context(self.context))
        return decide(corpus, self.cue, setting, self.parser, self.definition)

    @property
    def definition(self) -> Definition:
        """Choices within the cue's definition."""
        return OURS

    def decide(self, corpus: Corpus) -> NDArray[np.bool_]:
        """Decisions for A and B, (n, 2); needs no fit."""
        return self.cue_decisions(corpus).answers

    def reads(self) -> dict[str, Any]:
        """Leave the parser out where the cue needs none."""
        return super().reads() | ({} if self._needs_parses() else {"parser": False})

    def _needs_parses(self) -> bool:
        return needs_parses(self.cue, Candidates(self.candidates), self.definition)

    def _prepare(self, corpus: Corpus) -> None:
        """Parse and measure all rows in one pass."""
        self.cue_decisions(corpus)

    def _learn(self, lessons: Lessons) -> None:
        direction, design, doubt = _design(self.cue_decisions(lessons.corpus))
        targets, weights = lessons.targets, lessons.weights[:, None]
        split = design.shape[1]

        def loss(parameters: Floats) -> tuple[float, Floats]:
            logits = _logits(direction, design @ parameters[:split], doubt @ parameters[split:])
            error = weights * (softmax(logits, axis=1) - targets)
            gradient = np.concatenate(
                [design.T @ (direction * (error[:, 0] - error[:, 1])), doubt.T @ error[:, 2]]
            )
            surprise = -(weights * targets * log_softmax(logits, axis=1)).sum()
            value = surprise + self.ridge / 2 * parameters @ parameters
            return float(value), gradient + self.ridge * parameters

        free, up, down = (None, None), (0.0, None), (None, 0.0)
        bounds = [up] * split + [free, down, down, up] * _MOST_PASSES
        parameters = minimize(loss, np.zeros(len(bounds)), jac=True, bounds=bounds, method="L-BFGS-B").x
        self.strength_, self.doubt_ = parameters[:split], parameters[split:]

    def _predict_proba(self, corpus: Corpus) -> Probabilities:
        def answer(direction: Floats, design: Floats, doubt: Floats) -> Floats:
            logits = _logits(direction, design @ self.strength_, doubt @ self.doubt_)
            return np.asarray(softmax(logits, axis=1))

        return rowwise(answer, *_design(self.cue_decisions(corpus)))


class ParallelCueMember(CueMember):
    """Base of parallelism, and of URL, which backs off to it.

    Parameters
    ----------
    closeness : str
        Which of several names in the pronoun's function is the closest: that with the shortest dependency path
        (``syntactic``), or with the fewest words between (``token``, as in the paper).
    candidates, context, ridge, parser, extra, teacher, gold_weight
        See :class:`CueMember`.
    """

    closeness: Literal["token", "syntactic"] = "syntactic"

    @property
    def definition(self) -> Definition:
        """Choices within the cue's definition."""
        return Definition(closeness=Closeness(self.closeness))


def _logits(direction: Floats, strength: Floats, doubt: Floats) -> Floats:
    """Stack (n,) each into (n, 3)."""
    return np.stack([direction * strength, -direction * strength, doubt], axis=1)


def _design(decisions: CueDecisions) -> tuple[Floats, Floats, Floats]:
    """The chosen name, +1 A, -1 B, 0 both or none (n,), and the design matrices of s (n, 3L) and n (n, 4L)."""
    names = decisions.answers.astype(np.float64)
    direction = names[:, 0] - names[:, 1]
    alone = np.isinf(decisions.margins)
    # from 0 for a tie to 1 where there was no runner-up
    reach = 1.0 - _HALF / (decisions.margins + _HALF)
    elsewhere = ~decisions.answers.any(axis=1)
    ones = np.ones(len(direction))
    columns: Floats = np.stack([ones, reach, alone], axis=1)
    # n falls with the margin where A or B is chosen, and has a constant where another name is
    doubt: Floats = np.stack([ones, reach * ~elsewhere, alone & ~elsewhere, elsewhere], axis=1).astype(
        np.float64
    )
    level: Floats = np.eye(_MOST_PASSES + 1)[decisions.levels, :_MOST_PASSES]
    return direction, _cross(level, columns), _cross(level, doubt)


def _cross(level: Floats, columns: Floats) -> Floats:
    """Multiply each of L indicators (n, L) with each column (n, c), giving (n, L c)."""
    return (level[:, :, None] * columns[:, None, :]).reshape(len(level), -1)
