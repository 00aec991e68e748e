"""Measures of gender bias in word vectors: direct bias, clustering, recoverability, SemBias and GIPE."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from gapstack.data.word_lists import Lists
from gapstack.display import Column
from gapstack.encoding.static_vectors import Vectors
from gapstack.encoding.word_gender import (
    MINIMUM,
    Coverage,
    he_she,
    indirect_bias,
    locate,
    locate_pairs,
    most_biased,
    neighbours,
    neutral_rows,
    principal_direction,
)
from gapstack.progress import progress
from gapstack.types import Matrix, Rows

_TRAINING_SHARE = 0.2  # 1,000 of the 5,000 words of Gonen & Goldberg
PAIR_KINDS = ("definition", "none", "none", "stereotype")
"""Kinds of the pairs of a SemBias question, in the order of the file."""
_SUBSET = 40  # the last questions: their definitional pairs are not in GN-GloVe's training lists
THRESHOLD = 0.03
"""Indirect bias above which a neighbour is illicit; the authors' default, which reproduces GloVe's 0.115."""
NEIGHBOURS = 100
_CHUNK = 256


class EmbeddingMeasure(ABC):
    """A measure of a word-vector space and of its debiased versions.

    The constructor looks up the measure's words in the original space, and computes there what the paper takes from
    the space before debiasing (the most biased words, the gender direction). It raises DataError if the vocabulary
    covers too little of the word lists.

    Attributes are ``title``, ``paper``, ``columns`` (the figures), ``coverage`` of the word lists, and a ``note`` for
    readers of the figures.
    """

    title: str
    paper: str
    columns: tuple[Column, ...]
    coverage: tuple[Coverage, ...] = ()
    note: str = ""

    @abstractmethod
    def measure(self, space: Vectors) -> Mapping[str, float]:
        """Compute the figures, by column key, of a space with the original's vocabulary."""


def direct_bias(unit: Matrix, direction: Matrix, strictness: float = 1.0) -> float:
    """Mean of ``|cos(w, g)| ** strictness`` over neutral words' vectors (n, d); all of length 1."""
    return float(np.mean(np.abs(unit @ direction) ** strictness))


class DirectBias(EmbeddingMeasure):
    """Direct bias of neutral professions along the gender direction (Bolukbasi et al. 2016, section 5.2)."""

    title = "Direct bias"
    paper = "Bolukbasi et al. 2016"
    columns = (Column("direct_bias", "mean |cos| of professions", 4),)

    def __init__(self, original: Vectors, lists: Lists, seed: int = 0):
        self.pairs, pairs = locate_pairs(original, lists.definitional, "definitional pairs")
        self.rows, words = locate(original, lists.professions, "neutral professions")
        self.coverage = (pairs, words)

    def measure(self, space: Vectors) -> Mapping[str, float]:
        """See :class:`EmbeddingMeasure`; the direction is that of ``space``, not of the original."""
        return {"direct_bias": direct_bias(space.unit[self.rows], principal_direction(space, self.pairs))}


def cluster_alignment(unit: Matrix, feminine: NDArray[np.bool_], seed: int = 0) -> tuple[float, float]:
    """Accuracy (of the better assignment) and V-measure of two k-means clusters, in percent."""
    from sklearn.cluster import KMeans
    from sklearn.metrics import v_measure_score

    clusters = KMeans(n_clusters=2, n_init=10, random_state=seed).fit_predict(unit)
    accuracy = float((clusters == feminine).mean())
    return 100 * max(accuracy, 1 - accuracy), 100 * float(v_measure_score(feminine, clusters))


class Clustering(EmbeddingMeasure):
    """Clustering of the 500 most biased words of either side in the original space (Gonen & Goldberg, section 4)."""

    title = "Clustering of the most biased words"
    paper = "Gonen & Goldberg 2019"
    columns = (Column("kmeans", "k-means accuracy, %", 1), Column("v_measure", "V-measure, %", 2))

    def __init__(self, original: Vectors, lists: Lists, seed: int = 0):
        self.seed, self.biased = seed, most_biased(original, lists, 500)
        self.note = self.biased.note

    def measure(self, space: Vectors) -> Mapping[str, float]:
        """See :class:`EmbeddingMeasure`."""
        accuracy, v = cluster_alignment(space.unit[self.biased.rows], self.biased.feminine, self.seed)
        return {"kmeans": accuracy, "v_measure": v}


