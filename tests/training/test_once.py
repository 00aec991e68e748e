"""A training that many share is done once, and again when what it left is damaged or would be another one now."""

import random

import pytest
import torch

from gapstack.files import cache_root
from gapstack.training import TrainingPlan, loop
from tests.damage import DAMAGES, apply_damage
from tests.training.toys import Toy, ToyData

PLAN = TrainingPlan(epochs=1, batch_size=8, encoder_lr=0.01, head_lr=0.02, precision="float32")


def learned(*, again: bool, monkeypatch, model: Toy | None = None) -> dict[str, torch.Tensor]:
    """What a call leaves in the model; ``again`` says whether it has to train."""
    trainings = []
    honest = loop.train
    monkeypatch.setattr(loop, "train", lambda *a, **k: trainings.append(honest(*a, **k)))
    model = model or Toy()
    loop.train_once(model, ToyData(), PLAN)
    monkeypatch.setattr(loop, "train", honest)
    assert bool(trainings) == again
    return model.state_dict()


@pytest.mark.parametrize("kind", DAMAGES)
def test_what_is_damaged_is_trained_again_to_the_same_weights(kind, monkeypatch):
    first = learned(again=True, monkeypatch=monkeypatch)
    learned(again=False, monkeypatch=monkeypatch)
    (result,) = (cache_root() / "trained").glob("*.safetensors")
    apply_damage(result, kind, random.Random(0))
    second = learned(again=True, monkeypatch=monkeypatch)
    for name, tensor in first.items():
        assert torch.equal(tensor, second[name]), name


def with_another_dropout() -> Toy:
    model = Toy()
    model.encoder.dropout.p = 0.3
    return model


def with_another_part() -> Toy:
    """With a part that has no weights."""
    model = Toy()
    model.encoder.dropout = torch.nn.AlphaDropout(0.2)
    return model


@pytest.mark.parametrize("other", [with_another_dropout, with_another_part])
def test_what_no_weight_tells_is_told_apart(other, monkeypatch):
    first = learned(again=True, monkeypatch=monkeypatch)
    second = learned(again=True, monkeypatch=monkeypatch, model=other())
    assert any(not torch.equal(tensor, second[name]) for name, tensor in first.items())
    learned(again=False, monkeypatch=monkeypatch, model=other())
    learned(again=False, monkeypatch=monkeypatch)
