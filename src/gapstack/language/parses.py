"""Dependency parses of texts, computed once by any spaCy pipeline and cached as ``DocBin`` shards."""

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
from importlib.metadata import PackageNotFoundError, version
from importlib.util import find_spec
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Annotated, Any

import numpy as np
from safetensors import safe_open
from safetensors.numpy import save
from threadpoolctl import threadpool_limits

from gapstack import cache
from gapstack.data import Corpus, Example, Span
from gapstack.errors import DataError, DataNotFoundError, Place
from gapstack.files import CACHE, cache_root, digest, fingerprint, require_writable, tree_digest
from gapstack.language.grammar import Parse, parse_of
from gapstack.processes import in_processes, thread_count
from gapstack.progress import progress
from gapstack.settings import Reads

if TYPE_CHECKING:
    from spacy.language import Language
    from spacy.tokens import Doc, DocBin

    from gapstack.data.clusters import Heads

ENVIRONMENT = "GAP_PARSER"
_PACKAGE = Path(__file__).resolve().parents[1]
SHIPPED_PARSES = _PACKAGE / "data" / "sample" / "parses.spacy"
# a wheel contains the pipeline, a source checkout has it in models/
_PROJECT_PARSERS = (_PACKAGE / "en_gapstack", _PACKAGE.parents[1] / "models" / "en_gapstack")
ATTRIBUTES = ["POS", "TAG", "MORPH", "LEMMA", "HEAD", "DEP", "SENT_START", "ENT_IOB", "ENT_TYPE"]
_IGNORED = (".md", ".pyc")  # files of a pipeline that do not change its parses
_SHARD = 256
_BATCH = 128
_SUFFIX = ".safetensors"
_MIN_TEXTS_FOR_PROCESSES = 600
_MAX_PROCESSES = 4


@dataclass(frozen=True)
class Parser:
    """A pipeline that is not loaded yet: a folder or the name of an installed package."""

    name: str

    @property
    def fingerprint(self) -> str:
        """Hash of the files of the installed package of this name (spaCy prefers it), or else of the folder."""
        if self.name.isidentifier():
            with suppress(PackageNotFoundError):
                installed = version(self.name)
                spec = find_spec(self.name)
                places = list(spec.submodule_search_locations or ()) if spec else []
                package = fingerprint([tree_digest(Path(place), _IGNORED) for place in places])
                return fingerprint(self.name, installed, package)
        folder = Path(self.name)
        # the parses of a missing pipeline may still be cached
        return tree_digest(folder, _IGNORED) if folder.is_dir() else fingerprint(self.name, None)

    def load(self) -> Language:
        """Load the pipeline; DataNotFoundError if spaCy does not find it, DataError if it has no dependency parser."""
        import spacy

        try:
            nlp = spacy.load(self.name)
        except OSError as error:
            raise DataNotFoundError(
                f"spaCy cannot load pipeline {self.name!r} ({error}); give a pipeline folder or installed package with "
                f"parser=PIPELINE or {ENVIRONMENT}, or train the project's own (models/parser)"
            ) from error
        if "parser" not in nlp.pipe_names:
            raise DataError(
                f"pipeline {self.name!r} has components {', '.join(nlp.pipe_names) or 'none'}",
                expected="a dependency parser among them",
                remedy="Choose another with parser=PIPELINE",
            )
        return nlp


def spare_imports(parser: str | Path | None = None) -> None:
    """Import LightGBM, spaCy and scikit-learn without pandas, torch and scipy.stats, unless another parser is set."""
    if parser or os.environ.get(ENVIRONMENT):
        return
    for library, without in _SPARED.items():
        spared = {name: stand_in for name, stand_in in without.items() if name not in sys.modules}
        sys.modules.update(spared)  # type: ignore[arg-type]  # importing a module that is None here fails
        try:
            import_module(library)
        finally:
            for name in spared:
                del sys.modules[name]


_SPARED: dict[str, dict[str, ModuleType | None]] = {
    "lightgbm": {"pandas": None, "sklearn": None},
    "spacy": {"torch": None},
    # scikit-learn needs scipy.stats to exist when it is imported, and calls one of its functions later
    "sklearn.base": {"pandas": None, "scipy.stats": ModuleType("scipy.stats")},
}


