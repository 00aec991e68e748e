"""Kernel SVM: a support vector machine over frozen vectors of the mentions and seven scalars.

Bao and Qiao 2019, *Transfer Learning from Pre-trained BERT for Pronoun Resolution*: the feature path of the shared
task's fourteenth place. Inputs are the mean vectors of A, B and pronoun, their products A * P and B * P, and seven
scalars: signed distances A - P and B - P in words over 500; the relative positions of A, B and P in their sentences;
whether a word of A, and one of B, is in the page's title. Vectors may be reduced from 1024 to 256 dimensions by
PPA-PCA-PPA.

Differences: the encoder is the embedded MiniLM, read at two thirds of its depth (theirs at the layer below the last),
by default without reduction. A reduction is learned from the mean vectors of the training rows' mentions together;
products are taken after it. Words and sentences come from rules and need no parser. Probabilities come from one
multinomial regression over the three pairs' out-of-fold decision values, where libsvm fits a sigmoid to each pair
(Platt 1999).

Swapping A and B does not swap the probabilities exactly, as in the paper. The machine does not memorise rows in
logloss, since its probabilities are fitted on held-out rows; logistic regression does where ``c`` is large.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any, Literal, Self

import numpy as np
from numpy.typing import NDArray
from scipy.special import softmax

from gapstack.data import Corpus, Example, Label, Span
from gapstack.errors import MemberError
from gapstack.members.frozen_head import EncoderMember
from gapstack.members.learned import ArrayFields
from gapstack.members.member import Probabilities, State
from gapstack.members.soft_labels import TrainingSet
from gapstack.settings import Count, Natural, Positive, Seed
from gapstack.text.page_title import page_title, shared_tokens
from gapstack.text.words import words
from gapstack.types import Floats

PUBLISHED = {"encoder": "bert-large-cased", "layer": 23, "components": 256, "max_pieces": 450}
"""Settings of the paper: ``create("kernel_svm", **PUBLISHED)``."""

CLASSIFIERS = {"svm": 5.0, "logistic": 0.025}
"""Classifiers and their published C."""
_FOLDS = 5  # of the decision values
_DISTANCE_UNIT = 500.0  # words


class KernelSVM(EncoderMember):
    """Radial kernel over [scalars; A; B; P; A * P; B * P].

    Parameters
    ----------
    layer : int, optional
        Layer of the vectors, from 0 (embeddings); by default at two thirds of the depth.
    classifier : str
        ``svm`` or ``logistic`` (multinomial regression).
    c : float, optional
        Inverse strength of regularisation; by default the classifier's published one.
    gamma : str or float
        Of the kernel: ``auto`` is 1 over the number of inputs, ``scale`` that divided by their variance.
    components, removed
        Of :class:`PostProcessedPCA`; ``components`` None for no reduction.
    max_pieces : int, optional
        Longest window in pieces; by default the encoder's limit.
    seed : int
        Seed of the folds for the machine's probabilities.
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
        self._vectors(corpus)

    def _learn(self, training_set: TrainingSet) -> None:
        from sklearn.linear_model import LogisticRegression

        # the machine learns one class a row: the most probable one, with its share of the row's weight
        labels = training_set.targets.argmax(axis=1)
        weights = training_set.weights * training_set.targets.max(axis=1)
        counts = np.bincount(labels, minlength=len(Label))
        if counts.min() < 2:
            raise MemberError(
                f"kernel_svm needs two rows of each class; A, B and Neither have {', '.join(map(str, counts))}"
            )
        vectors = self._vectors(training_set.corpus)
        self.reduction_ = self._reduction()
        if self.reduction_ is not None:
            self.reduction_.fit(vectors.reshape(-1, vectors.shape[-1]))
        inputs = self._inputs(vectors, scalars(training_set.corpus))
        c = CLASSIFIERS[self.classifier] if self.c is None else self.c
        self.machine_: KernelMachine | None = None
        if self.classifier == "svm":
            inputs = self._fit_machine(inputs, labels, weights, c, min(_FOLDS, int(counts.min())))
        rows, classes, shares = training_set.as_classes()
        final = LogisticRegression(C=1.0 if self.machine_ else c, max_iter=1000)
        final.fit(inputs[rows], classes, shares)
        self.weights_, self.biases_ = final.coef_, final.intercept_

    def _fit_machine(
        self, inputs: Floats, labels: NDArray[np.int64], weights: Floats, c: float, folds: int
    ) -> Floats:
        """Fit the machine; return out-of-fold decision values (n, 3)."""
        from sklearn.model_selection import StratifiedKFold, cross_val_predict
        from sklearn.svm import SVC

        gamma = self.gamma
        if isinstance(gamma, str):
            gamma = 1 / (inputs.shape[1] * (inputs.var() if gamma == "scale" else 1.0))
        machine = SVC(C=c, gamma=gamma, class_weight="balanced", decision_function_shape="ovo")
        self.machine_ = KernelMachine.from_sklearn(machine.fit(inputs, labels, weights))
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
        inputs = self._inputs(self._vectors(corpus), scalars(corpus))
        if self.machine_ is not None:
            inputs = self.machine_.decide(inputs)
        return np.asarray(softmax(inputs @ self.weights_.T + self.biases_, axis=1))

    def _reduction(self) -> PostProcessedPCA | None:
        return None if self.components is None else PostProcessedPCA(self.components, self.removed)

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
    """The seven scalars, (n, 7), in the order of the module's docstring."""
    return np.array([_scalars(example) for example in corpus], dtype=np.float64).reshape(len(corpus), 7)


