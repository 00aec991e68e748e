"""Stanford CoreNLP's JSON (``-outputFormat json`` with ``coref``).

``corefs`` maps a chain to mentions whose ``startIndex`` and ``endIndex`` count tokens of sentence ``sentNum`` from 1,
the end excluded. Tokens carry ``originalText``; their character offsets count UTF-16 units and are not used.
"""

from __future__ import annotations

from itertools import accumulate

from gapstack.resolvers.output import Output, Record, Tokens, at, id_of, json_format


def parse(record: Record) -> Output:
    """Read one document."""
    sentences = record["sentences"]
    tokens = Tokens.of(
        token.get("originalText") or token["word"] for sentence in sentences for token in sentence["tokens"]
    )
    ends = accumulate(len(sentence["tokens"]) for sentence in sentences)
    places = [
        range(end - len(sentence["tokens"]), end) for sentence, end in zip(sentences, ends, strict=True)
    ]

    def mention(record: Record) -> tuple[int, int]:
        sentence = at(places, record["sentNum"], "sentence", 1)
        return at(sentence, record["startIndex"], "token", 1), at(
            sentence, record["endIndex"] - 1, "token", 1
        )

    chains = [[mention(one) for one in chain] for chain in record["corefs"].values()]
    return Output(id_of(record), tokens.text, tokens.clusters(chains))


FORMAT = json_format(
    "corenlp",
    "corenlp",
    {
        "sentences": [{"tokens": [{"word": str, "originalText?": str}]}],
        "corefs": {str: [{"sentNum": int, "startIndex": int, "endIndex": int}]},
    },
    parse,
)
