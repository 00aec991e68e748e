"""Bao and Qiao's models over frozen vectors: kernel machine, logistic regression, and bidirectional attention flow.

Bao and Qiao 2019, *Transfer Learning from Pre-trained BERT for Pronoun Resolution*: a stack of such models came
fourteenth.

- **Feature path**: inputs are the mean vectors of A, B and pronoun, their products A * P and B * P, and seven scalars:
  signed distances A - P and B - P in words over 500; the relative positions of A, B and P in their sentences; whether a
  word of A, and one of B, is in the page's title. Vectors may be reduced from 1024 to 256 dimensions.
- **BIDAF** (Seo et al. 2017): the query is the mean vector of the pronoun's pieces; the context is all pieces and a
  slot, their mean, for no answer. Each place, with the query and the attended context, gets one score out of a layer of
  64 ELU units. The logits of A and B are the means of their pieces' scores; that of NEITHER is the mean over the names
  of other persons in the text and the slot.

Differences: the encoder is the embedded MiniLM, read at two thirds of its depth (theirs at the layer below the last),
by default without reduction; products are taken after it. Words and sentences come from rules, names of persons from
the project's own parser. The machine's probabilities come from one multinomial regression over its out-of-fold decision
values, where libsvm fits a sigmoid to each pair. Swapping A and B swaps the columns of BIDAF, but not exactly those of
the feature path, as in the paper.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import combinations
from typing import Any, ClassVar, Literal

import numpy as np
import torch
from numpy.typing import NDArray
from scipy.special import softmax
from torch import Tensor, nn
from torch.nn import functional

from gapstack.data import Corpus, Example, Label, Span
from gapstack.encoding.encoders import Encoder
from gapstack.encoding.pieces import PieceView, align
from gapstack.errors import MemberError
from gapstack.members.fine_tuned import HEAD_ALONE, FineTuned
from gapstack.members.frozen_head import EncoderMember, chosen_layers
from gapstack.members.member import State
from gapstack.members.soft_labels import TrainingSet
from gapstack.settings import Count, FractionBelowOne, LayerNumber, Natural, Positive, Seed
from gapstack.text.parses import parses
from gapstack.text.scenes import scene
from gapstack.text.words import page_title, shared_tokens, words
from gapstack.training import PieceData, Targets
from gapstack.training.plan import CONSTANT_RATE
from gapstack.types import Bools, Floats, Ints, Probabilities

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
    """Arrays of a fitted ``sklearn.svm.SVC`` with a radial kernel: decision values are ``kernel @ dual + intercept``.

    Support vectors (s, K), and dual coefficients (s, pairs) of the pairs of classes (0, 1), (0, 2), ..., (1, 2), ...
    """
    ends = fitted.n_support_.cumsum()
    own = [slice(end - count, end) for count, end in zip(fitted.n_support_, ends, strict=True)]
    pairs = list(combinations(range(len(own)), 2))
    dual = np.zeros((len(fitted.support_vectors_), len(pairs)))
    for pair, (i, j) in enumerate(pairs):
        # libsvm has a row for each other class: those after a class' own move up by one
        dual[own[i], pair] = fitted.dual_coef_[j - 1, own[i]]
        dual[own[j], pair] = fitted.dual_coef_[i, own[j]]
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


class BiDAF(FineTuned):
    """Attention flow from the pronoun over a frozen encoder."""

    layer: LayerNumber | None = None
    """Layer of the vectors, from 0 (embeddings) up or -1 (the last) down; by default at two thirds of the depth."""
    neither: Literal["names", "slot"] = "names"
    """What the logit of NEITHER is the mean of: other ``names`` and the slot, or the ``slot`` alone."""
    hidden: Count = 64
    """Number of ELU units."""
    dropout: FractionBelowOne = 0.7
    """Dropout on the inputs of a place's score and on the ELU units."""

    PUBLISHED: ClassVar[dict[str, Any]] = {
        "encoder": "bert-large-cased",
        "layer": -2,
        "dropout": 0.7,
        "max_pieces": 450,
        "training": CONSTANT_RATE | {"epochs": 50, "batch_size": 25, "head_lr": 1e-3, "weight_decay": 0.0},
    }
    PLAN = HEAD_ALONE.changed({"epochs": 20, "head_lr": 1e-3, "label_smoothing": 0.0})

    def reads(self) -> dict[str, Any]:
        """Inputs: also the parser, which finds the names of persons."""
        return super().reads() | ({"parser": None} if self.neither == "names" else {})

    def _layers(self, encoder: Encoder) -> tuple[int, ...]:
        return chosen_layers(self.layer, encoder, ((2,), 3))

    def _head(self, encoder: Encoder) -> nn.Module:
        return FlowHead(encoder.hidden_size, self.hidden, self.dropout)

    def _data(self, corpus: Corpus, encoder: Encoder, targets: Targets | None) -> PieceData:
        view = align(corpus, encoder, self.max_pieces)
        none = np.zeros((len(view), 0), dtype=bool)
        return PieceData(
            view, targets, {"others": other_names(corpus, view) if self.neither == "names" else none}
        )


