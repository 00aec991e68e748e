"""Bao and Qiao's models over mean vectors: kernel machine, logistic regression, and a small network.

Bao and Qiao 2019, *Transfer Learning from Pre-trained BERT for Pronoun Resolution*: a stack of 16 models came
fourteenth (recipe ``baoqiao2019``; the others are in :mod:`gapstack.members.bidaf`). Inputs are the mean vectors of A,
B and pronoun, their products A * P and B * P, and seven scalars: signed distances A - P and B - P in words over 500;
the relative positions of A, B and P in their sentences; whether a word of A, and one of B, is in the page's title.
Vectors may be reduced from 1024 to 256 dimensions. Six of the 16 models know two of the classes (``without``).

Differences: the encoder is the embedded MiniLM, read at two thirds of its depth (theirs at the layer below the last),
by default without reduction; products are taken after it. Words and sentences come from rules. The machine's
probabilities come from one multinomial regression over its out-of-fold decision values, where libsvm fits a sigmoid to
each pair. The network's inputs are standardised, and weight decay replaces the norms of its weights in the loss.
Swapping A and B does not exactly swap the columns, as in the paper.
"""

from collections.abc import Mapping, Sequence
from itertools import combinations
from typing import Any, ClassVar, Literal

import numpy as np
from numpy.typing import NDArray
from scipy.special import softmax
from torch import Tensor, nn

from gapstack.data import Corpus, Example, Label, Span
from gapstack.encoding.encoders import EncoderName
from gapstack.errors import MemberError
from gapstack.language.words import page_title, shared_tokens, words
from gapstack.members.frozen_head import Arrays, FrozenHead, HeadInputs, mention_vectors
from gapstack.members.layers import dense_block
from gapstack.members.soft_labels import SoftLabelMember, TrainingSet
from gapstack.settings import Count, FractionBelowOne, Natural, Positive, Seed
from gapstack.training.plan import CONSTANT_RATE
from gapstack.types import Floats, Ints, Probabilities

CLASSIFIERS = {"svm": 5.0, "logistic": 0.025}  # classifiers and their published C
IMPOSSIBLE = -1e4  # logit of a class that is left out
_FOLDS = 5  # folds of the cross-validated decision values
_DISTANCE_UNIT = 500.0  # words


_TWO_THIRDS = ((2,), 3)
Without = Literal["A", "B", "NEITHER"] | None


def left_out(without: Without) -> Label | None:
    """The class of a setting ``without``."""
    return None if without is None else Label[without]


def share_of(label: Label | None, labels: Ints) -> float:
    """Share of a class among the training rows, with add-one smoothing."""
    return float((labels == label).sum() + 1) / (len(labels) + len(Label))


def with_share(probabilities: Probabilities, label: Label | None, share: float) -> Probabilities:
    """Give a class that was left out its share, and the others (n, 3), which sum to 1, the rest."""
    if label is None:
        return probabilities
    shared = probabilities * (1 - share)
    shared[:, label] = share
    return shared


def products(vectors: Floats, corpus: Corpus) -> Floats:
    """Inputs (n, 7 + 5 K) from vectors (n, 3, K) and the rows."""
    p, a, b = vectors.transpose(1, 0, 2)
    return np.concatenate([scalars(corpus), a, b, p, a * p, b * p], axis=1)


