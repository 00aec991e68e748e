"""Output files of off-the-shelf resolvers, each in its published format, as clusters of the original texts.

A format is a JSON type and a function that turns one document into an :class:`Output`; :data:`FORMATS` lists them.
Their spans are in the resolver's version of a text; :mod:`gapstack.resolvers.align` puts them into the original.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import accumulate
from pathlib import Path
from typing import Any, NotRequired, TypeVar

from pydantic import FiniteFloat, TypeAdapter
from typing_extensions import TypedDict

from gapstack.data.cells import decode, read_json, read_lines
from gapstack.data.example import Span
from gapstack.data.extra import conll
from gapstack.errors import DataError, Place, shown
from gapstack.registry import Registry
from gapstack.resolvers.clusters import (
    Cluster,
    Link,
    Pair,
    checked_span,
    validate,
)

T = TypeVar("T")
EXCHANGE = "gapstack"
"""Name of the exchange format (:mod:`gapstack.resolvers.clusters`)."""


@dataclass(frozen=True)
class Output:
    """A resolver's clusters in *its own* version of a text.

    ``id`` is None in formats without ids; documents then follow the order of the rows. ``text`` is cleaned or joined
    from tokens, and "" where the resolver failed. The rest is as in :class:`~gapstack.resolvers.clusters.Document`.
    """

    id: str | None
    text: str
    clusters: tuple[Cluster, ...] = ()
    mention_scores: Mapping[Span, float] = field(default_factory=dict)
    link_scores: Mapping[Link, float] = field(default_factory=dict)


@dataclass(frozen=True)
class Format:
    """A file format: its name, the resolver's name, a test of the first lines, and a reader of documents."""

    name: str
    resolver: str
    recognises: Callable[[Sequence[bytes]], bool]
    read: Callable[[Path], Iterable[Output]]


def spans(clusters: Iterable[Iterable[Sequence[int]]], text: str) -> tuple[Cluster, ...]:
    """Clusters of half-open character ranges of ``text``, without empty clusters; DataError for an invalid range."""
    mentions = (tuple(checked_span(start, end, len(text)) for start, end in cluster) for cluster in clusters)
    return tuple(cluster for cluster in mentions if cluster)


def from_tokens(
    name: str | None, tokens: Sequence[str], clusters: Iterable[Iterable[Sequence[int]]]
) -> Output:
    """Output of clusters of ``[first, last]`` tokens, both included; the text is the tokens joined by blanks."""
    ends = list(accumulate(len(token) + 1 for token in tokens))

    def characters(first: int, last: int) -> tuple[int, int]:
        if not 0 <= first <= last < len(tokens):
            raise DataError(
                f"invalid tokens {first} to {last}", expected=f"0 <= first <= last < {len(tokens)}"
            )
        return ends[first] - len(tokens[first]) - 1, ends[last] - 1

    text = " ".join(tokens)
    places = ([characters(*mention) for mention in cluster] for cluster in clusters)
    return Output(name, text, spans(places, text))


def _item(rows: Sequence[T], number: int, what: str, first: int = 0) -> T:
    """Item ``number`` of rows counted from ``first``; DataError if there is none."""
    if not first <= number < first + len(rows):
        raise DataError(f"invalid {what} {number}", expected=f"{first} to {first + len(rows) - 1}")
    return rows[number - first]


def _json_format(
    name: str, resolver: str, shape: type[Any], parse: Callable[[str | None, Any], Output]
) -> Format:
    """Format of JSON objects: one a line, in one list, or a single one; recognised by the keys of ``shape``.

    ``parse`` gets the document's id and the document, and may raise DataError without a place.
    """
    adapter = TypeAdapter(shape)
    required: frozenset[str] = shape.__required_keys__

    def recognises(lines: Sequence[bytes]) -> bool:
        try:
            _, first = next(_records(Path(name), lines))
        except (DataError, StopIteration):
            return False
        return required <= first.keys()

    def read(path: Path) -> Iterator[Output]:
        for number, (line, record) in enumerate(_records(path, read_lines(path)), start=1):
            try:
                yield parse(_document_id(record), validate(adapter, record, Place(path, line)))
            except DataError as problem:
                raise DataError(
                    f"document {number} is not valid {name} output: {problem.problem}",
                    place=Place(path, line),
                    expected=problem.expected,
                    remedy="Select the right format with --format",
                ) from None

    return Format(name, resolver, recognises, read)