def recoverability(unit: Matrix, feminine: NDArray[np.bool_], kernel: str, seed: int = 0) -> float:
    """Accuracy in percent of an SVM with that kernel, which predicts gender, on held-out words."""
    from sklearn.model_selection import train_test_split
    from sklearn.svm import SVC

    train, test = train_test_split(
        np.arange(len(unit)), train_size=_TRAINING_SHARE, stratify=feminine, random_state=seed
    )
    classifier = SVC(kernel=kernel).fit(unit[train], feminine[train])
    return 100 * float(classifier.score(unit[test], feminine[test]))


class Recoverability(EmbeddingMeasure):
    """Recoverability of the gender of the 2,500 words most biased in the original space on either side."""

    title = "Recoverability of the most biased words"
    paper = "Gonen & Goldberg 2019"
    columns = (
        Column("linear_svm", "linear SVM accuracy, %", 1),
        Column("rbf_svm", "RBF SVM accuracy, %", 1),
    )

    def __init__(self, original: Vectors, lists: Lists, seed: int = 0):
        self.seed, self.biased = seed, most_biased(original, lists, 2500)
        self.note = self.biased.note

    def measure(self, space: Vectors) -> Mapping[str, float]:
        """See :class:`EmbeddingMeasure`."""
        unit, feminine = space.unit[self.biased.rows], self.biased.feminine
        return {f"{k}_svm": recoverability(unit, feminine, k, self.seed) for k in ("linear", "rbf")}


class Proximity(NamedTuple):
    """Mean and weighted mean (GIPE) of the words' proximity biases, between 0 and 1."""

    mean: float
    gipe: float


def gipe(
    unit: Matrix,
    original: Matrix,
    direction: Matrix,
    rows: Rows,
    *,
    count: int = NEIGHBOURS,
    threshold: float = THRESHOLD,
) -> Proximity:
    """Compute mean proximity bias and GIPE of a space (Kumar et al. 2020, sections 3 and 4).

    A word's proximity bias is the share of its neighbours to which it is close because of gender. GIPE is the mean of
    these, weighted by how often a word is such a neighbour itself. As in the authors' code neighbours are those of the
    debiased space ``unit`` (m, d), but indirect bias is computed in the ``original`` space, along its gender
    ``direction`` (d,), so that a space without that direction still counts as biased if its neighbourhoods are
    unchanged. ``rows`` (n,) are the words that are not gendered by definition. All vectors have length 1.
    """
    shares, illicit_in, edges_in = [], np.zeros(len(unit)), np.zeros(len(unit))
    with progress("neighbours", len(rows)) as ticker:
        for chunk in np.split(rows, range(_CHUNK, len(rows), _CHUNK)):
            near = neighbours(unit, chunk, count)
            illicit = indirect_bias(original, direction, chunk, near) > threshold
            shares.append(illicit.mean(axis=1))
            edges_in += np.bincount(near.ravel(), minlength=len(unit))
            illicit_in += np.bincount(near[illicit], minlength=len(unit))
            ticker.advance(len(chunk))
    share = np.concatenate(shares)
    weight = (1 + np.divide(illicit_in, edges_in, out=np.zeros(len(unit)), where=edges_in > 0))[rows]
    return Proximity(float(share.mean()), float((weight * share).sum() / weight.sum()))


