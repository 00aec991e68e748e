"""A training that many share is done once, and again when what it left is damaged or would be another one now."""

import random

import pytest
import torch

from gapstack.files import cache_root
from gapstack.training import TrainingPlan, loop
from tests.damage import apply_damage
from tests.training.toys import Toy, ToyData

PLAN = TrainingPlan(epochs=1, batch_size=8, encoder_lr=0.01, head_lr=0.02, precision="float32")


def learned(*, again: bool, monkeypatch, model: Toy | None = None) -> dict[str, torch.Tensor]:
    """What a call leaves in the model; ``again`` says whether it has to train."""
    trainings = []
    honest = loop.train
    monkeypatch.setattr(loop, "train", lambda *a, **k: trainings.append(honest(*a, **k)))
    model = model or Toy()
    loop.train_once(model, ToyData(), [PLAN])
    monkeypatch.setattr(loop, "train", honest)
    assert bool(trainings) == again
    return model.state_dict()


@pytest.mark.parametrize("kind", ["flip", "delete", "garbage"])
def test_what_is_damaged_is_trained_again_to_the_same_weights(kind, monkeypatch):
    first = learned(again=True, monkeypatch=monkeypatch)
    learned(again=False, monkeypatch=monkeypatch)
    (result,) = (cache_root() / "trained").glob("*.safetensors")
    apply_damage(result, kind, random.Random(0))
    second = learned(again=True, monkeypatch=monkeypatch)
    for name, tensor in first.items():
        assert torch.equal(tensor, second[name]), name


@pytest.mark.parametrize("dropout", [torch.nn.Dropout(0.3), torch.nn.AlphaDropout(0.2)])
def test_attributes_and_classes_of_parts_without_weights_count(dropout, monkeypatch):
    def other():
        model = Toy()
        model.encoder.dropout = dropout
        return model

    first = learned(again=True, monkeypatch=monkeypatch)
    second = learned(again=True, monkeypatch=monkeypatch, model=other())
    assert any(not torch.equal(tensor, second[name]) for name, tensor in first.items())
    learned(again=False, monkeypatch=monkeypatch, model=other())
    learned(again=False, monkeypatch=monkeypatch)
