"""Corpora that were not made for GAP, as GAP-like rows to train on: a pronoun, the name it means, another name."""

from functools import partial
from typing import Annotated, NamedTuple

from gapstack.data.extra import conll, mined, sentences
from gapstack.data.extra.rows import ExtraRows, Reader, read_rows
from gapstack.registry import Registry
from gapstack.settings import OneOf


class ExtraSource(NamedTuple):
    """One extra corpus: its reader, the data sets it reads, and the test splits and suites that share rows with it."""

    read: Reader
    datasets: tuple[str, ...]
    contaminates: tuple[str, ...] = ()


def _read_dpr(into: ExtraRows) -> None:
    for split in ("train", "test"):
        sentences.read_dpr(split, into)


def _mine(name: str, into: ExtraRows) -> None:
    mined.mine(conll.read_corpus(name), into, prefix=name)


_WINOBIAS = ("winobias", "winobias-original")  # the releases share nearly all sentences
_WINOGRAD = ("wsc273", "superglue-wsc", "wnli")  # the same schemas in three forms
EXTRA: Registry[ExtraSource] = Registry(
    "extra corpus",
    {
        "dpr": ExtraSource(_read_dpr, ("dpr",), ("dpr-test",)),
        "dpr-train": ExtraSource(partial(sentences.read_dpr, "train"), ("dpr",)),
        "winogender": ExtraSource(sentences.read_winogender, ("winogender",), ("winogender", "winopron")),
        "winobias": ExtraSource(partial(sentences.read_winobias, "current"), ("winobias",), _WINOBIAS),
        "winobias-original": ExtraSource(
            partial(sentences.read_winobias, "original"), ("winobias",), _WINOBIAS
        ),
        "knowref": ExtraSource(partial(sentences.read_knowref, "test"), ("knowref",), ("knowref",)),
        "knowref-train": ExtraSource(partial(sentences.read_knowref, "train"), ("knowref",)),
        "map": ExtraSource(sentences.read_map, ("gicoref-map",), ("map",)),
        "wsc273": ExtraSource(sentences.read_wsc273, ("wsc", "names"), _WINOGRAD),
        "winogrande": ExtraSource(sentences.read_winogrande, ("winogrande", "names")),
        "neither-attree": ExtraSource(sentences.read_neither_attree, ("neither-attree",), ("gap-test",)),
        "litbank": ExtraSource(partial(_mine, "litbank"), ("corpora",), ("litbank",)),
        "gum": ExtraSource(partial(_mine, "gum"), ("corpora",), ("gum", "ontogum")),
    },
)
"""By name."""
ExtraName = Annotated[str, OneOf(EXTRA)]


def load(name: str, *, neutral: bool = False) -> ExtraRows:
    """Read an extra corpus, one of :data:`EXTRA`; ``neutral`` also takes rows about pronouns without gender."""
    return read_rows(name, EXTRA[name].read, neutral=neutral)
