import pytest

from gapstack.errors import DataError, MemberError
from gapstack.training import validation_rows


@pytest.mark.parametrize("share", [0.1, 0.2, 0.5])
def test_pages_stay_whole_and_every_row_has_a_side(sample_train, share):
    learn, stop = validation_rows(sample_train, share, seed=3)
    assert sorted([*learn, *stop]) == list(range(len(sample_train)))
    assert not set(sample_train.groups[learn]) & set(sample_train.groups[stop])
    assert len(stop) == pytest.approx(share * len(sample_train), rel=0.35)


@pytest.mark.parametrize("share", [0.0, 0.6, -0.1])
def test_a_wrong_share_is_refused(sample_train, share):
    with pytest.raises(MemberError, match="validation share"):
        validation_rows(sample_train, share, 0)


def test_too_few_rows_are_refused(sample_train):
    with pytest.raises(DataError, match="cannot be cut"):
        validation_rows(sample_train[:5], 0.1, 0)
