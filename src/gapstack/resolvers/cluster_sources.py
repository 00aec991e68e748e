"""Clusters by the names in settings: files, recorded output, and resolvers that are run on the rows' texts."""

import warnings
from collections.abc import Sequence
from dataclasses import replace
from functools import cache
from itertools import chain
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Annotated

from gapstack.cache import SHARD_ROWS, by_content, intact_files, store
from gapstack.data.clusters import Clusters, Document, read_clusters, text_sha256
from gapstack.data.contamination import known_test_sets
from gapstack.data.corpus import Corpus
from gapstack.data.gap_data import SPLITS, gap_split
from gapstack.data.sources import require
from gapstack.errors import DataNotFoundError, ExtraError, MemberError
from gapstack.files import CACHE, cache_root, contents, digest, fingerprint, no_such_file, require_writable
from gapstack.resolvers.align import read_resolver
from gapstack.resolvers.live import ADAPTERS, resolve
from gapstack.settings import Reads

RECORDED = {"neuralcoref": "neuralcoref_hf_{split}.jsonl.xz"}
"""File of each split, in the data set ``resolvers``, by the resolver's name."""
LIVE = ("gapstack", "fastcoref")  # resolvers that are run on any text, with their default models
_SUFFIX = ".jsonl.xz"
_LEAST_COVERAGE = 0.5  # share of the rows for which recorded output is worth a member


def read_resolvers(names: Sequence[str | Path], corpus: Corpus) -> tuple[Clusters, ...]:
    """Clusters of files, or of names in :data:`RECORDED` or :data:`LIVE`; joined by resolver and version."""
    files = [name for name in names if str(name) not in LIVE]
    live = (run_cached(str(name), corpus) for name in names if str(name) in LIVE)
    return (*_read_files(files), *live)


def check_coverage(resolvers: Sequence[Clusters], corpus: Corpus, *, fitting: bool) -> None:
    """Raise MemberError in fitting, or warn in predicting, if a resolver has clusters for none of the rows."""
    for one in resolvers:
        if not one.covers(corpus).any():
            found = f"{one.name} has clusters for none of the {len(corpus)} rows of {corpus.name}"
            if fitting:
                raise MemberError(
                    f"{found}; check that the files are of this corpus and of its original texts"
                )
            warnings.warn(f"{found}: they are predicted without it", stacklevel=3)


def input_key(names: Sequence[str | Path]) -> str:
    """Digest of the files that the names lead to, and of the resolvers that are run; DataNotFoundError if missing."""
    files = list(chain.from_iterable(_files(name) for name in names if str(name) not in LIVE))
    for file in files:
        if not file.is_file():
            raise no_such_file(file)
    live = [ADAPTERS[str(name)].version() for name in names if str(name) in LIVE]
    return fingerprint([digest(file) for file in files], *live)


def _clusters_digest(names: Sequence[str]) -> str:
    return f"{'+'.join(Path(name).name for name in names)} {input_key(names)}" if names else ""


ClusterNames = Annotated[Sequence[str], Reads(_clusters_digest)]
"""A setting for :func:`read_resolvers`."""


def why_unavailable(name: str, rows: Corpus) -> str | None:
    """Why a name in :data:`RECORDED` or :data:`LIVE` is of no use for these rows here; None otherwise and for files."""
    try:
        if name in LIVE:
            adapter = ADAPTERS[name]
            if learned := set(known_test_sets(rows.ids)).intersection(
                adapter.contaminated_by(adapter.check())
            ):
                return f"{name} learned from {' and '.join(sorted(learned))}, so that its clusters are not out of fold"
        elif name in RECORDED:
            (found,) = read_resolvers([name], rows)
            if found.covers(rows).mean() < _LEAST_COVERAGE:
                return f"{name} has clusters for too few of the rows of {rows.name}"
    except (DataNotFoundError, ExtraError) as missing:
        return f"{name}: {missing}"
    return None


def _recorded(name: str) -> dict[str, Path]:
    """Recorded output of a resolver in :data:`RECORDED` by split; DataNotFoundError if there is none."""
    folder = require("resolvers")
    files = {split: folder / RECORDED[name].format(split=split) for split in SPLITS}
    found = {split: file for split, file in files.items() if file.is_file()}
    if not found:
        raise DataNotFoundError(f"{folder} has no output of {name}: {RECORDED[name].format(split='SPLIT')}")
    return found


def run_cached(name: str, corpus: Corpus) -> Clusters:
    """Clusters of all texts of a corpus by a resolver in :data:`LIVE`; their ids are hashes of the texts."""
    adapter = ADAPTERS[name]
    version = adapter.version()
    place = cache_root() / "resolvers", _SUFFIX, f"{name}-{fingerprint(version)}-"
    known = {document.id: document for file in intact_files(*place) for document in _documents(file)}
    texts = {text_sha256(row.text): row for row in corpus}
    missing = [replace(row, id=key) for key, row in texts.items() if key not in known]
    if missing:
        require_writable(place[0], CACHE)
    for start in range(0, len(missing), SHARD_ROWS):
        rows = Corpus(missing[start : start + SHARD_ROWS], name=corpus.name)
        with TemporaryDirectory() as scratch:
            file = Path(scratch) / f"clusters{_SUFFIX}"
            found = resolve(adapter, None, rows, file).clusters
            store(place[0], file.read_bytes(), *place[1:])
        known |= {document.id: document for document in found.documents}
    return Clusters(name, version, [known[key] for key in texts if key in known])


@cache  # the file's name has a digest of its contents
def _documents(file: Path) -> tuple[Document, ...]:
    return read_clusters(file).documents


def _files(name: str | Path) -> list[Path]:
    """Files behind a name in :data:`RECORDED`, the rows that they are about included; any other name is a path."""
    if str(name) not in RECORDED:
        return [Path(name)]
    return [path for split, file in _recorded(str(name)).items() for path in (file, require(f"gap-{split}"))]


@by_content(lambda names: contents(chain.from_iterable(map(_files, names))))
def _read_files(names: Sequence[str | Path]) -> tuple[Clusters, ...]:
    """Files of clusters in order of appearance; recorded output is aligned to GAP."""
    documents: dict[tuple[str, str], list[Document]] = {}
    for name in names:
        files = _recorded(str(name)).items() if str(name) in RECORDED else ()
        parts = [read_resolver(file, gap_split(split)).clusters for split, file in files]
        for part in parts or [read_clusters(Path(name))]:
            documents.setdefault((part.resolver, part.version), []).extend(part.documents)
    return tuple(Clusters(*source, parts) for source, parts in documents.items())
