"""Resolvers run as libraries, each an optional extra: rows in, the exchange format out.

To add one, write a function that loads a model's folder and returns a :data:`Predict`, and list it in :data:`ADAPTERS`.
"""

import importlib.metadata
import json
import logging
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from gapstack.data.clusters import Clusters, read_clusters, write_clusters
from gapstack.data.contamination import warn_of_contamination
from gapstack.data.corpus import Corpus
from gapstack.errors import DataError, DataNotFoundError, GapstackError, MismatchError
from gapstack.files import tree_digest
from gapstack.progress import progress
from gapstack.registry import Registry, import_extra
from gapstack.resolvers.align import Reading
from gapstack.resolvers.formats import Output, spans

Pages = Sequence[str | None]
"""URLs of the texts' pages, for resolvers that read page titles; None where they must not be used."""
Predict = Callable[[Sequence[str], Pages], Sequence[Output | None]]
"""Maps texts to outputs, in order; None where the resolver failed."""
BATCH = 16  # number of texts per call of the resolver


@dataclass(frozen=True)
class Adapter:
    """A resolver that can be run: its package, and what its model's folder contains."""

    name: str
    package: str  # distribution whose version is recorded
    needs: str  # describes the model
    load: Callable[[Path], Predict]
    file: str = ""  # in the model's folder
    modules: Sequence[str] = ()  # of the extra
    default: Callable[[], Path] | None = None
    contaminated_by: Callable[[Path], Sequence[str]] = lambda model: ()
    identity: Callable[[Path], str] = tree_digest

    def check(self, model: Path | None = None) -> Path:
        """Folder of the model, by default the resolver's own; ExtraError or DataNotFoundError if it is incomplete."""
        if model is None:
            if self.default is None:
                raise DataNotFoundError(
                    f"{self.name} has no default model; give with model=FOLDER {self.needs}"
                )
            model = self.default()
        for module in self.modules:
            import_extra(module, self.package)
        if self.file and not (model / self.file).is_file():
            raise DataNotFoundError(f"{model} has no {self.file}; expected {self.needs}")
        return model

    def version(self, model: Path | None = None, *, pages: bool = False) -> str:
        """Version of the package and identity of the model; errors as :meth:`check`."""
        model = self.check(model)
        package = importlib.metadata.version(self.package)
        return f"{package}+{model.name}-{self.identity(model)[:8]}{'+pages' if pages else ''}"

    def loaded(self, model: Path) -> Predict:
        """Load the model of :meth:`check`; DataError if it cannot be loaded."""
        try:
            return self.load(model)
        except GapstackError:
            raise
        except Exception as problem:  # the libraries' errors share no base class
            reason = str(problem).strip().split("\n")[0] or type(problem).__name__
            raise DataError(f"cannot load {model} ({reason})", expected=self.needs) from problem


def resolve(
    adapter: Adapter,
    model: Path | None,
    rows: Corpus,
    target: Path,
    *,
    pages: bool = False,
    seconds: float = 30.0,
) -> Reading:
    """Run a resolver on every row and write its clusters to ``target``, a ``.jsonl`` (``.gz``, ``.xz``) file.

    Finished rows are kept in ``NAME.part.jsonl``, written every ``seconds`` and on interruption; the same call resumes
    from there. Names and labels are never shown to the resolver, the URLs of the rows' pages only with ``pages``.
    """
    model = adapter.check(model)
    predict = adapter.loaded(model)
    warn_of_contamination(adapter.contaminated_by(model), rows.ids)
    name, version = adapter.name, adapter.version(model, pages=pages)
    part = target.with_name(target.name.split(".jsonl")[0] + ".part.jsonl")
    begun = read_clusters(part, rows) if part.exists() else Clusters(name, version, ())
    if (begun.resolver, begun.version) != (name, version):
        raise MismatchError(
            f"{part} was written by {begun.name}, not by {name}@{version}; delete it, or choose another output file"
        )
    reading = Reading.of(begun, name)
    pending = [row for row in rows if row.id not in reading.documents]
    saved = time.monotonic()
    try:
        with progress(f"Running {name}", len(rows)) as ticker:
            ticker.advance(len(rows) - len(pending))
            for start in range(0, len(pending), BATCH):
                batch = pending[start : start + BATCH]
                outputs = predict([row.text for row in batch], [row.url if pages else None for row in batch])
                for row, output in zip(batch, outputs, strict=True):
                    reading.add(row, output)
                ticker.advance(len(batch))
                if time.monotonic() - saved > seconds:
                    write_clusters(part, reading.clusters)
                    saved = time.monotonic()
    except BaseException:
        if reading.documents:
            write_clusters(part, reading.clusters)
        raise
    reading.documents = {one: reading.documents[one] for one in rows.ids if one in reading.documents}
    write_clusters(target, reading.clusters)
    part.unlink(missing_ok=True)
    return reading


