"""Recorded output of off-the-shelf resolvers in the data folder, by name, converted once.

Settings that take files of clusters take these names too, so that recipes need no paths.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import chain
from pathlib import Path
from tempfile import TemporaryDirectory

from gapstack import __version__
from gapstack.cache import intact_files, store
from gapstack.data.sources import SPLITS, gap_split, require
from gapstack.errors import DataNotFoundError
from gapstack.files import by_content, cache_root, contents, digest, fingerprint
from gapstack.resolvers.align import read_resolver
from gapstack.resolvers.clusters import Clusters, Document, read_clusters, write_clusters

RECORDED = {"neuralcoref": "neuralcoref_hf_{split}.jsonl.xz"}
"""File of each split, in the data set ``resolvers``, by the resolver's name."""


def recorded_files(name: str, data: Path | None = None) -> list[Path]:
    """Clusters of a resolver in :data:`RECORDED`, aligned to GAP, in the exchange format: one file per split.

    ``data`` is a folder to search first. Raises DataNotFoundError if the output or the GAP rows are missing.
    """
    folder, files = require("resolvers", data), []
    for split in SPLITS:
        source = folder / RECORDED[name].format(split=split)
        if not source.is_file():
            continue
        # the key needs only the files' digests, so that GAP is not parsed for it
        key = fingerprint(__version__, digest(source), digest(require(f"gap-{split}", data)))
        place = cache_root() / "resolvers", ".jsonl.xz", f"{name}-{split}-{key}-"
        stored = intact_files(*place)
        if not stored:
            with TemporaryDirectory() as scratch:
                converted = Path(scratch) / "clusters.jsonl.xz"
                write_clusters(converted, read_resolver(source, gap_split(split, data)).clusters)
                stored = [store(place[0], converted.read_bytes(), *place[1:])]
        files.append(stored[0])
    if not files:
        raise DataNotFoundError(f"{folder} has no output of {name}: {RECORDED[name].format(split='SPLIT')}")
    return files


def cluster_files(name: str | Path) -> Sequence[Path]:
    """Files of a name in :data:`RECORDED`; any other name is a path."""
    return recorded_files(str(name)) if str(name) in RECORDED else [Path(name)]


@by_content(lambda names: contents(chain.from_iterable(map(cluster_files, names))))
def read_resolvers(names: Sequence[str | Path]) -> tuple[Clusters, ...]:
    """Read files of clusters, joining files of one resolver and version, in order of appearance.

    Errors are those of :func:`~gapstack.resolvers.clusters.read_clusters`; DataError also if two files of a resolver
    share an id.
    """
    documents: dict[tuple[str, str], list[Document]] = {}
    for path in chain.from_iterable(map(cluster_files, names)):
        part = read_clusters(path)
        documents.setdefault((part.resolver, part.version), []).extend(part.documents)
    return tuple(Clusters(*source, parts) for source, parts in documents.items())
