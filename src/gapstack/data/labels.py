"""Label sets: GAP's official labels and four corrected versions, from three independently published lists."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Annotated

from gapstack.data.cells import Columns, Row, read_table
from gapstack.data.corpus import Corpus
from gapstack.data.example import Label
from gapstack.errors import MismatchError
from gapstack.settings import OneOf

LABEL_SETS: dict[str, str] = {
    "official": "as published (Webster et al. 2018)",
    "liu": "159 rows changed by Bo Liu (boliu61/gendered-pronoun-resolution)",
    "kaggle": "155 rows changed by a list of the Kaggle forum (discussion 81331, kept by Yorko)",
    "attree": "171 rows changed by Sandeep Attree (sattree/gap, winner of the competition)",
    "majority": "149 rows changed where two of the three lists agree",
}
"""Label sets: name to description."""
LabelSetName = Annotated[str, OneOf(LABEL_SETS)]

_LIST_COLUMNS: Columns = ("ID", "old-label", "new-label")
_LAYOUTS = (_LIST_COLUMNS, (*_LIST_COLUMNS, "raw-line"))
_SPLITS = ("development-", "validation-", "test-")


def lists_of(name: str) -> tuple[str, ...]:
    """Names of the correction lists that a label set is made of."""
    lists = ("liu", "kaggle", "attree")
    return lists if name == "majority" else tuple(each for each in lists if each == name)


def with_labels(corpus: Corpus, name: str, lists: Sequence[Path]) -> Corpus:
    """Replace the official labels of a corpus by one of :data:`LABEL_SETS`, given the files of :func:`lists_of` it.

    ``attree`` uses the lines that are not commented out, as Attree's code does. ``majority`` uses labels on which at
    least two lists agree; Attree's doubtful lines count here, and a line with the old label is a vote for it. Raises
    MismatchError if the corpus's labels are not the official ones, or none of its rows is from GAP.
    """
    if corpus.label_set != "official":
        raise MismatchError(
            f"{name} labels are made from official ones, and {corpus.name} has {corpus.label_set}. Read it with "
            "official labels"
        )
    if name == "official":
        return corpus
    if not any(example.id.startswith(_SPLITS) for example in corpus):
        raise MismatchError(f"only rows of GAP have {name} labels, and {corpus.name} has none. Use official")
    doubtful, least = (True, 2) if name == "majority" else (False, 1)
    by_list = [read_corrections(path, corpus, doubtful=doubtful) for path in lists]
    votes = Counter(pair for labels in by_list for pair in labels.items())
    new = {identifier: label for (identifier, label), count in votes.items() if count >= least}
    relabelled = (replace(e, label=new[e.id]) if e.id in new else e for e in corpus)
    return Corpus(relabelled, label_set=name, name=corpus.name)


def read_corrections(path: Path, corpus: Corpus, *, doubtful: bool = False) -> dict[str, Label]:
    """New labels by id, from a list with the columns ID, old_label, new_label and, in Attree's list, the raw line.

    The last of several lines for a row counts. Lines that Attree commented out (``#``), and lines that call a row
    unclear (which removes its new label), count only if ``doubtful``. DataError if an old label is not the corpus's.
    """
    labels = {example.id: example.label for example in corpus}
    new: dict[str, Label] = {}

    def parse(row: Row) -> None:
        known = labels.get(row["ID"])
        if known is not None and known.name != row["old-label"]:
            expected = f"the label of {row['ID']} in {corpus.name}"
            raise row.error("old-label", f"found {row['old-label']}", expected=expected)
        if row["new-label"] not in {*Label.__members__, "UNCLEAR"}:
            raise row.error("new-label", f"found {row['new-label']!r}", expected="A, B, NEITHER or UNCLEAR")
        is_sure = "raw-line" not in row.columns or not row["raw-line"].startswith("#")
        if row["new-label"] == "UNCLEAR":
            new.pop(row["ID"] if doubtful else "", None)
        elif is_sure or doubtful:
            new[row["ID"]] = Label[row["new-label"]]

    read_table(path, _LAYOUTS, parse)
    return new
