"""Dependency parses of texts: computed once by any spaCy pipeline, kept as ``DocBin`` files, read without it.

The cache is a folder for each pipeline (named after its fingerprint) of shards. A shard is one file that holds the
documents and the keys of their texts, named after its bytes (:mod:`gapstack.cache`): a damaged one is deleted. A run
that is killed keeps its finished shards, and the next one parses only what is missing.
"""

from __future__ import annotations

import hashlib
import os
import sys
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures.process import BrokenProcessPool
from contextlib import suppress
from dataclasses import dataclass
from functools import lru_cache, partial
from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Any

import numpy as np
from safetensors import safe_open
from safetensors.numpy import save
from threadpoolctl import threadpool_limits

from gapstack import cache
from gapstack.corpus import Corpus
from gapstack.errors import DataError, DataNotFoundError, Place
from gapstack.files import atomic_path, by_content, cache_root, digest, fingerprint, tree_digest
from gapstack.processes import in_processes
from gapstack.progress import progress
from gapstack.text.grammar import Parse, parse_of

if TYPE_CHECKING:
    from spacy.language import Language
    from spacy.tokens import Doc, DocBin

ENVIRONMENT = "GAP_PARSER"
_PACKAGE = Path(__file__).resolve().parents[1]
SHIPPED_PARSES = _PACKAGE / "corpus" / "sample" / "parses.spacy"
# a wheel carries the pipeline inside the package, a source checkout beside it
_PROJECT_PARSERS = (_PACKAGE / "en_gapstack", _PACKAGE.parents[1] / "models" / "en_gapstack")
_ATTRIBUTES = ["POS", "TAG", "MORPH", "LEMMA", "HEAD", "DEP", "SENT_START", "ENT_IOB", "ENT_TYPE"]
_NO_PIPELINE = (".md", ".pyc")  # files beside a pipeline that decide nothing
_SHARD = 256
_BATCH = 128
_SUFFIX = ".safetensors"
_TRIES = 3
# below this many texts, starting a second process costs more than it saves
_WORTH_A_PROCESS = 600
_MOST_PROCESSES = 4


@dataclass(frozen=True)
class Parser:
    """A pipeline that is available but not loaded: a folder or the name of an installed package."""

    name: str

    @property
    def fingerprint(self) -> str:
        """Hash that changes when the pipeline's parses may change: of its files, or of its package's."""
        package = self._package()
        if package is not None:
            return fingerprint(self.name, *package)
        folder = Path(self.name)
        # of a pipeline that is nowhere, parses may still be stored
        return tree_digest(folder, _NO_PIPELINE) if folder.is_dir() else fingerprint(self.name, None)

    def _package(self) -> tuple[str, str] | None:
        """Version and contents of the installed package of this name, which spaCy prefers to a folder."""
        from importlib.metadata import PackageNotFoundError, version
        from importlib.util import find_spec

        if not self.name.isidentifier():
            return None
        try:
            installed = version(self.name)
        except PackageNotFoundError:
            return None
        spec = find_spec(self.name)
        places = list(spec.submodule_search_locations or ()) if spec else []
        return installed, fingerprint([tree_digest(Path(place), _NO_PIPELINE) for place in places])

    def load(self) -> Language:
        """Load the pipeline.

        Raises
        ------
        DataNotFoundError
            If spaCy finds no such pipeline.
        DataError
            If it has no dependency parser.
        """
        import spacy

        try:
            nlp = spacy.load(self.name)
        except OSError as error:
            raise DataNotFoundError(
                f"spaCy has no pipeline {self.name!r} ({error}). Name a pipeline folder or an installed "
                f"package with --parser or {ENVIRONMENT}, or build the project's own with "
                "scripts/train_parser.py"
            ) from error
        if "parser" not in nlp.pipe_names:
            raise DataError(
                f"pipeline {self.name!r} has components {', '.join(nlp.pipe_names) or 'none'}",
                expected="a dependency parser among them",
                remedy="Choose another pipeline with --parser",
            )
        return nlp


def spare_imports(parser: str | Path | None = None) -> None:
    """Import LightGBM, spaCy and scikit-learn without what they use nowhere here, if the parser is the project's own.

    They import pandas, torch and scipy.stats wherever these are installed, which is half of what a first answer takes
    and of no use to it. For a process that asks one question; all can be imported afterwards. LightGBM then has no
    scikit-learn classes.
    """
    if parser or os.environ.get(ENVIRONMENT):
        return
    for library, without in _SPARED.items():
        spared = {name: stand_in for name, stand_in in without.items() if name not in sys.modules}
        sys.modules.update(spared)  # type: ignore[arg-type]  # what is None here cannot be imported
        try:
            import_module(library)
        finally:
            for name in spared:
                del sys.modules[name]


