"""Corpora that were not made for GAP, as GAP-like rows to train on: a pronoun, the name it means, another name."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Annotated

from gapstack.data.corpus import Corpus
from gapstack.data.extra import conll, mined, sentences
from gapstack.data.extra.extra_corpus import ExtraCorpus, ExtraRows
from gapstack.data.sources import DATASETS
from gapstack.errors import DataError
from gapstack.registry import Registry
from gapstack.settings import OneOf


@dataclass(frozen=True, slots=True)
class ExtraSource:
    """One extra corpus: its reader, data set, and the metadata of :class:`ExtraCorpus`.

    ``also`` are other data sets that it reads; ``licence`` and ``upstream`` are given if they differ from the data
    set's.
    """

    dataset: str
    read: Callable[[Path | None, ExtraRows], None]
    contaminates: tuple[str, ...]
    licence: str | None = None
    upstream: str | None = None
    also: tuple[str, ...] = ()


def _read_dpr(data: Path | None, into: ExtraRows) -> None:
    for split in ("train", "test"):
        sentences.read_dpr(split, data, into)


def _mine(name: str, data: Path | None, into: ExtraRows) -> None:
    mined.mine(conll.read_corpus(name, data), into, prefix=name)


_WINOBIAS = ("winobias", "winobias-original")  # the releases share nearly all sentences
_WINOGRAD = ("wsc273", "superglue-wsc", "wnli")  # the same schemas in three forms
_KNOWREF_TRAIN = ("not stated", "github.com/aemami1/KnowRef60k @ 29bd6cb")
_LITBANK = ("CC BY 4.0", "github.com/dbamman/litbank @ 3e50db0")
_GUM = ("annotations CC BY 4.0, texts CC BY and CC BY-SA", "github.com/amir-zeldes/gum @ 72ce5ac")

EXTRA: Registry[ExtraSource] = Registry(
    "extra corpus",
    {
        "dpr": ExtraSource("dpr", _read_dpr, ("dpr-test",)),
        "dpr-train": ExtraSource("dpr", partial(sentences.read_dpr, "train"), ()),
        "winogender": ExtraSource("winogender", sentences.read_winogender, ("winogender", "winopron")),
        "winobias": ExtraSource("winobias", partial(sentences.read_winobias, "current"), _WINOBIAS),
        "winobias-original": ExtraSource("winobias", partial(sentences.read_winobias, "original"), _WINOBIAS),
        "knowref": ExtraSource("knowref", partial(sentences.read_knowref, "test"), ("knowref",)),
        "knowref-train": ExtraSource(
            "knowref", partial(sentences.read_knowref, "train"), (), *_KNOWREF_TRAIN
        ),
        "map": ExtraSource("gicoref-map", sentences.read_map, ("map",)),
        "wsc273": ExtraSource("wsc", sentences.read_wsc273, _WINOGRAD, also=("names",)),
        "winogrande": ExtraSource("winogrande", sentences.read_winogrande, (), also=("names",)),
        "neither-attree": ExtraSource("neither-attree", sentences.read_neither_attree, ("gap-test",)),
        "litbank": ExtraSource("corpora", partial(_mine, "litbank"), ("litbank",), *_LITBANK),
        "gum": ExtraSource("corpora", partial(_mine, "gum"), ("gum", "ontogum"), *_GUM),
    },
)
"""By name."""
ExtraName = Annotated[str, OneOf(EXTRA)]

LEFT_OUT = {
    "bug": "a sentence has one person and a pronoun that means it; the other professions in 225 of 1,717 "
    'sentences are nobody\'s distractors ("a specialist still life painter") and nobody checked them',
    "pdp": "our copy has its pronouns masked, and no schema has two first names of one sex, from "
    "which the pronoun would follow",
    "gicoref": "42 rows of its 91 documents have a gendered pronoun; it is worth more as an audit",
}
"""Corpora with coreference that are not used here, and why."""


def load(name: str, data: Path | None = None, *, neutral: bool = False) -> ExtraCorpus:
    """Read an extra corpus (one of :data:`EXTRA`) from where the search finds it; nothing is downloaded.

    ``neutral`` also takes rows about pronouns without gender, where the corpus has them. Raises UnknownNameError if
    there is no such corpus; DataError if it is left out, or a file breaks its format; DataNotFoundError if the data are
    missing.
    """
    if name in LEFT_OUT:
        raise DataError(f"{name} is left out: {LEFT_OUT[name]}", expected=f"one of {', '.join(EXTRA)}")
    source = EXTRA[name]
    into = ExtraRows(neutral)
    source.read(data, into)
    dataset = DATASETS[source.dataset]
    return ExtraCorpus(
        name=name,
        corpus=Corpus(into.examples, name=name),
        licence=source.licence or dataset.licence,
        upstream=source.upstream or dataset.upstream,
        contaminates=source.contaminates,
        skipped=dict(into.skipped),
    )
