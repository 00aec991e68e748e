"""Writers of the files that the GAP task and its Kaggle competition use."""

from __future__ import annotations

import csv
import io
from collections.abc import Sequence
from pathlib import Path

import numpy as np
from numpy.typing import ArrayLike

from gapstack.corpus.corpus import Corpus
from gapstack.corpus.example import Label
from gapstack.corpus.readers import GAP_COLUMNS, MISSING, SUBMISSION_COLUMNS, UNLABELLED_COLUMNS
from gapstack.errors import DataError, Place
from gapstack.files import write_text


def write_gap(path: Path, corpus: Corpus) -> None:
    """Write a corpus as GAP TSV (11 columns), or as Kaggle TSV (9 columns) if no example has a label.

    Raises DataError if only some examples have labels, or a text, id or URL has a tab, line break or NUL in it.
    """
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
    if values.shape != (len(ids), 2) or not np.isin(values, (0, 1, MISSING)).all():
        raise DataError(
            f"decisions of shape {values.shape} for {len(ids)} ids",
            expected=f"shape ({len(ids)}, 2) of 1, 0 or {MISSING}",
        )
    words = {1: "TRUE", 0: "FALSE", MISSING: ""}
    _write_tsv(Path(path), [[i, words[int(a)], words[int(b)]] for i, (a, b) in zip(ids, values, strict=True)])


def write_submission(path: Path, ids: Sequence[str], probabilities: ArrayLike) -> None:
    """Write (n, 3) probabilities of A, B, NEITHER as Kaggle takes them; see :func:`submission_text`."""
    write_text(Path(path), submission_text(ids, probabilities, Path(path)))


def submission_text(ids: Sequence[str], probabilities: ArrayLike, path: Path | None = None) -> str:
    """Give a submission CSV of (n, 3) probabilities, to the last bit; ``path`` is named in errors.

    Raises DataError if the shapes differ, an id is empty or repeated, or a row is negative, not finite or all zero.
    """
    values = np.asarray(probabilities, dtype=np.float64)
    if values.shape != (len(ids), 3):
        raise DataError(
            f"probabilities of shape {values.shape} for {len(ids)} ids", expected=f"shape ({len(ids)}, 3)"
        )
    bad = ~np.isfinite(values).all(axis=1) | (values < 0).any(axis=1) | ~(values.sum(axis=1) > 0)
    if bad.any():
        row = int(bad.argmax())
        raise DataError(
            f"probabilities of id {ids[row]!r} are {values[row].tolist()}",
            expected="three finite numbers from 0 up, not all 0",
        )
    if len(set(ids)) != len(ids) or not all(ids):
        raise DataError(
            "an id is empty or occurs twice", place=Place(path) if path else None, expected="unique ids"
        )
    for i in ids:
        _refuse_breaks(path, i, "\r\n\0")
    stream = io.StringIO(newline="")
    writer = csv.writer(stream, lineterminator="\n")
    writer.writerow(SUBMISSION_COLUMNS)
    writer.writerows([i, *map(repr, row)] for i, row in zip(ids, values.tolist(), strict=True))
    return stream.getvalue()


def _refuse_breaks(path: Path | None, cell: str, breaks: str) -> None:
    for character in breaks:
        if character in cell:
            raise DataError(
                f"cannot write {cell[:40]!r}: it has {character!r} in it",
                place=Place(path) if path else None,
                expected="cells of one line",
            )


def _write_tsv(path: Path, rows: Sequence[Sequence[str]]) -> None:
    for row in rows:
        for cell in row:
            _refuse_breaks(path, cell, "\t\r\n\0")
    write_text(path, "".join("\t".join(row) + "\n" for row in rows))
