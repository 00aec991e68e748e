"""Measures of gender bias in word vectors: direct bias, WEAT, clustering, recoverability, SemBias and GIPE.

Each function returns an :class:`EmbeddingMeasure`. It looks up its words in the original space, and takes from that
space what the paper takes from the space before debiasing (the most biased words, the gender direction). It raises
DataError if the vocabulary covers too little of the word lists.
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from gapstack.display.render import Column
from gapstack.encoding.word_vectors import Vectors
from gapstack.papers.associations import ASSOCIATION_TESTS, partition_test, weat
from gapstack.papers.debiasers import (
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
from gapstack.papers.word_lists import Lists
from gapstack.progress import progress
from gapstack.types import Matrix, Rows

Figures = dict[str, float]

_TRAINING_SHARE = 0.2  # Gonen & Goldberg train on 1,000 of their 5,000 words
PAIR_KINDS = ("definition", "none", "none", "stereotype")
"""Kinds of the pairs of a SemBias question, in the order of the file."""
_SUBSET = 40  # number of last questions, whose definitional pairs are not in GN-GloVe's training lists
THRESHOLD = 0.03
"""Indirect bias above which a neighbour is illicit; the authors' default, which reproduces GloVe's 0.115."""
NEIGHBOURS = 100
_CHUNK = 256


@dataclass(frozen=True)
class EmbeddingMeasure:
    """A measure of a word-vector space and of its debiased versions."""

    title: str
    paper: str
    columns: tuple[Column, ...]
    coverage: tuple[Coverage, ...]  # of the word lists
    measure: Callable[[Vectors], Figures]  # returns figures by key of ``columns``
    note: str = ""


def direct_bias(original: Vectors, lists: Lists, seed: int = 0) -> EmbeddingMeasure:
    """Mean ``|cos|`` of neutral professions with each space's own gender direction (Bolukbasi et al., section 5.2)."""
    pairs, pair_coverage = locate_pairs(original, lists.definitional, "definitional pairs")
    rows, coverage = locate(original, lists.professions, "neutral professions")

    def measure(space: Vectors) -> Figures:
        return {"direct_bias": float(np.abs(space.unit[rows] @ principal_direction(space, pairs)).mean())}

    columns = (Column("direct_bias", "mean |cos| of professions", 4),)
    return EmbeddingMeasure(
        "Direct bias", "Bolukbasi et al. 2016", columns, (pair_coverage, coverage), measure
    )


def clustering(original: Vectors, lists: Lists, seed: int = 0) -> EmbeddingMeasure:
    """Two k-means clusters of the 500 most biased words on either side (Gonen & Goldberg, section 4)."""
    from sklearn.cluster import KMeans
    from sklearn.metrics import v_measure_score

    biased = most_biased(original, lists, 500)

    def measure(space: Vectors) -> Figures:
        clusters = KMeans(n_clusters=2, n_init=10, random_state=seed).fit_predict(space.unit[biased.rows])
        accuracy = float((clusters == biased.feminine).mean())
        v = float(v_measure_score(biased.feminine, clusters))
        return {"kmeans": 100 * max(accuracy, 1 - accuracy), "v_measure": 100 * v}

    columns = (Column("kmeans", "k-means accuracy, %", 1), Column("v_measure", "V-measure, %", 2))
    title = "Clustering of the most biased words"
    return EmbeddingMeasure(title, "Gonen & Goldberg 2019", columns, (), measure, biased.note)


def recoverability(original: Vectors, lists: Lists, seed: int = 0) -> EmbeddingMeasure:
    """Accuracy of SVMs that predict the gender of the 2,500 words on either side most biased in the original."""
    from sklearn.model_selection import train_test_split
    from sklearn.svm import SVC

    biased = most_biased(original, lists, 2500)
    train, test = train_test_split(
        np.arange(len(biased.rows)), train_size=_TRAINING_SHARE, stratify=biased.feminine, random_state=seed
    )

    def measure(space: Vectors) -> Figures:
        unit, feminine = space.unit[biased.rows], biased.feminine
        fitted = {
            kernel: SVC(kernel=kernel).fit(unit[train], feminine[train]) for kernel in ("linear", "rbf")
        }
        return {
            f"{key}_svm": 100 * float(svm.score(unit[test], feminine[test])) for key, svm in fitted.items()
        }

    columns = tuple(
        Column(f"{kernel.lower()}_svm", f"{kernel} SVM accuracy, %", 1) for kernel in ("linear", "RBF")
    )
    title = "Recoverability of the most biased words"
    return EmbeddingMeasure(title, "Gonen & Goldberg 2019", columns, (), measure, biased.note)


