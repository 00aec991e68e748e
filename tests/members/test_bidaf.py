from dataclasses import replace

import numpy as np
import pytest
import torch

from gapstack.corpus import Corpus, Example, Span
from gapstack.encoding.pieces import align
from gapstack.errors import MemberError
from gapstack.members import bidaf, create
from gapstack.members.bidaf import PUBLISHED, FlowHead, other_names
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
