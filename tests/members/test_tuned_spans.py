import numpy as np
import pytest

from gapstack.data import Corpus, Example, Label
from gapstack.data.augment import anonymise_names
from gapstack.members import create

TEXT = "Helen Brown told Joan Smith about the choir before she left; Helen Brown knew the songs."


@pytest.fixture
def told() -> Corpus:
    """One row whose names can be replaced, and one whose pronoun has no placeholders."""
    return Corpus(
        [
            Example.from_text(TEXT, "she", "Helen Brown", "Joan Smith", label=Label.A, id="renamed"),
            Example.from_text("Kim met Lee when they sang.", "they", "Kim", "Lee", label=Label.B, id="kept"),
        ]
    )


@pytest.fixture
def member(tiny_encoder_folder):
    return create(
        "tuned_spans",
        encoder=str(tiny_encoder_folder),
        blocks=["surface"],
        name_variants=2,
        prediction_variants=1,
    )


def test_a_row_is_learned_with_its_forms_and_their_relations_are_its_own(told, member, tiny_encoder):
    data = member._build_data(told, tiny_encoder, told.labels)
    # the second row has no form with other names
    assert len(data.sizes) == 4
    batch = data.batch(np.arange(4))
    assert batch["target"].tolist() == [Label.A, Label.B, Label.A, Label.A]
    relations = batch["relations"].numpy()
    np.testing.assert_array_equal(relations[2], relations[0])
    np.testing.assert_array_equal(relations[3], relations[0])
    alone = member._build_data(Corpus([anonymise_names(told[0], 1)]), tiny_encoder, None).batch(np.arange(1))
    ids = alone["ids"][0]
    assert batch["ids"][3, : len(ids)].tolist() == ids.tolist()


def test_answers_are_averaged_over_the_forms_that_a_row_has(told, member):
    member.fit(told)
    both = member.predict_proba(told)
    one = member.set_params(prediction_variants=0).predict_proba(told)
    assert np.abs(both[0] - one[0]).max() > 1e-6
    np.testing.assert_allclose(both[1], one[1], atol=1e-9)
