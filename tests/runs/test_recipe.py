import pytest

from gapstack.errors import RecipeError
from gapstack.runs import Recipe, available
from gapstack.runs.recipe import Part

MINIMAL = {"name": "r", "members": [{"name": "prior"}]}


@pytest.mark.parametrize("name", available())
def test_every_shipped_recipe_is_valid_and_named_after_its_file(name):
    assert Recipe.load(name).name == name


def test_a_recipe_survives_the_run_folder():
    recipe = Recipe.parse(
        {**MINIMAL, "folds": 7, "stackers": [{"name": "logistic", "settings": {"C": 0.1}}]}, "test"
    )
    assert Recipe.parse(recipe.as_dict(), "run.json") == recipe


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"fold": 5}, "unknown key fold"),
        ({"folds": "five"}, "folds must be int, found 'five'"),
        ({"folds": 2}, "folds must be at least 3"),
        ({"train": "development"}, "train must be a list"),
        ({"train": ["test"], "test": ["test"]}, "test would be both trained and scored on"),
        ({"members": []}, "has no members"),
        ({"members": [{"name": "priro"}]}, "did you mean prior"),
        ({"members": [{"name": "prior"}, {"name": "prior"}]}, "label prior is used twice"),
        ({"members": [{"name": "prior", "label": "stack"}]}, "'stack' is what the stack is called"),
        ({"members": [{"name": "prior", "label": "../x"}]}, "cannot name a folder"),
        ({"members": [{"name": "prior", "settings": {"depth": 3}}]}, "has no setting depth"),
        ({"members": [{"label": "x"}]}, "members 1: expected a table with a name"),
        ({"members": [{"name": "prior", "weight": 1}]}, "unknown key weight"),
        ({"stackers": [{"name": "mean"}]}, "no stacker is called 'mean'"),
        ({"name": "a/b"}, "cannot name a folder"),
    ],
)
def test_what_cannot_run_is_refused_before_anything_is_computed(change, message):
    with pytest.raises(RecipeError, match=message):
        Recipe.parse({**MINIMAL, **change}, "test")


def test_missing_recipes_and_broken_toml_are_named(tmp_path):
    broken = tmp_path / "broken.toml"
    broken.write_text("name = ")
    with pytest.raises(RecipeError, match="not valid TOML"):
        Recipe.load(str(broken))
    with pytest.raises(RecipeError, match="no recipe file"):
        Recipe.load(str(tmp_path / "none.toml"))
    with pytest.raises(RecipeError, match="quickstart"):
        Recipe.load("quickstrat")


def test_override_reaches_only_members_that_have_the_setting():
    recipe = Recipe("r", (Part("prior", "prior"), Part("random", "coin")))
    assert recipe.override("seed", 3).members == (Part("prior", "prior"), Part("random", "coin", {"seed": 3}))