class Gipe(EmbeddingMeasure):
    """GIPE over all neutral words, and over SoWinoBias's occupations and adjectives (Dawkins 2021, table 3).

    Neighbours are any words of the space; the weights count only edges from the words that are averaged.
    """

    title = "Gender-based illicit proximity"
    paper = "Kumar et al. 2020"
    columns = (
        Column("proximity", "mean proximity bias", 4),
        Column("gipe", "GIPE (weighted mean)", 4),
        Column("gipe_sowinobias", "GIPE, SoWinoBias", 4),
        Column("proximity_sowinobias", "mean, SoWinoBias", 4),
    )

    def __init__(self, original: Vectors, lists: Lists, seed: int = 0):
        pairs, coverage = locate_pairs(original, lists.definitional, "definitional pairs")
        # in a small vocabulary every word is a neighbour of every other
        self.rows = neutral_rows(original, lists, 10 * NEIGHBOURS)
        words = [w for name, group in lists.sowinobias.items() if not name.startswith("def_") for w in group]
        self.own, own = locate(original, words, "SoWinoBias's occupations and adjectives", minimum=0.0)
        self.direction, self.original = principal_direction(original, pairs), original
        self.coverage = (coverage, own)
        self.note = f"{len(self.rows):,} neutral words, {NEIGHBOURS} neighbours, threshold {THRESHOLD}"
        if own.share < MINIMUM:
            self.note += "; too few of SoWinoBias's words for figures of theirs"
            self.own = self.own[:0]

    def measure(self, space: Vectors) -> Mapping[str, float]:
        """See :class:`EmbeddingMeasure`."""
        figures: dict[str, float] = {}
        for suffix, rows in (("", self.rows), ("_sowinobias", self.own)):
            if len(rows):
                found = gipe(space.unit, self.original.unit, self.direction, rows)
                figures |= {f"proximity{suffix}": found.mean, f"gipe{suffix}": found.gipe}
        return figures


def most_gendered_pairs(unit: Matrix, direction: Matrix, questions: Rows) -> Rows:
    """Index (n,) of the pair of each question (n, 4, 2) whose difference has the largest cosine with the direction.

    The masculine word of a pair is first, and ``direction`` (d,) goes from masculine to feminine. The cosine of two
    words with equal vectors is 0.
    """
    difference = unit[questions[..., 1]] - unit[questions[..., 0]]  # (n, 4, d)
    length = np.linalg.norm(difference, axis=2)
    along = difference @ direction
    return np.asarray(np.argmax(np.divide(along, length, out=np.zeros_like(along), where=length > 0), axis=1))


class SemBias(EmbeddingMeasure):
    """The most gendered of four pairs of words: one differs in gender by definition, one by stereotype, two do not.

    Zhao, Zhou, Li, Wang & Chang 2018, "Learning Gender-Neutral Word Embeddings", section 4.1. Figures are shares in
    percent of the kinds of pair chosen, over all questions and over the subset unseen by GN-GloVe.
    """

    title = "SemBias: what is most like he and she"
    paper = "Zhao et al. 2018"
    columns = tuple(
        Column(f"{which}_{kind}", f"{title}{kind}, %", 1)
        for which, title in (("sembias", ""), ("subset", "subset, "))
        for kind in dict.fromkeys(PAIR_KINDS)
    )

    def __init__(self, original: Vectors, lists: Lists, seed: int = 0):
        he_she(original)  # raises if she or he is missing
        rows = [[(original.row(one), original.row(other)) for one, other in q] for q in lists.sembias]
        whole = np.array([all(None not in pair for pair in question) for question in rows], dtype=bool)
        missing = [lists.sembias[place] for place in np.flatnonzero(~whole)]
        names = tuple(" ".join(":".join(pair) for pair in question) for question in missing)
        self.coverage = (Coverage("SemBias questions", len(rows), names),)
        self.coverage[0].check(original)
        self.questions = np.array([rows[place] for place in np.flatnonzero(whole)], dtype=np.int64)
        subset = whole[-_SUBSET:]
        self.subset = self.questions[len(self.questions) - int(subset.sum()) :]
        self.note = f"the subset has {len(self.subset)} of its {len(subset)} questions"
        if len(self.subset) < MINIMUM * len(subset):
            self.note += ", too few to be shown"
            self.subset = self.subset[:0]

    def measure(self, space: Vectors) -> Mapping[str, float]:
        """See :class:`EmbeddingMeasure`; the direction is she - he in ``space``."""
        figures: dict[str, float] = {}
        for which, questions in (("sembias", self.questions), ("subset", self.subset)):
            if len(questions):
                kinds = np.array(PAIR_KINDS)[most_gendered_pairs(space.unit, he_she(space), questions)]
                for kind in dict.fromkeys(PAIR_KINDS):
                    figures[f"{which}_{kind}"] = 100 * float((kinds == kind).mean())
        return figures
