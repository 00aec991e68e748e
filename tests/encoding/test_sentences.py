"""Vectors of sentences and words are those of the encoder itself, regardless of the other sentences."""

import numpy as np
import pytest
import torch

from gapstack.encoding.activations import sentence_vectors
from gapstack.errors import MemberError

SENTENCES = [
    ("this is bob.", (8, 11)),
    ("anna is here.", (0, 4)),  # the word first
    ("the name is carl", (12, 16)),  # the word last
]


@pytest.mark.parametrize("layer", [0, 1, -1])
def test_they_are_the_models_own(tiny_encoder, layer):
    found = sentence_vectors(SENTENCES, tiny_encoder, layer)
    for row, (text, (start, end)) in enumerate(SENTENCES):
        encoded = tiny_encoder.tokenizer(text, return_tensors="pt", return_offsets_mapping=True)
        offsets = encoded.pop("offset_mapping")[0].numpy()
        with torch.inference_mode():
            states = tiny_encoder.model(**encoded, output_hidden_states=True).hidden_states[layer][0].numpy()
        inside = (offsets[:, 0] >= start) & (offsets[:, 1] <= end) & (offsets[:, 1] > offsets[:, 0])
        assert inside.sum() == end - start  # the tiny encoder spells words
        for vectors, expected in (
            (found.first, states[0]),
            (found.mean, states.mean(axis=0)),
            (found.word, states[inside].mean(axis=0)),
        ):
            np.testing.assert_allclose(vectors[row], expected, atol=5e-3)  # stored in float16


def test_what_has_no_piece_or_too_many_is_refused(tiny_encoder):
    with pytest.raises(MemberError, match="no piece"):
        sentence_vectors([("a \u200b b", (2, 3))], tiny_encoder)
    with pytest.raises(MemberError, match="more than the 4"):
        sentence_vectors(SENTENCES[:1], tiny_encoder, max_pieces=4)
    with pytest.raises(MemberError, match="layers 0 to 2"):
        sentence_vectors(SENTENCES, tiny_encoder, 7)