class KernelSVM(SoftLabelMember):
    """A radial kernel, or a logistic regression, over the products of mention vectors."""

    encoder: EncoderName = None
    """Name or folder of the encoder; the embedded MiniLM by default."""
    layer: Natural | None = None
    """Layer of the vectors, from 0 (embeddings); by default at two thirds of the depth."""
    max_pieces: Count | None = None
    """Longest window in pieces; by default the encoder's limit."""
    without: Without = None
    """A class that is not learned: its rows are left out, and its probability is its share of the training rows."""
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
    seed: Seed = 0
    """Seed of the folds for the machine's probabilities."""

    PUBLISHED: ClassVar[dict[str, Any]] = {
        "encoder": "bert-large-cased",
        "layer": 23,
        "components": 256,
        "max_pieces": 450,
    }

    LEARNED = ("share",)

    def _vectors(self, corpus: Corpus) -> Floats:
        """Mean vectors of pronoun, A and B, (n, 3, H)."""
        return mention_vectors(corpus, self.encoder, self.layer, _TWO_THIRDS, self.max_pieces, np.float64)

    def _prepare(self, corpus: Corpus) -> None:
        self._vectors(corpus)

    def _fit_training_set(self, training_set: TrainingSet) -> None:
        from sklearn.linear_model import LogisticRegression

        label_left_out = left_out(self.without)
        self.share_ = share_of(label_left_out, training_set.gold_labels)
        if label_left_out is not None:
            training_set = training_set.without(label_left_out)
        # the machine learns one class a row: the most probable one, with its share of the row's weight
        labels = training_set.targets.argmax(axis=1)
        weights = training_set.weights * training_set.targets.max(axis=1)
        counts = np.bincount(labels, minlength=len(Label))
        fewest = int(min(counts[label] for label in Label if label != label_left_out))
        if fewest < 2:
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
            inputs = self._fit_machine(inputs, labels, weights, c, min(_FOLDS, fewest))
            c = 1.0
        rows, classes, shares = training_set.as_classes()
        final = LogisticRegression(C=c, max_iter=1000).fit(inputs[rows], classes, shares)
        self.arrays_ |= softmax_arrays(final)

    def _fit_machine(self, inputs: Floats, labels: Ints, weights: Floats, c: float, folds: int) -> Floats:
        """Fit the machine; return out-of-fold decision values (n, pairs)."""
        from sklearn.model_selection import StratifiedKFold, cross_val_predict
        from sklearn.svm import SVC

        gamma = self.gamma
        if isinstance(gamma, str):
            gamma = 1 / (inputs.shape[1] * (inputs.var() if gamma == "scale" else 1.0))
        machine = SVC(C=c, gamma=gamma, class_weight="balanced", decision_function_shape="ovo")
        self.arrays_ |= machine_arrays(machine.fit(inputs, labels, weights))
        split = StratifiedKFold(folds, shuffle=True, random_state=self.seed)
        values = cross_val_predict(
            *(machine, inputs, labels),
            cv=split,
            method="decision_function",
            params={"sample_weight": weights},
        )
        return values.reshape(len(labels), -1)

    def _inputs(self, vectors: Floats, corpus: Corpus) -> Floats:
        if self.components is not None:
            vectors = (vectors - self.arrays_["mean"]) @ self.arrays_["projection"]
        return products(vectors, corpus)

    def _predict_proba(self, corpus: Corpus) -> Probabilities:
        inputs = self._inputs(self._vectors(corpus), corpus)
        if self.classifier == "svm":
            inputs = decision_values(self.arrays_, inputs)
        logits = inputs @ self.arrays_["weights"].T + self.arrays_["biases"]
        return with_share(softmax(logits, axis=1), left_out(self.without), self.share_)


class MentionNetwork(FrozenHead):
    """One hidden layer with batch normalisation over the products of mention vectors."""

    encoder: EncoderName = None
    """Name or folder of the encoder; the embedded MiniLM by default."""
    layer: Natural | None = None
    """Layer of the vectors, from 0 (embeddings); by default at two thirds of the depth."""
    max_pieces: Count | None = None
    """Longest window in pieces; by default the encoder's limit."""
    without: Without = None
    """A class that is not learned: its rows are left out, and its probability is its share of the training rows."""
    hidden: Count = 64
    dropout: FractionBelowOne = 0.8
    """Units of the hidden layer and their dropout; the paper's two-class network has 512."""

    PUBLISHED: ClassVar[dict[str, Any]] = {
        "encoder": "bert-large-cased",
        "layer": 23,
        "max_pieces": 450,
        "training": CONSTANT_RATE
        | {"epochs": 30, "batch_size": 25, "head_lr": 1e-3, "weight_decay": 0.05, "max_norm": None},
    }
    LEARNED = ("share",)

    def _inputs(self) -> HeadInputs:
        return HeadInputs(self._read, {"inputs": "columns"})

    def _read(self, corpus: Corpus) -> Arrays:
        vectors = mention_vectors(corpus, self.encoder, self.layer, _TWO_THIRDS, self.max_pieces, np.float64)
        return {"inputs": products(vectors, corpus)}

    def _build_head(self, arrays: Arrays) -> nn.Module:
        return MentionLayers(arrays["inputs"].shape[-1], self.hidden, self.dropout, left_out(self.without))

    def _fit_training_set(self, training_set: TrainingSet) -> None:
        label = left_out(self.without)
        self.share_ = share_of(label, training_set.gold_labels)
        super()._fit_training_set(training_set if label is None else training_set.without(label))

    def _predict_proba(self, corpus: Corpus) -> Probabilities:
        return with_share(super()._predict_proba(corpus), left_out(self.without), self.share_)


