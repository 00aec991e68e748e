"""Readers and writers of the files that the GAP task and its Kaggle competition use.

==================  =====================================================================================
GAP TSV             11 columns with a header: rows with labels (github.com/google-research-datasets)
Kaggle TSV          9 columns with a header: GAP's without ``A-coref`` and ``B-coref`` (stages 1 and 2)
scorer TSV          ``ID  A-coref  B-coref`` without a header: input of the official gap_scorer.py
submission CSV      ``ID,A,B,NEITHER``: probabilities, which need not sum to 1 (Kaggle divides by the sum)
==================  =====================================================================================
"""

import csv
import io
import math
from collections.abc import Callable, Iterator, Sequence
from itertools import islice
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from gapstack.data.cells import (
    Columns,
    Quarantine,
    Row,
    iter_lines,
    plain_stem,
    plain_suffix,
    read_table,
    stream_table,
)
from gapstack.data.corpus import GAP_COLUMNS, Corpus, example_of
from gapstack.data.example import Example, Label
from gapstack.errors import DataError, Place, located, shown
from gapstack.files import read_bytes, write_text

UNLABELLED_COLUMNS: Columns = tuple(name for name in GAP_COLUMNS if not name.endswith("-coref"))
SCORER_COLUMNS: Columns = ("ID", "A-coref", "B-coref")
SUBMISSION_COLUMNS: Columns = ("ID", "A", "B", "NEITHER")
SOLUTION_COLUMNS: Columns = (*SUBMISSION_COLUMNS, "Usage")
_NEITHER_COLUMNS: Columns = (*SCORER_COLUMNS, "NEITHER")
_SCORER_LAYOUTS = (SCORER_COLUMNS, _NEITHER_COLUMNS, SUBMISSION_COLUMNS[:3], SUBMISSION_COLUMNS)

MISSING = -1  # a missing decision: an empty cell of a scorer TSV
_DECISIONS = {"true": 1, "false": 0, "": MISSING}


class ScorerRows(NamedTuple):
    """Rows of a scorer TSV: ids as written, including repeats, and (n, 2) int8 decisions 1, 0 or ``MISSING``."""

    ids: list[str]
    decisions: NDArray[np.int8]


class Submission(NamedTuple):
    """Rows of a submission: ids and (n, 3) float64, columns A, B, NEITHER, as written (not rescaled)."""

    ids: list[str]
    probabilities: NDArray[np.float64]


def read(path: Path | str, *, label_set: str = "official") -> Corpus:
    """Read rows from a file.

    Parameters
    ----------
    path : str or Path
        A TSV with the columns of GAP or of Kaggle's stages; or a ``.csv``, ``.jsonl`` or ``.parquet`` file with the
        columns of :meth:`~gapstack.data.Corpus.to_pandas`. ``.gz`` and ``.xz`` are unpacked. For files of
        probabilities see :func:`gapstack.load`.
    label_set : str
        Name of the labels in the file.

    Raises
    ------
    DataError
        If a row is invalid; the error names its line.
    DataNotFoundError
        If the file does not exist.
    """
    path = Path(path)
    kind = plain_suffix(path)
    if kind not in {".csv", ".jsonl", ".parquet"}:
        return read_gap(path, label_set=label_set)
    import pandas as pd  # slow to import

    stream = io.BytesIO(read_bytes(path))
    with located(Place(path), f"a table in {kind[1:]}"):
        if kind == ".csv":
            frame = pd.read_csv(stream, dtype=str, keep_default_na=False)
        elif kind == ".jsonl":
            frame = pd.read_json(stream, lines=True, dtype=False, convert_dates=False)
        else:
            frame = pd.read_parquet(stream)
    corpus = Corpus.from_pandas(frame, label_set=label_set, name=str(path))
    corpus.name = plain_stem(path)
    return corpus


def read_gap(path: Path, *, label_set: str = "official", quarantine: Quarantine | None = None) -> Corpus:
    """Read a GAP TSV (11 columns) or a Kaggle TSV (9 columns, no labels); DataError with the line of an invalid row."""
    return Corpus(_examples(path, quarantine), label_set=label_set, name=plain_stem(path))


def read_gap_chunks(path: Path, rows: int, *, quarantine: Quarantine | None = None) -> Iterator[Corpus]:
    """Read a GAP or Kaggle TSV ``rows`` at a time, for files that do not fit in memory; ids are unique in the file."""
    examples = _examples(path, quarantine)
    while chunk := list(islice(examples, rows)):
        yield Corpus(chunk, name=plain_stem(path))


