"""Scores of spans and links: two readings, padding-free passages of any length, files that are missing or damaged."""

import shutil

import numpy as np
import pytest

from gapstack.data import Span
from gapstack.errors import DamageError, DataNotFoundError
from gapstack.running_text.mentions import describe
from gapstack.running_text.text_model import TextModel, packed, unpacked
from gapstack.text_model_files import shipped
from tests.running_text.tiny_model import LINKS, PRODUCT, tiny_model

MODEL = tiny_model()


@pytest.mark.parametrize(("text", "readings"), [("Ann left .", 1), ("Ann said she left .", 2), ("", 1)])
def test_a_passage_is_read_again_only_if_it_has_he_or_she(text, readings):
    assert len(MODEL.readings(MODEL.tokenizer.split(text))) == readings


def test_both_genders_of_a_pronoun_have_the_same_readings():
    she, he = (
        MODEL.readings(MODEL.tokenizer.split(f"the nurse said {form} left .")) for form in ("she", "he")
    )
    assert np.array_equal(she[0], he[1])
    assert np.array_equal(she[1], he[0])


def test_spans_begin_and_end_with_words_and_are_not_longer_than_allowed():
    pieces = MODEL.tokenizer.split("Xyzzyqua Brown met unbelievability . " * 5)
    found = MODEL.spans(MODEL.readings(pieces), pieces, 0.0)
    assert len(found.firsts) > 20
    assert pieces.begins[found.firsts].all()
    assert pieces.ends[found.lasts].all()
    widths = found.lasts - found.firsts
    assert (widths.min(), widths.max()) == (0, 11)


def test_a_passage_longer_than_the_encoder_reads_has_all_its_states():
    pieces = MODEL.tokenizer.split("ann left . " * 400)
    assert len(MODEL.states(pieces, swap=False)) == len(pieces) == 1200


def test_a_passage_of_any_length_is_scored_in_blocks(monkeypatch):
    pieces = MODEL.tokenizer.split("ann met bo . " * 30)
    readings = MODEL.readings(pieces)
    whole = MODEL.spans(readings, pieces, 0.0)
    monkeypatch.setattr("gapstack.running_text.text_model._BLOCK", 7)
    blocks = MODEL.spans(readings, pieces, 0.0)
    assert np.array_equal(whole.firsts, blocks.firsts)
    assert np.array_equal(whole.lasts, blocks.lasts)
    assert blocks.probabilities == pytest.approx(whole.probabilities, abs=1e-5)


def test_projections_survive_packing():
    text = "Ann said she left ."
    pieces = MODEL.tokenizer.split(text)
    mentions = [
        describe(text, Span(0, 3), 0, 0, MODEL.lexicon),
        describe(text, Span(9, 12), 2, 2, MODEL.lexicon),
    ]
    before = MODEL.project(MODEL.readings(pieces), np.array([0, 2]), np.array([0, 2]), mentions)
    after = unpacked(packed(before), MODEL.sizes)
    assert after.query.shape == (2, 2, LINKS)
    assert after.product.shape == (2, 2, PRODUCT)
    for name in ("query", "key", "product", "new"):
        assert getattr(after, name) == pytest.approx(getattr(before, name), rel=1e-3, abs=1e-3)


@pytest.mark.parametrize("name", ["encoder.onnx", "model.safetensors", "tokenizer.json", "lexicon.json"])
def test_a_missing_file_is_named(tmp_path, name):
    for path in shipped().iterdir():
        if path.name != name and path.name != "README.md":
            (tmp_path / path.name).symlink_to(path)
    with pytest.raises(DataNotFoundError, match=name):
        TextModel.load(tmp_path)


@pytest.mark.parametrize("name", ["encoder.onnx", "model.safetensors"])
def test_a_damaged_file_is_named(tmp_path, name):
    for path in shipped().iterdir():
        shutil.copyfile(path, tmp_path / path.name)
    (tmp_path / name).write_bytes(b"damaged")
    with pytest.raises(DamageError, match=name):
        TextModel.load(tmp_path)
