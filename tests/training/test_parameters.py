import pytest
from torch import nn
from transformers import DistilBertConfig, DistilBertModel, ModernBertConfig, ModernBertModel

from gapstack.errors import MemberError
from gapstack.training import TrainingPlan, trainable_encoder
from gapstack.training.parameters import freeze, groups, layers
from tests.training.toys import Toy


class Body(nn.Module):
    def __init__(self, encoder):
        super().__init__()
        self.encoder = encoder
        self.head = nn.Linear(4, 3)


def test_layers_are_found_in_every_family(tiny_encoder):
    distil = DistilBertModel(DistilBertConfig(vocab_size=50, dim=8, n_layers=3, n_heads=2, hidden_dim=8))
    special = dict(zip(("pad", "bos", "eos", "cls", "sep"), range(5), strict=True))
    sizes = {"hidden_size": 8, "num_hidden_layers": 3, "num_attention_heads": 2, "intermediate_size": 8}
    tokens = {f"{name}_token_id": number for name, number in special.items()}
    modern = ModernBertModel(ModernBertConfig(vocab_size=50, **sizes, **tokens))
    for encoder, last in ((trainable_encoder(tiny_encoder, TrainingPlan()), 2), (distil, 3), (modern, 3)):
        found = layers(Body(encoder))
        assert set(found.values()) == {(layer,) for layer in range(last + 1)}, type(encoder).__name__
        assert all(name.startswith("encoder.") for name in found)
        assert all((layers == (0,)) == ("embeddings" in name) for name, layers in found.items())
    assert layers(Body(modern))["encoder.final_norm.weight"] == (3,)


# frozen, which parameters then learn
FROZEN = (
    ((), {"embeddings", "layer.0", "layer.1", "norm", "head"}),
    ((0,), {"layer.0", "layer.1", "norm", "head"}),
    (("encoder.embeddings", 1), {"layer.1", "norm", "head"}),
    (("encoder",), {"norm", "head"}),
    (("head", "norm", 0, 2), {"layer.0"}),
)


@pytest.mark.parametrize(("frozen", "learning"), FROZEN, ids=[str(f[0]) for f in FROZEN])
def test_only_what_is_not_frozen_learns(frozen, learning):
    model = Toy()
    freeze(model, (0, 1, "head"))  # an earlier phase's freezing must not last
    freeze(model, frozen)
    found = {name.removeprefix("encoder.") for name, p in model.named_parameters() if p.requires_grad}
    assert {name.rpartition(".")[0] for name in found} == learning


@pytest.mark.parametrize(
    ("frozen", "message"),
    [
        (("encodr",), "names 'encodr', but the model has no such parameters; it has encoder, norm, head"),
        (("enc",), "'enc'"),  # a name ends at a dot
        ((3,), "layers 0 to 2"),
        ((-1,), "layers 0 to 2"),
        (("encoder", "head", "norm"), "leaves nothing to learn"),
    ],
)
def test_freezing_nothing_or_everything_is_refused(frozen, message):
    with pytest.raises(MemberError, match=message):
        freeze(Toy(), frozen)


def test_rates_fall_from_layer_to_layer_and_biases_do_not_decay():
    model = Toy()
    plan = TrainingPlan(encoder_lr=0.1, head_lr=0.7, layer_decay=0.5, weight_decay=0.3)
    named = dict(model.named_parameters())
    found = groups(model, named, plan)
    rate = {id(p): (group["peak"], group["weight_decay"]) for group in found for p in group["params"]}
    assert rate[id(named["encoder.layer.1.weight"])] == (0.1, 0.3)
    assert rate[id(named["encoder.layer.0.weight"])] == (0.05, 0.3)
    assert rate[id(named["encoder.layer.0.bias"])] == (0.05, 0.0)
    assert rate[id(named["encoder.embeddings.weight"])] == (0.025, 0.3)
    assert rate[id(named["head.weight"])] == (0.7, 0.3)
    assert rate[id(named["norm.weight"])] == (0.7, 0.0)
    assert len(rate) == len(named)