def find_parser(parser: str | Path | None = None) -> Parser:
    """The given pipeline, else ``GAP_PARSER``, else ``en_gapstack``; DataNotFoundError if that is missing."""
    named = parser or os.environ.get(ENVIRONMENT)
    if named:
        return Parser(str(named))
    for folder in _PROJECT_PARSERS:
        if (folder / "config.cfg").is_file():
            return Parser(str(folder))
    raise DataNotFoundError(
        f"no dependency parser: {', '.join(map(str, _PROJECT_PARSERS))} not found; give a spaCy pipeline "
        f"(such as en_core_web_sm) with parser=PIPELINE or {ENVIRONMENT}, or train the project's own (models/parser)"
    )


def parser_key(parser: str | Path | None = None) -> str:
    """Identity of a parser's parses; by default also of the parses shipped with the embedded sample."""
    if _is_named(parser):
        return find_parser(parser).fingerprint
    shipped = digest(SHIPPED_PARSES) if SHIPPED_PARSES.is_file() else None
    try:
        return fingerprint(find_parser().fingerprint, shipped)
    except DataNotFoundError:
        return fingerprint(None, shipped)


def parser_name(parser: str | Path | None = None) -> str:
    """Display name of a parser."""
    try:
        return Path(find_parser(parser).name).name
    except DataNotFoundError:
        return "shipped"


PARSER = Reads(lambda parser: f"{parser_name(parser)} {parser_key(parser)}", recorded_as="parser")
ParserName = Annotated[str | None, PARSER]
"""A setting for :func:`find_parser`."""


def _is_named(parser: str | Path | None) -> bool:
    return bool(parser or os.environ.get(ENVIRONMENT))


def text_key(text: str) -> str:
    """Key of a text in the parse cache: 16 hexadecimal digits."""
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:16]


def parses(source: Corpus | Iterable[str], parser: str | Path | None = None) -> list[Parse]:
    """Parse of each text, in order; stored parses are reused, and the embedded sample needs no parser."""
    texts = list(source.texts if isinstance(source, Corpus) else source)
    text_of = {text_key(text): text for text in texts}
    # documents are not kept, since they are large
    trees = {key: parse_of(doc, text_of[key]) for key, doc in docs(texts, parser)}
    return [trees[text_key(text)] for text in texts]


def docs(texts: Iterable[str], parser: str | Path | None = None) -> Iterator[tuple[str, Doc]]:
    """Key and spaCy document of each distinct text, in any order; missing parses are computed and stored first."""
    from spacy.tokens import DocBin

    wanted = {text_key(text): text for text in texts}
    shipped = () if _is_named(parser) else _shipped_keys()
    if not wanted.keys().isdisjoint(shipped):
        for key, doc in _read(DocBin().from_disk(SHIPPED_PARSES), shipped, wanted):
            del wanted[key]
            yield key, doc
    if not wanted:
        return
    pipeline = find_parser(parser)
    folder = cache_root() / "parses" / pipeline.fingerprint
    missing = wanted.keys() - {key for shard in cache.intact_files(folder, _SUFFIX) for key in _keys(shard)}
    if missing:
        require_writable(folder, CACHE)
        try:
            _fill(folder, pipeline, [wanted[key] for key in missing])
        except BrokenProcessPool as error:
            raise DataError(
                "a parsing process was killed",
                place=Place(folder),
                remedy="The usual cause is too little memory: free some and run again; finished parses are kept",
            ) from error
    for shard in cache.intact_files(folder, _SUFFIX):
        if not wanted.keys().isdisjoint(_keys(shard)):
            with safe_open(shard, framework="numpy") as tensors:
                documents = tensors.get_tensor("documents").tobytes()
            for key, doc in _read(DocBin().from_bytes(documents), _keys(shard), wanted):
                del wanted[key]
                yield key, doc


