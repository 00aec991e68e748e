import pytest

from gapstack.members import create

QUICK = {"epochs": 1, "precision": "float32"}


@pytest.mark.parametrize(("asked", "read"), [(8, (-2, -1)), (1, (-1,))])
def test_a_shallow_encoder_gives_all_of_its_layers(asked, read, tiny_encoder):
    assert create("msnet", layers=asked)._layers(tiny_encoder) == read


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