def _records(path: Path, lines: Sequence[bytes]) -> Iterator[tuple[int, dict[str, Any]]]:
    """Line number and object of each document: one a line if the first line is valid JSON, else one value."""
    try:
        json.loads(lines[0])
    except (ValueError, RecursionError):
        lines = [b"\n".join(lines)]
    for number, line in enumerate(lines, start=1):
        value = read_json(line, path, number)
        for record in value if isinstance(value, list) else [value]:
            if not isinstance(record, dict):
                raise DataError(
                    f"found {shown(record)}",
                    place=Place(path, number),
                    expected="a JSON object for each document",
                )
            yield number, record


def _document_id(record: Mapping[str, Any]) -> str | None:
    """The document's id under any of the keys that formats use."""
    for key in ("id", "doc_key", "docId", "doc_id"):
        if record.get(key):
            if not isinstance(record[key], str | int):
                raise DataError(f"{key} is {shown(record[key])}", expected="a string or an integer")
            return str(record[key])
    return None


class NeuralCoref(TypedDict):
    """neuralcoref's service (Hugging Face, spring 2019), as recorded for GAP.

    A mention is ``[start, end, kind, score of having no antecedent, antecedent's index, its score, scores of all
    before]``, in characters of the cleaned ``text``. Clusters follow from the antecedents.
    """

    text: str
    mentions: list[list[Any]]
    corefs: list[Any]


_NEURALCOREF_MENTION = TypeAdapter(tuple[int, int, str, FiniteFloat | None, int | None, FiniteFloat | None])


def _neuralcoref(name: str | None, record: NeuralCoref) -> Output:
    text = record["text"]
    rows = [
        validate(_NEURALCOREF_MENTION, tuple(row[:6]), Place(Path("mentions"))) for row in record["mentions"]
    ]
    places = [checked_span(start, end, len(text)) for start, end, *_ in rows]
    singles: dict[Span, float] = {}
    links: dict[Link, float] = {}
    for place, (*_, single, antecedent, score) in zip(places, rows, strict=True):
        if single is not None:
            singles[place] = float(single)
        if antecedent is not None:
            if score is None:
                raise DataError("a link without a score", expected="a finite number")
            links[place, _item(places, antecedent, "mention")] = float(score)
    return Output(name, text, linked(links), singles, links)


def linked(links: Iterable[Link]) -> tuple[Cluster, ...]:
    """Clusters from links of mentions to antecedents, sorted by first mention."""
    parent: dict[Span, Span] = {}

    def root(span: Span) -> Span:
        parent.setdefault(span, span)
        while parent[span] != span:
            span = parent[span]
        return span

    for mention, antecedent in links:
        first, second = sorted((root(mention), root(antecedent)))
        parent[second] = first
    groups: dict[Span, list[Span]] = {}
    for span in sorted(parent):
        groups.setdefault(root(span), []).append(span)
    return tuple(tuple(members) for members in groups.values())


class CoreNLPToken(TypedDict):
    """A token of CoreNLP; its character offsets count UTF-16 units and are not used."""

    word: str
    originalText: NotRequired[str]


class CoreNLPSentence(TypedDict):
    """A sentence of CoreNLP."""

    tokens: list[CoreNLPToken]


class CoreNLPMention(TypedDict):
    """Tokens ``startIndex`` to ``endIndex``, exclusive, of sentence ``sentNum``, all counted from 1."""

    sentNum: int
    startIndex: int
    endIndex: int


class CoreNLP(TypedDict):
    """Stanford CoreNLP's JSON (``-outputFormat json`` with ``coref``)."""

    sentences: list[CoreNLPSentence]
    corefs: dict[str, list[CoreNLPMention]]


def _corenlp(name: str | None, record: CoreNLP) -> Output:
    sentences = [sentence["tokens"] for sentence in record["sentences"]]
    tokens = [token.get("originalText") or token["word"] for sentence in sentences for token in sentence]
    ends = accumulate(map(len, sentences))
    places = [range(end - len(sentence), end) for sentence, end in zip(sentences, ends, strict=True)]

    def tokens_of(mention: CoreNLPMention) -> tuple[int, int]:
        sentence = _item(places, mention["sentNum"], "sentence", 1)
        first = _item(sentence, mention["startIndex"], "token", 1)
        return first, _item(sentence, mention["endIndex"] - 1, "token", 1)

    chains = [[tokens_of(mention) for mention in chain] for chain in record["corefs"].values()]
    return from_tokens(name, tokens, chains)


class AllenNLP(TypedDict):
    """AllenNLP's predictor: clusters of ``[first, last]`` tokens, both included."""

    document: list[str]
    clusters: list[list[Pair]]


