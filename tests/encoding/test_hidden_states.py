"""Hidden states are the encoder's own, of all pieces, and each window goes through it once."""

from dataclasses import replace

import numpy as np
import pytest
import torch

from gapstack.encoding import activations as module
from gapstack.encoding.activations import hidden_states
from gapstack.encoding.pieces import align
from gapstack.errors import MemberError
from gapstack.files import cache_root


@pytest.fixture
def forwarded(monkeypatch) -> list[int]:
    """Number of texts in each batch that went through the encoder."""
    sizes: list[int] = []
    original = module.forward

    def counting(request, view, rows, *options):
        sizes.append(len(rows))
        return original(request, view, rows, *options)

    monkeypatch.setattr(module, "forward", counting)
    return sizes


def test_states_are_the_encoders_own_layers_side_by_side(sample_test, tiny_encoder):
    view = align(sample_test[:8], tiny_encoder)
    found = hidden_states(view, tiny_encoder, (2, 0), torch.float32)
    assert found.values.shape == (len(view.ids), 64)
    np.testing.assert_array_equal(found.sizes, view.lengths)
    for row, entry in enumerate(found.entries()):
        with torch.inference_mode():
            ids = torch.from_numpy(view.ids[view.row(row)])[None]
            layers = tiny_encoder.model(ids, output_hidden_states=True).hidden_states
        np.testing.assert_allclose(entry, torch.cat([layers[2][0], layers[0][0]], dim=-1), atol=2e-3)


def test_a_window_is_encoded_once_whoever_the_mentions_are(sample_test, tiny_encoder, forwarded):
    rows = sample_test[:10]
    first = hidden_states(align(rows, tiny_encoder), tiny_encoder)
    assert sum(forwarded) == 10
    swapped = rows.map(lambda e: replace(e, a=e.b, b=e.a))
    again = hidden_states(align(swapped, tiny_encoder), tiny_encoder, (2,))  # -1 of two layers
    np.testing.assert_array_equal(first.values, again.values)
    assert sum(forwarded) == 10
    hidden_states(align(sample_test[5:12], tiny_encoder), tiny_encoder)
    assert sum(forwarded) == 12


def test_another_layer_is_stored_beside_the_first_and_not_with_it(sample_test, tiny_encoder):
    view = align(sample_test[:10], tiny_encoder)
    hidden_states(view, tiny_encoder, (2,), torch.bfloat16)
    hidden_states(view, tiny_encoder, (1, 2), torch.bfloat16)
    sizes = [path.stat().st_size for path in (cache_root() / "hidden").rglob("*.safetensors")]
    assert len(sizes) == 2
    # two bytes a number, and a little for keys and sizes
    assert 1 < sum(sizes) / (2 * 2 * 32 * len(view.ids)) < 1.05


def test_precisions_do_not_mix(sample_test, tiny_encoder, forwarded):
    view = align(sample_test[:4], tiny_encoder)
    exact, rough = (
        hidden_states(view, tiny_encoder, dtype=dtype).values for dtype in (torch.float32, torch.bfloat16)
    )
    assert sum(forwarded) == 8
    assert 0 < np.abs(exact - rough).max() < 0.2


@pytest.mark.parametrize("layers", [(3,), (-4,), ()])
def test_layers_that_do_not_exist_are_refused(layers, sample_test, tiny_encoder):
    with pytest.raises(MemberError, match="has layers 0 to 2"):
        hidden_states(align(sample_test[:2], tiny_encoder), tiny_encoder, layers)
