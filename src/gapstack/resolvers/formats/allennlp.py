"""AllenNLP's coreference predictor: ``document`` holds tokens, ``clusters`` ``[first, last]`` tokens, both included."""

from __future__ import annotations

from gapstack.resolvers.output import Output, Record, Tokens, id_of, json_format


def parse(record: Record) -> Output:
    """Read one document."""
    tokens = Tokens.of(record["document"])
    return Output(id_of(record), tokens.text, tokens.clusters(record["clusters"]))


FORMAT = json_format("allennlp", "allennlp", {"document": [str], "clusters": [[(int, int)]]}, parse)
