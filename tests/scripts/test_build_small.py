"""The shipped model is fitted on all of GAP, and comes out byte for byte again."""

import pytest

from gapstack import load
from gapstack.errors import DataError
from gapstack.runs.recipe import Recipe
from scripts.build_small import build, compare

TINY = {
    "name": "tiny",
    "members": [{"name": "prior"}, {"name": "surface", "settings": {"rounds": 4, "bags": 1}}],
    "stackers": [{"name": "conditional"}],
    "folds": 3,
}


def test_the_same_rows_give_the_same_bytes_and_a_card(sample_test, tmp_path):
    recipe = Recipe.parse(TINY, "tiny")
    for name in ("one", "other"):
        build(recipe, sample_test, tmp_path / name)
    compare(tmp_path / "one", tmp_path / "other")
    assert {path.suffix for path in (tmp_path / "one").iterdir()} == {".json", ".md", ".safetensors", ".txt"}
    card = (tmp_path / "one" / "README.md").read_text(encoding="utf-8")
    assert f"{len(sample_test):,} rows of GAP" in card
    assert "`prior`, `surface`" in card
    assert load(tmp_path / "one").ask("Kate told Mary that she should leave.")
    (tmp_path / "other" / "README.md").write_text("other")
    with pytest.raises(DataError, match=r"README\.md: is not what comes out now"):
        compare(tmp_path / "one", tmp_path / "other")
