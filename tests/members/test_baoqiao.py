"""Bao and Qiao's models: scalars, the reduction, and other names."""

from dataclasses import replace

import numpy as np
import pytest
import torch

from gapstack.data import Corpus, Example, Label, Span
from gapstack.encoding.pieces import align
from gapstack.errors import MemberError
from gapstack.language.grammar import empty_parse
from gapstack.language.parses import ENVIRONMENT as PARSER_VARIABLE
from gapstack.members import bidaf, create, saved
from gapstack.members.baoqiao import scalars
from gapstack.members.bidaf import other_names

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
    saved.save(member, "kernel_svm", tmp_path / "member")
    np.testing.assert_array_equal(
        saved.load(tmp_path / "member").predict_proba(sample_test), member.predict_proba(sample_test)
    )


QUICK = {"epochs": 1, "precision": "float32"}


def test_other_names_are_persons_who_are_neither_a_nor_b(tiny_encoder, monkeypatch):
    text = "Ann Lee met Bob. She thanked Cy and Ann."
    row = Example("r", text, Span(17, 20), Span(0, 7), Span(12, 15))
    parse = empty_parse(text)
    parse.spans = np.array([[0, 3], [4, 7], [12, 15], [17, 20], [29, 31], [36, 39]])
    parse.heads, parse.sentence = np.zeros(6, dtype=np.int32), np.zeros(6, dtype=np.int32)
    parse.roles = parse.pos = np.zeros(6, dtype=np.int8)
    parse.persons = np.array([[0, 2], [2, 3], [4, 5], [5, 6]])
    monkeypatch.setattr(bidaf, "parses", lambda corpus: [parse for _ in corpus])
    view = align(Corpus([row]), tiny_encoder)
    mask = other_names(Corpus([row]), view)
    # the second "Ann" is part of A
    assert "".join(text[slice(*span)] for span in view.chars[mask[0]]) == "Cy"


def test_without_other_names_no_parse_is_needed(sample_train, tiny_encoder_folder, monkeypatch):
    monkeypatch.setenv(PARSER_VARIABLE, "no_such_pipeline")
    rows = sample_train[:20].map(lambda e: replace(e, text=f"{e.text} So it was."))
    member = create(
        "bidaf", encoder=str(tiny_encoder_folder), neither="slot", max_pieces=96, training=QUICK
    ).fit(rows)
    assert member.predict_proba(rows).shape == (20, 3)


TWO_CLASSES = (
    ("kernel_svm", {"classifier": "logistic"}),
    ("kernel_svm", {}),
    ("mention_network", {"training": {"epochs": 2}}),
    ("bidaf", {"neither": "pronoun", "training": QUICK, "max_pieces": 96}),
)


@pytest.mark.parametrize("without", ["A", "NEITHER"])
@pytest.mark.parametrize(("name", "more"), TWO_CLASSES)
def test_a_class_that_is_left_out_has_its_share(
    name, more, without, sample_train, sample_test, settings, tmp_path
):
    rows, column = sample_train[:60], Label[without]
    member = create(name, without=without, **settings, **more).fit(rows)
    answers = member.predict_proba(sample_test[:20])
    assert answers[:, column] == pytest.approx(((rows.labels == column).sum() + 1) / 63)
    others = np.delete(answers, column, axis=1)
    assert others.min() > 0
    assert np.ptp(others[:, 0]) > 1e-3
    # labels of the class are not learned
    without_rows = create(name, **settings, **more, without=without).fit(
        rows.take(np.flatnonzero(rows.labels != column))
    )
    again = np.delete(without_rows.predict_proba(sample_test[:20]), column, axis=1)
    np.testing.assert_allclose(
        again / again.sum(axis=1, keepdims=True), others / others.sum(axis=1, keepdims=True), atol=1e-6
    )
    saved.save(member, name, tmp_path / "member")
    np.testing.assert_array_equal(saved.load(tmp_path / "member").predict_proba(sample_test[:20]), answers)


def test_token_scores_are_means_over_each_classes_pieces():
    head = bidaf.TokenScoresHead(1)
    with torch.no_grad():
        head.score.weight.fill_(1)
        head.score.bias.zero_()
    hidden = torch.arange(8.0).view(1, 8, 1) ** 2
    # pronoun 5, A 1 to 2, B 3
    found = head(hidden, torch.tensor([[[5, 6], [1, 3], [3, 4]]]))
    assert found.tolist() == [[2.5, 9.0, 12.5]]
