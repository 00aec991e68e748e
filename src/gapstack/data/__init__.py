"""Examples, corpora and the files they come from; each other module of this package is imported by its own name."""

from gapstack.data.cells import Quarantine
from gapstack.data.corpus import Corpus
from gapstack.data.example import Example, Gender, Label, Span
from gapstack.data.gap_files import (
    read,
    read_gap,
    read_scorer_tsv,
    read_submission,
    write_gap,
    write_scorer_tsv,
    write_submission,
)

__all__ = [
    "Corpus",
    "Example",
    "Gender",
    "Label",
    "Quarantine",
    "Span",
    "read",
    "read_gap",
    "read_scorer_tsv",
    "read_submission",
    "write_gap",
    "write_scorer_tsv",
    "write_submission",
]
