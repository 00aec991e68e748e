"""GAP itself: its splits, the second stage of the competition, and the embedded sample.

GAP is downloaded if the search (:mod:`gapstack.data.sources`) does not find it; if that fails, or if ``sample`` is
named, the embedded sample replaces it.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from functools import reduce
from operator import add
from pathlib import Path
from typing import Annotated

from gapstack.cache import by_content
from gapstack.data import sources
from gapstack.data.cells import Quarantine
from gapstack.data.corpus import Corpus
from gapstack.data.gap_files import read_gap
from gapstack.data.labels import LABEL_SETS, lists_of, with_labels
from gapstack.data.sources import DATASETS, DownloadError
from gapstack.errors import DataError, DataNotFoundError, MismatchError
from gapstack.files import contents
from gapstack.progress import print_note
from gapstack.registry import unknown
from gapstack.settings import OneOf

SPLITS = ("development", "validation", "test")
STAGE2 = "stage2"
HELD_OUT = (*SPLITS, STAGE2)
"""What a recipe may hold out: a split, or the unlabelled rows of Kaggle's second stage."""
_TABLES = (".tsv", ".tsv.gz", ".tsv.xz")
SplitName = Annotated[str, OneOf(SPLITS, _TABLES)]
HeldOutName = Annotated[str, OneOf(HELD_OUT, _TABLES)]
"""A split of GAP, or a file of rows in GAP's format."""
SAMPLE_FOLDER = Path(__file__).parent / sources.SAMPLE


@dataclass(frozen=True)
class GapData:
    """Result of :func:`gapstack.load_gap`: GAP, or the embedded sample in its place."""

    splits: dict[str, Corpus]
    """``development``, ``validation`` and ``test``; of the sample, ``train`` and ``test``."""
    source: str
    is_sample: bool

    @property
    def train(self) -> Corpus:
        """All splits but ``test``, one after the other."""
        return reduce(add, (corpus for name, corpus in self.splits.items() if name != "test"))

    @property
    def test(self) -> Corpus:
        """The held-out split."""
        return self.splits["test"]


@sources.searches_data
def load_gap(
    data: Path | str | None = None, *, label_set: str = "official", quarantine: Quarantine | None = None
) -> GapData:
    """Load GAP, or the embedded sample if GAP cannot be found or downloaded, and print to stderr which one.

    Parameters
    ----------
    data : str or Path, optional
        Folder to search first, by default that of ``GAP_DATA``; or ``sample`` for the embedded sample.
    label_set : str
        Labels to use (:data:`~gapstack.data.labels.LABEL_SETS`).
    quarantine : Quarantine, optional
        Collects invalid rows, which otherwise raise.

    Raises DataNotFoundError if a named folder lacks a split, or a label set's corrections are missing; IntegrityError
    if a cached or downloaded file is not the published one; MismatchError for labels that the sample does not have.
    """
    if sources.named_folder() == sources.SAMPLE:
        return _load_sample("the sample was chosen")
    origin, folder = next(sources.places())
    lacks = [f"gap-{split}.tsv" for split in SPLITS if DATASETS[f"gap-{split}"].within(folder) is None]
    if lacks and origin == "given":
        raise DataNotFoundError(
            f"{folder} lacks {', '.join(lacks)}; expected the three GAP splits, in it or in its folder gap"
        )
    if not all(sources.find(f"gap-{split}") for split in SPLITS):
        try:
            sources.fetch(f"gap-{split}" for split in SPLITS)
        except DownloadError as problem:
            if label_set != "official":
                raise MismatchError(
                    f"GAP is not available, and the sample has no {label_set} labels. Use official"
                ) from problem
            return _load_sample(f"GAP was not found ({problem})")
    splits = {split: gap_split(split, label_set=label_set, quarantine=quarantine) for split in SPLITS}
    locations = {split: sources.location_of(f"gap-{split}") for split in SPLITS}
    changed = [split for split, at in locations.items() if not DATASETS[f"gap-{split}"].is_intact(at.path)]
    source = f"GAP from {locations['test'].path.parent} ({locations['test'].origin})"
    print_note(f"Data: {source}, {label_set} labels")
    if changed:
        print_note(
            f"Warning: these splits differ from the published GAP: {', '.join(changed)}", "bold yellow"
        )
    return GapData(splits, source, is_sample=False)


def _load_sample(reason: str) -> GapData:
    """Load the embedded sample instead of GAP, and print a warning with the reason to stderr."""
    splits = sample()
    rows = sum(map(len, splits.values()))
    print_note(
        f"Warning: {reason}. Using the embedded sample of {rows} invented snippets: good for trying things out, but "
        "its scores say nothing about GAP.",
        "bold yellow",
    )
    return GapData(splits, f"the embedded sample ({rows} invented snippets)", is_sample=True)


def gap_split(split: str, *, label_set: str = "official", quarantine: Quarantine | None = None) -> Corpus:
    """Load one GAP split; raises as :func:`~gapstack.data.sources.require` and :func:`read_gap` do."""
    return relabel(read_gap(sources.require(f"gap-{split}"), quarantine=quarantine), label_set)


def rows_of(ids: Iterable[str]) -> Corpus:
    """Load the GAP splits that ``ids`` such as ``test-12`` belong to; DataError if some are not ids of GAP."""
    splits = dict.fromkeys(name.rpartition("-")[0] for name in ids)
    if not splits or not splits.keys() <= set(SPLITS):
        raise DataError(
            "the ids are not those of a split of GAP" if splits else "there are no ids",
            expected=f"ids such as {SPLITS[-1]}-1",
            remedy="Name the labelled rows with gold=ROWS",
        )
    return reduce(add, (gap_split(split) for split in SPLITS if split in splits))


def relabel(corpus: Corpus, label_set: str) -> Corpus:
    """Apply :func:`~gapstack.data.labels.with_labels` with the corrections that the search finds."""
    if label_set not in LABEL_SETS:
        raise unknown("label set", label_set, LABEL_SETS)
    return with_labels(
        corpus, label_set, [sources.require(f"corrections-{each}") for each in lists_of(label_set)]
    )


@by_content(lambda: contents([sources.require("stage2")]), most=1)
def stage2() -> Corpus:
    """Load the 12,359 unlabelled rows of Kaggle's second stage; DataNotFoundError if they are missing."""
    return read_gap(sources.require("stage2"))


def sample() -> dict[str, Corpus]:
    """Load the embedded sample: ``train`` and ``test``, written for this project about invented people."""
    return {split: read_gap(SAMPLE_FOLDER / f"gap-sample-{split}.tsv") for split in ("train", "test")}
