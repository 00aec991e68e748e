"""Kernel SVM: a support vector machine over frozen vectors of the mentions and seven scalars.

Bao and Qiao 2019, *Transfer Learning from Pre-trained BERT for Pronoun Resolution*: the feature path of the shared
task's fourteenth place. Inputs are the mean vectors of A, B and pronoun, their products A * P and B * P, and seven
scalars: signed distances A - P and B - P in words over 500; the relative positions of A, B and P in their sentences;
whether a word of A, and one of B, is in the page's title. Vectors may be reduced from 1024 to 256 dimensions.

Differences: the encoder is the embedded MiniLM, read at two thirds of its depth (theirs at the layer below the last),
by default without reduction; products are taken after it. Words and sentences come from rules and need no parser.
Probabilities come from one multinomial regression over the out-of-fold decision values, where libsvm fits a sigmoid to
each pair. Swapping A and B does not swap the probabilities exactly, as in the paper.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import combinations
from typing import Any, ClassVar, Literal

import numpy as np
from numpy.typing import NDArray
from scipy.special import softmax

from gapstack.data import Corpus, Example, Label, Span
from gapstack.errors import MemberError
from gapstack.members.frozen_head import EncoderMember
from gapstack.members.member import State
from gapstack.members.soft_labels import TrainingSet
from gapstack.settings import Count, Natural, Positive, Seed
from gapstack.text.words import page_title, shared_tokens, words
from gapstack.types import Floats, Ints, Probabilities

CLASSIFIERS = {"svm": 5.0, "logistic": 0.025}  # classifiers and their published C
_FOLDS = 5  # of the decision values
_DISTANCE_UNIT = 500.0  # words


class KernelSVM(EncoderMember):
    """Radial kernel over [scalars; A; B; P; A * P; B * P]."""

    layer: Natural | None = None
    """Layer of the vectors, from 0 (embeddings); by default at two thirds of the depth."""
    classifier: Literal["svm", "logistic"] = "svm"
    """``svm`` or ``logistic`` (multinomial regression)."""
    c: Positive | None = None
    """Inverse strength of regularisation; by default the classifier's published one."""
    gamma: Literal["auto", "scale"] | Positive = "auto"
    """Scale of the kernel: ``auto`` is 1 over the number of inputs, ``scale`` that divided by their variance."""
    components: Count | None = None
    """Dimensions that vectors are reduced to; None for no reduction."""
    removed: Natural = 7
    """First principal components that the reduction removes."""
    max_pieces: Count | None = None
    """Longest window in pieces; by default the encoder's limit."""
    seed: Seed = 0
    """Seed of the folds for the machine's probabilities."""

    PUBLISHED: ClassVar[dict[str, Any]] = {
        "encoder": "bert-large-cased",
        "layer": 23,
        "components": 256,
        "max_pieces": 450,
    }

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
        self.arrays_: dict[str, NDArray[Any]] = {}
        if self.components is not None:
            flat = vectors.reshape(-1, vectors.shape[-1])
            self.arrays_["mean"], self.arrays_["projection"] = fit_reduction(
                flat, self.components, self.removed
            )
        inputs = self._inputs(vectors, training_set.corpus)
        c = CLASSIFIERS[self.classifier] if self.c is None else self.c
        if self.classifier == "svm":
            inputs = self._fit_machine(inputs, labels, weights, c, min(_FOLDS, int(counts.min())))
            c = 1.0
        rows, classes, shares = training_set.as_classes()
        final = LogisticRegression(C=c, max_iter=1000).fit(inputs[rows], classes, shares)
        self.arrays_ |= {"weights": final.coef_, "biases": final.intercept_}

    def _fit_machine(self, inputs: Floats, labels: Ints, weights: Floats, c: float, folds: int) -> Floats:
        """Fit the machine; return out-of-fold decision values (n, 3)."""
        from sklearn.model_selection import StratifiedKFold, cross_val_predict
        from sklearn.svm import SVC

        gamma = self.gamma
        if isinstance(gamma, str):
            gamma = 1 / (inputs.shape[1] * (inputs.var() if gamma == "scale" else 1.0))
        machine = SVC(C=c, gamma=gamma, class_weight="balanced", decision_function_shape="ovo")
        self.arrays_ |= machine_arrays(machine.fit(inputs, labels, weights))
        split = StratifiedKFold(folds, shuffle=True, random_state=self.seed)
        given = {"sample_weight": weights}
        return cross_val_predict(machine, inputs, labels, cv=split, method="decision_function", params=given)

    def _predict_proba(self, corpus: Corpus) -> Probabilities:
        inputs = self._inputs(self._vectors(corpus), corpus)
        if self.classifier == "svm":
            inputs = decision_values(self.arrays_, inputs)
        return softmax(inputs @ self.arrays_["weights"].T + self.arrays_["biases"], axis=1)

    def _vectors(self, corpus: Corpus) -> Floats:
        """Mean vectors of pronoun, A and B, (n, 3, H)."""
        return self._mean_vectors(corpus, self.layer, self.max_pieces, np.float64)

    def _inputs(self, vectors: Floats, corpus: Corpus) -> Floats:
        """(n, 7 + 5 K) from vectors (n, 3, H) and the rows."""
        if self.components is not None:
            vectors = (vectors - self.arrays_["mean"]) @ self.arrays_["projection"]
        p, a, b = vectors.transpose(1, 0, 2)
        return np.concatenate([scalars(corpus), a, b, p, a * p, b * p], axis=1)

    def _state(self) -> State:
        return State(self.arrays_)

    def _restore(self, state: State) -> None:
        self.arrays_ = state.arrays


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


