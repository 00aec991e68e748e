"""Resolvers run as libraries, each an optional extra: rows in, the exchange format out.

To add one, write a function that loads a model's folder and returns a :data:`Predict`, and add its :class:`Adapter` to
:data:`ADAPTERS`. Nothing is downloaded.
"""

from __future__ import annotations

import importlib
import importlib.metadata
import json
import logging
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from gapstack.data.contamination import warn_of_contamination
from gapstack.data.corpus import Corpus
from gapstack.errors import DataError, DataNotFoundError, MismatchError
from gapstack.files import tree_digest
from gapstack.progress import progress
from gapstack.resolvers.align import Reading, Tally
from gapstack.resolvers.clusters import Clusters, read_clusters, write_clusters
from gapstack.resolvers.formats import Output, spans

Pages = Sequence[str | None]
"""URLs of the texts' pages, for resolvers that read page titles; None where they must not be used."""
Predict = Callable[[Sequence[str], Pages], Sequence[Output | None]]
"""Maps texts to outputs, in order; None where the resolver failed."""
BATCH = 16
"""Number of texts per call of the resolver."""


@dataclass(frozen=True)
class Adapter:
    """A resolver that can be run.

    Attributes
    ----------
    name : str
        Name in ``gap resolve``.
    package : str
        Distribution whose version is recorded.
    needs : str
        The model that it needs, and where to get it.
    load : callable
        Takes the model's path and returns a :data:`Predict`; raises DataNotFoundError if package or model are missing.
    default : callable, optional
        Returns the path of the default model.
    contaminated_by : callable
        Takes the model's path and returns the test sets that it was trained on, if known.
    identity : callable
        Takes the model's path and returns a hash of its content.
    """

    name: str
    package: str
    needs: str
    load: Callable[[Path], Predict]
    default: Callable[[], Path] | None = None
    contaminated_by: Callable[[Path], Sequence[str]] = lambda model: ()
    identity: Callable[[Path], str] = tree_digest

    def version(self, model: Path) -> str:
        """Package version, model name and the start of its identity."""
        package = importlib.metadata.version(self.package)
        return f"{package}+{model.name}-{self.identity(model)[:8]}"


def resolve(
    adapter: Adapter,
    model: Path | None,
    rows: Corpus,
    target: Path,
    *,
    pages: bool = False,
    seconds: float = 30.0,
) -> Reading:
    """Run a resolver on every row and write its clusters to ``target``.

    Finished rows are kept in ``NAME.part.jsonl``, written every ``seconds`` and on interruption; the same call resumes
    from there. Logs a warning if the model was trained on the rows.

    Parameters
    ----------
    adapter : Adapter
    model : Path or None
        The adapter's model; None for its default.
    rows : Corpus
        Names and labels are never shown to the resolver.
    target : Path
        ``.jsonl``, ``.jsonl.gz`` or ``.jsonl.xz``.
    pages : bool
        Show it the URLs of the rows' pages.
    seconds : float

    Returns
    -------
    Reading
        Lost mentions are counted for the rows of this call only.

    Raises
    ------
    DataNotFoundError
        If the package or the model is missing.
    DataError
        If the library cannot load the model.
    MismatchError
        If another resolver, version or model wrote the unfinished part.
    """
    if model is None:
        if adapter.default is None:
            raise DataNotFoundError(f"{adapter.name} has no default model; give {adapter.needs} with --model")
        model = adapter.default()
    predict = adapter.load(model)
    warn_of_contamination(adapter.contaminated_by(model), rows.ids)
    name, version = adapter.name, adapter.version(model) + ("+pages" if pages else "")
    part = target.with_name(target.name.split(".jsonl")[0] + ".part.jsonl")
    begun = read_clusters(part, rows) if part.exists() else Clusters(name, version, ())
    if (begun.resolver, begun.version) != (name, version):
        raise MismatchError(
            f"{part} was written by {begun.name}, not by {name}@{version}; delete it, or choose another output file"
        )
    tally = Tally(begun.documents)
    pending = [row for row in rows if row.id not in tally.documents]
    saved = time.monotonic()

    def save() -> None:
        if tally.documents:
            write_clusters(part, Clusters(name, version, tally.documents.values()))

    try:
        with progress(f"Running {name}", len(rows)) as ticker:
            ticker.advance(len(rows) - len(pending))
            for start in range(0, len(pending), BATCH):
                batch = pending[start : start + BATCH]
                outputs = predict([row.text for row in batch], [row.url if pages else None for row in batch])
                for row, output in zip(batch, outputs, strict=True):
                    tally.add(row, output)
                ticker.advance(len(batch))
                if time.monotonic() - saved > seconds:
                    save()
                    saved = time.monotonic()
    except BaseException:
        save()
        raise
    documents = tally.documents
    clusters = Clusters(name, version, [documents[one] for one in rows.ids if one in documents])
    write_clusters(target, clusters)
    part.unlink(missing_ok=True)
    return Reading(clusters, name, len(rows), tuple(tally.failed), tally.lost, tally.mentions)


def _library(module: str, extra: str) -> Any:
    """Import a module of an optional extra."""
    try:
        return importlib.import_module(module)
    except ImportError as problem:
        raise DataNotFoundError(
            f"cannot import {module.partition('.')[0]} ({problem}); run: pip install 'gapstack[{extra}]'"
        ) from problem


def _model_folder(model: Path, needs: str, file: str) -> Path:
    """The model's folder, if it contains ``file``."""
    if not (model / file).is_file():
        raise DataNotFoundError(f"{model} has no {file}; expected {needs}")
    return model


def _cannot_load(model: Path, needs: str, problem: Exception) -> DataError:
    reason = str(problem).strip().split("\n")[0] or type(problem).__name__
    return DataError(f"cannot load {model} ({reason})", expected=needs)


