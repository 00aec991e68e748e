"""R-GCN: a relational graph convolution over the dependency graph around the mentions, and a frozen encoder.

Xu and Yang 2019, *Look Again at the Syntax: Relational Graph Convolutional Network for Gendered Ambiguous Pronoun
Resolution*. A frozen encoder is read in two paths: A, B and pronoun after a gated relational graph convolution over a
small graph (the three, their heads and their dependents; an edge each way and one from every node to itself), and the
same three vectors through batch normalisation, dropout and a dense layer. Both go through two more dense layers.

Differences: the encoder is the embedded MiniLM, read at two thirds of its depth. The graph may have several layers
(``widths``). A word's vector is the mean of its pieces, and a mention is one node with the head of its head word and
the dependents of all its words; theirs is a mention's first piece. Nodes have dropout before each layer of the graph,
without which it overfits. AdamW with warm-up and linear decay for a few epochs replaces a hundred epochs of Adam.
Swapping A and B does not swap the probabilities exactly, as in the paper.
"""

from collections.abc import Sequence
from typing import Any, ClassVar

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from gapstack.data import Corpus, Label, Span
from gapstack.encoding.activations import hidden_states
from gapstack.encoding.encoders import EncoderName, load_encoder
from gapstack.encoding.pieces import MENTIONS, align
from gapstack.language.grammar import Parse
from gapstack.language.parses import ParserName, parses
from gapstack.members.frozen_head import Arrays, FrozenHead, HeadInputs, chosen_layers
from gapstack.members.layers import BatchNorm
from gapstack.settings import Count, FractionBelowOne, LayerNumber
from gapstack.training import Schedule, TrainingPlan
from gapstack.types import Bools, Floats32

RELATIONS = ("self", "head to dependent", "dependent to head")
"""Kinds of edges, in the order of the adjacency's first axis."""


class RGCN(FrozenHead):
    """Gated relational graph convolution around the mentions, over a frozen encoder."""

    encoder: EncoderName = None
    """Name or folder of the encoder; the embedded MiniLM by default."""
    layer: LayerNumber | None = None
    """Layer of the vectors, from 0 (embeddings) up or -1 (the last) down; by default at two thirds of the depth."""
    widths: Sequence[Count] = (256,)
    """Widths of the layers over the graph; empty for no graph."""
    hidden: Count = 256
    """Width of the layer before the classes."""
    dropout: FractionBelowOne = 0.5
    node_dropout: FractionBelowOne = 0.7
    """Dropout before each dense layer, and before each layer over the graph."""
    parser: ParserName = None
    """Pipeline for texts that have no stored parse; see :func:`~gapstack.language.parses.find_parser`."""
    max_pieces: Count | None = None
    """Longest window in pieces; by default the encoder's limit."""

    PUBLISHED: ClassVar[dict[str, Any]] = {
        "encoder": "bert-large-uncased",
        "layer": -1,
        "widths": [256],
        "dropout": 0.5,
        "node_dropout": 0.0,
        "training": {"epochs": 100, "batch_size": 4, "head_lr": 1e-4, "weight_decay": 0.035}
        | {"label_smoothing": 0.0, "patience": 20}
        | {"schedule": {"shape": "linear", "warmup": 0.1, "floor": 0.15}},
    }
    """The nearest to the paper's settings."""
    PLAN = TrainingPlan(
        epochs=15,
        batch_size=32,
        head_lr=5e-4,
        schedule=Schedule(shape="linear", warmup=0.1),
        weight_decay=0.1,
    )

    def _inputs(self) -> HeadInputs:
        return HeadInputs(self._read)

    def _build_head(self, arrays: Arrays) -> nn.Module:
        width = arrays["nodes"].shape[-1]
        return GraphHead(width, self.widths, self.hidden, self.dropout, self.node_dropout)

    def _read(self, corpus: Corpus) -> dict[str, NDArray[Any]]:
        """Nodes (n, N, H) float16, pronoun, A and B first, and edges (n, relations, N, N)."""
        encoder = load_encoder(self.encoder)
        view = align(corpus, encoder, self.max_pieces)
        states = hidden_states(view, encoder, chosen_layers(self.layer, encoder, ((2,), 3))).entries()
        graphs = [
            mention_graph(parse, (example.pronoun, example.a, example.b))
            for example, parse in zip(corpus, parses(corpus, self.parser), strict=True)
        ]
        most = max((len(spans) for spans, _ in graphs), default=len(MENTIONS))
        nodes = np.zeros((len(corpus), most, encoder.hidden_size), dtype=np.float16)
        edges = np.zeros((len(corpus), len(RELATIONS), most, most), dtype=np.float32)
        for row, (spans, pairs) in enumerate(graphs):
            chars = view.chars[view.row(row)]
            starts, ends = np.array(spans).T[..., None]
            # (N, pieces); special pieces have the empty range (0, 0), which overlaps nothing
            inside = (chars[:, 0] < ends) & (chars[:, 1] > starts)
            for mention, (first, last) in enumerate(view.mentions[row]):
                inside[mention] = False
                inside[mention, first:last] = True
            counts = inside.sum(axis=1)
            means = (inside / np.maximum(counts, 1)[:, None]) @ states[row].astype(np.float32)
            nodes[row, : len(spans)] = means
            # a word outside the window is not a node
            edges[row, :, : len(spans), : len(spans)] = adjacency(pairs, counts > 0)
        return {"nodes": nodes, "edges": edges}


