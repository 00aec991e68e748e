"""The dependency graph around the mentions, and gated convolutions over it.

Relational graph convolution: Schlichtkrull et al. 2018; with gates on its edges: Marcheggiani and Titov 2017. The
graph is that of Xu and Yang 2019: the mentions, their heads and their dependents, and no word farther away.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from gapstack.corpus import Span
from gapstack.text.grammar import Parse

RELATIONS = ("self", "head to dependent", "dependent to head")
"""Kinds of edges, in the order of the adjacency's first axis."""


def mention_graph(parse: Parse, mentions: Sequence[Span]) -> tuple[list[Span], list[tuple[int, int]]]:
    """Give the spans of a text's nodes, and the pairs (head, dependent) among them.

    Nodes are the mentions, each one node, in their order, and then the words that govern one of them or depend on it. A
    word that two mentions share is part of the first. A pair has a mention on at least one side.
    """
    node_of: dict[int, int] = {}
    for node, span in enumerate(mentions):
        for token in parse.tokens_in(span):
            node_of.setdefault(token, node)
    own = [[token for token, owner in node_of.items() if owner == node] for node in range(len(mentions))]
    spans = list(mentions)

    def node_at(token: int) -> int:
        if token not in node_of:
            node_of[token] = len(spans)
            spans.append(Span(*map(int, parse.spans[token])))
        return node_of[token]

    pairs: dict[tuple[int, int], None] = {}
    for mention, span in enumerate(mentions):
        head = parse.head_of(parse.tokens_in(span))
        if head in own[mention]:
            pairs[node_at(int(parse.heads[head])), mention] = None
        for dependent in np.flatnonzero(np.isin(parse.heads, own[mention])):
            pairs[mention, node_at(int(dependent))] = None
    return spans, [(head, dependent) for head, dependent in pairs if head != dependent]


def adjacency(pairs: Sequence[tuple[int, int]], present: NDArray[np.bool_]) -> NDArray[np.float32]:
    """Give the weights of edges, (relations, N, N), into the second axis' node from the third's.

    Edges of nodes that are not ``present`` (N,) are left out. An edge weighs 1 over the number of edges into its node;
    that from the node itself weighs 1 and does not count.
    """
    edges = np.zeros((len(RELATIONS), len(present), len(present)), dtype=np.float32)
    for head, dependent in pairs:
        if present[head] and present[dependent]:
            edges[1, dependent, head] = edges[2, head, dependent] = 1
    edges[1:] /= np.maximum(edges[1:].sum(axis=(0, 2)), 1)[:, None]
    edges[0] = np.diag(present)
    return edges


class GatedGraphConvolution(nn.Module):
    """One layer: a node becomes the sum of the messages that reach it, through ReLU.

    The message along an edge of relation r from node u is ``(h_u W_r) * weight * sigmoid(h_u . g_r)``.

    Parameters
    ----------
    inputs, outputs : int
        Widths of a node before and after.
    relations : int
    """

    def __init__(self, inputs: int, outputs: int, relations: int = len(RELATIONS)):
        super().__init__()
        # Glorot and Bengio 2010
        bound = (6 / (inputs + outputs)) ** 0.5
        self.weight = nn.Parameter(torch.empty(relations, inputs, outputs).uniform_(-bound, bound))
        self.gate = nn.Parameter(torch.empty(relations, inputs).uniform_(-bound, bound))

    def forward(self, nodes: Tensor, edges: Tensor) -> Tensor:
        """Give nodes (b, N, outputs) from nodes (b, N, inputs) and edges (b, relations, N, N)."""
        # (b, N, relations)
        gates = torch.einsum("bui,ri->bur", nodes, self.gate).sigmoid()
        # (b, relations, N, outputs)
        messages = torch.einsum("bui,rio->bruo", nodes, self.weight) * gates.transpose(1, 2)[..., None]
        return torch.einsum("brvu,bruo->bvo", edges, messages).relu()
