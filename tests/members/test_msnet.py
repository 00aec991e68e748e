import numpy as np
import pytest
import torch
from scipy.special import softmax

from gapstack.errors import MemberError
from gapstack.members import create
from gapstack.members.msnet import PUBLISHED, MSNetHead

QUICK = {"epochs": 1, "precision": "float32"}


@pytest.mark.parametrize("pooling", ["attention", "mean"])
def test_each_layers_spans_are_the_papers(pooling):
    width, layers = 4, 2
    head = MSNetHead(width, layers, 3, 0.4, 0.6, pooling).eval()
    hidden = torch.randn(1, 6, layers * width, generator=torch.Generator().manual_seed(0))
    found = head.crossed(hidden, torch.tensor([[[2, 4], [0, 1], [4, 6]]])).numpy()
    for layer in range(layers):
        pieces = hidden[0, :, layer * width : (layer + 1) * width].numpy().astype(np.float64)
        pronoun = pieces[2:4].mean(0)
        names = []
        for start, end in ((0, 1), (4, 6)):
            name = pieces[start:end]
            name = (name - name.mean(1, keepdims=True)) / np.sqrt(name.var(1, keepdims=True) + 1e-5)
            weights = softmax(name @ pronoun / np.sqrt(width) * (pooling == "attention"))
            names.append(weights @ name)
        a, b = names
        expected = np.concatenate([pronoun, a, b, pronoun * a, pronoun * b])
        np.testing.assert_allclose(found[layer, 0], expected, rtol=1e-4, atol=1e-5)


def test_the_classifier_is_told_on_which_side_each_name_stands():
    head = MSNetHead(4, 1, 3, 0.4, 0.6).eval()
    torch.nn.init.zeros_(head.classifier.weight[:, :3])
    hidden = torch.randn(1, 200, 4).expand(2, -1, -1)
    # the same name piece at equal distances before and after the pronoun, so only the sign differs
    mentions = torch.tensor([[[100, 101], [50, 51], [60, 61]], [[100, 101], [150, 151], [140, 141]]])
    before, after = head(hidden, mentions).detach() - head.classifier.bias.detach()
    torch.testing.assert_close(before, -after)
    weight = head.offset.weight.item()
    expected = head.classifier.weight[:, 3:].detach() @ torch.tanh(weight * torch.tensor([-0.5, -0.4]))
    torch.testing.assert_close(before, expected)


@pytest.mark.parametrize(("asked", "read"), [(8, (-2, -1)), (1, (-1,))])
def test_a_shallow_encoder_gives_all_of_its_layers(asked, read, tiny_encoder):
    assert create("msnet", layers=asked)._layers(tiny_encoder) == read


def test_no_layer_at_all_is_refused(sample_train, tiny_encoder_folder):
    with pytest.raises(MemberError, match="layers: found 0, expected a whole number, at least 1"):
        create("msnet", encoder=str(tiny_encoder_folder), layers=0).fit(sample_train[:20])


def test_the_head_learns_alone_before_the_encoder_does_and_its_norm_is_saved(
    sample_train, tiny_encoder_folder
):
    training = [QUICK | {"epochs": 3}, QUICK]
    member = create("msnet", encoder=str(tiny_encoder_folder), training=training).fit(sample_train[:40])
    assert [len(history.evaluations) for history in member.history_] == [3, 1]
    arrays = member.state().arrays
    assert any(name.startswith("encoder.encoder.layer") for name in arrays)
    assert not any("embeddings" in name for name in arrays)
    # 3 + 1 epochs of two batches
    assert arrays["head.norm.num_batches_tracked"] == 8


def test_the_papers_settings_are_settings_of_the_member():
    head, whole = create("msnet", **PUBLISHED)._plans()
    assert (head.head_lr, head.patience, head.batch_size, head.frozen) == (4e-4, 3, 32, ("encoder",))
    assert (whole.encoder_lr, whole.patience, whole.batch_size) == (5e-6, 4, 5)
    assert whole.frozen == ("encoder.embeddings",)
