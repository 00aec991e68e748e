"""An ordered, immutable collection of examples."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, overload

import numpy as np
from numpy.typing import NDArray

from gapstack.data.cells import Columns, Row, whole_number
from gapstack.data.example import GENDER_BY_FORM, Example, Label, Span
from gapstack.errors import DataError, Place, counted, located
from gapstack.files import fingerprint

if TYPE_CHECKING:
    import pandas as pd

_COLUMNS = "ID Text Pronoun Pronoun-offset A A-offset A-coref B B-offset B-coref URL"
GAP_COLUMNS: Columns = tuple(_COLUMNS.split())
Rows = NDArray[np.integer] | NDArray[np.bool_] | list[int] | list[bool]
_SHOWN = 5  # number of rows that a notebook shows

COPY_OF = "~"
"""What an augmented copy's id has between that of its row and the name of the augmentation."""


class Corpus(Sequence[Example]):
    """An immutable sequence of examples.

    Indexing with an integer returns an example; with a slice, integer positions or a boolean mask (n,), a corpus. ``+``
    appends another corpus. scikit-learn's splitters accept a corpus.

    Parameters
    ----------
    examples : iterable of Example
        Rows with unique ids.
    label_set : str
        Name of the labels (:data:`gapstack.data.labels.LABEL_SETS`), reported with every score.
    name : str
        Name for tables and errors.

    Raises
    ------
    DataError
        If two examples have the same id.
    """

    def __init__(self, examples: Iterable[Example], *, label_set: str = "official", name: str = "corpus"):
        self.examples: tuple[Example, ...] = tuple(examples)
        self.label_set, self.name = label_set, name
        if len(set(self.ids)) < len(self):
            ((repeated, _),) = Counter(self.ids).most_common(1)
            raise DataError(f"id {repeated!r} occurs twice in {name}", expected="unique ids")

    def __len__(self) -> int:
        return len(self.examples)

    def __iter__(self) -> Iterator[Example]:
        return iter(self.examples)

    @overload
    def __getitem__(self, index: int) -> Example: ...
    @overload
    def __getitem__(self, index: slice | Rows) -> Corpus: ...
    def __getitem__(self, index: int | slice | Rows) -> Example | Corpus:
        """Example at an integer position; corpus of a slice, of positions (array or list) or of a boolean mask (n,)."""
        if isinstance(index, tuple):  # scikit-learn indexes by (rows, ...)
            index = index[0]
        if isinstance(index, slice):
            return self._with(self.examples[index])
        if isinstance(index, np.ndarray | list):
            return self.take(np.arange(len(self))[np.asarray(index, dtype=None if len(index) else np.int64)])
        return self.examples[index]

    @property
    def shape(self) -> tuple[int]:
        """``(n,)``, for scikit-learn, which selects the rows of folds from a corpus as from an array."""
        return (len(self),)

    def __add__(self, other: Corpus) -> Corpus:
        """Concatenate two corpora with the same label set."""
        if self.label_set != other.label_set:
            raise DataError(
                f"{self.name} has {self.label_set} labels and {other.name} has {other.label_set}",
                expected="one label set",
            )
        return Corpus(
            self.examples + other.examples, label_set=self.label_set, name=f"{self.name}+{other.name}"
        )

    def __repr__(self) -> str:
        return f"Corpus({self.name}, {counted(len(self), 'example')}, {self.label_set} labels, {self.fingerprint})"

    def _repr_html_(self) -> str:
        """Counts of labels and genders, and the first rows."""
        from gapstack.data.html import escape

        labels = Counter("no label" if e.label is None else e.label.name for e in self)
        genders = Counter(GENDER_BY_FORM.get(e.pronoun_text.lower(), "of no known pronoun") for e in self)
        counts = [f"{n:,} {kind}" for of in (labels, genders) for kind, n in sorted(of.items())]
        caption = (
            f"{self.name}: {counted(len(self), 'example')}, {self.label_set} labels ({', '.join(counts)})"
        )
        rows = "".join(example.marked() for example in self.examples[:_SHOWN])
        more = f"<p>and {len(self) - _SHOWN:,} more</p>" if len(self) > _SHOWN else ""
        return f"<p><b>{escape(caption)}</b></p>{rows}{more}"

    def to_pandas(self) -> pd.DataFrame:
        """Return a data frame with a row for each example: id, text, mentions with their offsets, url, label."""
        import pandas as pd  # slow to import

        columns: dict[str, list[Any]] = {"id": self.ids, "text": self.texts}
        for name in ("pronoun", "a", "b"):
            columns[name] = [getattr(e, f"{name}_text") for e in self]
            columns[f"{name}_offset"] = [getattr(e, name).start for e in self]
        columns["url"] = [e.url for e in self]
        columns["label"] = [None if e.label is None else e.label.name for e in self]
        return pd.DataFrame(columns)

    @classmethod
    def from_pandas(
        cls, frame: pd.DataFrame, *, label_set: str = "official", name: str = "data frame"
    ) -> Corpus:
        """Create a corpus from a data frame with the columns of :meth:`to_pandas`, or with GAP's.

        Parameters
        ----------
        frame : DataFrame
            ``text``, ``pronoun``, ``a`` and ``b`` are required. Without ``a_offset`` a name is at its first occurrence;
            without ``pronoun_offset`` the pronoun must occur once. Ids are in ``id``, or else the index. Labels
            are in ``label`` (A, B, NEITHER, or nothing), or in GAP's ``A-coref`` and ``B-coref``.
        label_set, name : str
            As for the class.

        Raises
        ------
        DataError
            If a column is missing, or a row is not a valid example; the error names the row, counted from 1.
        """
        names = {column.lower(): column for column in (*GAP_COLUMNS, "label")}
        frame = frame.rename(columns=lambda column: names.get(str(column).lower().replace("_", "-"), column))
        if lacks := [column for column in ("Text", "Pronoun", "A", "B") if column not in frame]:
            raise DataError("a column is missing", place=Place(name), expected=", ".join(lacks))
        if "ID" not in frame:
            frame = frame.assign(ID=frame.index)
        records = frame.convert_dtypes().astype(object).where(frame.notna(), "").to_dict("records")
        examples = []
        for number, record in enumerate(records, start=1):
            cells = {column: str(value) for column, value in record.items() if value != ""}
            row = Row(Path(name), number, tuple(map(str, cells)), tuple(cells.values()))
            for column in ("Text", "Pronoun", "A", "B"):
                if column not in cells:
                    raise DataError("the cell is empty", place=Place(name, number, column), expected="text")
            with located(row.place):
                examples.append(example_of(row))
        return cls(examples, label_set=label_set, name=name)

    def _with(self, examples: Iterable[Example]) -> Corpus:
        return Corpus(examples, label_set=self.label_set, name=self.name)

    def take(self, rows: Iterable[int] | NDArray[np.integer]) -> Corpus:
        """Return the examples at ``rows`` (integer positions), in that order."""
        return self._with(self.examples[int(row)] for row in rows)

    def map(self, change: Callable[[Example], Example]) -> Corpus:
        """Return a corpus with ``change`` applied to every example."""
        return self._with(change(example) for example in self.examples)

    def unlabelled(self) -> Corpus:
        """Return the examples without their labels."""
        return self.map(lambda example: replace(example, label=None))

    @cached_property
    def fingerprint(self) -> str:
        """Hash of ids, texts, spans and urls in order, without labels (see ``label_fingerprint``)."""
        return fingerprint([(e.id, e.text, e.pronoun, e.a, e.b, e.url) for e in self.examples])

    @cached_property
    def label_fingerprint(self) -> str:
        """Hash of the label set's name and all labels."""
        return fingerprint(self.label_set, [None if e.label is None else int(e.label) for e in self.examples])

    @property
    def ids(self) -> list[str]:
        """Ids in order."""
        return [example.id for example in self.examples]

    @property
    def texts(self) -> list[str]:
        """Texts in order."""
        return [example.text for example in self.examples]

    @property
    def is_labelled(self) -> bool:
        """True if every example has a label."""
        return all(example.label is not None for example in self.examples)

    @cached_property
    def labels(self) -> NDArray[np.int64]:
        """Labels as an (n,) array of columns: 0 A, 1 B, 2 NEITHER; DataError if an example has none."""
        labels = [example.label for example in self.examples]
        if None in labels:
            raise DataError(
                f"example {self.ids[labels.index(None)]!r} of {self.name} has no label",
                remedy="Use a labelled corpus to fit and to score",
            )
        return np.array(labels, dtype=np.int64)

    @cached_property
    def groups(self) -> NDArray[np.str_]:
        """Groups for folds and clustered intervals, (n,): the page URL, or else the text; a copy has its row's."""
        own = {e.id: e.url or e.text for e in self.examples}
        return np.array([own.get(e.id.rpartition(COPY_OF)[0], own[e.id]) for e in self.examples], dtype=str)

    @cached_property
    def genders(self) -> NDArray[np.str_]:
        """Gender of each pronoun, as an (n,) array of strings."""
        return np.array([str(e.gender) for e in self.examples], dtype=str)


