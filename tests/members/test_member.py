"""What every member does with rows before its own code sees them: copies to learn from, tellings to answer."""

import numpy as np
import pytest

from gapstack.data import Corpus, Label
from gapstack.data.augment import AUGMENTATIONS, swap_names
from gapstack.errors import MemberError
from gapstack.members import published
from gapstack.members.member import Member


class Witness(Member):
    """Says A for every row and keeps what it was shown."""

    def _prepare(self, corpus: Corpus) -> None:
        self.prepared = corpus

    def _fit(self, corpus: Corpus) -> None:
        self.learned = corpus

    def _predict_proba(self, corpus: Corpus) -> np.ndarray:
        self.asked = corpus
        return np.tile([0.7, 0.1, 0.2], (len(corpus), 1))


def test_copies_are_learned_from_under_ids_and_labels_of_their_own(sample_train):
    witness = Witness(augment=["swap_names", "anonymise_0"]).fit(sample_train)
    learned = {example.id: example for example in witness.learned}
    assert len(learned) == len(witness.learned) > 2 * len(sample_train)
    assert witness.learned.label_set == sample_train.label_set
    for example in sample_train:
        assert learned[example.id] == example
        copied = learned[f"{example.id}~swap_names"]
        other = swap_names(example)
        assert (copied.a, copied.b, copied.label, copied.url) == (other.a, other.b, other.label, example.url)
        assert copied.label == {Label.A: Label.B, Label.B: Label.A}.get(example.label, example.label)
    refused = [e for e in sample_train if AUGMENTATIONS["anonymise_0"].change(e) is None]
    assert refused
    assert not any(f"{e.id}~anonymise_0" in learned for e in refused)


def test_answers_are_averaged_over_the_tellings_in_the_columns_of_the_row(sample_train, sample_test):
    witness = Witness(average=["original", "swap_names"]).fit(sample_train)
    np.testing.assert_allclose(
        witness.predict_proba(sample_test), np.tile([0.4, 0.4, 0.2], (len(sample_test), 1))
    )
    alone = Witness(average=["swap_names"]).fit(sample_train)
    np.testing.assert_allclose(
        alone.predict_proba(sample_test), np.tile([0.1, 0.7, 0.2], (len(sample_test), 1))
    )
    assert [e.a for e in alone.asked] == [e.b for e in sample_test]


def test_what_will_be_learned_and_asked_is_prepared_once(sample_train):
    witness = Witness(augment=["swap_gender"], average=["original", "swap_gender"])
    witness.prepare(sample_train)
    ids = [example.id for example in witness.prepared]
    assert len(ids) == len(set(ids)) > len(sample_train)
    assert all(name.endswith("~swap_gender") for name in ids[len(sample_train) :])


def test_a_member_without_a_paper_s_settings_is_refused():
    with pytest.raises(MemberError, match="prior has no published settings"):
        published("prior")
