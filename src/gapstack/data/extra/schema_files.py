"""Sentences about two occupations: Hugging Face's ``wino_bias`` (parquet, or exported as JSON lines) and WinoMT (TSV).

``wino_bias`` has the first and the last word of two mentions: the right occupation and the pronoun. WinoMT (Stanovsky,
Smith and Zettlemoyer 2019) has gender, index of the right occupation's word, sentence and occupation. The other
occupation of a sentence is the only other word in it that is the right occupation in another line of the file.
"""

import re
from collections.abc import Iterator, Mapping
from itertools import pairwise
from pathlib import Path
from typing import Any, NamedTuple

from gapstack.data.cells import read_json, read_text
from gapstack.data.example import Span
from gapstack.data.extra.rows import PRONOUN, ExtraRows
from gapstack.data.extra.sentences import with_article
from gapstack.errors import DataError, Place, located
from gapstack.registry import import_extra

_ARTICLE = re.compile(r"(?:the|an?)\s+", re.IGNORECASE)


class _Schema(NamedTuple):
    name: str
    text: str
    person: Span  # without article
    pronouns: list[Span]


def read_schema_file(path: Path, into: ExtraRows) -> None:
    """Add the rows of a file in either format to ``into``; DataError with the line for any other format."""
    schemas: list[_Schema] = []
    for number, item in _items(path):
        name = f"{path.stem}-{number}"
        try:
            schemas.append(_winomt(name, item) if isinstance(item, str) else _wino_bias(name, item))
        except (LookupError, ValueError, TypeError):
            raise DataError(
                "not a sentence of wino_bias or WinoMT",
                place=Place(path, number),
                expected="tokens and coreference_clusters, or gender, index, sentence and occupation",
            ) from None
    occupations = sorted({each.text[slice(*each.person)].lower() for each in schemas}, key=len, reverse=True)
    pattern = re.compile(rf"\b(?:{'|'.join(map(re.escape, occupations))})\b", re.IGNORECASE)
    for schema in schemas:
        people = [Span(*match.span()) for match in pattern.finditer(schema.text)]
        others = [person for person in people if not person.overlaps(schema.person)]
        if len(schema.pronouns) != 1:
            into.skip("the sentence does not have exactly one pronoun")
        elif len(others) != 1:
            into.skip("the sentence does not have exactly one other occupation")
        else:
            spans = [with_article(schema.text, person) for person in (schema.person, others[0])]
            into.add(schema.name, schema.text, schema.pronouns[0], *spans)


def _items(path: Path) -> Iterator[tuple[int, str | Mapping[str, Any]]]:
    """Number and content of each sentence: a line, or a record of JSON or parquet."""
    if path.suffix == ".parquet":
        columns = ["tokens", "coreference_clusters"]
        parquet = import_extra("pyarrow.parquet", "train")
        with located(Place(path), "a parquet file with tokens and coreference_clusters"):
            yield from enumerate(parquet.read_table(path, columns=columns).to_pylist(), 1)
        return
    for number, line in enumerate(read_text(path).splitlines(), 1):
        if line.startswith("{"):
            yield number, read_json(line.encode(), path, number)
        elif line.strip():
            yield number, line


def _wino_bias(name: str, item: Mapping[str, Any]) -> _Schema:
    tokens, ends = item["tokens"], [int(end) for end in item["coreference_clusters"]]
    starts = [0]
    for token in tokens:
        starts.append(starts[-1] + len(token) + 1)
    mentions = [Span(starts[first], starts[last + 1] - 1) for first, last in [*pairwise(ends)][::2]]
    text = " ".join(tokens)
    pronouns = [span for span in mentions if PRONOUN.fullmatch(text[slice(*span)])]
    (person,) = (span for span in mentions if span not in pronouns)
    article = _ARTICLE.match(text, person.start)
    return _Schema(name, text, Span(article.end() if article else person.start, person.end), pronouns)


def _winomt(name: str, line: str) -> _Schema:
    _, index, text, occupation = line.split("\t")
    word = list(re.finditer(r"\S+", text))[int(index)]
    # the index is of the occupation's last word or of its article
    near = (match for match in re.finditer(re.escape(occupation.strip()), text, re.IGNORECASE))
    person = min(near, key=lambda match: abs(match.start() - word.start()))
    return _Schema(
        name, text, Span(*person.span()), [Span(*match.span()) for match in PRONOUN.finditer(text)]
    )