def example_of(row: Row) -> Example:
    """Example of a row with columns of :data:`GAP_COLUMNS` and ``label``; DataError if it is not valid."""
    mentions = [
        span_at(row, name, row["Text"]) if f"{name}-offset" in row.columns else row[name]
        for name in ("Pronoun", "A", "B")
    ]
    url = row["URL"] if "URL" in row.columns else ""
    return Example.from_text(row["Text"], *mentions, id=row["ID"], url=url or None, label=_label(row))


def span_at(row: Row, name: str, text: str) -> Span:
    """Span of the mention in column ``name``; DataError if the text does not have it at the stated offset."""
    mention, column = row[name], f"{name}-offset"
    start = whole_number(row[column])
    if start is not None and mention and text.startswith(mention, start):
        return Span(start, start + len(mention))
    places = [place.start() for place in re.finditer(re.escape(mention), text)] if mention else []
    where = f"at {min(places, key=lambda place: abs(place - (start or 0)))}" if places else "nowhere"
    raise row.error(
        column,
        f"found {row[column][:40]!r}; the text has {mention!r} {where}",
        expected="the number of characters (not bytes) before it",
    )


def _label(row: Row) -> Label | None:
    if "A-coref" in row.columns:
        coreferent = [row["A-coref"].lower(), row["B-coref"].lower()]
        if sorted(coreferent) not in (["false", "true"], ["false", "false"]):
            problem = f"the labels are {row['A-coref']!r} and {row['B-coref']!r}"
            raise row.error("A-coref", problem, expected="TRUE or FALSE, at most one TRUE")
        return Label([*coreferent, "true"].index("true"))
    if "label" not in row.columns:
        return None
    if row["label"] not in Label.__members__:
        raise row.error("label", f"found {row['label']!r}", expected="A, B, NEITHER or nothing")
    return Label[row["label"]]


def one_hot(labels: NDArray[np.int64]) -> NDArray[np.float64]:
    """Labels (n,) as an (n, 3) array of zeros and ones."""
    return np.eye(len(Label), dtype=np.float64)[labels]
