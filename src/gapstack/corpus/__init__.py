"""Examples, corpora, the files they come from, their label sets and their folds."""

from gapstack.corpus.corpus import Corpus
from gapstack.corpus.example import Example, Label, Span
from gapstack.corpus.pronouns import Gender

__all__ = ["Corpus", "Example", "Gender", "Label", "Span"]