def other_names(corpus: Corpus, view: PieceView) -> Bools:
    """Mask (n, longest), True on the pieces of names of other persons than A and B."""
    mask = np.zeros((len(view), int(view.lengths.max(initial=0))), dtype=bool)
    for row, (example, parse) in enumerate(zip(corpus, parses(corpus), strict=True)):
        candidates = scene(example, parse, "detected")
        starts, ends = view.chars[view.row(row)].T
        for span, hits in zip(candidates.spans, candidates.hits, strict=True):
            if not hits.any() and not span.overlaps(example.a) and not span.overlaps(example.b):
                # special pieces have the empty range (0, 0), which overlaps nothing
                mask[row, : len(starts)] |= (starts < span.end) & (ends > span.start)
    return mask


class FlowHead(nn.Module):
    """Scores of places by attention flow, averaged for each class; ``hidden`` ELU units over states of ``width``."""

    def __init__(self, width: int, hidden: int, dropout: float):
        super().__init__()
        self.flow = AttentionFlow(width)
        self.score = nn.Sequential(
            nn.Dropout(dropout),
            nn.Linear(4 * width, hidden),
            nn.ELU(),
            nn.Dropout(dropout),
            nn.Linear(hidden, 1),
        )

    def forward(
        self, hidden: Tensor, mentions: Tensor, others: Tensor, keep: Tensor | None = None, **_: Tensor
    ) -> Tensor:
        """Map hidden states (b, L, H), mention ranges (b, 3, 2) and the mask of other names to logits (b, 3)."""
        b, length, _width = hidden.shape
        if keep is None:
            keep = hidden.new_ones(b, length, dtype=torch.bool)
        places = torch.arange(length, device=hidden.device)
        # (b, 3, L): pronoun, A and B
        inside = (places >= mentions[..., :1]) & (places < mentions[..., 1:])
        query = mean(hidden, inside[:, 0])
        # the slot comes last: (b, L + 1, H), (b, L + 1)
        context = torch.cat([hidden, mean(hidden, keep)[:, None]], dim=1)
        slot = keep.new_ones(b, 1)
        attended = self.flow.attended(context, query, torch.cat([keep, slot], dim=1))
        # the mask is as long as the corpus' longest text; L may be shorter or longer
        others = functional.pad(others, (0, length - others.shape[1]))
        # (b, 3, L + 1): the places of A, of B, and of NEITHER, which has the slot
        classes = torch.stack([*inside[:, 1:].unbind(dim=1), others], dim=1)
        classes = torch.cat([classes, slot.new_tensor([0, 0, 1]).expand(b, 3)[..., None]], dim=-1)
        row, place = classes.any(dim=1).nonzero(as_tuple=True)
        found, asked = context[row, place], query[row]
        # [c; q; c * q; c * h]
        merged = torch.cat([found, asked, found * asked, found * attended[row]], dim=-1)
        scores = context.new_zeros(b, length + 1)
        scores[row, place] = self.score(merged).squeeze(-1)
        return mean(scores[..., None], classes.transpose(0, 1)).squeeze(-1).transpose(0, 1)


class AttentionFlow(nn.Module):
    """Attention between one query and the places of a context, of width ``width``.

    The similarity of place j is ``c_j . w_c + q . w_q + (c_j * w) . q``; ``q . w_q`` changes no weight and is the
    paper's. The context attends to the query's one place alone.
    """

    def __init__(self, width: int):
        super().__init__()
        self.context = nn.Linear(width, 1, bias=False)
        self.query = nn.Linear(width, 1, bias=False)
        self.both = nn.Parameter(torch.randn(width) * width**-0.5)

    def attended(self, context: Tensor, query: Tensor, keep: Tensor) -> Tensor:
        """Context (b, L, H) attended to by each query (b, H), (b, H); mask ``keep`` (b, L) is True on places."""
        direction = self.context.weight + self.both * query
        similarity = torch.einsum("blh,bh->bl", context, direction) + self.query(query)
        return torch.einsum("bl,blh->bh", similarity.masked_fill(~keep, -torch.inf).softmax(dim=-1), context)


def mean(values: Tensor, mask: Tensor) -> Tensor:
    """Mean of values (b, L, H) where mask (..., b, L) is True, (..., b, H)."""
    weights = mask.to(values.dtype)
    return torch.einsum("...bl,blh->...bh", weights / weights.sum(dim=-1, keepdim=True), values)
