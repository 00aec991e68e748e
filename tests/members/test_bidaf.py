from dataclasses import replace

import numpy as np
import pytest
import torch

from gapstack.corpus import Corpus, Example, Span
from gapstack.encoding.pieces import align
from gapstack.errors import MemberError
from gapstack.members import bidaf, create
from gapstack.members.bidaf import PUBLISHED, AttentionFlow, FlowHead, other_names
from gapstack.text.grammar import empty_parse
from gapstack.text.parses import ENVIRONMENT as PARSER_VARIABLE

QUICK = {"epochs": 1, "precision": "float32"}


def test_logits_are_means_of_the_scores_of_the_places():
    torch.manual_seed(0)
    head = FlowHead(4, 3, 0.5).eval()
    hidden = torch.randn(2, 6, 4)
    mentions = torch.tensor([[[0, 1], [1, 3], [4, 5]], [[2, 4], [0, 1], [1, 2]]])
    others = torch.zeros(2, 9, dtype=torch.bool)  # as long as the longest text of the corpus
    others[0, [3, 5]] = True
    keep = torch.tensor([[True] * 6, [True] * 4 + [False] * 2])
    found = head(hidden, mentions, others, keep, target=torch.zeros(2)).detach().numpy()
    for row, size in enumerate((6, 4)):
        text = hidden[row, :size]
        context = torch.cat([text, text.mean(dim=0, keepdim=True)])
        p, a, b = (slice(*span) for span in mentions[row].tolist())
        query = text[p].mean(dim=0)
        weights = head.flow.similarity(context[None], query[None])[0].softmax(-1)
        merged = [torch.cat([c, query, c * query, c * (weights @ context)]) for c in context]
        score = head.score(torch.stack(merged))[:, 0].detach().numpy()
        neither = score[[3, 5, 6]] if row == 0 else score[[4]]
        expected = [score[a].mean(), score[b].mean(), neither.mean()]
        np.testing.assert_allclose(found[row], expected, atol=1e-6)


def test_padding_and_a_mask_that_hides_nothing_change_nothing():
    torch.manual_seed(0)
    head, hidden = FlowHead(4, 3, 0.5).eval(), torch.randn(1, 5, 4)
    mentions, others = torch.tensor([[[0, 1], [1, 3], [4, 5]]]), torch.zeros(1, 8, dtype=torch.bool)
    alone = head(hidden, mentions, others)
    padded = head(
        torch.cat([hidden, torch.randn(1, 3, 4)], dim=1), mentions, others, torch.arange(8)[None] < 5
    )
    torch.testing.assert_close(alone, padded)
    # prediction pads texts beyond the longest of the corpus
    beyond = torch.cat([hidden, torch.randn(1, 11, 4)], dim=1)
    torch.testing.assert_close(head(beyond, mentions, others, torch.arange(16)[None] < 5), alone)


def test_other_names_are_persons_who_are_neither_a_nor_b(tiny_encoder, monkeypatch):
    text = "Ann Lee met Bob. She thanked Cy and Ann."
    row = Example("r", text, Span(17, 20), Span(0, 7), Span(12, 15))
    parse = empty_parse(text)
    parse.spans = np.array([[0, 3], [4, 7], [12, 15], [17, 20], [29, 31], [36, 39]])
    parse.heads, parse.sentence = np.zeros(6, dtype=np.int32), np.zeros(6, dtype=np.int32)
    parse.roles = parse.pos = np.zeros(6, dtype=np.int8)
    parse.persons = np.array([[0, 2], [2, 3], [4, 5], [5, 6]])
    monkeypatch.setattr(bidaf, "parses", lambda corpus: [parse for _ in corpus])
    view = align(Corpus([row]), tiny_encoder)
    mask = other_names(Corpus([row]), view)
    # the second "Ann" is part of A
    assert "".join(text[slice(*span)] for span in view.chars[mask[0]]) == "Cy"


def test_without_other_names_no_parse_is_needed(sample_train, tiny_encoder_folder, monkeypatch):
    monkeypatch.setenv(PARSER_VARIABLE, "no_such_pipeline")
    rows = sample_train[:20].map(lambda e: replace(e, text=f"{e.text} So it was."))
    member = create(
        "bidaf", encoder=str(tiny_encoder_folder), neither="slot", max_pieces=96, training=QUICK
    ).fit(rows)
    assert member.predict_proba(rows).shape == (20, 3)
    with pytest.raises(MemberError, match='neither: found "cls", expected one of "names", "slot"'):
        create("bidaf", encoder=str(tiny_encoder_folder), neither="cls").fit(rows)


def test_the_layer_read_is_two_thirds_up_unless_named(tiny_encoder):
    assert create("bidaf")._layers(tiny_encoder) == (1,)
    assert create("bidaf", layer=0)._layers(tiny_encoder) == (0,)


def test_the_papers_settings_are_settings_of_the_member():
    member = create("bidaf", **PUBLISHED)
    (plan,) = member._plans()
    assert (plan.epochs, plan.batch_size, plan.head_lr, plan.frozen) == (50, 25, 1e-3, ("encoder",))
    assert (member.layer, member.dropout) == (-2, 0.7)


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
