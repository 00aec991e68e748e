"""The search of settings: its space, its trials, its journal, and the recipe part that comes of it."""

import json
import sys
import tomllib
from importlib import import_module

import pytest

from gapstack.cli.runs import part_text
from gapstack.errors import ExtraError, MemberError, RecipeError
from gapstack.members import create
from gapstack.registry import UnknownNameError
from gapstack.runs.cross_validation import cross_validate
from gapstack.runs.recipe import Part, Recipe
from gapstack.runs.tune import derived_space, read_space, tune, values_of, with_values
from tests.commands import gap

MODULE = import_module("gapstack.runs.tune")
SURFACE = Part("surface", "surface", {"rounds": 8, "leaves": 4})


@pytest.fixture
def optuna():
    return pytest.importorskip("optuna.distributions", reason="the extra tune is not installed")


@pytest.fixture
def space(optuna):
    return derived_space(SURFACE, ["rounds", "leaves"])


@pytest.fixture
def few(sample_train):
    return sample_train[:60]


@pytest.fixture
def recipe():
    return Recipe("mine", (Part("prior", "prior"), SURFACE), folds=3)


def test_a_killed_search_continues_from_the_members_settings_to_the_best(
    space, recipe, few, tmp_path, monkeypatch
):
    calls = []

    def killed(*arguments, **options):
        calls.append(arguments)
        if len(calls) == 3:
            raise KeyboardInterrupt
        return cross_validate(*arguments, **options)

    monkeypatch.setattr(MODULE, "cross_validate", killed)
    with pytest.raises(KeyboardInterrupt):
        tune(recipe, "surface", few, space, trials=4, root=tmp_path)
    done = tune(recipe, "surface", few, space, trials=4, root=tmp_path)
    assert len(calls) == 3 + 2
    assert len(done.trials) == 4
    assert tune(recipe, "surface", few, space, trials=4, root=tmp_path) == done
    assert len(calls) == 5  # nothing was left to do
    assert done.trials[0].values == {"rounds": 8, "leaves": 4}
    assert done.best.logloss == min(trial.logloss for trial in done.trials)
    for line in done.journal.read_text().splitlines():
        assert json.loads(line)  # no pickle
    pasted = tomllib.loads(part_text(done.part))
    assert Recipe.parse({"name": "again", **pasted}, "pasted").members == (done.part,)
    member = create(done.part.name, **done.part.settings)
    assert cross_validate(member, few, folds=3).scores.logloss == done.best.logloss
    # another space is another search
    other = tune(recipe, "surface", few, {"leaves": space["leaves"]}, trials=1, root=tmp_path)
    assert len(other.trials) == 1


def test_the_first_trial_has_the_members_settings_after_an_interruption(
    optuna, recipe, few, tmp_path, monkeypatch
):
    space = {"rounds": optuna.IntDistribution(4, 40), "l2": optuna.FloatDistribution(0, 4)}

    def interrupted(*arguments, **options):
        raise KeyboardInterrupt

    with monkeypatch.context() as patched:
        patched.setattr(MODULE, "cross_validate", interrupted)
        with pytest.raises(KeyboardInterrupt):
            tune(recipe, "surface", few, space, trials=1, root=tmp_path)
    part = with_values(SURFACE, {"l2": 0.0})
    assert values_of(part, space) == {"rounds": 8, "l2": 0.0}
    assert tune(recipe, "surface", few, space, trials=1, root=tmp_path).best.values["rounds"] == 8


def test_settings_that_cannot_be_fitted_do_not_end_the_search(optuna, recipe, few, tmp_path, monkeypatch):
    def diverges(member, *arguments, **options):
        if member.rounds != 8:
            raise MemberError("the loss is NaN")
        return cross_validate(member, *arguments, **options)

    monkeypatch.setattr(MODULE, "cross_validate", diverges)
    space = {"rounds": optuna.CategoricalDistribution((8, 9, 10))}
    tuning = tune(recipe, "surface", few, space, trials=6, root=tmp_path)
    assert len(tuning.trials) == 6
    assert None in [trial.logloss for trial in tuning.trials]
    assert tuning.best.values == {"rounds": 8}