def proximity_bias(
    unit: Matrix, original: Matrix, direction: Matrix, rows: Rows, *, count: int = NEIGHBOURS
) -> tuple[float, float]:
    """Mean proximity bias and GIPE of a space, between 0 and 1 (Kumar et al. 2020, sections 3 and 4).

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
            illicit = indirect_bias(original, direction, chunk, near) > THRESHOLD
            shares.append(illicit.mean(axis=1))
            edges_in += np.bincount(near.ravel(), minlength=len(unit))
            illicit_in += np.bincount(near[illicit], minlength=len(unit))
            ticker.advance(len(chunk))
    share = np.concatenate(shares)
    weight = (1 + np.divide(illicit_in, edges_in, out=np.zeros(len(unit)), where=edges_in > 0))[rows]
    return float(share.mean()), float((weight * share).sum() / weight.sum())


def gipe(original: Vectors, lists: Lists, seed: int = 0) -> EmbeddingMeasure:
    """GIPE over all neutral words, and over SoWinoBias's occupations and adjectives (Dawkins 2021, table 3)."""
    pairs, coverage = locate_pairs(original, lists.definitional, "definitional pairs")
    # in a small vocabulary every word is a neighbour of every other
    neutral = neutral_rows(original, lists, 10 * NEIGHBOURS)
    words = [
        word for name, group in lists.sowinobias.items() if not name.startswith("def_") for word in group
    ]
    theirs, their_coverage = locate(original, words, "SoWinoBias's occupations and adjectives", minimum=0.0)
    direction = principal_direction(original, pairs)
    note = f"{len(neutral):,} neutral words, {NEIGHBOURS} neighbours, threshold {THRESHOLD}"
    if their_coverage.share < MINIMUM:
        note += "; too few of SoWinoBias's words for figures over them"
        theirs = theirs[:0]

    def measure(space: Vectors) -> Figures:
        figures: Figures = {}
        for suffix, rows in (("", neutral), ("_sowinobias", theirs)):
            if len(rows):
                mean, weighted = proximity_bias(space.unit, original.unit, direction, rows)
                figures |= {f"proximity{suffix}": mean, f"gipe{suffix}": weighted}
        return figures

    titles = {
        "proximity": "mean proximity bias",
        "gipe": "GIPE (weighted mean)",
        "gipe_sowinobias": "GIPE, SoWinoBias",
        "proximity_sowinobias": "mean, SoWinoBias",
    }
    columns = tuple(Column(key, title, 4) for key, title in titles.items())
    title = "Gender-based illicit proximity"
    return EmbeddingMeasure(title, "Kumar et al. 2020", columns, (coverage, their_coverage), measure, note)


def most_gendered_pairs(unit: Matrix, direction: Matrix, questions: Rows) -> Rows:
    """Index (n,) of each question's pair (n, 4, 2) with the largest cosine with the gender direction (d,)."""
    difference = unit[questions[..., 1]] - unit[questions[..., 0]]  # (n, 4, d)
    length = np.linalg.norm(difference, axis=2)
    along = difference @ direction
    return np.asarray(np.argmax(np.divide(along, length, out=np.zeros_like(along), where=length > 0), axis=1))


