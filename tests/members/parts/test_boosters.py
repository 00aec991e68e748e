"""LightGBM models that are not whole are refused before the library, which would abort the process, sees them."""

import lightgbm
import numpy as np
import pytest

from gapstack.errors import DamageError
from gapstack.members.parts import boosters
from gapstack.members.parts.boosters import restore_booster


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
        with pytest.raises(DamageError, match=r"LightGBM model of .* bytes that is not whole"):
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
