"""spaCy's ``Doc.to_json()``: clusters as ``SpanGroups``, or coreferee's chains.

spacy-experimental puts a group ``coref_clusters_1`` and so on into ``spans``, each span with characters ``start`` and
``end``. coreferee's ``doc._.coref_chains`` is no JSON; written into ``_`` as the mentions' ``token_indexes``, it is
``{"coref_chains": [[[0], [5, 7]], ...]}``. A mention of several tokens is a conjunction: each of them is a mention.
"""

from __future__ import annotations

from gapstack.resolvers.output import Format, Output, Record, at, id_of, json_format, spans

PREFIX = "coref_clusters"
"""Of the groups' names (``spancat`` and others use groups too); ``coref_head_clusters`` holds heads alone."""


def parse_groups(record: Record) -> Output:
    """Read a document whose clusters are span groups."""
    groups = [group for name, group in record["spans"].items() if name.startswith(PREFIX)]
    text = record["text"]
    clusters = spans([[(span["start"], span["end"]) for span in group] for group in groups], text)
    return Output(id_of(record), text, clusters)


def parse_chains(record: Record) -> Output:
    """Read a document with coreferee's chains."""
    text = record["text"]
    tokens = [(token["start"], token["end"]) for token in record["tokens"]]
    chains = record["_"]["coref_chains"]
    clusters = spans(
        ([at(tokens, i, "token") for mention in chain for i in mention] for chain in chains), text
    )
    return Output(id_of(record), text, clusters)


_RANGE = {"start": int, "end": int}
GROUPS: Format = json_format(
    "spacy",
    "spacy-experimental",
    {"text": str, "tokens": list, "spans": {str: [_RANGE]}},
    parse_groups,
)
CHAINS: Format = json_format(
    "coreferee",
    "coreferee",
    {"text": str, "tokens": [_RANGE], "_": {"coref_chains": [[[int]]]}},
    parse_chains,
)
