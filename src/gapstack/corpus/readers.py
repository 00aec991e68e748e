"""Readers and writers of the files that the GAP task and its Kaggle competition use.

==================  =====================================================================================
GAP TSV             11 columns with a header: rows with labels (github.com/google-research-datasets)
Kaggle TSV          9 columns with a header: the same less ``A-coref`` and ``B-coref`` (stages 1 and 2)
scorer TSV          ``ID  A-coref  B-coref`` without a header: input of the official gap_scorer.py
submission CSV      ``ID,A,B,NEITHER``: probabilities
solution CSV        ``ID,A,B,NEITHER,Usage``: Kaggle's answers
==================  =====================================================================================

Plain, ``.gz`` and ``.xz``, by suffix. Reading is strict: see :mod:`gapstack.corpus.cells` for the checks of every
file; each reader states its own. Accepted are labels in any case (as by the official scorer), probabilities that do not
sum to 1 (Kaggle divides by the sum), A after B, and an empty URL (read as None).
"""

from __future__ import annotations

import math
import re
from array import array
from collections.abc import Callable, Iterator
from itertools import combinations, islice
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from gapstack.corpus.cells import (
    Columns,
    Quarantine,
    Row,
    plain_stem,
    read_table,
    stream_table,
    whole_number,
)
from gapstack.corpus.corpus import Corpus, Gold
from gapstack.corpus.example import Example, Label, Span
from gapstack.corpus.pronouns import GENDER_BY_FORM

GAP_COLUMNS: Columns = (
    *("ID", "Text", "Pronoun", "Pronoun-offset", "A", "A-offset", "A-coref"),
    *("B", "B-offset", "B-coref", "URL"),
)
UNLABELLED_COLUMNS: Columns = tuple(name for name in GAP_COLUMNS if not name.endswith("-coref"))
SCORER_COLUMNS: Columns = ("ID", "A-coref", "B-coref")
SUBMISSION_COLUMNS: Columns = ("ID", "A", "B", "NEITHER")
SOLUTION_COLUMNS: Columns = (*SUBMISSION_COLUMNS, "Usage")

_GAP_LAYOUTS = (GAP_COLUMNS, UNLABELLED_COLUMNS)
MISSING = -1
"""A decision that was not given: an empty cell of a scorer TSV."""

_NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?", re.ASCII | re.IGNORECASE)
_NOT_FINITE = re.compile(r"[+-]?(nan|inf|infinity)", re.IGNORECASE)


class ScorerRows(NamedTuple):
    """Rows of a scorer TSV: ids as written, repeats and all, and (n, 2) int8 of 1, 0 or ``MISSING``."""

    ids: list[str]
    decisions: NDArray[np.int8]


class Submission(NamedTuple):
    """Rows of a submission: ids and (n, 3) float64, columns A, B, NEITHER, as written (not rescaled)."""

    ids: list[str]
    probabilities: NDArray[np.float64]


class Solution(NamedTuple):
    """Rows of a Kaggle solution: ids, (n, 3) float64 targets, and (n,) usage (``Public``, ``Private``, ...)."""

    ids: list[str]
    targets: NDArray[np.float64]
    usage: NDArray[np.str_]


def read_gap(path: Path, *, label_set: str = "official", quarantine: Quarantine | None = None) -> Corpus:
    """Read a GAP TSV (11 columns) or a Kaggle TSV (9 columns, no labels); the header says which it is.

    Raises DataError for a row with an empty or repeated id, an unknown pronoun, an offset that is no number or misses
    its mention, spans that overlap, a label other than TRUE and FALSE or both TRUE; and for what
    :func:`~gapstack.corpus.cells.read_table` refuses; DataNotFoundError if there is no such file.

    Parameters
    ----------
    label_set : str
        What to call the labels in the file (see :mod:`gapstack.corpus.labels`).
    quarantine : Quarantine, optional
        Takes bad rows so that the others can be read; without one the first bad row is raised.
    """
    return Corpus(_examples(path, quarantine), label_set=label_set, name=plain_stem(path))


