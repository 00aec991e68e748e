"""Attention flow is that of Seo et al. 2017, computed place by place, for a query of one vector."""

import numpy as np
import torch

from gapstack.members.bidaf.flow import AttentionFlow


def reference(context: np.ndarray, query: np.ndarray, flow: AttentionFlow) -> tuple[np.ndarray, np.ndarray]:
    """Similarities (L, Q) and merged places (L, 4 H) of a context (L, H) and a query (Q, H), by the paper."""
    w_c = flow.context.weight.detach().numpy().ravel()
    w_q = flow.query.weight.detach().numpy().ravel()
    w = np.concatenate([w_c, w_q, flow.both.detach().numpy()])  # of [c; q; c * q], equation 1
    similar = np.array([[w @ np.concatenate([c, q, c * q]) for q in query] for c in context])
    places = []
    for row in similar:  # context to query
        a = np.exp(row - row.max())
        places.append((a / a.sum()) @ query)
    b = np.exp(similar.max(axis=1) - similar.max())  # query to context
    found = (b / b.sum()) @ context
    merged = [
        np.concatenate([c, u, c * u, c * found]) for c, u in zip(context, places, strict=True)
    ]  # equation 2
    return similar, np.array(merged)


def test_similarity_and_flow_are_the_papers():
    torch.manual_seed(0)
    flow, sizes, width = AttentionFlow(6), (5, 3), 6
    context, query = torch.randn(2, 5, width), torch.randn(2, width)
    keep = torch.arange(5) < torch.tensor(sizes)[:, None]
    similar, found = flow.similarity(context, query), flow.attended(context, query, keep)
    for row, size in enumerate(sizes):
        expected, places = reference(context[row, :size].numpy(), query[row].numpy()[None], flow)
        np.testing.assert_allclose(similar[row, :size].detach(), expected[:, 0], atol=1e-5)
        merged = flow.merged(context[row, :size], query[row].expand(size, -1), found[row].expand(size, -1))
        np.testing.assert_allclose(merged.detach(), places, atol=1e-5)
