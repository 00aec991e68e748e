import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from gapstack.encoding.pieces import align
from gapstack.errors import DataError
from gapstack.training import PieceData, cross_entropy, validation_rows
from gapstack.training.data import epoch_batches


@given(
    st.lists(st.integers(1, 60), min_size=1, max_size=300),
    st.integers(1, 40),
    st.integers(0, 5),
    st.integers(0, 3),
)
def test_every_row_is_in_one_batch_of_an_epoch(sizes, batch_size, seed, epoch):
    found = epoch_batches(np.array(sizes), batch_size, seed, epoch)
    assert sorted(np.concatenate(found).tolist()) == list(range(len(sizes)))
    assert len(found) == -(-len(sizes) // batch_size)
    assert sum(len(batch) != batch_size for batch in found) <= 1
    for batch in found:
        assert (np.diff(np.array(sizes)[batch]) >= 0).all()
    again = epoch_batches(np.array(sizes), batch_size, seed, epoch)
    assert [batch.tolist() for batch in again] == [batch.tolist() for batch in found]


def test_plain_batches_cut_the_rows_or_one_shuffle_after_the_other():
    sizes = np.ones(10, dtype=np.int64)
    in_order = epoch_batches(sizes, 4, 3, 5, "as_given")
    assert [batch.tolist() for batch in in_order] == [[0, 1, 2, 3], [4, 5, 6, 7], [8, 9]]
    rng = np.random.default_rng(3)
    for epoch in range(3):
        shuffled = epoch_batches(sizes, 4, 3, epoch, "shuffled")
        assert [len(batch) for batch in shuffled] == [4, 4, 2]
        np.testing.assert_array_equal(np.concatenate(shuffled), rng.permutation(10))


def test_a_batch_is_padded_to_its_longest_text_and_masked(sample_train, tiny_encoder):
    view = align(sample_train, tiny_encoder)
    data = PieceData(view, sample_train.labels, {"hint": np.arange(len(view)) / 7})
    rows = np.argsort(view.lengths)[[0, -1]]
    batch = data.batch(rows)
    assert batch["ids"].shape == batch["keep"].shape == (2, view.lengths[rows].max())
    assert batch["keep"].dtype == torch.bool
    for place, row in enumerate(rows):
        np.testing.assert_array_equal(batch["ids"][place][batch["keep"][place]], view.ids[view.row(row)])
    np.testing.assert_array_equal(batch["mentions"], view.mentions[rows])
    np.testing.assert_array_equal(batch["target"], sample_train.labels[rows])
    assert batch["hint"].dtype == torch.float32
    unmasked = PieceData(view).batch(np.array([4, 4, 4]))
    assert not {"keep", "target"} & unmasked.keys()


@pytest.mark.parametrize("change", ["labels", "extras", "texts"])
def test_the_fingerprint_notices(change, sample_train, tiny_encoder):
    def data(labels, extra, corpus):
        return PieceData(align(corpus, tiny_encoder), labels, {"extra": extra}).fingerprint

    labels, extra = sample_train.labels, np.zeros(len(sample_train))
    same = data(labels.copy(), extra.copy(), sample_train)
    assert same == data(labels, extra, sample_train)
    if change == "labels":
        labels = (labels + 1) % 3
    elif change == "extras":
        extra = extra + 1
    else:
        sample_train = sample_train.take(np.arange(len(sample_train))[::-1])
    assert data(labels, extra, sample_train) != same


@pytest.mark.parametrize("smoothing", [0.0, 0.1])
def test_soft_labels_that_sum_to_another_number_give_their_row_that_weight(smoothing):
    logits = torch.tensor([[1.0, -2.0, 0.5], [0.0, 3.0, 1.0]])
    target = torch.tensor([[0.7, 0.2, 0.1], [0.0, 1.0, 0.0]])
    weights = torch.tensor([2.0, 0.25])
    weighted = cross_entropy(logits, target * weights[:, None], smoothing)
    torch.testing.assert_close(weighted, cross_entropy(logits, target, smoothing) * weights)


@pytest.mark.parametrize("share", [0.1, 0.2, 0.5])
def test_pages_stay_whole_and_every_row_has_a_side(sample_train, share):
    learn, stop = validation_rows(sample_train, share, seed=3)
    assert sorted([*learn, *stop]) == list(range(len(sample_train)))
    assert not set(sample_train.groups[learn]) & set(sample_train.groups[stop])
    assert len(stop) == pytest.approx(share * len(sample_train), rel=0.35)


def test_too_few_rows_are_refused(sample_train):
    with pytest.raises(DataError, match="split"):
        validation_rows(sample_train[:5], 0.1, 0)
