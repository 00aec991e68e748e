"""Output files of off-the-shelf resolvers, each in its published format, as clusters of the original texts.

A format is a function that turns one document into an :class:`Output`; :data:`FORMATS` lists them. Their spans are in
the resolver's version of a text; :mod:`gapstack.resolvers.align` puts them into the original.
"""

import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from itertools import accumulate, chain
from math import isfinite
from pathlib import Path
from typing import Any, TypeVar

from gapstack.data.cells import decode, iter_lines, read_json
from gapstack.data.clusters import Cluster, Link, checked_span
from gapstack.data.example import Span
from gapstack.data.extra import conll
from gapstack.errors import DataError, Place, shown
from gapstack.registry import Registry

T = TypeVar("T")
EXCHANGE = "gapstack"  # name of the exchange format (``gapstack.data.clusters``)


@dataclass(frozen=True)
class Output:
    """A resolver's clusters in *its own* version of a text ("" where it failed); id None in formats without ids."""

    id: str | None
    text: str
    clusters: tuple[Cluster, ...] = ()
    mention_scores: Mapping[Span, float] = field(default_factory=dict)
    link_scores: Mapping[Link, float] = field(default_factory=dict)

    def __post_init__(self) -> None:
        scores = [*self.mention_scores.values(), *self.link_scores.values()]
        if not isinstance(self.text, str) or not all(map(isfinite, scores)):
            raise ValueError("the text is not a string, or a score is not finite")


@dataclass(frozen=True)
class Format:
    """A file format: the resolver's name, a reader of documents, and the keys of each if it is a JSON object."""

    resolver: str
    read: Callable[[Path], Iterable[Output]]
    keys: frozenset[str] = frozenset()


def spans(clusters: Iterable[Iterable[Sequence[int]]], text: str) -> tuple[Cluster, ...]:
    """Clusters of half-open character ranges of ``text``, without empty clusters; DataError for an invalid range."""
    mentions = (tuple(checked_span(start, end, len(text)) for start, end in cluster) for cluster in clusters)
    return tuple(cluster for cluster in mentions if cluster)


def from_tokens(
    name: str | None, tokens: Sequence[str], clusters: Iterable[Iterable[Sequence[int]]]
) -> Output:
    """Output of clusters of ``[first, last]`` tokens, both included; the text is the tokens joined by blanks."""
    text = " ".join(tokens)
    ends = list(accumulate(len(token) + 1 for token in tokens))
    places = [(end - len(token) - 1, end - 1) for token, end in zip(tokens, ends, strict=True)]

    def characters(first: int, last: int) -> tuple[int, int]:
        return _item(places, first)[0], _item(places, last)[1]

    return Output(name, text, spans([[characters(*mention) for mention in one] for one in clusters], text))


def linked(links: Iterable[Link]) -> tuple[Cluster, ...]:
    """Clusters from links of mentions to antecedents, sorted by first mention."""
    clusters: dict[Span, frozenset[Span]] = {}
    for link in links:
        cluster = frozenset(link).union(*(clusters.get(span, ()) for span in link))
        clusters |= dict.fromkeys(cluster, cluster)
    return tuple(sorted({tuple(sorted(cluster)) for cluster in clusters.values()}))


def _item(rows: Sequence[T], number: int, first: int = 0) -> T:
    """Item ``number`` of rows counted from ``first``; IndexError before the first, too."""
    if number < first:
        raise IndexError(f"{number} is before the first, {first}")
    return rows[number - first]


def _json_format(resolver: str, keys: str, parse: Callable[[str | None, dict[str, Any]], Output]) -> Format:
    """Format of JSON objects, one a line or in a list, that have some keys."""

    def read(path: Path) -> Iterator[Output]:
        for number, (line, record) in enumerate(_records(path, list(iter_lines(path))), start=1):
            try:
                yield parse(_document_id(record), record)
            except (LookupError, TypeError, ValueError, AttributeError, OverflowError) as problem:
                raise DataError(
                    f"document {number} is not valid output of {resolver} ({type(problem).__name__}: {problem})",
                    place=Place(path, line),
                    expected=f"a JSON object with {keys}",
                    remedy="Select the right format with format=NAME",
                ) from None

    return Format(resolver, read, frozenset(keys.split()))


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
                place = Place(path, number)
                raise DataError(f"found {shown(record)}", place=place, expected="a JSON object")
            yield number, record


def _document_id(record: Mapping[str, Any]) -> str | None:
    """The document's id under any of the keys that formats use."""
    found = next(
        (record[key] for key in ("id", "doc_key", "docId", "doc_id", "document_id") if record.get(key)), None
    )
    if not isinstance(found, str | int | None):
        raise TypeError(f"the id is {shown(found)}")
    return None if found is None else str(found)


def _neuralcoref(name: str | None, record: dict[str, Any]) -> Output:
    # start, end, kind, score of having no antecedent, antecedent's index, its score
    rows = [row[:6] for row in record["mentions"]]
    places = [checked_span(start, end, len(record["text"])) for start, end, *_ in rows]
    singles: dict[Span, float] = {}
    links: dict[Link, float] = {}
    for mention, (*_, single, antecedent, score) in zip(places, rows, strict=True):
        if single is not None:
            singles[mention] = float(single)
        if antecedent is not None:
            links[mention, _item(places, antecedent)] = float(score)
    return Output(name, record["text"], linked(links), singles, links)


