"""Rows that a predictor has learned from, and rows that two corpora share: a score on them means nothing."""

import logging
import re
from collections.abc import Iterable, Iterator, Sequence
from itertools import chain

import numpy as np
from numpy.typing import NDArray

from gapstack.data.corpus import Corpus

_log = logging.getLogger(__name__)
_IDS = {f"gap-{split}": re.compile(rf"{split}-\d+") for split in ("development", "test", "validation")} | {
    "gap-stage2": re.compile(r"[0-9a-f]{32}")
}
_OVERLAPS = ("ids", "pages", "texts", "thirteen words in a row")
PRESUMED = " (presumed)"
"""Suffix of a family of test sets (``gap (presumed)``) that a predictor has probably seen, without proof."""


def known_test_sets(ids: Iterable[str]) -> tuple[str, ...]:
    """Names of the test sets (GAP's splits, stage 2) that any of these ids belong to."""
    rows = list(ids)
    return tuple(name for name, pattern in _IDS.items() if any(map(pattern.fullmatch, rows)))


def is_presumed(contaminated_by: Iterable[str], test_sets: Iterable[str]) -> bool:
    """True if a predictor, given its ``contaminated_by``, is presumed to have seen one of these test sets."""
    families = {name.removesuffix(PRESUMED) for name in contaminated_by if name.endswith(PRESUMED)}
    return any(name.partition("-")[0] in families for name in test_sets)


def warn_of_contamination(contaminated_by: Iterable[str], ids: Sequence[str]) -> None:
    """Log a warning if a predictor, given its ``contaminated_by``, has learned from some of these rows."""
    names, known = list(contaminated_by), known_test_sets(ids)
    if is_presumed(names, known):
        _log.warning("the predictor is presumed to have seen rows of %s in its training", ", ".join(known))
    names = [name for name in names if name in known]
    if names:
        count = sum(any(_IDS[name].fullmatch(row) for name in names) for row in ids)
        soft = " (soft labels of these rows were trained on)" if "gap-stage2" in names else ""
        _log.warning(
            "the predictor learned from data that share rows with %s, and %s of these %s rows have its ids%s. "
            "A score on them means nothing",
            ", ".join(names),
            f"{count:,}",
            f"{len(ids):,}",
            soft,
        )


def shared_with(corpus: Corpus, other: Corpus) -> dict[str, NDArray[np.bool_]]:
    """Rows of ``corpus`` shared with ``other``: (n,) bool by ``id``, ``page``, ``text`` and ``passage`` (13 words)."""

    def among(values: list[str | None], others: list[str | None]) -> NDArray[np.bool_]:
        known = {value for value in others if value}
        return np.array([value in known for value in values], dtype=bool)

    return {
        "id": among([*corpus.ids], [*other.ids]),
        "page": among([example.url for example in corpus], [example.url for example in other]),
        "text": among([*corpus.texts], [*other.texts]),
        "passage": shared_passages(corpus, other),
    }


def leaks(corpus: Corpus, other: Corpus) -> list[str]:
    """Sentences on the rows of ``corpus`` that ``other`` shares, one for each kind of overlap."""
    return [
        f"{rows.sum():,} of {len(corpus):,} rows share {words} with {other.name}"
        for words, rows in zip(_OVERLAPS, shared_with(corpus, other).values(), strict=True)
        if rows.any()
    ]


def shared_passages(corpus: Corpus, other: Corpus, words: int = 13) -> NDArray[np.bool_]:
    """True for rows of ``corpus`` that share ``words`` words in a row with ``other``, (n,) (Brown et al. 2020)."""
    known = set(chain.from_iterable(_passages(text, words) for text in dict.fromkeys(other.texts)))
    return np.array([not known.isdisjoint(_passages(text, words)) for text in corpus.texts], dtype=bool)


def _passages(text: str, words: int) -> Iterator[int]:
    """Hashes of all runs of ``words`` words."""
    hashes = list(map(hash, re.findall(r"\w+", text.lower())))
    return map(hash, zip(*(hashes[k:] for k in range(words)), strict=False))
