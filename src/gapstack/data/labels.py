"""Label sets: GAP's official labels and four corrected versions, by three lists that were published independently."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from pathlib import Path
from typing import Annotated, NamedTuple

from gapstack.data.cells import Columns, Row, read_table
from gapstack.data.corpus import Corpus
from gapstack.data.datasets import DATASETS
from gapstack.data.example import Label
from gapstack.errors import DataError, DataNotFoundError, MismatchError, Place
from gapstack.registry import unknown
from gapstack.settings import OneOf

LABEL_SETS: dict[str, str] = {
    "official": "as published (Webster et al. 2018)",
    "liu": "159 rows changed by Bo Liu (boliu61/gendered-pronoun-resolution)",
    "kaggle": "155 rows changed by a list of the Kaggle forum (discussion 81331, kept by Yorko)",
    "attree": "171 rows changed by Sandeep Attree (sattree/gap, winner of the competition)",
    "majority": "149 rows changed where two of the three lists agree",
}
"""Names and one-line descriptions."""
LabelSetName = Annotated[str, OneOf(LABEL_SETS)]

_LISTS = ("liu", "kaggle", "attree")
_LIST_COLUMNS: Columns = ("ID", "old-label", "new-label")
_LAYOUTS = (_LIST_COLUMNS, (*_LIST_COLUMNS, "raw-line"))
_SPLITS = ("development-", "validation-", "test-")


class Correction(NamedTuple):
    """One line of a correction list: the old and the new label of a row.

    ``new`` is None where the list calls the row unclear; ``sure`` is False where Attree commented the line out.
    """

    place: Place
    id: str
    old: Label
    new: Label | None
    sure: bool


def read_corrections(path: Path) -> list[Correction]:
    """Read a correction list: columns ID, old_label, new_label, and in Attree's list the raw line."""

    def parse(row: Row) -> Correction:
        for column, other in (("old-label", None), ("new-label", "UNCLEAR")):
            if row[column] not in Label.__members__ and row[column] != other:
                raise row.error(column, f"found {row[column]!r}", expected="A, B or NEITHER")
        old, new = Label[row["old-label"]], Label.__members__.get(row["new-label"])
        sure = "raw-line" not in row.columns or not row["raw-line"].startswith("#")
        return Correction(Place(row.file, row.line), row["ID"], old, new, sure)

    return read_table(path, _LAYOUTS, parse)


def with_labels(corpus: Corpus, name: str, folder: Path | None = None) -> Corpus:
    """Replace the official labels of a corpus by one of :data:`LABEL_SETS`.

    ``folder`` is a data folder, or has the ``corrections_*.tsv`` directly. ``attree`` uses the lines that are not
    commented out, as Attree's code does. ``majority`` uses labels on which at least two lists agree; Attree's doubtful
    lines count here, and a line with the old label is a vote for it.

    Raises MismatchError if the corpus's labels are not the official ones, or none of its rows is from GAP;
    UnknownNameError if there is no label set of this name; DataError if a list's old label differs from the corpus's;
    DataNotFoundError if a list is not in the folder.
    """
    if name not in LABEL_SETS:
        raise unknown("label set", name, LABEL_SETS)
    if corpus.label_set != "official":
        raise MismatchError(
            f"{corpus.name} has {corpus.label_set} labels; {name} is made from official ones. "
            "Read the corpus again with its own labels"
        )
    if name == "official":
        return corpus
    if not any(example.id.startswith(_SPLITS) for example in corpus):
        raise MismatchError(
            f"{corpus.name} has no rows of GAP, and the label set {name} corrects GAP alone. Use official"
        )
    lists = [_read_for(corpus, one, folder) for one in (_LISTS if name == "majority" else (name,))]
    by_list = [_by_id(lines, doubtful=name == "majority") for lines in lists]
    new = by_list[0]
    if name == "majority":
        votes = Counter(pair for labels in by_list for pair in labels.items())
        new = {i: label for (i, label), count in votes.items() if count >= 2}
    relabelled = (replace(e, label=new[e.id]) if e.id in new else e for e in corpus)
    return Corpus(relabelled, label_set=name, name=corpus.name)


def _read_for(corpus: Corpus, name: str, folder: Path | None) -> list[Correction]:
    """Read a list whose old labels are those of the corpus."""
    dataset = DATASETS[f"corrections-{name}"]
    path = dataset.within(folder) if folder is not None else None
    if path is None:
        raise DataNotFoundError(
            f"the corrections of label set {name} are not in {folder}; expected {dataset.path} or "
            f"{Path(dataset.path).name}. They come from {dataset.upstream}"
        )
    lines = read_corrections(path)
    labels = {example.id: example.label for example in corpus}
    for line in lines:
        label = labels.get(line.id, line.old)
        if label != line.old:
            raise DataError(
                f"the old label of {line.id} is {line.old.name}",
                place=line.place,
                expected=f"{label.name if label is not None else 'no label'}, as {corpus.name} has it",
                remedy="Use official GAP and the list made for it",
            )
    return lines


def _by_id(lines: list[Correction], *, doubtful: bool) -> dict[str, Label]:
    """New label by id; of several lines for a row the last counts, and an unclear one removes it."""
    labels: dict[str, Label] = {}
    for line in lines:
        if line.new is None and doubtful:
            labels.pop(line.id, None)
        elif line.new is not None and (line.sure or doubtful):
            labels[line.id] = line.new
    return labels
