"""Corpora that were not made for GAP, as GAP-like rows to train on: a pronoun, the name it means, another name.

:func:`load` gives one by name as an :class:`ExtraCorpus`, which records its licence, its home, what was skipped and
why, and which test sets and audit suites a member trained on it must not be scored on. :data:`LEFT_OUT` says
which known corpora make no rows here. :func:`shared_passages` looks for overlaps between any two corpora.
"""

from gapstack.corpus.extra.extra_corpus import ExtraCorpus
from gapstack.corpus.extra.overlap import shared_passages
from gapstack.corpus.extra.registry import EXTRA, LEFT_OUT, available, load

__all__ = ["EXTRA", "LEFT_OUT", "ExtraCorpus", "available", "load", "shared_passages"]