@lru_cache(maxsize=4096)  # a shard's path identifies its content
def _keys(shard: Path) -> list[str]:
    """Keys of the texts of a shard, in order."""
    with safe_open(shard, framework="numpy") as tensors:
        return [key.tobytes().hex() for key in tensors.get_tensor("keys")]


def _read(bin_: DocBin, keys: Sequence[str], wanted: Iterable[str]) -> Iterator[tuple[str, Doc]]:
    """The wanted documents."""
    wanted = set(wanted)
    keep = [i for i, key in enumerate(keys) if key in wanted]
    # building documents is expensive, so only the wanted ones are built
    for name in ("tokens", "spaces", "cats", "flags", "span_groups", "user_data"):
        column = getattr(bin_, name)
        if column:
            setattr(bin_, name, [column[i] for i in keep])
    yield from zip((keys[i] for i in keep), bin_.get_docs(_vocabulary()), strict=True)


@lru_cache(maxsize=1)
def _vocabulary() -> Any:
    from spacy.vocab import Vocab

    return Vocab()


@lru_cache(maxsize=1)
def _shipped_keys() -> tuple[str, ...]:
    from spacy.tokens import DocBin

    if not SHIPPED_PARSES.is_file():
        return ()
    return tuple(text_key(doc.text) for doc in DocBin().from_disk(SHIPPED_PARSES).get_docs(_vocabulary()))


@cache.by_content(lambda pipeline: pipeline.fingerprint, most=2)
def _loaded(pipeline: Parser) -> Language:
    from thinc.api import Model, NumpyOps

    nlp = pipeline.load()
    models = [getattr(part, "model", None) for _, part in nlp.pipeline]
    for layer in (layer for model in models if isinstance(model, Model) for layer in model.walk()):
        if isinstance(layer.ops, NumpyOps):
            layer.ops.use_blis = False  # numpy is a third faster, with the same parses
    return nlp


def _fill(folder: Path, pipeline: Parser, texts: Sequence[str]) -> None:
    """Parse ``texts`` and store them shard by shard, in several processes if there are many."""
    # batches of equal length, since some pipelines pad; long texts first, so that processes finish together
    texts = sorted(texts, key=len, reverse=True)
    shards = [texts[start : start + _SHARD] for start in range(0, len(texts), _SHARD)]
    processes = min(thread_count(), _MAX_PROCESSES) if len(texts) >= _MIN_TEXTS_FOR_PROCESSES else 1
    _loaded(pipeline)  # before forking, so that it is loaded once
    with progress("parsing", len(texts)) as ticker:
        for done in in_processes(partial(_fill_shard, folder, pipeline), shards, processes):
            ticker.advance(done)


def _fill_shard(folder: Path, pipeline: Parser, texts: Sequence[str]) -> int:
    """Parse and store the texts of a shard, and return their number."""
    # threads slow down these small matrix products
    with threadpool_limits(1):
        store(list(_loaded(pipeline).pipe(texts, batch_size=_BATCH)), folder)
    return len(texts)


def store(shard: Sequence[Doc], folder: Path) -> Path:
    """Write documents and the keys of their texts to a shard, and return its path."""
    from spacy.tokens import DocBin

    keys = b"".join(bytes.fromhex(text_key(doc.text)) for doc in shard)
    documents = DocBin(attrs=ATTRIBUTES, docs=shard).to_bytes()
    content = {
        "keys": np.frombuffer(keys, dtype=np.uint8).reshape(len(shard), -1),
        "documents": np.frombuffer(documents, dtype=np.uint8),
    }
    return cache.store(folder, save(content), _SUFFIX)


def heads_of(corpus: Corpus, parser: str | Path | None = None) -> Heads:
    """Parse a corpus and return a function from examples and mentions to head words, as spans."""
    trees = dict(zip(corpus.texts, parses(corpus, parser), strict=True))

    def head(example: Example, span: Span) -> Span:
        return head_span(trees[example.text], span) if example.text in trees else span

    return head


def head_span(parse: Parse, span: Span) -> Span:
    """Characters of the head token of a span; the span itself if it contains no token."""
    token = parse.head_of(parse.tokens_in(span))
    return parse.characters(range(token, token + 1)) if token >= 0 else span