_SPARED: dict[str, dict[str, ModuleType | None]] = {
    "lightgbm": {"pandas": None, "sklearn": None},
    "spacy": {"torch": None},
    # it does not start without scipy.stats, of which it calls one function, by its name in scipy
    "sklearn.base": {"pandas": None, "scipy.stats": ModuleType("scipy.stats")},
}


def find_parser(parser: str | Path | None = None) -> Parser:
    """Find the pipeline: the one named, else ``GAP_PARSER``, else the project's own ``en_gapstack``.

    Raises
    ------
    DataNotFoundError
        If none is named and the project's own is not there.
    """
    named = parser or os.environ.get(ENVIRONMENT)
    if named:
        return Parser(str(named))
    for folder in _PROJECT_PARSERS:
        if (folder / "config.cfg").is_file():
            return Parser(str(folder))
    raise DataNotFoundError(
        f"no dependency parser: neither --parser nor {ENVIRONMENT} names one, and the project's own is at none of "
        f"{', '.join(map(str, _PROJECT_PARSERS))}. Build it with scripts/train_parser.py, or name an "
        "installed spaCy pipeline (en_core_web_sm, say)"
    )


def parser_key(parser: str | Path | None = None) -> str:
    """Identity of a parser's parses, for caches of values computed from them.

    Where no parser is named that is the project's own together with the shipped parses, which answer first; and
    these alone where there is none.
    """
    if _is_named(parser):
        return find_parser(parser).fingerprint
    shipped = digest(SHIPPED_PARSES) if SHIPPED_PARSES.is_file() else None
    try:
        return fingerprint(find_parser().fingerprint, shipped)
    except DataNotFoundError:
        return fingerprint(None, shipped)


def parser_name(parser: str | Path | None = None) -> str:
    """What to call one choice of parser."""
    try:
        return Path(find_parser(parser).name).name
    except DataNotFoundError:
        return "shipped"


def _is_named(parser: str | Path | None) -> bool:
    return bool(parser or os.environ.get(ENVIRONMENT))


def text_key(text: str) -> str:
    """Key of a text in the parse cache: 16 hexadecimal digits."""
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:16]


def docs(source: Corpus | Iterable[str], parser: str | Path | None = None) -> list[Doc]:
    """Give the parsed spaCy document of each text, in order; texts not in the cache are parsed first.

    With no parser named, the parses that ship with the embedded sample answer for its texts, so that it needs
    no parser at all.

    Raises
    ------
    DataNotFoundError
        If a text has no stored parse and there is no parser.
    """
    texts = list(source.texts if isinstance(source, Corpus) else source)
    docs = dict(_stored(texts, parser))
    return [docs[text_key(text)] for text in texts]


def parses(source: Corpus | Iterable[str], parser: str | Path | None = None) -> list[Parse]:
    """Give the :class:`~gapstack.text.grammar.Parse` of each text, in order; see :func:`docs`.

    Documents are dropped as soon as they are read, so this is the way through a large corpus.
    """
    texts = list(source.texts if isinstance(source, Corpus) else source)
    text_of = {text_key(text): text for text in texts}
    trees = {key: parse_of(doc, text_of[key]) for key, doc in _stored(texts, parser)}
    return [trees[text_key(text)] for text in texts]


def _stored(texts: Sequence[str], parser: str | Path | None) -> Iterator[tuple[str, Doc]]:
    """Give key and document of each distinct text, in no order, parsing and storing what is missing first."""
    wanted = {text_key(text): text for text in texts}
    shipped = () if _is_named(parser) else _shipped_keys()
    if not wanted.keys().isdisjoint(shipped):
        for key, doc in _read(_doc_bin(SHIPPED_PARSES), shipped, wanted):
            del wanted[key]
            yield key, doc
    if not wanted:
        return
    pipeline = find_parser(parser)
    folder = cache_root() / "parses" / pipeline.fingerprint
    for _ in range(_TRIES):
        lost: BrokenProcessPool | None = None
        missing = wanted.keys() - {
            key for shard in cache.intact_files(folder, _SUFFIX) for key in _keys(shard)
        }
        if missing:
            # of equal length in a batch, since some pipelines pad; the longest first, lest one process ends late
            by_length = sorted((wanted[key] for key in missing), key=len, reverse=True)
            try:
                _fill(folder, pipeline, by_length)
            except BrokenProcessPool as error:
                lost = error  # what was stored before is not parsed again
                continue
        for shard in cache.intact_files(folder, _SUFFIX):
            # somebody may delete the cache meanwhile, or another process a damaged shard
            with suppress(FileNotFoundError):
                if not wanted.keys().isdisjoint(_keys(shard)):
                    for key, doc in _read(_shard(shard), _keys(shard), wanted):
                        del wanted[key]
                        yield key, doc
        if not wanted:
            return
    if lost:
        raise DataError(
            "processes that parse were lost",
            place=Place(folder),
            remedy="Memory may be short; what is parsed is kept",
        ) from lost
    raise DataError(
        "parses vanish as soon as they are stored", place=Place(folder), remedy="Name another GAPSTACK_CACHE"
    )