_FASTCOREF = "the folder of a fastcoref model (config.json with 'coref_head', tokenizer, weights), such as "


def fastcoref_model(kind: str = "fcoref") -> Any:
    """``FCorefModel`` or ``LingMessModel``, adapted to transformers 5.

    transformers 5 looks for a table of tied weights, which both models lack because they tie none. LingMess passes its
    attention implementation on to Longformer, which has no fused one.
    """
    module = _library(f"fastcoref.coref_models.modeling_{kind}", "fastcoref")
    model = module.FCorefModel if kind == "fcoref" else module.LingMessModel
    if not hasattr(model, "all_tied_weights_keys"):
        model.all_tied_weights_keys = {}
    if kind == "lingmess":
        model._supports_sdpa = False
    return model


def _load_fastcoref(kind: str, resolver: str, needs: str, model: Path) -> Predict:
    """Fastcoref 2.1: F-coref and LingMess (Otmazgin et al. 2022, 2023), on spaCy's tokens."""
    package = _library("fastcoref", "fastcoref")
    fastcoref_model(kind)
    folder = _model_folder(model, needs, "config.json")
    if "coref_head" not in json.loads((folder / "config.json").read_text(encoding="utf-8")):
        raise _cannot_load(folder, needs, KeyError("config.json has no 'coref_head'"))
    import spacy

    logging.getLogger("fastcoref").setLevel(logging.WARNING)  # it logs every batch
    _library("datasets", "fastcoref").disable_progress_bars()
    try:
        predictor = getattr(package, resolver)(str(folder), nlp=spacy.blank("en"), enable_progress_bar=False)
    except (OSError, ValueError, KeyError, AttributeError, RuntimeError) as problem:
        raise _cannot_load(folder, needs, problem) from problem

    def output(result: Any) -> Output:
        # a mention that begins or ends on a special piece is None
        clusters = [filter(None, cluster) for cluster in result.get_clusters(as_strings=False)]
        return Output(None, result.text, spans(clusters, result.text))

    return lambda texts, pages: [
        output(result) for result in predictor.predict(list(texts), max_tokens_in_batch=10_000)
    ]


_COREFEREE = (
    "the folder of a spaCy pipeline that coreferee knows (en_core_web_sm, _md, _lg or _trf of spaCy 3.4, 3.7 or 3.8); "
    "its own part, coreferee_model_en, is installed by: python -m coreferee install en"
)


def _load_coreferee(model: Path) -> Predict:
    """Coreferee 1.5 (Hudson 2021): rules and a small network on spaCy's parses; mentions are heads."""
    _library("coreferee", "coreferee")
    folder = _model_folder(model, _COREFEREE, "config.cfg")
    import spacy

    try:
        nlp = spacy.load(folder)
        if "coreferee" not in nlp.pipe_names:
            nlp.add_pipe("coreferee")
    except Exception as problem:  # its errors share no base class
        raise _cannot_load(folder, _COREFEREE, problem) from problem

    def output(doc: Any) -> Output | None:
        if doc._.coref_chains is None:  # an error of coreferee's own, which it printed
            return None
        # a mention of several tokens is a conjunction: each token is a mention
        chains = [
            [doc[i] for mention in chain for i in mention.token_indexes] for chain in doc._.coref_chains
        ]
        return Output(
            None, doc.text, spans([[(t.idx, t.idx + len(t)) for t in one] for one in chains], doc.text)
        )

    return lambda texts, pages: list(map(output, nlp.pipe(texts)))


_STANZA = (
    "the folder that stanza.download('en', model_dir=FOLDER, processors='tokenize,coref') fills, and in Hugging Face's "
    "cache the transformer that its resolver uses"
)


def _load_stanza(model: Path) -> Predict:
    """Stanza 1.15: its word-level resolver (after D'Oosterlinck et al. 2023) on its own tokens."""
    package = _library("stanza", "stanza")
    _library("peft", "stanza")
    folder = _model_folder(model, _STANZA, "resources.json")
    try:
        nlp = package.Pipeline(
            "en", dir=str(folder), processors="tokenize,coref", download_method=None, verbose=False
        )
    except Exception as problem:  # errors of its own, of torch and of transformers
        raise _cannot_load(folder, _STANZA, problem) from problem

    def mention_range(document: Any, mention: Any) -> tuple[int, int]:
        words = document.sentences[mention.sentence].words[mention.start_word : mention.end_word]
        # words of a contraction share a token, and only tokens have characters
        return words[0].parent.start_char, words[-1].parent.end_char

    def output(document: Any) -> Output:
        clusters = [
            # a tuple is the place of a word that the text omits
            [mention_range(document, one) for one in chain.mentions if isinstance(one.start_word, int)]
            for chain in document.coref
        ]
        return Output(None, document.text, spans(clusters, document.text))

    return lambda texts, pages: [output(nlp(text)) for text in texts]


_F, _LINGMESS = _FASTCOREF + "a copy of biu-nlp/f-coref", _FASTCOREF + "a copy of biu-nlp/lingmess-coref"
ADAPTERS = {
    one.name: one
    for one in (
        Adapter("fastcoref", "fastcoref", _F, partial(_load_fastcoref, "fcoref", "FCoref", _F)),
        Adapter(
            "lingmess",
            "fastcoref",
            _LINGMESS,
            partial(_load_fastcoref, "lingmess", "LingMessCoref", _LINGMESS),
        ),
        Adapter("coreferee", "coreferee", _COREFEREE, _load_coreferee),
        Adapter("stanza", "stanza", _STANZA, _load_stanza),
    )
}
"""Adapters by name; gapstack's own resolver is in :mod:`gapstack.anytext.adapter`."""