class GraphHead(nn.Module):
    """Two paths to three classes over nodes of width ``width``: via the graph, and a dense one of half the vectors."""

    def __init__(self, width: int, widths: Sequence[int], hidden: int, dropout: float, node_dropout: float):
        super().__init__()
        sizes = [width, *widths]
        self.drop = nn.Dropout(node_dropout)
        self.graph = nn.ModuleList(map(GatedGraphConvolution, sizes[:-1], sizes[1:]))
        vectors = len(MENTIONS) * width
        text = vectors // 2
        self.text = nn.Sequential(
            BatchNorm(vectors), nn.Dropout(dropout), nn.Linear(vectors, text), nn.ReLU()
        )
        both = text + len(MENTIONS) * (widths[-1] if widths else 0)
        self.answer = nn.Sequential(
            *(BatchNorm(both), nn.Dropout(dropout), nn.Linear(both, hidden), nn.ReLU()),
            *(BatchNorm(hidden), nn.Dropout(dropout), nn.Linear(hidden, len(Label))),
        )

    def forward(self, nodes: Tensor, edges: Tensor) -> Tensor:
        """Map nodes (b, N, H), pronoun, A and B first, and edges (b, relations, N, N) to logits (b, 3)."""
        # every node has an edge from itself; those after the last such edge are padding
        present = edges[:, 0].diagonal(dim1=-2, dim2=-1).any(dim=0)
        most = int(present.nonzero()[-1]) + 1
        nodes = nodes.float()
        paths = [self.text(nodes[:, : len(MENTIONS)].flatten(1))]
        if len(self.graph):
            around, edges = nodes[:, :most], edges[..., :most, :most]
            for layer in self.graph:
                around = layer(self.drop(around), edges)
            paths.append(around[:, : len(MENTIONS)].flatten(1))
        return self.answer(torch.cat(paths, dim=-1))


def mention_graph(parse: Parse, mentions: Sequence[Span]) -> tuple[list[Span], list[tuple[int, int]]]:
    """Spans of mentions and of the words that govern or depend on them, and the pairs (head, dependent) among them."""
    node_of: dict[int, int] = {}
    for node, span in enumerate(mentions):
        for token in parse.tokens_in(span):
            node_of.setdefault(token, node)
    tokens_of = [
        [token for token, owner in node_of.items() if owner == node] for node in range(len(mentions))
    ]
    spans = list(mentions)

    def node_at(token: int) -> int:
        if token not in node_of:
            node_of[token] = len(spans)
            spans.append(Span(*map(int, parse.spans[token])))
        return node_of[token]

    pairs: dict[tuple[int, int], None] = {}
    for mention, span in enumerate(mentions):
        head = parse.head_of(parse.tokens_in(span))
        if head in tokens_of[mention]:
            pairs[node_at(int(parse.heads[head])), mention] = None
        for dependent in np.flatnonzero(np.isin(parse.heads, tokens_of[mention])):
            pairs[mention, node_at(int(dependent))] = None
    return spans, [(head, dependent) for head, dependent in pairs if head != dependent]


def adjacency(pairs: Sequence[tuple[int, int]], present: Bools) -> Floats32:
    """Weights of edges (relations, N, N) among nodes ``present`` (N,): 1 over their number into a node, 1 to itself."""
    edges = np.zeros((len(RELATIONS), len(present), len(present)), dtype=np.float32)
    for head, dependent in pairs:
        if present[head] and present[dependent]:
            edges[1, dependent, head] = edges[2, head, dependent] = 1
    edges[1:] /= np.maximum(edges[1:].sum(axis=(0, 2)), 1)[:, None]
    edges[0] = np.diag(present)
    return edges


class GatedGraphConvolution(nn.Module):
    """One layer: ReLU of the sum of messages ``(h_u W_r) * weight * sigmoid(h_u . g_r)`` along edges of relation r."""

    def __init__(self, inputs: int, outputs: int, relations: int = len(RELATIONS)):
        super().__init__()
        # Glorot and Bengio 2010
        bound = (6 / (inputs + outputs)) ** 0.5
        self.weight = nn.Parameter(torch.empty(relations, inputs, outputs).uniform_(-bound, bound))
        self.gate = nn.Parameter(torch.empty(relations, inputs).uniform_(-bound, bound))

    def forward(self, nodes: Tensor, edges: Tensor) -> Tensor:
        """Map nodes (b, N, inputs) and edges (b, relations, N, N) to nodes (b, N, outputs)."""
        # (b, N, relations)
        gates = torch.einsum("bui,ri->bur", nodes, self.gate).sigmoid()
        # (b, relations, N, outputs)
        messages = torch.einsum("bui,rio->bruo", nodes, self.weight) * gates.transpose(1, 2)[..., None]
        return torch.einsum("brvu,bruo->bvo", edges, messages).relu()
