"""Kernel SVM: a support vector machine over frozen vectors of the mentions and seven scalars.

Bao and Qiao 2019, *Transfer Learning from Pre-trained BERT for Pronoun Resolution*: the feature path of the shared
task's fourteenth place. Inputs are the mean vectors of A, B and pronoun, their products A * P and B * P, and seven
scalars: signed distances A - P and B - P in words over 500; the relative positions of A, B and P in their sentences;
whether a word of A, and one of B, is in the page's title. Vectors may be reduced from 1024 to 256 dimensions by
PPA-PCA-PPA.

The authors report, on GAP development with BERT-large cased, logloss .506 for the machine (radial kernel, C = 5, gamma
1 over the number of inputs, balanced class weights) over 256 dimensions and .596 over 1024, .512 for logistic
regression with C = .025, and .523 for a small network. No label corrections are mentioned.

What differs here:

- The encoder is the embedded MiniLM unless another is named, read by default at two thirds of its depth; theirs is
  read at the layer below the last.
- By default nothing is reduced, as the MiniLM has 384 dimensions. One fold of five of GAP development and validation
  (folds by page, seed 2019, official labels): logloss .686 and F1 71.5 without the reduction, .749 and 72.5 with it to
  256; logistic regression .727 and 74.1, and .765 and 72.5.
- A reduction is learned from the mean vectors of the training rows' mentions together; products are taken after it.
- Inputs stay on their own scale, as published; standardised ones were worse on that fold.
- Words and sentences come from rules and need no parser.
- Probabilities: libsvm's own, deprecated in scikit-learn, fit a sigmoid to each pair of classes (Platt 1999) and
  couple the pairs. Here one multinomial regression over the three pairs' out-of-fold decision values does both, with
  folds drawn from ``seed``.

A and B have inputs of their own, as published, so that swapping them does not swap the probabilities exactly. Since
these are fitted on held-out rows, the machine does not memorise rows in logloss; logistic regression does where ``c``
is large.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

import numpy as np
from numpy.typing import NDArray
from scipy.special import softmax

from gapstack.corpus import Corpus, Example, Label, Span
from gapstack.errors import MemberError
from gapstack.kinds import Count, Natural, Positive, Seed
from gapstack.members.kernel_svm.machine import KernelMachine
from gapstack.members.kernel_svm.reduction import PostProcessedPCA
from gapstack.members.member import Probabilities, State
from gapstack.members.parts.encoder_member import EncoderMember
from gapstack.members.parts.learner import Lessons
from gapstack.rowwise import rowwise
from gapstack.text.page_title import page_title, shared_tokens
from gapstack.text.words import words
from gapstack.types import Floats

PUBLISHED = {"encoder": "bert-large-cased", "layer": 23, "components": 256, "max_pieces": 450}
"""Settings of the paper: ``create("kernel_svm", **PUBLISHED)``."""

CLASSIFIERS = {"svm": 5.0, "logistic": 0.025}
"""Classifiers and their published C."""
_FOLDS = 5  # of the decision values
_DISTANCE = 500.0


class KernelSVM(EncoderMember):
    """Radial kernel over [scalars; A; B; P; A * P; B * P].

    Parameters
    ----------
    encoder, extra, teacher, gold_weight
        See :class:`~gapstack.members.parts.encoder_member.EncoderMember`.
    layer : int, optional
        Layer of the vectors, from 0 (embeddings); by default at two thirds of the depth.
    classifier : str
        ``svm`` or ``logistic`` (multinomial regression).
    c : float, optional
        Inverse strength of regularisation; by default the classifier's published one.
    gamma : str or float
        Of the kernel: ``auto`` is 1 over the number of inputs, ``scale`` that divided by their variance.
    components, removed
        Of :class:`~gapstack.members.kernel_svm.reduction.PostProcessedPCA`; ``components`` None for no reduction.
    max_pieces : int, optional
        Longest window in pieces; by default the encoder's limit.
    seed : int
        Of the folds for the machine's probabilities.

    Raises
    ------
    MemberError
        If there is no such classifier, kernel width or layer, if a class has fewer than two training rows, or if
        a mention cannot be aligned with its pieces.
    """

    layer: Natural | None = None
    classifier: Literal["svm", "logistic"] = "svm"
    c: Positive | None = None
    gamma: Literal["auto", "scale"] | Positive = "auto"
    components: Count | None = None
    removed: Natural = 7
    max_pieces: Count | None = None
    seed: Seed = 0

    def _prepare(self, corpus: Corpus) -> None:
        """Encode all texts in one pass."""
        self._vectors(corpus)

    def _learn(self, lessons: Lessons) -> None:
        from sklearn.linear_model import LogisticRegression

        # the machine knows one class a row: the most probable one, with its share of the row's weight
        labels = lessons.targets.argmax(axis=1)
        weights = lessons.weights * lessons.targets.max(axis=1)
        counts = np.bincount(labels, minlength=len(Label))
        if counts.min() < 2:
            raise MemberError(
                f"kernel_svm needs two rows of each class; A, B and Neither have {', '.join(map(str, counts))}"
            )
        vectors = self._vectors(lessons.corpus)
        self.reduction_ = self._reduction()
        if self.reduction_ is not None:
            self.reduction_.fit(vectors.reshape(-1, vectors.shape[-1]))
        inputs = self._inputs(vectors, scalars(lessons.corpus))
        self.machine_: KernelMachine | None = None
        if self.classifier == "svm":
            inputs = self._fit_machine(inputs, labels, weights, min(_FOLDS, int(counts.min())))
        rows, classes, shares = lessons.as_classes()
        final = LogisticRegression(C=1.0 if self.machine_ else self._c(), max_iter=1000)
        final.fit(inputs[rows], classes, shares)
        self.weights_, self.biases_ = final.coef_, final.intercept_

    def _fit_machine(self, inputs: Floats, labels: NDArray[np.int64], weights: Floats, folds: int) -> Floats:
        """Fit the machine and give out-of-fold decision values (n, 3)."""
        from sklearn.model_selection import StratifiedKFold, cross_val_predict
        from sklearn.svm import SVC

        machine = SVC(
            C=self._c(), gamma=self._gamma(inputs), class_weight="balanced", decision_function_shape="ovo"
        )
        self.machine_ = KernelMachine.of(machine.fit(inputs, labels, weights))
        split = StratifiedKFold(folds, shuffle=True, random_state=self.seed)
        values = cross_val_predict(
            machine,
            inputs,
            labels,
            cv=split,
            method="decision_function",
            params={"sample_weight": weights},
        )
        return np.asarray(values)

    def _predict_proba(self, corpus: Corpus) -> Probabilities:
        def answer(vectors: Floats, seven: Floats) -> Floats:
            inputs = self._inputs(vectors, seven)
            if self.machine_ is not None:
                inputs = self.machine_.decide(inputs)
            return np.asarray(softmax(inputs @ self.weights_.T + self.biases_, axis=1))

        return rowwise(answer, self._vectors(corpus), scalars(corpus))

    def _reduction(self) -> PostProcessedPCA | None:
        return None if self.components is None else PostProcessedPCA(self.components, self.removed)

    def _c(self) -> float:
        return CLASSIFIERS[self.classifier] if self.c is None else self.c

    def _gamma(self, inputs: Floats) -> float:
        if isinstance(self.gamma, str):
            return 1 / (inputs.shape[1] * (inputs.var() if self.gamma == "scale" else 1.0))
        return self.gamma

    def _vectors(self, corpus: Corpus) -> Floats:
        """Mean vectors of pronoun, A and B, (n, 3, H)."""
        return self._mean_vectors(corpus, self.layer, self.max_pieces, np.float64)

    def _inputs(self, vectors: Floats, seven: Floats) -> Floats:
        """(n, 7 + 5 K) from vectors (n, 3, H) and the scalars (n, 7)."""
        if self.reduction_ is not None:
            vectors = self.reduction_.transform(vectors)
        p, a, b = vectors.transpose(1, 0, 2)
        return np.concatenate([seven, a, b, p, a * p, b * p], axis=1)

    def _state(self) -> State:
        arrays = {"weights": self.weights_, "biases": self.biases_}
        if self.reduction_ is not None:
            arrays |= {"mean": self.reduction_.mean_, "projection": self.reduction_.projection_}
        return State(arrays | (self.machine_.arrays() if self.machine_ is not None else {}))

    def _restore(self, state: State) -> None:
        arrays = state.arrays
        self.weights_, self.biases_ = arrays["weights"], arrays["biases"]
        self.machine_ = KernelMachine.from_arrays(arrays) if self.classifier == "svm" else None
        self.reduction_ = self._reduction()
        if self.reduction_ is not None:
            self.reduction_.mean_, self.reduction_.projection_ = arrays["mean"], arrays["projection"]


def scalars(corpus: Corpus) -> Floats:
    """Give the seven scalars, (n, 7), in the order of the module's docstring."""
    return np.array([_scalars(example) for example in corpus], dtype=np.float64).reshape(len(corpus), 7)


def _scalars(example: Example) -> Sequence[float]:
    text = words(example.text)
    title = page_title(example.url)

    def place(span: Span) -> int:
        return text.word_index(span)[0]

    def into_sentence(span: Span) -> float:
        sentence = text.sentences[text.sentence_of[place(span)]]
        return (place(span) - sentence[0]) / len(sentence)

    names = (example.a, example.b)
    return (
        *((place(name) - place(example.pronoun)) / _DISTANCE for name in names),
        *(into_sentence(span) for span in (*names, example.pronoun)),
        *(float(title is not None and shared_tokens(example.words(n), title.title) > 0) for n in names),
    )
