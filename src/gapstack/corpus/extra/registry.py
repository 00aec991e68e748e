"""The extra corpora by name: reader, licence, upstream home, and the test sets that they contaminate."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from types import MappingProxyType

from gapstack.corpus import sources
from gapstack.corpus.corpus import Corpus
from gapstack.corpus.datasets import DATASETS
from gapstack.corpus.extra import conll, mined, occupations, pages, schemas
from gapstack.corpus.extra.extra_corpus import ExtraCorpus, ExtraRows
from gapstack.corpus.extra.mined import GAP_PRIOR
from gapstack.errors import DataError
from gapstack.registry import Registry

Prior = tuple[float, float, float]


@dataclass(frozen=True, slots=True)
class Entry:
    """One extra corpus: its reader and the metadata of :class:`ExtraCorpus`.

    ``dataset`` is its name in :data:`~gapstack.corpus.datasets.DATASETS`. ``licence`` and ``upstream`` are set where
    the data set is a folder of several corpora. ``mined``: whether label prior and seed apply.
    """

    dataset: str
    read: Callable[..., None]
    contaminates: tuple[str, ...]
    licence: str | None = None
    upstream: str | None = None
    mined: bool = False


def _read_dpr(data: Path | None, into: ExtraRows) -> None:
    for split in ("train", "test"):
        schemas.read_dpr(split, data, into)


def _read_conll(name: str, data: Path | None, into: ExtraRows, prior: Prior, seed: int) -> None:
    mined.mine(conll.read_corpus(name, data), into, prefix=name, prior=prior, seed=seed)


_WINOBIAS = ("winobias", "winobias-original")  # the releases share nearly all sentences
_WINOGRAD = ("wsc273", "superglue-wsc", "wnli")  # the same schemas in three dresses

EXTRA: Registry[Entry] = Registry(
    "extra corpus",
    {
        "dpr": Entry("dpr", _read_dpr, ("dpr-test",)),
        "dpr-train": Entry("dpr", partial(schemas.read_dpr, "train"), ()),
        "winogender": Entry("winogender", occupations.read_winogender, ("winogender", "winopron")),
        "winobias": Entry("winobias", partial(occupations.read_winobias, "current"), _WINOBIAS),
        "winobias-original": Entry("winobias", partial(occupations.read_winobias, "original"), _WINOBIAS),
        "knowref": Entry("knowref", partial(pages.read_knowref, "test"), ("knowref",)),
        "knowref-train": Entry(
            "knowref",
            partial(pages.read_knowref, "train"),
            (),
            "not stated",
            "github.com/aemami1/KnowRef60k @ 29bd6cb",
        ),
        "map": Entry("gicoref-map", pages.read_map, ("map",)),
        "wsc273": Entry("wsc", schemas.read_wsc273, _WINOGRAD),
        "winogrande": Entry("winogrande", schemas.read_winogrande, ()),
        "neither-attree": Entry("neither-attree", pages.read_neither_attree, ("gap-test",)),
        "litbank": Entry(
            "corpora",
            partial(_read_conll, "litbank"),
            ("litbank",),
            "CC BY 4.0",
            "github.com/dbamman/litbank @ 3e50db0",
            mined=True,
        ),
        "gum": Entry(
            "corpora",
            partial(_read_conll, "gum"),
            ("gum", "ontogum"),
            "annotations CC BY 4.0, texts CC BY and CC BY-SA",
            "github.com/amir-zeldes/gum @ 72ce5ac",
            mined=True,
        ),
    },
)
"""By name, in the order that :func:`available` lists."""

LEFT_OUT = MappingProxyType(
    {
        "bug": "a sentence has one person and a pronoun that means it; the other professions in 225 of 1,717 "
        'sentences are nobody\'s distractors ("a specialist still life painter") and nobody checked them',
        "pdp": "the copy at hand has its pronouns masked, and no schema has two first names of one sex, from "
        "which the pronoun would follow",
        "gicoref": "42 rows of its 91 documents have a gendered pronoun; it is worth more as an audit",
    }
)
"""Corpora with coreference that make no rows here, and why."""


def available(data: Path | None = None) -> dict[str, bool]:
    """List the names that :func:`load` takes, and whether the search finds their data."""
    return {name: sources.find(entry.dataset, data) is not None for name, entry in EXTRA.items()}


def load(
    name: str,
    data: Path | None = None,
    *,
    neutral: bool = False,
    prior: Prior | None = None,
    seed: int = 0,
    label_set: str = "official",
) -> ExtraCorpus:
    """Read an extra corpus from where the search finds it; nothing is downloaded.

    Raises UnknownNameError if there is no extra corpus of this name; DataError if it is left out, a prior is given for
    a corpus that is not mined, or a file breaks its format; DataNotFoundError if the data are nowhere.

    Parameters
    ----------
    name : str
        One of :data:`EXTRA`.
    data : Path, optional
        Folder to search first.
    neutral : bool
        Also take rows about "they" and other pronouns without gender, where the corpus has them (DPR's "they"
        are groups). LitBank and GUM are mined for GAP's five pronouns alone.
    prior : three floats, optional
        Shares of A, B and NEITHER for LitBank and GUM, which are mined for rows; GAP development's by default.
        Fewer rows are left the more the shares differ from what the texts offer.
    seed : int
        Of what is chosen at random in LitBank and GUM; the others have nothing random.
    label_set : str
        What to call the labels, so that the corpus can be joined with one that has labels of that name.
    """
    if name in LEFT_OUT:
        raise DataError(f"{name} is left out: {LEFT_OUT[name]}", expected=f"one of {', '.join(EXTRA)}")
    entry = EXTRA[name]
    if prior is not None and not entry.mined:
        raise DataError(f"{name} has the labels it has", expected="no prior; it is for mined corpora alone")
    into = ExtraRows(neutral)
    if entry.mined:
        entry.read(data, into, prior or GAP_PRIOR, seed)
    else:
        entry.read(data, into)
    dataset = DATASETS[entry.dataset]
    return ExtraCorpus(
        name=name,
        corpus=Corpus(into.examples, label_set=label_set, name=name),
        licence=entry.licence or dataset.licence,
        upstream=entry.upstream or dataset.upstream,
        contaminates=entry.contaminates,
        skipped=dict(into.skipped),
    )