def machine_arrays(fitted: Any) -> dict[str, NDArray[Any]]:
    """Arrays of a fitted ``sklearn.svm.SVC`` with a radial kernel over k classes.

    Support vectors (s, K) by class and their numbers (k,); coefficients (k - 1, s) against each other class in turn;
    intercepts of the pairs (0, 1), (0, 2), ..., (1, 2), ...
    """
    return {
        "machine_vectors": fitted.support_vectors_,
        "machine_counts": np.asarray(fitted.n_support_, dtype=np.int64),
        "machine_dual": fitted.dual_coef_,
        "machine_intercept": fitted.intercept_,
        "machine_gamma": np.asarray(fitted.gamma, dtype=np.float64),
    }


def decision_values(arrays: Mapping[str, NDArray[Any]], rows: Floats) -> Floats:
    """Decision value of each pair, (n, pairs) for (n, K): above 0 for the pair's first class."""
    from sklearn.metrics.pairwise import rbf_kernel

    # (n, s)
    kernel = rbf_kernel(rows, arrays["machine_vectors"], gamma=float(arrays["machine_gamma"]))
    dual, counts = arrays["machine_dual"], arrays["machine_counts"]
    own = [slice(end - count, end) for count, end in zip(counts, counts.cumsum(), strict=True)]
    values = [
        # a class has no row against itself: those after it move up by one
        kernel[:, own[i]] @ dual[j - 1, own[i]] + kernel[:, own[j]] @ dual[i, own[j]]
        for i, j in combinations(range(len(own)), 2)
    ]
    return np.stack(values, axis=1) + arrays["machine_intercept"]


def fit_reduction(vectors: Floats, components: int, removed: int) -> tuple[Floats, Floats]:
    """Learn PPA-PCA-PPA (Raunak 2017) from vectors (n, H): the mean (H,) and one projection (H, components).

    Post-processing (PPA; Mu and Viswanath 2018, algorithm 1) removes the D = ``removed`` first principal components.
    The three steps share one decomposition: remove 1 to D, keep k more, remove the first D of those, whose columns are
    0. Vectors of fewer dimensions keep fewer. Raises MemberError if nothing is left.
    """
    from sklearn.decomposition import PCA

    size = min(components, min(len(vectors) - 1, vectors.shape[1]) - removed)
    if removed >= size:
        raise MemberError(
            f"PPA-PCA-PPA to {components} dimensions without {removed} leaves nothing of "
            f"{len(vectors)} vectors of width {vectors.shape[1]}; remove fewer or turn the reduction off"
        )
    pca = PCA(removed + size, svd_solver="covariance_eigh").fit(vectors)
    projection = pca.components_[removed:].T.copy()
    projection[:, :removed] = 0.0
    return pca.mean_, projection