def _corenlp(name: str | None, record: dict[str, Any]) -> Output:
    sentences = [sentence["tokens"] for sentence in record["sentences"]]
    # offsets of characters count UTF-16 units and are not used
    tokens = [token.get("originalText") or token["word"] for sentence in sentences for token in sentence]
    ends = accumulate(map(len, sentences))
    places = [range(end - len(sentence), end) for sentence, end in zip(sentences, ends, strict=True)]

    def tokens_of(mention: dict[str, int]) -> tuple[int, int]:
        sentence = _item(places, mention["sentNum"], 1)
        return _item(sentence, mention["startIndex"], 1), _item(sentence, mention["endIndex"] - 1, 1)

    chains = [[tokens_of(mention) for mention in chain] for chain in record["corefs"].values()]
    return from_tokens(name, tokens, chains)


def _e2e(key: str) -> Callable[[str | None, dict[str, Any]], Output]:
    """Sentences of tokens, and under a key clusters of [first, last] tokens, both included."""
    return lambda name, record: from_tokens(name, list(chain.from_iterable(record["sentences"])), record[key])


def _wl(key: str) -> Callable[[str | None, dict[str, Any]], Output]:
    """Tokens, and under a key clusters of half-open ranges of them."""

    def read(name: str | None, record: dict[str, Any]) -> Output:
        clusters = [[(start, end - 1) for start, end in cluster] for cluster in record[key]]
        return from_tokens(name, record["cased_words"], clusters)

    return read


def _spacy_groups(name: str | None, record: dict[str, Any]) -> Output:
    # other components write groups too, and coref_head_clusters_N holds heads only
    groups = [group for key, group in record["spans"].items() if key.startswith("coref_clusters")]
    places = [[(span["start"], span["end"]) for span in group] for group in groups]
    return Output(name, record["text"], spans(places, record["text"]))


def _read_conll2012(path: Path) -> Iterator[Output]:
    """CoNLL-2012 columns (Pradhan et al. 2012, section 4): the fourth is the token, the last the mentions."""
    lines = []
    for line in decode(b"\n".join(iter_lines(path)), path).split("\n"):
        cells = line.split()
        is_token = len(cells) > 3 and not line.startswith("#")
        lines.append("\t".join([*cells[:4], cells[-1]]) if is_token else line)
    for document in conll.parse("\n".join(lines), path, 5, 3):
        entities: dict[str, list[tuple[int, int]]] = {}
        for mention in document.mentions:
            entities.setdefault(mention.cluster, []).append((mention.start, mention.end - 1))
        yield from_tokens(document.name, document.tokens, entities.values())


FORMATS: Registry[Format] = Registry(
    "format",
    {
        # the service of Hugging Face in spring 2019, as recorded for GAP; clusters follow from the antecedents
        "neuralcoref": _json_format("neuralcoref", "text mentions corefs", _neuralcoref),
        # Stanford CoreNLP's JSON (-outputFormat json with coref): endIndex is exclusive, all count from 1
        "corenlp": _json_format("corenlp", "sentences corefs", _corenlp),
        # AllenNLP's predictor: clusters of [first, last] tokens, both included
        "allennlp": _json_format(
            "allennlp",
            "document clusters",
            lambda name, record: from_tokens(name, record["document"], record["clusters"]),
        ),
        # e2e-coref's predict.py and its descendants
        "e2e-coref": _json_format("e2e-coref", "sentences predicted_clusters", _e2e("predicted_clusters")),
        # the jsonlines that they are trained on, and that s2e-coref and others write too
        "e2e-coref-gold": _json_format("e2e-coref", "doc_key sentences clusters", _e2e("clusters")),
        # wl-coref's predict.py, and the jsonlines that it is trained on
        "wl-coref": _json_format("wl-coref", "cased_words span_clusters", _wl("span_clusters")),
        "wl-coref-gold": _json_format("wl-coref", "cased_words clusters", _wl("clusters")),
        # Maverick's predict: as AllenNLP; its character offsets are missing for texts given as tokens
        "maverick": _json_format(
            "maverick",
            "tokens clusters_token_offsets",
            lambda name, record: from_tokens(name, record["tokens"], record["clusters_token_offsets"]),
        ),
        # spaCy's Doc.to_json() with spacy-experimental's groups coref_clusters_1, ...
        "spacy": _json_format("spacy-experimental", "text tokens spans", _spacy_groups),
        # fastcoref (F-coref and LingMess): clusters of half-open character ranges
        "fastcoref": _json_format(
            "fastcoref",
            "text clusters",
            lambda name, record: Output(name, record["text"], spans(record["clusters"], record["text"])),
        ),
        "conll2012": Format("conll2012", _read_conll2012),
    },
    also=(EXCHANGE,),
)
"""Formats by name, in the order of detection: the most specific first."""


def detect(path: Path) -> str:
    """Name of a file's format; DataError if it is unknown, DataNotFoundError if the file does not exist."""
    lines = list(iter_lines(Path(path)))
    if lines[0].startswith(b"{") and b'"resolver"' in lines[0] and b'"version"' in lines[0]:
        return EXCHANGE
    if lines[0].startswith(b"#begin document"):
        return "conll2012"
    with suppress(DataError, StopIteration):
        _, first = next(_records(Path(path), lines))
        for name, one in FORMATS.items():
            if one.keys and first.keys() >= one.keys:
                return name
    expected = f"one of {', '.join((EXCHANGE, *FORMATS))}"
    remedy = "Select one with format=NAME to see what is wrong"
    raise DataError("unknown format", place=Place(path, 1), expected=expected, remedy=remedy)
