from dataclasses import replace
from functools import partial

import numpy as np
import pytest
import torch

from gapstack.encoding.pieces import PieceView
from gapstack.members.fine_tuned import Network
from gapstack.members.probert import ProBERTHead
from gapstack.training import PieceData, TrainingPlan, train
from gapstack.training.compiled import BUCKET
from gapstack.training.devices import trainable_encoder

PLAN = TrainingPlan(epochs=1, batch_size=4, encoder_lr=1e-3, head_lr=1e-3, precision="float32")


def texts(n: int) -> PieceData:
    """Texts of 20 to 90 random pieces."""
    chance = np.random.default_rng(0)
    lengths = chance.integers(20, 91, n)
    lengths[0] = 90
    bounds = np.concatenate([[0], lengths.cumsum()])
    mentions = np.tile([[10, 11], [3, 5], [15, 17]], (n, 1, 1))
    view = PieceView(
        chance.integers(5, 100, bounds[-1]), np.zeros((bounds[-1], 2), np.int64), bounds, mentions
    )
    return PieceData(view, chance.integers(0, 3, n))


def record(seen, encoder, _, inputs):
    seen.append(tuple(inputs["input_ids"].shape))


# inductor, torch's default, writes and compiles C++
@pytest.mark.parametrize("backend", ["aot_eager", pytest.param("inductor", marks=pytest.mark.slow)])
def test_compiled_passes_learn_the_same_from_few_shapes(tiny_encoder, backend, monkeypatch):
    if backend != "inductor":
        compile = torch.compile
        monkeypatch.setattr(
            torch, "compile", lambda call, mode, **options: compile(call, backend=backend, **options)
        )
    data, models, shapes = texts(18), [], []
    for compiled in (False, True):
        torch.manual_seed(0)
        encoder = trainable_encoder(tiny_encoder, PLAN)
        for part in encoder.modules():
            if isinstance(part, torch.nn.Dropout):
                part.p = 0.0
        network = Network(encoder, ProBERTHead(tiny_encoder.hidden_size))
        seen: list[tuple[int, ...]] = []
        encoder.register_forward_pre_hook(partial(record, seen), with_kwargs=True)
        train(network, data, replace(PLAN, compiled=compiled))
        models.append(network.state_dict())
        shapes.append(seen)
        assert "forward" not in vars(encoder)
    for name, weight in models[0].items():
        torch.testing.assert_close(models[1][name], weight, rtol=1e-3, atol=1e-4)
    whole = {shape for shape in shapes[1] if shape[0] == PLAN.batch_size}
    assert whole == {(4, BUCKET), (4, 90)}
    assert len({shape for shape in shapes[0] if shape[0] == PLAN.batch_size}) > len(whole)
    assert [shape for shape in shapes[1] if shape[0] == 2] == [shape for shape in shapes[0] if shape[0] == 2]
