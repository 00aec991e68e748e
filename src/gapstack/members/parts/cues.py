"""From a cue's decision to probabilities: one small monotone model for all cues.

A cue says which name it chooses, which pass of its chain decided, and by what margin. The logits of
(A, B, NEITHER) are (+s, -s, n) where A is chosen and (-s, +s, n) where B is, so that swapping the names swaps
the answer. For each pass, s grows with the margin and is never negative, and n never grows with it: a wider
margin is never a reason to doubt the choice. The weights are fitted by ridge-penalised maximum likelihood
under these signs.
"""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize
from scipy.special import log_softmax, softmax

from gapstack.corpus import Corpus
from gapstack.corpus.corpus import one_hot
from gapstack.errors import MemberError
from gapstack.kinds import NotNegative, Task
from gapstack.members.member import Member, Probabilities, State
from gapstack.rowwise import rowwise
from gapstack.text.cues import Cue, CueDecisions, decide, needs_parses
from gapstack.text.scenes import Setting

Floats = NDArray[np.float64]

# a margin of this many words or edges is half way to the widest
_HALF = 4.0
_MOST_PASSES = 5


class CueMember(Member):
    """A coreference cue with calibrated probabilities.

    Parameters
    ----------
    setting : str
        ``gold-two-mention`` (A and B compete) or ``snippet-context`` (all PERSON names do).
    ridge : float
        Strength of the penalty on the squared weights, in units of examples.
    parser : str, optional
        spaCy pipeline, by folder or package name; by default ``GAP_PARSER``, else the project's own.

    Attributes
    ----------
    strength_, doubt_ : (3 L,) and (4 L,) float64
        Weights of s and n for each of L passes: constant, margin, only name admitted, and for n another name chosen.
    """

    setting: Task = "gold-two-mention"
    ridge: NotNegative = 1.0
    parser: str | None = None

    cue: ClassVar[Cue]

    def verdicts(self, corpus: Corpus) -> CueDecisions:
        """Raw decisions with the passes that made them and their margins; needs no fit.

        Raises
        ------
        MemberError
            If ``setting`` is neither of the two.
        DataNotFoundError
            If a text has no stored parse and there is no parser.
        """
        if self.setting not in list(Setting):
            raise MemberError(f"setting is {self.setting!r}; expected {' or '.join(Setting)}")
        return decide(corpus, self.cue, Setting(self.setting), self.parser)

    def decide(self, corpus: Corpus) -> NDArray[np.bool_]:
        """Raw decisions for A and B, as an (n, 2) array; needs no fit."""
        return self.verdicts(corpus).answers

    def reads(self) -> dict[str, Any]:
        """Leave the parser out where the cue needs none."""
        return super().reads() | ({} if self._needs_parses() else {"parser": False})

    def _needs_parses(self) -> bool:
        return needs_parses(self.cue, self.setting)

    def _prepare(self, corpus: Corpus) -> None:
        """Parse and measure all rows in one pass."""
        self.verdicts(corpus)

    def _fit(self, corpus: Corpus) -> None:
        direction, design, doubt = _design(self.verdicts(corpus))
        targets = one_hot(corpus.labels)
        split = design.shape[1]

        def loss(weights: Floats) -> tuple[float, Floats]:
            logits = _logits(direction, design @ weights[:split], doubt @ weights[split:])
            error = softmax(logits, axis=1) - targets
            gradient = np.concatenate(
                [design.T @ (direction * (error[:, 0] - error[:, 1])), doubt.T @ error[:, 2]]
            )
            value = -(targets * log_softmax(logits, axis=1)).sum() + self.ridge / 2 * weights @ weights
            return float(value), gradient + self.ridge * weights

        free, up, down = (None, None), (0.0, None), (None, 0.0)
        bounds = [up] * split + [free, down, down, up] * _MOST_PASSES
        weights = minimize(loss, np.zeros(len(bounds)), jac=True, bounds=bounds, method="L-BFGS-B").x
        self.strength_, self.doubt_ = weights[:split], weights[split:]

    def _predict_proba(self, corpus: Corpus) -> Probabilities:
        def answer(direction: Floats, design: Floats, doubt: Floats) -> Floats:
            logits = _logits(direction, design @ self.strength_, doubt @ self.doubt_)
            return np.asarray(softmax(logits, axis=1))

        return rowwise(answer, *_design(self.verdicts(corpus)))

    def _state(self) -> State:
        return State(arrays={"strength": self.strength_, "doubt": self.doubt_})

    def _restore(self, state: State) -> None:
        self.strength_, self.doubt_ = state.arrays["strength"], state.arrays["doubt"]


def _logits(direction: Floats, strength: Floats, doubt: Floats) -> Floats:
    """Stack (n,) each into (n, 3)."""
    return np.stack([direction * strength, -direction * strength, doubt], axis=1)


def _design(verdicts: CueDecisions) -> tuple[Floats, Floats, Floats]:
    """Which name was chosen, +1 A, -1 B, 0 both or none (n,), and the designs of s (n, 3L) and of n (n, 4L)."""
    answers = verdicts.answers.astype(np.float64)
    direction = answers[:, 0] - answers[:, 1]
    alone = np.isinf(verdicts.margins)
    # from 0 for a tie to 1 where there was no runner-up
    reach = 1.0 - _HALF / (verdicts.margins + _HALF)
    elsewhere = ~verdicts.answers.any(axis=1)
    ones = np.ones(len(direction))
    columns: Floats = np.stack([ones, reach, alone], axis=1)
    # doubt falls with the margin by which A or B was chosen, and rises where another name was
    doubt: Floats = np.stack([ones, reach * ~elsewhere, alone & ~elsewhere, elsewhere], axis=1).astype(
        np.float64
    )
    level: Floats = np.eye(_MOST_PASSES + 1)[verdicts.levels, :_MOST_PASSES]
    return direction, _cross(level, columns), _cross(level, doubt)


def _cross(level: Floats, columns: Floats) -> Floats:
    """Multiply each of L indicators (n, L) with each column (n, c), giving (n, L c)."""
    return (level[:, :, None] * columns[:, None, :]).reshape(len(level), -1)
