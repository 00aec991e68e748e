"""Examples, corpora, the files they come from, their label sets and their folds."""

from gapstack.data.cells import Quarantine
from gapstack.data.corpus import Corpus
from gapstack.data.example import Example, Gender, Label, Span
from gapstack.data.folds import Folds, make_folds
from gapstack.data.gap_files import (
    read,
    read_gap,
    read_scorer_tsv,
    read_submission,
    write_gap,
    write_scorer_tsv,
    write_submission,
)
from gapstack.data.gender import swap_gender

__all__ = [
    "Corpus",
    "Example",
    "Folds",
    "Gender",
    "Label",
    "Quarantine",
    "Span",
    "make_folds",
    "read",
    "read_gap",
    "read_scorer_tsv",
    "read_submission",
    "swap_gender",
    "write_gap",
    "write_scorer_tsv",
    "write_submission",
]