def _examples(path: Path, quarantine: Quarantine | None) -> Iterator[Example]:
    if is_solution(path):
        raise DataError(
            "is Kaggle's solution file, which has no texts",
            place=Place(path),
            expected="a TSV of GAP's rows",
            remedy="gap score --gold takes the solution",
        )
    unique = _unique_ids()

    def parse(row: Row) -> Example:
        example = example_of(row)
        unique(row)
        return example

    return stream_table(path, (GAP_COLUMNS, UNLABELLED_COLUMNS), parse, quarantine=quarantine)


class Solution(NamedTuple):
    """Rows of Kaggle's solution file: ids, right answers, and each row's part of the leaderboard (``Usage``)."""

    ids: list[str]
    labels: list[Label]
    usages: list[str]


def is_scorer_tsv(path: Path) -> bool:
    """True for decisions with tabs, False for probabilities with commas or tabs."""
    first, second = (*_first_lines(path, 2), "")[:2]
    if _is_header(first, SUBMISSION_COLUMNS):  # some teams give decisions this header
        return {"true", "false"} & set(second.lower().split("\t")) != set()
    return "\t" in first


def is_solution(path: Path) -> bool:
    """True for Kaggle's solution file, by its header."""
    return plain_suffix(path) == ".csv" and _first_line(path).replace('"', "").lower().endswith(",usage")


def _first_line(path: Path) -> str:
    return _first_lines(path, 1)[0]


def _first_lines(path: Path, count: int) -> list[str]:
    return [line.decode("utf-8", "replace") for line in islice(iter_lines(Path(path)), count)]


def _is_header(line: str, columns: Columns) -> bool:
    cells = [cell.strip().lower().replace("_", "-") for cell in line.split("\t")]
    return cells == [name.lower() for name in columns]


def read_scorer_tsv(path: Path) -> ScorerRows:
    """Read decisions for the official scorer; repeated ids are kept, since it counts the first."""
    first = _first_line(path)
    columns = next((layout for layout in _SCORER_LAYOUTS if _is_header(first, layout)), None)
    header = columns is not None
    if columns is None:
        columns = _NEITHER_COLUMNS if first.count("\t") == len(SCORER_COLUMNS) else SCORER_COLUMNS

    def parse(row: Row) -> tuple[str, list[int]]:
        for column in row.columns[1:]:
            if row[column].lower() not in _DECISIONS:
                raise row.error(column, f"found {row[column]!r}", expected="TRUE, FALSE or nothing")
        a, b, *neither = (_DECISIONS[row[column].lower()] for column in row.columns[1:])
        if 1 in neither and 1 in (a, b):
            raise row.error("NEITHER", "is TRUE, as a name is", expected="FALSE, or FALSE for A and B")
        return _id(row), [a, b]

    rows = read_table(path, (columns,), parse, header=header)
    return ScorerRows([row[0] for row in rows], np.array([row[1] for row in rows], dtype=np.int8))


def read_submission(path: Path) -> Submission:
    """Read a submission; DataError for an empty or repeated id, or for invalid probabilities."""
    unique = _unique_ids()

    def parse(row: Row) -> tuple[str, list[float]]:
        probabilities = [_probability(row, column) for column in SUBMISSION_COLUMNS[1:]]
        if not sum(probabilities) > 0:
            raise row.error("A", "all three are 0", expected="a positive sum")
        return unique(row), probabilities

    separator = "\t" if _is_header(_first_line(path), SUBMISSION_COLUMNS) else ","
    rows = read_table(path, (SUBMISSION_COLUMNS,), parse, separator=separator)
    return Submission([name for name, _ in rows], np.array([values for _, values in rows]))


def read_solution(path: Path) -> Solution:
    """Read Kaggle's solution file; DataError for a row without exactly one right answer."""
    unique = _unique_ids()

    def parse(row: Row) -> tuple[str, Label, str]:
        answers = [_probability(row, column) for column in SUBMISSION_COLUMNS[1:]]
        if sorted(answers) != [0, 0, 1]:
            raise row.error("A", f"found {answers}", expected="1 for the right answer and 0 for the others")
        if not row["Usage"].strip():
            raise row.error("Usage", "is empty", expected="Public, Private or Ignored")
        return unique(row), Label(answers.index(1)), row["Usage"].strip()

    rows = read_table(path, (SOLUTION_COLUMNS,), parse, separator=",")
    return Solution(*map(list, zip(*rows, strict=True)))