# a shard is named after its bytes, so that its name is all there is to know it by
@lru_cache(maxsize=4096)
def _keys(shard: Path) -> list[str]:
    """Keys of the texts of a shard, in order."""
    with safe_open(shard, framework="numpy") as tensors:
        return [key.tobytes().hex() for key in tensors.get_tensor("keys")]


def _shard(path: Path) -> DocBin:
    from spacy.tokens import DocBin

    with safe_open(path, framework="numpy") as tensors:
        return DocBin().from_bytes(tensors.get_tensor("documents").tobytes())


def _read(bin_: DocBin, keys: Sequence[str], wanted: Iterable[str]) -> Iterator[tuple[str, Doc]]:
    """Give those of the documents that are wanted, each once."""
    wanted = set(wanted)
    keep = [i for i, key in enumerate(keys) if key in wanted]
    # building a document costs more than reading its bytes, so only the wanted ones are built
    for name in ("tokens", "spaces", "cats", "flags", "span_groups", "user_data"):
        column = getattr(bin_, name)
        if column:
            setattr(bin_, name, [column[i] for i in keep])
    yield from zip((keys[i] for i in keep), bin_.get_docs(_vocabulary()), strict=True)


def _doc_bin(path: Path) -> DocBin:
    from spacy.tokens import DocBin

    try:
        return DocBin().from_disk(path)
    except (ValueError, OSError) as error:
        raise DataError(
            f"not a file of stored parses ({error})", place=Place(path), remedy="Delete it and run again"
        ) from error


@lru_cache(maxsize=1)
def _vocabulary() -> Any:
    from spacy.vocab import Vocab

    return Vocab()


@lru_cache(maxsize=1)
def _shipped_keys() -> tuple[str, ...]:
    if not SHIPPED_PARSES.is_file():
        return ()
    return tuple(text_key(doc.text) for doc in _doc_bin(SHIPPED_PARSES).get_docs(_vocabulary()))


@by_content(lambda pipeline: pipeline.fingerprint, most=2)
def _loaded(pipeline: Parser) -> Language:
    from thinc.api import Model, NumpyOps

    nlp = pipeline.load()
    models = [getattr(part, "model", None) for _, part in nlp.pipeline]
    for layer in (layer for model in models if isinstance(model, Model) for layer in model.walk()):
        if isinstance(layer.ops, NumpyOps):
            layer.ops.use_blis = False  # numpy multiplies matrices a third faster, to the same parses
    return nlp


def _fill(folder: Path, pipeline: Parser, texts: Sequence[str]) -> None:
    """Parse ``texts`` and store them shard by shard, by several processes where there is enough to do."""
    shards = [texts[start : start + _SHARD] for start in range(0, len(texts), _SHARD)]
    processes = min(os.cpu_count() or 1, _MOST_PROCESSES) if len(texts) >= _WORTH_A_PROCESS else 1
    _loaded(pipeline)  # before processes are forked, so that they need not
    with progress("parsing", len(texts)) as ticker:
        for done in in_processes(partial(_fill_shard, folder, pipeline), shards, processes):
            ticker.advance(done)


def _fill_shard(folder: Path, pipeline: Parser, texts: Sequence[str]) -> int:
    """Parse and store the texts of a shard; give their number. Documents stay in the process that made them."""
    # threads would cost these small matrices more than they save
    with threadpool_limits(1):
        store(list(_loaded(pipeline).pipe(texts, batch_size=_BATCH)), folder)
    return len(texts)


def store(shard: Sequence[Doc], folder: Path) -> Path:
    """Write documents and the keys of their texts into a cache folder; give the file's path."""
    from spacy.tokens import DocBin

    keys = b"".join(bytes.fromhex(text_key(doc.text)) for doc in shard)
    documents = DocBin(attrs=_ATTRIBUTES, docs=shard).to_bytes()
    content = {
        "keys": np.frombuffer(keys, dtype=np.uint8).reshape(len(shard), -1),
        "documents": np.frombuffer(documents, dtype=np.uint8),
    }
    return cache.store(folder, save(content), _SUFFIX)


def write_docs(documents: Iterable[Doc], path: Path) -> None:
    """Write documents to one ``DocBin`` file, atomically."""
    from spacy.tokens import DocBin

    with atomic_path(path) as temporary:
        DocBin(attrs=_ATTRIBUTES, docs=documents).to_disk(temporary)
