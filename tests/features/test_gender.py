"""The block ``gender``: one column, the pronoun's gender alone, which exchanging the names leaves as it is."""

import numpy as np

from gapstack.data import Corpus, Example
from gapstack.features.blocks import features, needs_parses
from gapstack.members import create


def test_it_is_the_pronouns_gender_and_nothing_else():
    rows = [
        Example.from_text("Kate told Mary that she left.", "she", "Kate", "Mary"),
        Example.from_text("John told Paul that he left.", "he", "John", "Paul"),
        Example.from_text("Alex told Sam that they left.", "they", "Alex", "Sam"),
    ]
    found = features(Corpus(rows), ["gender"])
    assert found.shared.tolist() == [[1.0], [0.0], [0.5]]
    assert found.candidates.shape == (3, 2, 0)
    assert features(Corpus([]), ["gender"]).shared.shape == (0, 1)
    assert not needs_parses("gender")


def test_beside_a_block_without_gender_it_adds_one_column_to_the_row(sample_train):
    alone, beside = (features(sample_train, blocks) for blocks in (["surface"], ["surface", "gender"]))
    assert beside.shared_names == (*alone.shared_names, "gender_feminine")
    np.testing.assert_array_equal(beside.candidates, alone.candidates)
    feminine = [example.gender.value == "feminine" for example in sample_train]
    np.testing.assert_array_equal(beside.shared[:, -1], feminine)


def test_a_head_learns_from_it_alone(sample_train, tiny_encoder_folder):
    """A block without columns of the names' own is one like any other."""
    member = create("siamese", encoder=str(tiny_encoder_folder), blocks=["gender"], training={"epochs": 1})
    assert member.fit(sample_train[:40]).predict_proba(sample_train[40:50]).shape == (10, 3)
