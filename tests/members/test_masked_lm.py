"""Masked LM: name substitution, training without labels, encoders with and without a head of their own."""

import shutil
from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest

from gapstack.data import Corpus, Example, Label, Span, gap_data, teacher
from gapstack.data.corpus import one_hot
from gapstack.data.teacher import SoftLabels
from gapstack.encoding.encoders import Encoder, load_encoder
from gapstack.errors import MemberError
from gapstack.members import create
from gapstack.members.masked_lm import MaskedLM, has_own_head, with_own_head
from gapstack.members.name_substitution import (
    substitute_names,
    unused,
)
from gapstack.training import loop

# The tiny vocabulary spells words, so letters are the only names that it has as one piece
NAMES = {"feminine": ["q", "z", "x", "j"], "masculine": ["k", "v", "w", "y"]}
QUICK = {"texts": "given", "names": NAMES, "pairs": 1, "max_pieces": 96, "training": {"precision": "float32"}}
TEXT = "Ann Lee met Beth. Ann Lee sang, and Beth heard when she left Ann Lee."
EXAMPLE = Example("x", TEXT, pronoun=Span(52, 55), a=Span(0, 7), b=Span(12, 16))  # she, Ann Lee, Beth


@pytest.fixture(scope="module")
def again(sample_train) -> Corpus:
    """Sample rows in which both names come again."""
    return Corpus(
        replace(e, text=f"{e.text} So {e.a_text} told {e.b_text}, and {e.a_text} smiled.")
        for e in sample_train[:24]
    )


def test_rows_get_every_pair_of_names_in_both_orders(tiny_encoder):
    member = MaskedLM(pairs=2, names=NAMES)
    data, owners = member._substituted(Corpus([EXAMPLE, replace(EXAMPLE, id="y")]), tiny_encoder)
    assert owners.tolist() == [0] * 4 + [1] * 4
    tokens = tiny_encoder.tokenizer.convert_ids_to_tokens
    for row, (a, b) in enumerate([("q", "z"), ("z", "q"), ("x", "j"), ("j", "x")]):
        batch = data.batch(np.array([row]))
        assert tokens(batch["words"][0].tolist()) == [a, b]
        read = tokens(batch["ids"][0].tolist())
        assert read[int(batch["at"][0])] == "[MASK]"
        assert read.count("[MASK]") == 1
        assert [word for word in read if word in "qzxj"] == [a, b, a, b, a]


def test_labels_do_not_reach_the_language_model(again, tiny_encoder_folder):
    settings = {"encoder": str(tiny_encoder_folder), **QUICK}
    one = create("masked_lm", **settings).fit(again)
    other = create("masked_lm", **settings).fit(
        again.map(lambda e: replace(e, label=Label((e.label + 1) % 3)))
    )
    for name, array in one.arrays_.items():
        np.testing.assert_array_equal(array, other.arrays_[name])
    assert not np.array_equal(one.regression_, other.regression_)


def test_stage_2_is_learned_from_once_and_recorded(again, tiny_encoder_folder, monkeypatch):
    trained = []
    monkeypatch.setattr(loop, "train", lambda *a, f=loop.train, **k: trained.append(1) or f(*a, **k))
    monkeypatch.setattr(gap_data, "stage2", again.unlabelled)
    settings = {"encoder": str(tiny_encoder_folder), **QUICK}
    members = [
        create("masked_lm", **{**settings, "texts": "stage2"}).fit(part) for part in (again[:12], again[12:])
    ]
    assert len(trained) == 1
    assert members[0].contaminated_by == ("gap-stage2",)
    assert create("masked_lm", **settings).contaminated_by == ()
    assert "24 texts without labels" in members[0].state().values["learned_from"]


def test_a_head_can_learn_the_names_that_a_teacher_has_for_pronouns(again, tiny_encoder_folder, monkeypatch):
    rows, answers = again[12:].unlabelled(), one_hot(again[12:].labels)
    settings = {"encoder": str(tiny_encoder_folder), **QUICK, "texts": "distilled", "teacher": "any"}

    def distilled(answers, corpus):
        monkeypatch.setattr(teacher, "load_teacher", lambda name: SoftLabels(rows, answers))
        return create("masked_lm", **settings).fit(corpus)

    one = distilled(answers, again[:12])
    answered = int((again[12:].labels < Label.NEITHER).sum())
    assert (
        one.state().values["learned_from"]
        == f"{answered} masked names in extra and teacher, 12 texts with answers"
    )
    assert one.contaminated_by == ("gap-stage2",)
    fold, other = distilled(answers, again[2:12]), distilled(answers[:, [1, 0, 2]], again[:12])
    assert one.model_key_ == fold.model_key_ != other.model_key_


