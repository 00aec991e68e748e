import numpy as np
import pytest

from gapstack.data import Corpus, Example, Label
from gapstack.errors import MemberError
from gapstack.members import create, store
from gapstack.members.kernel_svm import scalars

TEXT = "Long ago Ann Lee lived here. Then Bob met her."
WIKI = "http://en.wikipedia.org/wiki/"
SCALARS = (("Lee_family", [1, 0]), ("Robert_Bob_(singer)", [0, 1]), ("Bobby_Annan", [0, 0]), (None, [0, 0]))


@pytest.mark.parametrize(("page", "topics"), SCALARS)
def test_the_seven_scalars(page, topics):
    row = Example.from_text(TEXT, "her", "Ann Lee", "Bob", url=page and WIKI + page)
    # words: Long ago Ann Lee lived here . | Then Bob met her.
    expected = [(2 - 10) / 500, (8 - 10) / 500, 2 / 7, 1 / 5, 3 / 5, *topics]
    np.testing.assert_allclose(scalars(Corpus([row])), [expected])


@pytest.fixture
def settings(tiny_encoder_folder):
    return {"encoder": str(tiny_encoder_folder)}


def test_a_class_without_rows_is_refused(sample_train, settings):
    named = Corpus([e for e in sample_train if e.label is not Label.NEITHER])
    with pytest.raises(MemberError, match="two rows of each class"):
        create("kernel_svm", **settings).fit(named)


def test_a_reduced_member_is_stored_with_its_reduction(sample_train, sample_test, settings, tmp_path):
    member = create("kernel_svm", components=16, removed=2, classifier="logistic", **settings).fit(
        sample_train[:60]
    )
    assert member.arrays_["weights"].shape == (3, 7 + 5 * 16)
    store.save(member, "kernel_svm", tmp_path / "member")
    np.testing.assert_array_equal(
        store.load(tmp_path / "member").predict_proba(sample_test), member.predict_proba(sample_test)
    )
