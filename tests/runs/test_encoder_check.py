"""Recipes on other encoders, and the trial of an encoder: its size, and which members work."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gapstack.errors import DataNotFoundError
from gapstack.members import create
from gapstack.runs import encoder_check
from gapstack.runs.encoder_check import at_same_depth, check_encoder, on_encoder
from gapstack.runs.recipe import Recipe, available


@given(st.integers(1, 24), st.integers(1, 24))
def test_layers_keep_their_order_and_the_last_stays_the_last(layers, layer):
    assert at_same_depth(24, 24, layers) == at_same_depth(-1, 24, layers) == layers
    assert 0 <= at_same_depth(layer, 24, layers) <= layers
    assert at_same_depth(layer, 24, 24) == layer
    assert at_same_depth(layer, 24, layers) >= at_same_depth(layer - 1, 24, layers)


def recipe(*members, **fields):
    return Recipe.parse({"name": "r", "members": list(members), **fields}, "test")


def test_rates_of_an_encoder_give_way_and_those_of_a_head_stay(tiny_encoder_folder):
    scaled, lines = on_encoder(recipe({"name": "msnet", "settings": "published"}), str(tiny_encoder_folder))
    head, whole = scaled.members[0].settings["training"]
    assert head["head_lr"] == 4e-4
    assert not {"encoder_lr", "epochs", "patience"} & set(whole)
    assert lines[1].startswith("rates, epochs, early stopping and frozen layers")
    assert scaled.name == "r-tiny"


BOTH = {"encoder": ["bert-large-cased", "bert-large-uncased"]}


def test_members_that_differed_in_their_encoder_alone_are_one_with_the_weight_of_both(tiny_encoder_folder):
    mean = {"name": "mean", "settings": {"weights": [54, 36, 10]}}
    whole = recipe({"name": "probert", "each": BOTH}, {"name": "surface"}, stackers=[mean])
    scaled, lines = on_encoder(whole, str(tiny_encoder_folder))
    assert [part.label for part in scaled.members] == ["probert", "surface"]
    assert scaled.stackers[0].settings["weights"] == [90, 10]
    assert lines[-1] == "2 members of 3: those that differed only in their encoder are one"


def test_a_member_of_two_encoders_reads_one(tiny_encoder_folder):
    scaled, lines = on_encoder(Recipe.load("fivezeros2019"), str(tiny_encoder_folder))
    assert "second_encoder" not in scaled.members[0].settings
    assert lines[0].endswith("in place of bert-large-cased, bert-large-uncased")


def test_a_plain_mean_keeps_its_balance_when_only_some_members_are_copies(tiny_encoder_folder):
    whole = recipe({"name": "probert", "each": BOTH}, {"name": "surface"}, stackers=[{"name": "mean"}])
    assert on_encoder(whole, str(tiny_encoder_folder))[0].stackers[0].settings["weights"] == [2, 1]


def test_sizes_speed_and_refusals(tiny_encoder_folder, monkeypatch):
    few = ["siamese", "masked_lm", "kernel_svm"]
    monkeypatch.setattr(encoder_check, "members_with_encoder", lambda: few)
    found = check_encoder(str(tiny_encoder_folder))
    assert (found.model_type, found.layers) == ("bert", 2)
    assert found.rows_per_second > 0
    assert found.tuned_memory == 4 * found.frozen_memory > 0
    assert found.members["siamese"] == found.members["kernel_svm"] == ""
    assert "one word piece" in found.members["masked_lm"]


def test_an_unknown_encoder_is_named():
    with pytest.raises(DataNotFoundError, match="nowhere"):
        check_encoder("nowhere/nothing")


@pytest.mark.parametrize("name", available())
def test_every_recipe_runs_on_another_encoder(name, tiny_encoder_folder):
    recipe, _ = on_encoder(Recipe.load(name), str(tiny_encoder_folder))
    for part in recipe.members:
        create(part.name, **part.settings)


def test_members_told_apart_by_their_encoders_are_numbered():
    recipe, _ = on_encoder(Recipe.load("yang2019"), "minilm")
    labels = [part.label for part in recipe.members if part.label.startswith("wide")]
    assert labels == ["wide_no_blocks", "wide_fill_the_gap", "wide_no_blocks_2", "wide_fill_the_gap_2"]
