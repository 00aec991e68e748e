"""Corpora that were not made for GAP, as rows like GAP's to train on: a pronoun, its antecedent, another name."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated

from gapstack.data import sources
from gapstack.files import fingerprint, tree_digest
from gapstack.registry import Registry
from gapstack.settings import OneOf, Reads

if TYPE_CHECKING:
    from gapstack.data.extra.rows import ExtraRows, ExtraSource

_SENTENCES, _MINED = "gapstack.data.extra.sentences", "gapstack.data.extra.mined"
EXTRA: Registry[ExtraSource] = Registry(
    "extra corpus",
    {
        "dpr": f"{_SENTENCES}:DPR",
        "dpr-train": f"{_SENTENCES}:DPR_TRAIN",
        "winogender": f"{_SENTENCES}:WINOGENDER",
        "winobias": f"{_SENTENCES}:WINOBIAS",
        "winobias-original": f"{_SENTENCES}:WINOBIAS_ORIGINAL",
        "knowref": f"{_SENTENCES}:KNOWREF",
        "knowref-train": f"{_SENTENCES}:KNOWREF_TRAIN",
        "map": f"{_SENTENCES}:MAP",
        "wsc273": f"{_SENTENCES}:WSC273",
        "winogrande": f"{_SENTENCES}:WINOGRANDE",
        "neither-attree": f"{_SENTENCES}:NEITHER_ATTREE",
        "litbank": f"{_MINED}:LITBANK",
        "gum": f"{_MINED}:GUM",
    },
)
"""Extra corpora by name, each imported on first use."""
ExtraName = Annotated[str, OneOf(EXTRA)]


def _extra_digest(names: Sequence[str]) -> str:
    datasets = sorted({dataset for name in names for dataset in EXTRA[name].datasets})
    digests = [tree_digest(sources.require(dataset)) for dataset in datasets]
    return f"{'+'.join(names)} {fingerprint(digests)}" if names else ""


def _contaminated(names: Sequence[str]) -> list[str]:
    return [test for name in names for test in EXTRA[name].contaminates]


ExtraNames = Annotated[
    Sequence[ExtraName],
    Reads(_extra_digest, by_content=False, in_training=True, contaminates=_contaminated),
]
"""Corpora to train on."""


def load(name: str, *, neutral: bool = False) -> ExtraRows:
    """Read an extra corpus, one of :data:`EXTRA`; ``neutral`` also takes rows about pronouns without gender."""
    from gapstack.data.extra.rows import read_rows

    return read_rows(name, EXTRA[name].read, neutral=neutral)
