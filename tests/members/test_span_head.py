import pytest

from gapstack.data.corpus import one_hot
from gapstack.errors import MemberError
from gapstack.members import create, fine_tuned

QUICK = {"epochs": 1, "precision": "float32"}


@pytest.fixture
def settings(tiny_encoder_folder):
    return {"encoder": str(tiny_encoder_folder), "max_pieces": 96, "blocks": [], "training": QUICK}


def test_only_the_layer_that_is_read_learns(sample_train, settings, tiny_encoder):
    member = create("span_head", **settings).fit(sample_train[:20])
    layers = {name.split(".")[3] for name in member.state().arrays if name.startswith("encoder.")}
    (read,) = member._layers(tiny_encoder)
    assert layers == {str(read - 1)}
    still = create("span_head", **settings, tune_layer=False).fit(sample_train[:20])
    assert not any(name.startswith("encoder.") for name in still.state().arrays)


@pytest.mark.parametrize("layer", [0, 3, -1])
def test_a_layer_that_the_encoder_lacks_is_refused(layer, sample_train, settings):
    with pytest.raises(MemberError, match=f"layer {layer}, but .* layers 1 to 2"):
        create("span_head", **settings, layer=layer).fit(sample_train[:20])


def test_other_corpora_teach_the_heads_and_then_the_layer(sample_train, sample_test, settings, monkeypatch):
    settings |= {"layer": 1, "tune_layer": False, "extra": ["winogender"]}
    rows = sample_test[:20]
    soft = rows.unlabelled(), one_hot(rows.labels)
    monkeypatch.setattr(fine_tuned, "soft_labelled", lambda *_: soft)
    trained = []
    monkeypatch.setattr(fine_tuned, "train_once", lambda n, d, plans, **k: trained.append(plans))
    first = [QUICK | {"frozen": ["encoder"]}, QUICK | {"frozen": [0, 2, "head"]}]
    member = create("span_head", **settings, pretraining=first).fit(sample_train[:20])
    assert [plan.frozen for plan in trained[0]] == [("encoder",), (0, 2, "head")]
    # what the layer learned there stays, and is saved, while the heads alone learn from GAP
    assert {name.split(".")[3] for name in member.arrays_ if name.startswith("encoder.")} == {"0"}