def _unique_ids() -> Callable[[Row], str]:
    """Return a function that returns a row's id, and raises DataError if an earlier row has the same id."""
    lines: dict[str, int] = {}

    def unique(row: Row) -> str:
        name = _id(row)
        if lines.setdefault(name, row.line) != row.line:
            raise row.error(
                "ID", f"id {name!r} occurs again, first on line {lines[name]}", expected="unique ids"
            )
        return name

    return unique


def _id(row: Row) -> str:
    if not row["ID"].strip():
        raise row.error("ID", "the id is empty", expected="a name for the row")
    return row["ID"]


def _probability(row: Row, column: str) -> float:
    cell = row[column]
    try:  # Python also reads 1_000 and digits of other scripts
        value = float(cell) if cell.isascii() and "_" not in cell else math.nan
    except ValueError:
        value = math.nan
    if not 0 <= value < math.inf:
        raise row.error(column, f"found {row[column][:40]!r}", expected="a finite number from 0 up")
    return value


def write_gap(path: Path, corpus: Corpus) -> None:
    """Write a corpus as GAP TSV, or as Kaggle TSV if no example has a label; DataError if only some have."""
    labelled = any(example.label is not None for example in corpus)
    if labelled and not corpus.is_labelled:
        raise DataError(f"only some examples of {corpus.name} have labels", expected="all or none of them")
    rows = [list(GAP_COLUMNS if labelled else UNLABELLED_COLUMNS)]
    for e in corpus:
        a = [str(e.label == Label.A).upper()] if labelled else []
        b = [str(e.label == Label.B).upper()] if labelled else []
        mentions = [(e.pronoun_text, e.pronoun.start, []), (e.a_text, e.a.start, a), (e.b_text, e.b.start, b)]
        cells = [cell for words, start, label in mentions for cell in (words, str(start), *label)]
        rows.append([e.id, e.text, *cells, e.url or ""])
    _write_tsv(Path(path), rows)


def write_scorer_tsv(path: Path, ids: Sequence[str], decisions: ArrayLike) -> None:
    """Write (n, 2) decisions (1 or True, 0 or False, ``MISSING``) for the official scorer."""
    values = np.asarray(decisions).astype(np.int8)
    words = {1: "TRUE", 0: "FALSE", MISSING: ""}
    _write_tsv(Path(path), [[i, words[int(a)], words[int(b)]] for i, (a, b) in zip(ids, values, strict=True)])


def write_submission(path: Path, ids: Sequence[str], probabilities: ArrayLike) -> None:
    """Write (n, 3) probabilities of A, B, NEITHER as a submission CSV; see :func:`submission_text`."""
    write_text(Path(path), submission_text(ids, probabilities, Path(path)))


def submission_text(ids: Sequence[str], probabilities: ArrayLike, path: Path | None = None) -> str:
    """Submission CSV of (n, 3) probabilities, with full precision; DataError for invalid ids or values."""
    values = np.asarray(probabilities, dtype=np.float64)
    if values.shape != (len(ids), 3):
        problem = f"probabilities of shape {values.shape} for {len(ids)} ids"
        raise DataError(problem, expected=f"shape ({len(ids)}, 3)")
    bad = ~np.isfinite(values).all(axis=1) | (values < 0).any(axis=1) | ~(values.sum(axis=1) > 0)
    if bad.any():
        row = int(bad.argmax())
        problem = f"probabilities of id {ids[row]!r} are {values[row].tolist()}"
        raise DataError(problem, expected="three finite numbers from 0 up, not all 0")
    place = Place(path) if path else None
    if len(set(ids)) != len(ids) or not all(ids):
        raise DataError("an id is empty or occurs twice", place=place, expected="unique ids")
    _refuse_breaks(ids, "\r\n\0", place)
    stream = io.StringIO(newline="")
    writer = csv.writer(stream, lineterminator="\n")
    writer.writerow(SUBMISSION_COLUMNS)
    writer.writerows([i, *map(repr, row)] for i, row in zip(ids, values.tolist(), strict=True))
    return stream.getvalue()


def _refuse_breaks(cells: Sequence[str], breaks: str, place: Place | None) -> None:
    for cell in cells:
        if not set(breaks).isdisjoint(cell):
            problem = f"cannot write {shown(cell)}: it contains a tab, line break or NUL"
            raise DataError(problem, place=place, expected="cells of one line")


def _write_tsv(path: Path, rows: Sequence[Sequence[str]]) -> None:
    for row in rows:
        _refuse_breaks(row, "\t\r\n\0", Place(path))
    write_text(path, "".join("\t".join(row) + "\n" for row in rows))