class MentionLayers(nn.Module):
    """A dense block and a classifier over ``inputs`` columns."""

    def __init__(self, inputs: int, hidden: int, dropout: float, left_out: Label | None):
        super().__init__()
        self.left_out = left_out
        self.layers = nn.Sequential(dense_block(inputs, hidden, dropout), nn.Linear(hidden, len(Label)))

    def forward(self, inputs: Tensor) -> Tensor:
        """Return logits (b, 3)."""
        return leave_out(self.layers(inputs), self.left_out)


def leave_out(logits: Tensor, label: Label | None) -> Tensor:
    """Logits (b, 3) with probability 0 for a class, if one is left out."""
    if label is None:
        return logits
    return logits.index_fill(1, logits.new_tensor([label]).long(), IMPOSSIBLE)


def softmax_arrays(fitted: Any) -> dict[str, NDArray[Any]]:
    """Weights (3, k) and biases (3,) of a fitted ``LogisticRegression`` of two or three classes."""
    weights, biases = np.zeros((len(Label), fitted.n_features_in_)), np.full(len(Label), IMPOSSIBLE)
    biases[fitted.classes_] = 0.0
    # with two classes, it only has the weights of the second
    rows = fitted.classes_ if len(fitted.classes_) > 2 else fitted.classes_[1:]
    weights[rows], biases[rows] = fitted.coef_, fitted.intercept_
    return {"weights": weights, "biases": biases}


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
    """Support vectors, dual coefficients and intercept of a ``sklearn.svm.SVC`` with a radial kernel."""
    ends = fitted.n_support_.cumsum()
    vectors_of = [slice(end - count, end) for count, end in zip(fitted.n_support_, ends, strict=True)]
    pairs = list(combinations(range(len(vectors_of)), 2))
    dual = np.zeros((len(fitted.support_vectors_), len(pairs)))
    for pair, (i, j) in enumerate(pairs):
        # libsvm has a row for each other class: those after a class' own move up by one
        dual[vectors_of[i], pair] = fitted.dual_coef_[j - 1, vectors_of[i]]
        dual[vectors_of[j], pair] = fitted.dual_coef_[i, vectors_of[j]]
    return {
        "machine_vectors": fitted.support_vectors_,
        "machine_dual": dual,
        "machine_intercept": fitted.intercept_,
        "machine_gamma": np.asarray(fitted.gamma, dtype=np.float64),
    }


def decision_values(arrays: Mapping[str, NDArray[Any]], rows: Floats) -> Floats:
    """Decision value of each pair, (n, pairs) for (n, K): above 0 for the pair's first class."""
    from sklearn.metrics.pairwise import rbf_kernel

    kernel = rbf_kernel(rows, arrays["machine_vectors"], gamma=float(arrays["machine_gamma"]))
    return kernel @ arrays["machine_dual"] + arrays["machine_intercept"]


def fit_reduction(vectors: Floats, components: int, removed: int) -> tuple[Floats, Floats]:
    """Learn PPA-PCA-PPA (Raunak 2017) from vectors (n, H): the mean (H,) and one projection (H, components)."""
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