def fastcoref_model(kind: str = "fcoref") -> Any:
    """``FCorefModel`` or ``LingMessModel``, which lack a table of tied weights that transformers 5 wants."""
    module = import_extra(f"fastcoref.coref_models.modeling_{kind}", "fastcoref")
    model = module.FCorefModel if kind == "fcoref" else module.LingMessModel
    if not hasattr(model, "all_tied_weights_keys"):
        model.all_tied_weights_keys = {}
    if kind == "lingmess":
        model._supports_sdpa = False
    return model


def _load_fastcoref(kind: str, resolver: str, model: Path) -> Predict:
    """Fastcoref 2.1: F-coref and LingMess (Otmazgin et al. 2022, 2023), on spaCy's tokens."""
    import spacy

    fastcoref_model(kind)
    if "coref_head" not in json.loads((model / "config.json").read_text(encoding="utf-8")):
        raise ValueError("config.json has no 'coref_head'")
    logging.getLogger("fastcoref").setLevel(logging.WARNING)  # it logs every batch
    import_extra("datasets", "fastcoref").disable_progress_bars()
    resolver_class = getattr(import_extra("fastcoref", "fastcoref"), resolver)
    predictor = resolver_class(str(model), nlp=spacy.blank("en"), enable_progress_bar=False)

    def output(result: Any) -> Output:
        # a mention that begins or ends on a special piece is None
        clusters = [filter(None, cluster) for cluster in result.get_clusters(as_strings=False)]
        return Output(None, result.text, spans(clusters, result.text))

    return lambda texts, pages: [
        output(result) for result in predictor.predict(list(texts), max_tokens_in_batch=10_000)
    ]


def _load_coreferee(model: Path) -> Predict:
    """Coreferee 1.5 (Hudson 2021): rules and a small network on spaCy's parses; mentions are heads."""
    import spacy

    nlp = spacy.load(model)
    if "coreferee" not in nlp.pipe_names:
        nlp.add_pipe("coreferee")

    def output(doc: Any) -> Output | None:
        if doc._.coref_chains is None:  # an error of coreferee's own, which it printed
            return None
        # a mention of several tokens is a conjunction: each token is a mention
        chains = [
            [(doc[i].idx, doc[i].idx + len(doc[i])) for mention in chain for i in mention.token_indexes]
            for chain in doc._.coref_chains
        ]
        return Output(None, doc.text, spans(chains, doc.text))

    return lambda texts, pages: list(map(output, nlp.pipe(texts)))


def _load_stanza(model: Path) -> Predict:
    """Stanza 1.15: its word-level resolver (after D'Oosterlinck et al. 2023) on its own tokens."""
    nlp = import_extra("stanza", "stanza").Pipeline(
        "en", dir=str(model), processors="tokenize,coref", download_method=None, verbose=False
    )

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


_FCOREF = Path(__file__).resolve().parents[3] / "models" / "fastcoref"
"""Folder of a checkout for the user's model of fastcoref."""
_FASTCOREF = (
    "the folder of a fastcoref model (config.json with 'coref_head', tokenizer, weights), such as a copy of "
)
_LIBRARIES = {
    "fastcoref": Adapter(
        "fastcoref",
        "fastcoref",
        f"{_FASTCOREF}biu-nlp/f-coref",
        partial(_load_fastcoref, "fcoref", "FCoref"),
        "config.json",
        ("fastcoref", "datasets"),
        lambda: _FCOREF,
    ),
    "lingmess": Adapter(
        "lingmess",
        "fastcoref",
        f"{_FASTCOREF}biu-nlp/lingmess-coref",
        partial(_load_fastcoref, "lingmess", "LingMessCoref"),
        "config.json",
        ("fastcoref", "datasets"),
    ),
    "coreferee": Adapter(
        "coreferee",
        "coreferee",
        "the folder of a spaCy pipeline that coreferee knows (en_core_web_sm, _md, _lg or _trf of spaCy 3.4, 3.7 or "
        "3.8); its own part, coreferee_model_en, is installed by: python -m coreferee install en",
        _load_coreferee,
        "config.cfg",
        ("coreferee",),
    ),
    "stanza": Adapter(
        "stanza",
        "stanza",
        "the folder that stanza.download('en', model_dir=FOLDER, processors='tokenize,coref') fills, and in Hugging "
        "Face's cache the transformer that its resolver uses",
        _load_stanza,
        "resources.json",
        ("stanza", "peft"),
    ),
}
ADAPTERS: Registry[Adapter] = Registry(
    "resolver", {**_LIBRARIES, "gapstack": "gapstack.resolvers.own_adapter:ADAPTER"}
)
"""All resolvers that can be run, by name."""
