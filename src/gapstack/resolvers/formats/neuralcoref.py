"""neuralcoref's service (Hugging Face, spring 2019), as recorded for GAP in JSON lines.

``mentions`` holds ``[start, end, kind, score of being no anaphor, antecedent's index, its score, scores of all
before]`` with characters of ``text``, which the service has cleaned: contractions written out, capitals lowered.
Clusters are what the antecedents link. A ``text`` of nothing is a text the service gave no answer for.
"""

from __future__ import annotations

from gapstack.corpus.example import Span
from gapstack.resolvers.clusters import Link
from gapstack.resolvers.output import Output, Record, id_of, json_format, linked


def parse(record: Record) -> Output:
    """Read one line."""
    rows = record["mentions"]
    places = [Span(int(row[0]), int(row[1])) for row in rows]
    singles = {place: float(row[3]) for place, row in zip(places, rows, strict=True) if row[3] is not None}
    links: dict[Link, float] = {
        (place, places[row[4]]): float(row[5])
        for place, row in zip(places, rows, strict=True)
        if row[4] is not None
    }
    return Output(id_of(record), record["text"], linked(links), singles, links)


FORMAT = json_format("neuralcoref", "neuralcoref", ("text", "mentions", "corefs"), parse)