def test_the_space_of_a_member_s_settings_follows_from_their_kinds(optuna):
    space = derived_space(SURFACE)
    assert space["rounds"] == optuna.IntDistribution(2, 32, log=True)
    assert space["leaves"] == optuna.IntDistribution(2, 16, log=True)  # at least two
    assert "seed" not in space
    assert derived_space(SURFACE, ["leaves"]) == {"leaves": space["leaves"]}
    with pytest.raises(UnknownNameError, match="did you mean leaves"):
        derived_space(SURFACE, ["leafs"])
    distilled = Part("probert", "probert", {"training": {"encoder_lr": 2e-5, "epochs": 2, "frozen": []}})
    nested = derived_space(distilled)
    assert nested["training.encoder_lr"] == optuna.FloatDistribution(5e-6, 8e-5, log=True)
    assert nested["training.epochs"] == optuna.IntDistribution(1, 8, log=True)
    assert values_of(distilled, nested)["training.epochs"] == 2
    changed = with_values(distilled, {"training.epochs": 5}).settings["training"]
    assert changed == {"encoder_lr": 2e-5, "epochs": 5, "frozen": []}


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("rounds = { low = 1, hihg = 3 }", "high"),
        ("rounds = 5", "rounds"),
        ("rounds = { low = 5, high = 2 }", "rounds"),
        ("rounds = { low = 0, high = 2 }", "rounds: found 0"),
        ("rouns = { low = 1, high = 2 }", "did you mean rounds"),
        ("rounds = ", "ranges.toml"),
        ("", "no setting"),
    ],
)
def test_ranges_that_cannot_be_searched_are_refused(optuna, tmp_path, text, problem):
    path = tmp_path / "ranges.toml"
    path.write_text(text)
    with pytest.raises(RecipeError, match="ranges") as refusal:
        read_space(path, SURFACE)
    assert problem in str(refusal.value)


def test_ranges_of_a_file_replace_the_derived_ones(optuna, recipe, few, tmp_path):
    path = tmp_path / "ranges.toml"
    path.write_text(
        'rounds = { low = 2, high = 6 }\nblocks = { choices = [["surface"], ["surface", "cues"]] }\n'
    )
    space = read_space(path, SURFACE)
    first = values_of(with_values(SURFACE, {"blocks": ["surface", "cues"]}), space)
    assert first == {"blocks": ["surface", "cues"]}  # rounds = 8 lies outside
    done = tune(recipe, "surface", few, space, trials=2, root=tmp_path)
    assert all(2 <= one.values["rounds"] <= 6 for one in done.trials)
    assert tune(recipe, "surface", few, space, trials=2, root=tmp_path) == done


def test_the_command_prints_a_part_that_a_recipe_takes(optuna, tmp_path, monkeypatch):
    monkeypatch.setenv("GAPSTACK_HOME", str(tmp_path))
    (tmp_path / "mine.toml").write_text(
        'name = "mine"\nfolds = 3\n[[members]]\nname = "surface"\nlabel = "trees"\nsettings = { rounds = 4 }\n'
    )
    asked = ("tune", tmp_path / "mine.toml", "trees", "--settings", "rounds", "--data", "sample")
    printed = gap(*asked, "--trials", 2)
    assert "the best of 2 trials" in printed.splitlines()[0]
    record = json.loads(gap(*asked, "--trials", 2, "--json"))
    assert tomllib.loads(printed)["members"] == [record["part"]]
    assert (tmp_path / "models" / "mine-sample.tuning" / "trees.jsonl").is_file()


def test_a_missing_package_names_the_extra(monkeypatch):
    monkeypatch.setitem(sys.modules, "optuna.distributions", None)
    with pytest.raises(ExtraError, match=r"\[tune\]"):
        derived_space(SURFACE)
