"""Maverick's ``predict``: ``tokens``, and ``clusters_token_offsets`` of ``[first, last]`` tokens, both included.

Its character offsets are missing for texts given as tokens, so the tokens decide.
"""

from __future__ import annotations

from gapstack.resolvers.output import Output, Record, Tokens, id_of, json_format


def parse(record: Record) -> Output:
    """Read one document."""
    tokens = Tokens.of(record["tokens"])
    return Output(id_of(record), tokens.text, tokens.clusters(record["clusters_token_offsets"]))


FORMAT = json_format(
    "maverick", "maverick", {"tokens": [str], "clusters_token_offsets": [[(int, int)]]}, parse
)