def test_an_encoder_with_its_own_head_learns_nothing(again, tiny_language_model_folder, monkeypatch):
    monkeypatch.setattr(loop, "train", lambda *a, **k: pytest.fail("there is nothing to train"))
    assert has_own_head(load_encoder(str(tiny_language_model_folder)))
    member = create(
        "masked_lm", **{"encoder": str(tiny_language_model_folder), **QUICK, "texts": "stage2"}
    ).fit(again)
    assert member.contaminated_by == ()
    assert member.arrays_ == {}
    assert "own" in member.state().values["learned_from"]


def test_a_head_that_is_promised_and_not_there_is_refused(tiny_encoder_folder, tmp_path):
    folder = shutil.copytree(tiny_encoder_folder, tmp_path / "broken")
    config = (folder / "config.json").read_text()
    (folder / "config.json").write_text(config.replace('"BertModel"', '"BertForMaskedLM"'))
    with pytest.raises(MemberError, match=r"lacks 6 weights .* cls\.predictions"):
        with_own_head(Encoder("broken", folder, ""))


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"names": None}, "has 0 of the .* names .* as one word piece; expected two at least"),
        (
            {"names": {"feminine": ["q", "Mary"], "masculine": ["k", "v"]}},
            "has 1 of the feminine names q, Mary",
        ),
        ({"texts": "distilled"}, "no text of extra and teacher has A or B for an answer, so encoder"),
    ],
)
def test_what_cannot_be_is_refused(settings, message, again, tiny_encoder_folder):
    with pytest.raises(MemberError, match=message):
        create("masked_lm", **{"encoder": str(tiny_encoder_folder), **QUICK, **settings}).fit(again)


def test_an_encoder_without_a_mask_is_refused(tiny_encoder, sample_train):
    unmasked = SimpleNamespace(name="gpt", tokenizer=SimpleNamespace(mask_token=None))
    with pytest.raises(MemberError, match="encoder gpt has no mask among its pieces"):
        MaskedLM(names=NAMES)._substituted(sample_train, unmasked)


def example(text: str, pronoun: str, a: str, b: str) -> Example:
    """The first place of each, B behind A."""
    at_a = text.index(a)
    at_b = text.index(b, at_a + len(a))
    at = text.index(pronoun)
    spans = [(at, at + len(pronoun)), (at_a, at_a + len(a)), (at_b, at_b + len(b))]
    return Example("x", text, *(Span(*span) for span in spans))


@pytest.mark.parametrize(
    ("row", "expected"),
    [
        (example("Ann saw Bo. she and Ann ran", "she", "Ann", "Bo"), "X saw Y. # and X ran"),
        # whole words only, and the longer name first
        (
            example("Ann met Ann Lee. she left Annual Ann Lee", "she", "Ann", "Ann Lee"),
            "X met Y. # left Annual Y",
        ),
        # nobody says whose the third is
        (example("Ann met Ann. she saw Ann", "she", "Ann", "Ann"), "X met Y. # saw Ann"),
        # three words, and a name within a word
        (example("McAnn de la Cruz met Bo's she", "she", "Ann de la Cruz", "Bo"), "McX met Y's #"),
    ],
)
def test_names_are_replaced_wherever_they_stand(row, expected):
    copy = substitute_names(row, "X", "Y", "#")
    assert copy.text == expected
    assert (copy.a_text, copy.b_text, copy.words(copy.pronoun)) == ("X", "Y", "#")
    swapped = substitute_names(replace(row, a=row.b, b=row.a), "Y", "X", "#")
    assert swapped.text == expected
    assert (swapped.a_text, swapped.b_text) == ("Y", "X")


def test_names_in_the_text_are_left_out_unless_too_few_are_left():
    assert unused("mary saw Annual reports", ["Mary", "Ann", "Eve"]) == ["Ann", "Eve"]
    assert unused("Mary saw Ann", ["Mary", "Ann", "Eve"]) == ["Mary", "Ann", "Eve"]
