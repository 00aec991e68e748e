"""Off-the-shelf resolvers whose output for GAP is among the data: found by name, converted once.

Where members take files of clusters they take these names too, so that a recipe needs no path.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from tempfile import TemporaryDirectory
from types import MappingProxyType

from gapstack.cache import put, sound
from gapstack.corpus.sources import SPLITS, gap_split, require
from gapstack.errors import DataNotFoundError
from gapstack.files import cache_root, digest, fingerprint
from gapstack.resolvers.clusters import write_clusters
from gapstack.resolvers.formats import read_resolver

AT_HAND: Mapping[str, str] = MappingProxyType({"neuralcoref": "neuralcoref_hf_{split}.jsonl.xz"})
"""File of each split, in the data set ``resolvers``, by the resolver's name."""

_FORMAT = 1  # of what is stored; another number makes everybody's files anew


def at_hand(name: str, data: Path | None = None) -> list[Path]:
    """Files of a resolver's clusters in the exchange format, aligned to GAP's texts, one for each split it answered.

    Parameters
    ----------
    name : str
        Among :data:`AT_HAND`.
    data : Path, optional
        Where to look first.

    Raises
    ------
    DataNotFoundError
        If its output, or the rows that it is about, are nowhere.
    """
    folder = require("resolvers", data)
    made: list[Path] = []
    for split in SPLITS:
        source = folder / AT_HAND[name].format(split=split)
        if not source.is_file():
            continue
        # by the files' bytes: members ask often, and need not wait for GAP to be read
        key = fingerprint(_FORMAT, digest(source), digest(require(f"gap-{split}", data)))
        place = cache_root() / "resolvers", ".jsonl.xz", f"{name}-{split}-{key}-"
        stored = sound(*place)
        if not stored:
            with TemporaryDirectory() as scratch:
                converted = Path(scratch) / "clusters.jsonl.xz"
                write_clusters(converted, read_resolver(source, gap_split(split, data)).clusters)
                stored = [put(place[0], converted.read_bytes(), *place[1:])]
        made.append(stored[0])
    if not made:
        raise DataNotFoundError(f"{folder} has no output of {name}: {AT_HAND[name].format(split='SPLIT')}")
    return made
