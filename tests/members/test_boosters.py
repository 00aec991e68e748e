"""LightGBM models that are not whole are refused before the library, which would abort the process, sees them."""

import re

import lightgbm
import numpy as np
import pytest

from gapstack.errors import DamageError
from gapstack.members import boosters
from gapstack.members.boosters import restore_booster


def fitted(rounds: int) -> lightgbm.Booster:
    rng = np.random.default_rng(0)
    table, labels = rng.normal(size=(120, 4)), rng.integers(0, 3, 120)
    settings = {"objective": "multiclass", "num_class": 3, "verbosity": -1, "num_threads": 1}
    names = ["a", "b", "é", "d"]
    return lightgbm.train(
        settings, lightgbm.Dataset(table, labels, feature_name=names), num_boost_round=rounds
    )


@pytest.mark.parametrize("rounds", [1, 3, 12])
def test_a_whole_model_answers_as_the_one_that_was_written(rounds):
    model, table = fitted(rounds), np.random.default_rng(1).normal(size=(5, 4))
    again = restore_booster(model.model_to_string())
    np.testing.assert_array_equal(again.predict(table), model.predict(table))


def test_what_is_cut_off_anywhere_before_its_end_never_reaches_the_library(monkeypatch):
    text = fitted(3).model_to_string()
    monkeypatch.setattr(boosters.lightgbm, "Booster", lambda **_: pytest.fail("LightGBM was given it"))
    for length in range(0, text.index("end of parameters"), 97):
        with pytest.raises(DamageError, match="not a valid LightGBM model"):
            restore_booster(text[:length])


@pytest.mark.parametrize(
    "change",
    [
        lambda text: text.replace("Tree=1\n", "", 1),
        lambda text: text.replace("leaf_value=", "leaf_value=1", 1),
        lambda text: text[: text.index("Tree=1")] + text[text.index("Tree=2") :],
        lambda text: text.replace("tree_sizes=", "sizes="),
        lambda text: "\x00\udc80" * 50,
    ],
)
def test_what_does_not_fit_its_head_is_refused(change):
    with pytest.raises(DamageError):
        restore_booster(change(fitted(3).model_to_string()))


def edited(text: str, key: str, change) -> str:
    """A model in whose first tree one column, a list of strings, is changed; the sizes in the header follow."""
    at = text.index("Tree=0")
    before = re.search(rf"(?<=\n{key}=).*", text[at:])
    after = " ".join(change(before[0].split()))
    text = text[: at + before.start()] + after + text[at + before.end() :]
    grown = len(after) - len(before[0])
    return re.sub(r"(?<=tree_sizes=)\d+", lambda size: str(int(size[0]) + grown), text)


@pytest.mark.parametrize(
    ("key", "change", "problem"),
    [
        ("left_child", lambda old: ["0", *old[1:]], "child"),  # a cycle
        ("left_child", lambda old: [*old[:-1], "1"], "child"),
        ("right_child", lambda old: ["-9999999", *old[1:]], "child"),
        ("right_child", lambda old: ["999999", *old[1:]], "child"),
        ("left_child", lambda old: ["99999999999999999999", *old[1:]], "index|child|length"),
        ("right_child", lambda old: ["-1"] * len(old), "parent"),
        ("left_child", lambda old: old[:-1], "length"),
        ("left_child", lambda old: ["x", *old[1:]], "index"),
        ("leaf_value", lambda old: old[:-1], "length"),
        ("split_feature", lambda old: ["4", *old[1:]], "feature"),
        ("split_feature", lambda old: ["-1", *old[1:]], "feature"),
        ("decision_type", lambda old: ["1", *old[1:]], "categories"),
        ("num_leaves", lambda old: ["0"], "length"),
        ("num_leaves", lambda old: ["1000000"], "length"),
        ("num_cat", lambda old: ["1"], "unknown"),
    ],
)
def test_nodes_that_are_not_a_tree_never_reach_the_library(key, change, problem, monkeypatch):
    text = fitted(3).model_to_string()
    assert restore_booster(edited(text, key, list)).num_trees() == 9
    monkeypatch.setattr(boosters.lightgbm, "Booster", lambda **_: pytest.fail("LightGBM was given it"))
    with pytest.raises(DamageError, match=problem) as refused:
        restore_booster(edited(text, key, change))
    assert "\n" not in str(refused.value)


@pytest.mark.parametrize(
    "change", [("num_class=3", "num_class=0"), ("max_feature_idx=3", "max_feature_idx=")]
)
def test_a_header_that_does_not_fit_is_refused(change):
    with pytest.raises(DamageError):
        restore_booster(fitted(3).model_to_string().replace(*change, 1))