class Maverick(TypedDict):
    """Maverick's ``predict``: as AllenNLP; its character offsets are missing for texts given as tokens."""

    tokens: list[str]
    clusters_token_offsets: list[list[Pair]]


class FastCoref(TypedDict):
    """fastcoref (F-coref and LingMess): clusters of half-open character ranges."""

    text: str
    clusters: list[list[Pair]]


class CharacterRange(TypedDict):
    """A half-open character range of spaCy's ``Doc.to_json()``."""

    start: int
    end: int


class SpacyGroups(TypedDict):
    """spaCy's ``Doc.to_json()`` with spacy-experimental's groups ``coref_clusters_1``, ..."""

    text: str
    tokens: list[Any]
    spans: dict[str, list[CharacterRange]]


def _spacy_groups(name: str | None, record: SpacyGroups) -> Output:
    # other components write groups too, and coref_head_clusters_N holds heads only
    groups = [group for key, group in record["spans"].items() if key.startswith("coref_clusters")]
    places = [[(span["start"], span["end"]) for span in group] for group in groups]
    return Output(name, record["text"], spans(places, record["text"]))


class CorefereeChains(TypedDict):
    """``{"coref_chains": [[[0], [5, 7]], ...]}``: token indexes of the mentions of each chain."""

    coref_chains: list[list[list[int]]]


class Coreferee(TypedDict):
    """spaCy's ``Doc.to_json()`` with coreferee's chains in ``_``; a mention of several tokens is a conjunction."""

    text: str
    tokens: list[CharacterRange]
    _: CorefereeChains


def _coreferee(name: str | None, record: Coreferee) -> Output:
    tokens = [(token["start"], token["end"]) for token in record["tokens"]]
    chains = [
        [_item(tokens, index, "token") for mention in chain for index in mention]
        for chain in record["_"]["coref_chains"]
    ]
    return Output(name, record["text"], spans(chains, record["text"]))


def _is_conll2012(lines: Sequence[bytes]) -> bool:
    return lines[0].startswith(b"#begin document")


def _read_conll2012(path: Path) -> Iterator[Output]:
    """CoNLL-2012 columns (Pradhan et al. 2012, section 4): the fourth is the token, the last the mentions.

    Each verb's arguments have a column, so only the first four columns and the last are read.
    """
    lines = []
    for line in decode(b"\n".join(read_lines(path)), path).split("\n"):
        cells = line.split()
        is_token = len(cells) > 3 and not line.startswith("#")
        lines.append("\t".join([*cells[:4], cells[-1]]) if is_token else line)
    for document in conll.parse("\n".join(lines), path, 5, 3):
        entities: dict[str, list[tuple[int, int]]] = {}
        for mention in document.mentions:
            entities.setdefault(mention.cluster, []).append((mention.start, mention.end - 1))
        yield from_tokens(document.name, document.tokens, entities.values())


_FORMATS = (
    _json_format("neuralcoref", "neuralcoref", NeuralCoref, _neuralcoref),
    _json_format("corenlp", "corenlp", CoreNLP, _corenlp),
    _json_format(
        "allennlp", "allennlp", AllenNLP, lambda name, r: from_tokens(name, r["document"], r["clusters"])
    ),
    _json_format(
        "maverick",
        "maverick",
        Maverick,
        lambda name, r: from_tokens(name, r["tokens"], r["clusters_token_offsets"]),
    ),
    _json_format("spacy", "spacy-experimental", SpacyGroups, _spacy_groups),
    _json_format("coreferee", "coreferee", Coreferee, _coreferee),
    _json_format(
        "fastcoref",
        "fastcoref",
        FastCoref,
        lambda name, r: Output(name, r["text"], spans(r["clusters"], r["text"])),
    ),
    Format("conll2012", "conll2012", _is_conll2012, _read_conll2012),
)
FORMATS: Registry[Format] = Registry("format", {one.name: one for one in _FORMATS}, also=(EXCHANGE,))
"""Formats by name, in the order of detection: the most specific first."""


def detect(path: Path) -> str:
    """Name of a file's format; DataError if it is unknown, DataNotFoundError if there is no such file."""
    lines = read_lines(Path(path))
    if lines[0].startswith(b"{") and b'"resolver"' in lines[0] and b'"version"' in lines[0]:
        return EXCHANGE
    for one in FORMATS.values():
        if one.recognises(lines):
            return one.name
    raise DataError(
        "unknown format",
        place=Place(path, 1),
        expected=f"one of {', '.join((EXCHANGE, *FORMATS))}",
        remedy="Select one with --format to see what is wrong",
    )