def read_gap_chunks(path: Path, rows: int, *, quarantine: Quarantine | None = None) -> Iterator[Corpus]:
    """As :func:`read_gap`, ``rows`` at a time, for files whose examples would fill the memory.

    A bad row is refused when its chunk is read; ids must be unique in the whole file.
    """
    examples = _examples(path, quarantine)
    while chunk := list(islice(examples, rows)):
        yield Corpus(chunk, name=plain_stem(path))


def _examples(path: Path, quarantine: Quarantine | None) -> Iterator[Example]:
    unique = _unique_ids()
    return stream_table(path, _GAP_LAYOUTS, lambda row: _example(row, unique), quarantine=quarantine)


def read_gold(path: Path) -> Gold:
    """Read what scoring needs of a GAP TSV, checked as :func:`read_gap` checks it and raising as it does.

    The texts are not kept: a million rows take a few hundred megabytes.
    """
    unique = _unique_ids()
    genders: list[str] = []
    labels: list[Label | None] = []

    def parse(row: Row) -> str:
        example = _example(row, unique)
        genders.append(str(example.gender))
        labels.append(example.label)
        return example.id

    ids = read_table(path, _GAP_LAYOUTS, parse)
    return Gold(ids, labels, np.array(genders, dtype=str), plain_stem(path))


def read_scorer_tsv(path: Path, *, quarantine: Quarantine | None = None) -> ScorerRows:
    """Read decisions for the official scorer; repeated ids stay, since the scorer counts the first.

    Raises DataError for an empty id and for a decision that is not TRUE, FALSE or empty.
    """

    def parse(row: Row) -> tuple[str, list[int]]:
        if row.line == 1 and row["A-coref"].lower() == "a-coref":
            raise row.error(
                "ID", "there is a header", expected="decisions from the first line on", remedy="Delete line 1"
            )
        words = {"true": 1, "false": 0, "": MISSING}
        for column in ("A-coref", "B-coref"):
            if row[column].lower() not in words:
                raise row.error(column, f"found {row[column]!r}", expected="TRUE, FALSE or nothing")
        return _id(row), [words[row["A-coref"].lower()], words[row["B-coref"].lower()]]

    rows = read_table(path, (SCORER_COLUMNS,), parse, header=False, quarantine=quarantine)
    return ScorerRows([row[0] for row in rows], np.array([row[1] for row in rows], dtype=np.int8))


def read_submission(path: Path, *, quarantine: Quarantine | None = None) -> Submission:
    """Read a submission CSV; rows are not rescaled.

    Raises DataError for an empty or repeated id, and for a row with a value that is no number, negative, not finite, or
    with three zeros (Kaggle divides by the sum).
    """
    unique = _unique_ids()
    values = array("d")  # a million rows of Python's own floats would take 200 megabytes

    def parse(row: Row) -> str:
        row_values, name = _probabilities(row), unique(row)
        values.extend(row_values)
        return name

    ids = read_table(path, (SUBMISSION_COLUMNS,), parse, separator=",", quarantine=quarantine)
    return Submission(ids, np.array(values, dtype=np.float64).reshape(-1, 3))


def read_solution(path: Path, *, quarantine: Quarantine | None = None) -> Solution:
    """Read a Kaggle solution CSV: ``ID,A,B,NEITHER,Usage``.

    ``Usage`` says where a row was scored: ``Public``, ``Private``, or ``Ignored`` for the unscored rows, whose targets
    mean nothing and may be anything. Raises DataError for an empty or repeated id, another usage, and a scored row
    without exactly one 1 and two 0.
    """
    unique = _unique_ids()

    def parse(row: Row) -> tuple[list[float], str, str]:
        usage = row["Usage"]
        if usage not in {"Public", "Private", "Ignored"}:
            raise row.error("Usage", f"found {usage!r}", expected="Public, Private or Ignored")
        targets = [_number(row, column) for column in SUBMISSION_COLUMNS[1:]]
        if usage != "Ignored" and sorted(targets) != [0.0, 0.0, 1.0]:
            raise row.error("A", f"A, B, NEITHER are {targets}", expected="one 1 and two 0 in a scored row")
        return targets, usage, unique(row)

    rows = read_table(path, (SOLUTION_COLUMNS,), parse, separator=",", quarantine=quarantine)
    return Solution(
        [row[2] for row in rows],
        np.array([row[0] for row in rows], dtype=np.float64),
        np.array([row[1] for row in rows], dtype=str),
    )