def _scalars(example: Example) -> Sequence[float]:
    text = words(example.text)
    title = page_title(example.url)

    def place(span: Span) -> int:
        return text.word_index(span)[0]

    def place_in_sentence(span: Span) -> float:
        sentence = text.sentences[text.sentence_of[place(span)]]
        return (place(span) - sentence[0]) / len(sentence)

    names = (example.a, example.b)
    return (
        *((place(name) - place(example.pronoun)) / _DISTANCE_UNIT for name in names),
        *(place_in_sentence(span) for span in (*names, example.pronoun)),
        *(float(title is not None and shared_tokens(example.words(n), title.title) > 0) for n in names),
    )


@dataclass(frozen=True, slots=True)
class KernelMachine(ArrayFields):
    """A fitted support vector machine as arrays: one for each pair of classes, (0, 1), (0, 2), ..., (1, 2), ..."""

    PREFIX = "machine_"

    vectors: Floats  # (s, K) support vectors, those of the first class first
    counts: NDArray[np.int64]  # (c,) support vectors of each class
    dual: Floats  # (c - 1, s) coefficients of a class's support vectors against each other class in turn
    intercept: Floats  # (pairs,)
    gamma: Floats  # (); the kernel is exp(-gamma * squared distance)

    @classmethod
    def from_sklearn(cls, fitted: Any) -> KernelMachine:
        """Take the arrays out of a fitted ``sklearn.svm.SVC`` whose ``gamma`` is a number."""
        vectors, dual, intercept, gamma = (
            np.asarray(getattr(fitted, name), dtype=np.float64)
            for name in ("support_vectors_", "dual_coef_", "intercept_", "gamma")
        )
        return cls(vectors, np.asarray(fitted.n_support_, dtype=np.int64), dual, intercept, gamma)

    def decide(self, rows: Floats) -> Floats:
        """Decision value of each pair, (n, pairs) for (n, K): above 0 for the pair's first class."""
        from sklearn.metrics.pairwise import rbf_kernel

        # (n, s)
        kernel = rbf_kernel(rows, self.vectors, gamma=float(self.gamma))
        ends = self.counts.cumsum()
        own = [slice(end - count, end) for count, end in zip(self.counts, ends, strict=True)]
        values = [
            # a class has no row against itself: those after it move up by one
            kernel[:, own[i]] @ self.dual[j - 1, own[i]] + kernel[:, own[j]] @ self.dual[i, own[j]]
            for i, j in combinations(range(len(own)), 2)
        ]
        return np.asarray(np.stack(values, axis=1) + self.intercept)


class PostProcessedPCA:
    """PPA-PCA-PPA: post-processing, principal components, post-processing (Raunak 2017).

    Post-processing (PPA; Mu and Viswanath 2018, algorithm 1) subtracts the mean and the ``removed`` first principal
    components. All three steps work on the same components: the first removes 1 to D, the second keeps D + 1 to D + k,
    and the third removes the first D of those. So it is one projection by one decomposition. The first D of the k
    output columns are 0; vectors that span fewer than k dimensions keep fewer.
    """

    mean_: Floats  # (H,)
    projection_: Floats  # (H, k)

    def __init__(self, components: int = 256, removed: int = 7):
        self.components = components
        self.removed = removed

    def fit(self, vectors: NDArray[np.floating]) -> Self:
        """Learn mean and projection from vectors (n, H); MemberError if nothing would be left."""
        from sklearn.decomposition import PCA

        most = min(len(vectors) - 1, vectors.shape[1]) - self.removed
        size = min(self.components, most)
        if not 0 <= self.removed < size:
            raise MemberError(
                f"PPA-PCA-PPA to {self.components} dimensions without {self.removed} leaves nothing of "
                f"{len(vectors)} vectors of width {vectors.shape[1]}; remove fewer or turn the reduction off"
            )
        pca = PCA(self.removed + size, svd_solver="covariance_eigh").fit(vectors.astype(np.float64))
        self.mean_ = pca.mean_
        self.projection_ = pca.components_[self.removed :].T.copy()
        self.projection_[:, : self.removed] = 0.0
        return self

    def transform(self, vectors: NDArray[np.floating]) -> Floats:
        """Project (..., H) to (..., k)."""
        return np.asarray((vectors - self.mean_) @ self.projection_)
