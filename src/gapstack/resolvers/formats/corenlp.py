"""Stanford CoreNLP's JSON (``-outputFormat json`` with ``coref``).

``corefs`` maps a chain to mentions whose ``startIndex`` and ``endIndex`` count tokens of sentence ``sentNum`` from 1,
the end excluded. Tokens carry ``originalText``; their character offsets count UTF-16 units and are not used.
"""

from __future__ import annotations

from itertools import accumulate

from gapstack.resolvers.output import Output, Record, Tokens, id_of, json_format


def parse(record: Record) -> Output:
    """Read one document."""
    sentences = record["sentences"]
    tokens = Tokens.of(
        token.get("originalText") or token["word"] for sentence in sentences for token in sentence["tokens"]
    )
    before = [0, *accumulate(len(sentence["tokens"]) for sentence in sentences)]
    chains = [
        [
            (
                before[mention["sentNum"] - 1] + mention["startIndex"] - 1,
                before[mention["sentNum"] - 1] + mention["endIndex"] - 2,
            )
            for mention in chain
        ]
        for chain in record["corefs"].values()
    ]
    return Output(id_of(record), tokens.text, tokens.clusters(chains))


FORMAT = json_format("corenlp", "corenlp", ("sentences", "corefs"), parse)
