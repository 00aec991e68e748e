"""Examples, corpora, the files they come from, their label sets and their folds."""

from gapstack.corpus.cells import Quarantine
from gapstack.corpus.corpus import Corpus
from gapstack.corpus.example import Example, Label, Span
from gapstack.corpus.folds import Folds, make_folds
from gapstack.corpus.pronouns import Gender
from gapstack.corpus.readers import read_gap, read_scorer_tsv, read_solution, read_submission
from gapstack.corpus.writers import write_gap, write_scorer_tsv, write_submission

__all__ = [
    "Corpus",
    "Example",
    "Folds",
    "Gender",
    "Label",
    "Quarantine",
    "Span",
    "make_folds",
    "read_gap",
    "read_scorer_tsv",
    "read_solution",
    "read_submission",
    "write_gap",
    "write_scorer_tsv",
    "write_submission",
]
