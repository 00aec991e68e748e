"""fastcoref (F-coref and LingMess): ``text`` and ``clusters`` of half-open character ranges of it.

So writes ``predict(..., output_file=...)``, and so is ``CorefResult.get_clusters(as_strings=False)`` with its text.
"""

from __future__ import annotations

from gapstack.resolvers.output import Output, Record, id_of, json_format, spans


def parse(record: Record) -> Output:
    """Read one document."""
    return Output(id_of(record), record["text"], spans(record["clusters"], record["text"]))


FORMAT = json_format("fastcoref", "fastcoref", {"text": str, "clusters": [[(int, int)]]}, parse)
