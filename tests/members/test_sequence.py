from dataclasses import replace

import numpy as np
import pytest
import torch
from scipy.special import softmax

from gapstack.corpus import Corpus, Example, Span
from gapstack.members import create
from gapstack.members.sequence import PUBLISHED, SequenceHead

ROWS = {
    "initial": "|She| was glad when |Zoe| met |Ann| in the rain that night.",
    "medial": "|Zoe| met |Ann| in the rain when |she| left that night.",
    "final": "When |Zoe| and |Ann| met, the rain fell on |her| that night.",
}


def row(place: str) -> Example:
    """A row whose pronoun stands where ``place`` says, and whose names are not in alphabetical order."""
    parts = ROWS[place].split("|")
    starts = np.cumsum([0, *map(len, parts)]).tolist()
    spans = [Span(starts[i], starts[i + 1]) for i in (1, 3, 5)]
    pronoun = next(
        span for i, span in zip((1, 3, 5), spans, strict=True) if parts[i].lower() in {"she", "her"}
    )
    a, b = (span for span in spans if span != pronoun)
    return Example(place, "".join(parts), pronoun, a, b)


@pytest.mark.parametrize("place", ROWS)
def test_the_text_keeps_its_order_and_its_tail_wherever_the_pronoun_stands(
    place, tiny_encoder, tiny_encoder_folder
):
    example = row(place)
    rows = Corpus([example, replace(example, id="exchanged", a=example.b, b=example.a)])
    batch = (
        create("sequence", encoder=str(tiny_encoder_folder))
        ._data(rows, tiny_encoder, None)
        .batch(np.arange(2))
    )
    plain = tiny_encoder.tokenizer(example.text)["input_ids"]
    for number, read in enumerate(rows):
        assert batch["ids"][number].tolist() == plain
        told = [
            "".join(tiny_encoder.tokenizer.convert_ids_to_tokens(plain[start:end])).replace("##", "")
            for start, end in batch["mentions"][number].tolist()
        ]
        assert told == [text.lower() for text in (read.pronoun_text, read.a_text, read.b_text)]


def test_names_are_self_attentive_spans_and_the_pronoun_one_piece():
    head = SequenceHead(4).eval()
    hidden = torch.randn(1, 7, 4, generator=torch.Generator().manual_seed(0))
    found = head(hidden, torch.tensor([[[2, 4], [0, 2], [4, 7]]])).detach().numpy()
    pieces = hidden[0].numpy()
    weights = {name: parameter.detach().numpy() for name, parameter in head.named_parameters()}
    (score,) = (value for name, value in weights.items() if "attention" in name and name.endswith("weight"))
    spans = [softmax(pieces[s:e] @ score[0]) @ pieces[s:e] for s, e in ((0, 2), (4, 7))]
    joined = np.concatenate([*spans, pieces[2]])
    units = np.maximum(weights["dense.weight"] @ joined + weights["dense.bias"], 0)
    expected = weights["classifier.weight"] @ units + weights["classifier.bias"]
    np.testing.assert_allclose(found[0], expected, rtol=1e-4, atol=1e-6)


def test_the_last_three_layers_lie_side_by_side(sample_train, tiny_encoder, tiny_encoder_folder):
    member = create("sequence", encoder=str(tiny_encoder_folder))
    assert member._layers(tiny_encoder) == (-3, -2, -1)
    assert member._head(tiny_encoder).dense.in_features == 9 * tiny_encoder.hidden_size


def test_the_papers_settings_are_settings_of_the_member():
    (plan,) = create("sequence", **PUBLISHED)._plans()
    assert (plan.encoder_lr, plan.epochs, plan.batch_size) == (1e-5, 15, 10)
    assert (plan.schedule.shape, plan.schedule.warmup, plan.frozen) == ("triangular", 0.0, ())
