"""What the five zeros' systems show their encoders."""

from dataclasses import replace

import numpy as np
import pytest

from gapstack.data import Corpus, Example, Span
from gapstack.encoding.encoders import load_encoder
from gapstack.members import create, saved
from gapstack.members.five_zeros import repair_stars
from tests.fixtures_encoder import build_tiny_encoder

QUICK = {"epochs": 1, "precision": "float32"}


@pytest.fixture
def products(tiny_encoder_folder):
    return {"encoder": str(tiny_encoder_folder), "training": QUICK}


def test_feminised_rows_are_read_alike_whichever_pronoun_they_have(sample_train, sample_test, products):
    member = create("pair_product", **products, feminise=True, max_pieces=96).fit(sample_train[:40])
    row = Example("m", "Ann met Bo and his dog; he saw her.", Span(15, 18), Span(0, 3), Span(8, 10))
    told = replace(row, text="Ann met Bo and her dog; she saw her.")
    together = Corpus([row, replace(told, id="f")])
    first, second = member.predict_proba(together)
    np.testing.assert_allclose(first, second, atol=1e-6)
    plain = create("pair_product", **products, max_pieces=96).fit(sample_train[:40])
    first, second = plain.predict_proba(together)
    assert np.abs(first - second).max() > 1e-6


@pytest.fixture
def towers(tiny_encoder_folder):
    return {"encoder": str(tiny_encoder_folder), "blocks": ["surface"], "training": {"epochs": 2}}


def test_the_encoder_never_sees_the_names_asked_about(towers, sample_test):
    # where a name occurs once, another name in its place changes nothing but its features
    rows = [
        row
        for row in sample_test
        if row.text.count(row.a_text) == 1
        and len(row.a_text.split()) == 1
        and row.a < row.b
        and "*" not in row.text
    ][:5]
    assert rows
    member = create("frozen_mlp", **towers)
    told = sample_test.take([sample_test.ids.index(row.id) for row in rows])
    other = told.map(
        lambda e: replace(e, text=f"{e.text[: e.a.start]}{'Q' * len(e.a_text)}{e.text[e.a.end :]}")
    )
    np.testing.assert_array_equal(member._mentions(told), member._mentions(other))


def test_one_network_reads_two_encoders(towers, sample_train, sample_test, tiny_encoder_folder, tmp_path):
    other = build_tiny_encoder(tmp_path / "other", layers=3, seed=1)
    both = create("frozen_mlp", **towers, second_encoder=str(other))
    alone = create("frozen_mlp", **towers | {"encoder": str(other)})
    rows, width = sample_train[:40], create("frozen_mlp", **towers)._mentions(sample_train[:1]).shape[-1]
    np.testing.assert_array_equal(both._mentions(rows)[..., width:], alone._mentions(rows))
    both.fit(rows)
    assert [len(tower.joint[0].weight) for tower in both.networks_[0].network.towers] == [112, 112]
    saved.save(both, "frozen_mlp", tmp_path / "member")
    np.testing.assert_array_equal(
        saved.load(tmp_path / "member").predict_proba(sample_test[:9]), both.predict_proba(sample_test[:9])
    )
    assert both.identity["second_encoder"].startswith("other ")
    assert "second_encoder" not in alone.identity


def row(text: str, pronoun: str = "she", a: str = "Ann", b: str = "Eve") -> Example:
    return Example.from_text(text, pronoun, a, b, id="row")


@pytest.mark.parametrize(
    ("garbled", "repaired"),
    [
        ("caf*", "cafe"),
        ("Jos*", "Jose"),  # the capital stays, the letter is the vocabulary's
        ("D*sseldorf", "Dusseldorf"),
        ("*lvaro", "alvaro"),
        ("Fran*ois", "Francois"),
        ("Xqz*qx", "Xqz*qx"),  # no such word
        ("*m", "*m"),  # too little to go by
        ("***", "***"),
        ("500*m", "500*m"),
    ],
)
def test_stars_become_the_letters_of_the_first_word_that_fits(garbled, repaired):
    example = row(f"Ann met Eve at the {garbled} where she was.")
    found = repair_stars(example, load_encoder())
    assert found.text == f"Ann met Eve at the {repaired} where she was."
    assert found.words(found.pronoun) == "she"