def sembias(original: Vectors, lists: Lists, seed: int = 0) -> EmbeddingMeasure:
    """The most gendered of four pairs of words, in percent of the questions (Zhao, Zhou et al. 2018, section 4.1)."""
    he_she(original)  # raises if she or he is missing
    rows = [[(original.row(first), original.row(second)) for first, second in q] for q in lists.sembias]
    whole = np.array([all(None not in pair for pair in question) for question in rows], dtype=bool)
    missing = [lists.sembias[place] for place in np.flatnonzero(~whole)]
    names = tuple(" ".join(":".join(pair) for pair in question) for question in missing)
    coverage = Coverage("SemBias questions", len(rows), names)
    coverage.check(original)
    questions = np.array([rows[place] for place in np.flatnonzero(whole)], dtype=np.int64)
    in_subset = whole[-_SUBSET:]
    subset = questions[len(questions) - int(in_subset.sum()) :]
    note = f"the subset has {len(subset)} of its {len(in_subset)} questions"
    if len(subset) < MINIMUM * len(in_subset):
        note += ", too few to be shown"
        subset = subset[:0]
    kinds = np.array(PAIR_KINDS)

    def measure(space: Vectors) -> Figures:
        figures: Figures = {}
        for which, asked in (("sembias", questions), ("subset", subset)):
            if len(asked):
                chosen = kinds[most_gendered_pairs(space.unit, he_she(space), asked)]
                figures |= {f"{which}_{kind}": 100 * float((chosen == kind).mean()) for kind in PAIR_KINDS}
        return figures

    columns = tuple(
        Column(f"{which}_{kind}", f"{title}{kind}, %", 1)
        for which, title in (("sembias", ""), ("subset", "subset, "))
        for kind in dict.fromkeys(PAIR_KINDS)
    )
    title = "SemBias: the pair most like he and she"
    return EmbeddingMeasure(title, "Zhao et al. 2018", columns, (coverage,), measure, note)


def weat_test(
    number: str, hypothesis: str, original: Vectors, lists: Lists, seed: int = 0
) -> EmbeddingMeasure:
    """One of the :data:`ASSOCIATION_TESTS`, with its alternative hypothesis."""
    names = ASSOCIATION_TESTS[number].sets
    sets = [locate(original, lists.weat[name], f"WEAT {name}") for name in names]
    key = f"weat{number}"

    def measure(space: Vectors) -> Figures:
        test = weat(*(space.unit[rows] for rows, _ in sets), seed=seed)
        return {f"{key}_effect": test.effect, f"{key}_p": test.p}

    columns = (Column(f"{key}_effect", "effect size", 3), Column(f"{key}_p", "p", 5))
    coverage = tuple(coverage for _, coverage in sets)
    title = f"WEAT {number}: {hypothesis}"
    return EmbeddingMeasure(title, "Caliskan et al. 2017", columns, coverage, measure)


def single_weat_test(original: Vectors, lists: Lists, seed: int = 0) -> EmbeddingMeasure:
    """Association of female-stereotyped adjectives with feminine attributes (Dawkins 2021, section 5.1)."""
    tests = {"latent": ("occ_female", "occ_male"), "definitional": ("def_female", "def_male")}
    adjectives = ("adj_positive", "adj_negative")
    words = [word for name in adjectives for word in lists.sowinobias[name]]
    concept, concept_coverage = locate(original, words, f"SoWinoBias {' and '.join(adjectives)}")
    sets = {
        name: locate(original, lists.sowinobias[name], f"SoWinoBias {name}")
        for pair in tests.values()
        for name in pair
    }

    def measure(space: Vectors) -> Figures:
        figures: Figures = {}
        for key, names in tests.items():
            # mean cosine of each attribute to the concept's words
            near = [(space.unit[sets[name][0]] @ space.unit[concept].T).mean(axis=1) for name in names]
            test = partition_test(*near, seed=seed)
            figures |= {key: test.statistic, f"{key}_p": test.p}
        return figures

    columns = tuple(
        column
        for key in tests
        for column in (Column(key, f"{key}: statistic", 4), Column(f"{key}_p", "p", 4))
    )
    coverage = (concept_coverage, *(coverage for _, coverage in sets.values()))
    title = "Single-attribute WEAT: women's adjectives go with feminine attributes"
    return EmbeddingMeasure(title, "Dawkins 2021", columns, coverage, measure)
