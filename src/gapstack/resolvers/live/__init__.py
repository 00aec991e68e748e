"""Resolvers run as libraries, each an optional extra: rows in, the exchange format out.

To add one: write its file here with an :class:`~gapstack.resolvers.live.adapter.Adapter`, and add it to
:data:`ADAPTERS`. Its output is aligned as files are; its model is a path, and nothing is downloaded.
"""

from __future__ import annotations

import time
from pathlib import Path

from gapstack.corpus.contamination import warn_of_contamination
from gapstack.corpus.corpus import Corpus
from gapstack.errors import DataNotFoundError, MismatchError
from gapstack.progress import progress
from gapstack.registry import Registry
from gapstack.resolvers.clusters import Clusters, read_clusters, write_clusters
from gapstack.resolvers.formats import Reading, Tally
from gapstack.resolvers.live import coreferee, fastcoref, spacy, stanza
from gapstack.resolvers.live.adapter import Adapter

ADAPTERS: Registry[Adapter] = Registry(
    "resolver",
    {
        **{
            one.name: one
            for one in (
                fastcoref.FCOREF,
                fastcoref.LINGMESS,
                coreferee.ADAPTER,
                spacy.ADAPTER,
                stanza.ADAPTER,
            )
        },
        "gapstack": "gapstack.antecedents.adapter:ADAPTER",  # our own, of a room above
    },
)
"""By name."""
BATCH = 16
"""Texts in a batch; after each it is checked whether it is time to save."""


def resolve(
    name: str,
    model: Path | None,
    rows: Corpus,
    target: Path,
    *,
    pages: bool = False,
    seconds: float = 30.0,
) -> Reading:
    """Run a resolver on every row and write its clusters to ``target``.

    A model that has learned from the rows is logged as a warning.
    What is finished is kept beside it (``NAME.part.jsonl``), saved every ``seconds`` and when the work is interrupted,
    and the same call goes on from there. Raises DataNotFoundError if the package or the model is missing;
    UnknownNameError if there is no such resolver; DataError if its library does not take the model; MismatchError if
    the part that is there was made by another resolver, version or model.

    Parameters
    ----------
    name : str
        Among :data:`ADAPTERS`.
    model : Path or None
        What it needs, see ``Adapter.needs``; None is for a resolver that comes with a model.
    target : Path
        ``.jsonl``, or with ``.gz`` or ``.xz``; see :mod:`gapstack.resolvers.clusters`.
    pages : bool
        Whether it is given the addresses of the rows' pages, whose titles tell much. Names and labels never are.

    Returns
    -------
    Reading
        Mentions lost are counted of this call's rows alone.
    """
    adapter = ADAPTERS[name]
    if model is None:
        if adapter.default is None:
            raise DataNotFoundError(f"{name} comes without a model; name {adapter.needs} with --model")
        model = adapter.default()
    predict = adapter.load(model)
    warn_of_contamination(adapter.contaminated_by(model), rows.ids)
    version = adapter.version(model) + ("+pages" if pages else "")
    part = target.with_name(target.name.split(".jsonl")[0] + ".part.jsonl")
    saved_clusters = read_clusters(part, rows) if part.exists() else Clusters(name, version, ())
    if (saved_clusters.resolver, saved_clusters.version) != (name, version):
        raise MismatchError(
            f"{part} was made by {saved_clusters.name}, and this is {name}@{version}; delete it, or write elsewhere"
        )
    tally = Tally(saved_clusters.documents)
    pending = [row for row in range(len(rows)) if rows[row].id not in tally.documents]
    saved = time.monotonic()

    def save() -> None:
        if tally.documents:
            write_clusters(part, Clusters(name, version, tally.documents.values()))

    try:
        with progress(f"Running {name}", len(rows)) as ticker:
            ticker.advance(len(rows) - len(pending))
            for start in range(0, len(pending), BATCH):
                batch = [rows[row] for row in pending[start : start + BATCH]]
                outputs = predict([one.text for one in batch], [one.url if pages else None for one in batch])
                for example, output in zip(batch, outputs, strict=True):
                    tally.add(example, output)
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


__all__ = ["ADAPTERS", "Adapter", "resolve"]
