"""Corpora that were not made for GAP, as GAP-like rows to train on: a pronoun, the name it means, another name.

:func:`load` gives one by name as an :class:`ExtraCorpus` with its licence, home, skipped items, and the test sets and
audit suites that it contaminates. :data:`LEFT_OUT` names corpora that are not used, and why. :func:`shared_passages`
finds overlaps between any two corpora.
"""

from gapstack.corpus.extra.extra_corpus import ExtraCorpus
from gapstack.corpus.extra.overlap import shared_passages
from gapstack.corpus.extra.registry import EXTRA, LEFT_OUT, available, load

__all__ = ["EXTRA", "LEFT_OUT", "ExtraCorpus", "available", "load", "shared_passages"]
