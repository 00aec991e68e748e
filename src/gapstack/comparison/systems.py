"""Comparison of whatever is at hand: arrays of probabilities, files, runs and members of runs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from numpy.typing import ArrayLike

from gapstack.comparison import analysis
from gapstack.comparison.entries import entries_of, label_sets, read_entries
from gapstack.comparison.measurements import Comparison
from gapstack.corpus import Corpus
from gapstack.corpus.sources import data_folder
from gapstack.errors import DataError


def compare(
    systems: Mapping[str, ArrayLike] | Sequence[str | Path],
    corpus: Corpus | None = None,
    *,
    labels: str = "official",
    data: str | None = None,
    **options: Any,
) -> Comparison:
    """Compare systems on the same labelled rows: scores with intervals, paired tests, slices, what each adds.

    Parameters
    ----------
    systems : mapping of name to (n, 3) array, or sequence of str or Path
        Probabilities in the order of ``corpus``; or submission CSVs and scorer TSVs, runs by name or folder, and
        ``RUN:MEMBER``.
    corpus : Corpus, optional
        The rows, with official labels; by default those that the first run held out.
    labels : str
        Label set of everything but ``scores``, which come under each label set at hand.
    data : str, optional
        Folder to look for data in first.
    **options
        ``replicates``, ``seed``, ``flips`` and ``say`` of :func:`gapstack.comparison.analysis.compare`.

    Raises
    ------
    DataError
        If a source is unknown, arrays are no probabilities, or there is no corpus and no run to give one.
    MismatchError
        If a run has no predictions for these rows.
    """
    if isinstance(systems, str | Path):
        systems = [systems]
    if isinstance(systems, Mapping):
        if corpus is None:
            raise DataError(
                "probabilities alone say nothing of their rows", expected="the labelled corpus too"
            )
        rows, entries = corpus, entries_of(systems, corpus)
    else:
        rows, entries = read_entries([str(source) for source in systems], corpus, data=data)
    folder = data_folder(data)
    return analysis.compare(label_sets(rows, labels, folder), entries, data=folder, **options)
