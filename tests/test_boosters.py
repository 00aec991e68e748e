"""LightGBM models that are not whole never reach the library."""

import re

import lightgbm
import numpy as np
import pytest

from gapstack import boosters
from gapstack.boosters import restore_booster
from gapstack.errors import DamageError


@pytest.fixture(scope="module")
def model() -> lightgbm.Booster:
    rng = np.random.default_rng(0)
    table, labels = rng.normal(size=(120, 4)), rng.integers(0, 3, 120)
    settings = {"objective": "multiclass", "num_class": 3, "verbosity": -1, "num_threads": 1}
    data = lightgbm.Dataset(table, labels, feature_name=["a", "b", "é", "d"])
    return lightgbm.train(settings, data, num_boost_round=3)


def test_a_whole_model_predicts_as_the_one_that_was_written(model):
    table = np.random.default_rng(1).normal(size=(5, 4))
    again = restore_booster(model.model_to_string())
    np.testing.assert_array_equal(again.predict(table), model.predict(table))


def column(key: str, change):
    """Change one column of the first tree, a list of strings; the sizes in the header follow."""

    def edit(text: str) -> str:
        at = text.index("Tree=0")
        before = re.search(rf"(?<=\n{key}=).*", text[at:])
        after = " ".join(change(before[0].split()))
        text = text[: at + before.start()] + after + text[at + before.end() :]
        grown = len(after) - len(before[0])
        return re.sub(r"(?<=tree_sizes=)\d+", lambda size: str(int(size[0]) + grown), text)

    return edit


CHANGES = (
    *(lambda text, cut=cut: text[:cut] for cut in range(0, 1500, 97)),
    lambda text: text[: text.index("end of parameters")],
    lambda text: text.replace("Tree=1\n", "", 1),
    lambda text: text.replace("leaf_value=", "leaf_value=1", 1),
    lambda text: text[: text.index("Tree=1")] + text[text.index("Tree=2") :],
    lambda text: text.replace("tree_sizes=", "sizes="),
    lambda text: text.replace("num_class=3", "num_class=0", 1),
    lambda text: text.replace("max_feature_idx=3", "max_feature_idx=", 1),
    lambda text: "\x00\udc80" * 50,
    column("left_child", lambda old: ["0", *old[1:]]),  # a cycle
    column("left_child", lambda old: [*old[:-1], "1"]),
    column("right_child", lambda old: ["-9999999", *old[1:]]),
    column("right_child", lambda old: ["999999", *old[1:]]),
    column("left_child", lambda old: ["99999999999999999999", *old[1:]]),
    column("right_child", lambda old: ["-1"] * len(old)),
    column("left_child", lambda old: old[:-1]),
    column("left_child", lambda old: ["x", *old[1:]]),
    column("leaf_value", lambda old: old[:-1]),
    column("leaf_value", lambda old: ["nan", *old[1:]]),
    column("leaf_value", lambda old: [*old[:-1], "inf"]),
    column("split_feature", lambda old: ["4", *old[1:]]),
    column("split_feature", lambda old: ["-1", *old[1:]]),
    column("decision_type", lambda old: ["1", *old[1:]]),
    column("num_leaves", lambda old: ["0"]),
    column("num_leaves", lambda old: ["1000000"]),
    column("num_cat", lambda old: ["1"]),
)


@pytest.mark.parametrize("change", CHANGES, ids=range(len(CHANGES)))
def test_a_model_that_is_not_whole_never_reaches_the_library(change, model, monkeypatch):
    text = model.model_to_string()
    monkeypatch.setattr(boosters.lightgbm, "Booster", lambda **_: pytest.fail("LightGBM was given it"))
    with pytest.raises(DamageError, match="not a valid LightGBM model") as refused:
        restore_booster(change(text))
    assert "\n" not in str(refused.value)
