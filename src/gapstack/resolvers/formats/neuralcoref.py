"""neuralcoref's service (Hugging Face, spring 2019), as recorded for GAP in JSON lines.

``mentions`` holds ``[start, end, kind, score of being no anaphor, antecedent's index, its score, scores of all
before]`` with characters of ``text``, which the service has cleaned: contractions written out, capitals lowered.
Clusters are what the antecedents link. A ``text`` of nothing is a text the service gave no answer for.
"""

from __future__ import annotations

from gapstack.corpus.example import Span
from gapstack.corpus.strict_json import check
from gapstack.resolvers.clusters import Link, span_within
from gapstack.resolvers.output import Output, Record, at, id_of, json_format, linked


def parse(record: Record) -> Output:
    """Read one line."""
    text = record["text"]
    rows = [row[: len(_MENTION)] for row in record["mentions"]]
    check(rows, [_MENTION], "mentions")
    places = [span_within(start, end, len(text)) for start, end, *_ in rows]
    singles: dict[Span, float] = {}
    links: dict[Link, float] = {}
    for place, (*_, single, antecedent, score) in zip(places, rows, strict=True):
        if single is not None:
            singles[place] = float(single)
        if antecedent is not None:
            check(score, float, "the score of a link")
            links[place, at(places, antecedent, "mention")] = float(score)
    return Output(id_of(record), text, linked(links), singles, links)


_MENTION = (int, int, str, float | None, int | None, float | None)
FORMAT = json_format("neuralcoref", "neuralcoref", {"text": str, "mentions": [list], "corefs": list}, parse)