def _example(row: Row, name: Callable[[Row], str]) -> Example:
    """Make an example of a row of GAP, which is checked; ``name`` gives its id."""
    pronoun = row["Pronoun"]
    if pronoun.lower() not in GENDER_BY_FORM:
        raise row.error(
            "Pronoun",
            f"{pronoun!r} is no pronoun that gapstack knows",
            expected=f"one of {', '.join(GENDER_BY_FORM)}",
            remedy="Check that the columns are in order",
        )
    spans = {name: _span(row, name) for name in ("Pronoun", "A", "B")}
    for one, other in combinations(spans, 2):
        if spans[one].overlaps(spans[other]):
            raise row.error(
                f"{other}-offset",
                f"{other} {row[other]!r} at {tuple(spans[other])} overlaps {one} {row[one]!r} "
                f"at {tuple(spans[one])}",
                expected="three spans that share no character",
            )
    label = _label(row) if "A-coref" in row.columns else None
    return Example(
        id=name(row),
        text=row["Text"],
        pronoun=spans["Pronoun"],
        a=spans["A"],
        b=spans["B"],
        url=row["URL"] or None,
        label=label,
    )


def _unique_ids() -> Callable[[Row], str]:
    """Make a function that returns a row's id, and raises DataError if an earlier row has it."""
    lines: dict[str, int] = {}

    def unique(row: Row) -> str:
        name = _id(row)
        if name in lines:
            raise row.error(
                "ID",
                f"id {name!r} occurs again, first on line {lines[name]}",
                expected="unique ids",
                remedy="Remove one of the two rows",
            )
        lines[name] = row.line
        return name

    return unique


def _id(row: Row) -> str:
    if not row["ID"].strip():
        raise row.error("ID", "the id is empty", expected="a name for the row")
    return row["ID"]


def _span(row: Row, name: str) -> Span:
    """Span of a mention; DataError if the text does not have the mention there."""
    mention, text = row[name], row["Text"]
    if not mention:
        raise row.error(name, "the mention is empty", expected="the words that the offset points to")
    start = whole_number(row[f"{name}-offset"])
    if start is None:
        cell = row[f"{name}-offset"][:40]
        raise row.error(f"{name}-offset", f"found {cell!r}", expected="a number of characters, 0 or more")
    if text.startswith(mention, start):
        return Span(start, start + len(mention))
    places = [match.start() for match in re.finditer(re.escape(mention), text)]
    nearest = min(places, key=lambda place: abs(place - start), default=None)
    where = f"; the text has it at {nearest}" if nearest is not None else "; the text has it nowhere"
    raise row.error(
        f"{name}-offset",
        f"at {start} the text has {text[start : start + len(mention)]!r}{where}",
        expected=repr(mention),
        remedy="Offsets count characters (not bytes) from 0",
    )


def _label(row: Row) -> Label:
    values: list[bool] = []
    for column in ("A-coref", "B-coref"):
        word = row[column].lower()
        if word not in {"true", "false"}:
            raise row.error(column, f"found {row[column]!r}", expected="TRUE or FALSE")
        values.append(word == "true")
    match values:
        case [True, True]:
            raise row.error(
                "B-coref", "both labels are TRUE", expected="one TRUE at most: the pronoun is A, B or neither"
            )
        case [True, _]:
            return Label.A
        case [_, True]:
            return Label.B
    return Label.NEITHER


def _number(row: Row, column: str) -> float:
    cell = row[column]
    if not _NUMBER.fullmatch(cell):
        problem = "not finite" if _NOT_FINITE.fullmatch(cell) else "no number"
        raise row.error(column, f"{cell[:40]!r} is {problem}", expected="a probability")
    value = float(cell)
    if math.isinf(value):
        raise row.error(column, f"{cell[:40]!r} is not finite", expected="a probability")
    return value


def _probabilities(row: Row) -> list[float]:
    values = [_number(row, column) for column in SUBMISSION_COLUMNS[1:]]
    for column, value in zip(SUBMISSION_COLUMNS[1:], values, strict=True):
        if value < 0:
            raise row.error(column, f"{row[column]} is negative", expected="a probability")
    if not sum(values) > 0:
        raise row.error("A", "all three are 0", expected="a row that can be divided by its sum")
    return values
