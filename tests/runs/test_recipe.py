import os
import subprocess
import sys
from dataclasses import asdict, replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gapstack.errors import RecipeError
from gapstack.members import published
from gapstack.records import seal
from gapstack.runs import recipe as recipes
from gapstack.runs.recipe import Part, Recipe, available

MINIMAL = {"name": "r", "members": [{"name": "prior"}]}


@pytest.mark.parametrize("name", available())
def test_every_shipped_recipe_is_valid_and_named_after_its_file(name):
    assert Recipe.load(name).name == name


def test_a_recipe_is_like_another_and_survives_the_run_folder():
    base, stage2 = Recipe.load("base"), Recipe.load("stage2")
    assert stage2.members == base.members
    assert (stage2.train, stage2.test) == (("development", "validation", "test"), ("stage2",))
    stage2.refuse_contaminated()
    distilled = Part("surface", "distilled", {"teacher": "stage2"})
    # its teacher has rows of stage 2, where nothing is scored
    replace(stage2, members=(distilled,)).refuse_contaminated()
    assert Recipe.parse(asdict(stage2), "run.json") == stage2
    leaky = Part("probert", "probert", {"extra": ["neither-attree"]})
    with pytest.raises(RecipeError, match=r"probert .*share rows with test"):
        Recipe("leaky", (leaky,)).refuse_contaminated()
    with pytest.raises(RecipeError, match=r"probert .*share rows with test"):
        Recipe("leaky", (leaky,), test=("mine.tsv",)).refuse_contaminated(["test-17"])


def test_weights_of_a_mean_follow_its_members():
    recipe = Recipe.load("liu2019")
    (mean,) = recipe.stackers
    kept = recipe.restricted([recipe.members[2].label, recipe.members[0].label])
    assert kept.stackers[0].settings["weights"] == [mean.settings["weights"][n] for n in (0, 2)]
    with pytest.raises(RecipeError, match="a weight for each"):
        replace(recipe, members=recipe.members[:2])


def member(**table) -> dict:
    return {"members": [{"name": "prior"} | table]}


@pytest.mark.parametrize(
    ("change", "where", "keyword"),
    [
        ({"like": 5}, "like", "name"),
        ({"like": "stong"}, "stong", "did you mean strong"),
        ({"fold": 5}, "fold:", "did you mean folds"),
        ({"folds": "five"}, "folds:", "a whole number"),
        ({"folds": 2}, "folds:", "at least 3"),
        ({"seed": -1}, "seed:", "at least 0"),
        ({"train": "development"}, "train:", "a list"),
        ({"train": ["validatoin"]}, "train.item 1:", "did you mean validation"),
        ({"train": []}, "train", "no split"),
        ({"train": ["test"], "test": ["test"]}, "test", "trained and scored"),
        ({"train": ["validation"] * 2}, "validation", "twice"),
        ({"labels": "atree"}, "labels:", "did you mean attree"),
        ({"calibrators": ["temprature"]}, "calibrators.item 1:", "did you mean temperature"),
        ({"members": []}, "recipe r", "no members"),
        ({"members": 5}, "members:", "a list"),
        (member(name=3), "members 1:", "text"),
        ({"stackers": [{"name": "mean"}, {"name": "mean", "settings": {"of": "logits"}}]}, "mean", "twice"),
        (member(name="priro"), "members 1 (priro):", "did you mean prior"),
        ({"members": [{"name": "prior"}] * 2}, "label prior", "twice"),
        (member(label="stack"), "'stack'", "another label"),
        (member(label="../x"), "members 1 (../x): label:", "folder"),
        (member(settings=5), "members 1 (prior): settings:", "a table"),
        (member(settings={"depth": 3}), "settings.depth:", "augment"),
        (member(name="surface", settings={"rounds": "abc"}), "(surface): settings.rounds:", "a whole number"),
        (member(name="surface", settings={"blocks": 5}), "settings.blocks:", "fill_the_gap"),
        (
            member(name="probert", settings={"pretraining": {"epochs": -1}}),
            "settings.pretraining.epochs:",
            "at least 1",
        ),
        (member(weight=1), "weight:", "label"),
        ({"members": [{"label": "x"}]}, "members 1:", "a name"),
        ({"stackers": [{"name": "best"}]}, "stackers 1 (best):", "simplex"),
        ({"stackers": [{"name": "logistic", "settings": {"c": 1}}]}, "settings.c:", "did you mean C"),
        ({"name": "a/b"}, "name:", "folder"),
        ({"test": ["stage2", "test"]}, "stage2", "hold it out alone"),
        ({"train": ["stage2"]}, "train.item 1:", "development"),
        (member(settings="published"), "members 1:", "no published settings"),
        (member(name="priro", settings="published"), "members 1:", "did you mean prior"),
        (member(name="grep", settings={"base": "papers"}), "members 1:", "settings.base"),
        (member(name="grep", each={"seed": 3}), "members 1:", "each"),
        (member(name="grep", each={"training": [{"epochs": 3}]}), "members 1:", "each.training"),
    ],
)
def test_what_cannot_run_is_refused_before_anything_is_computed(change, where, keyword):
    with pytest.raises(RecipeError) as refused:
        Recipe.parse({**MINIMAL, **change}, "test")
    assert where in str(refused.value)
    assert keyword in str(refused.value)


def test_a_recipe_made_in_python_is_checked_too():
    prior = Recipe("r", (Part("prior", "prior"),))
    with pytest.raises(RecipeError, match="confidence"):
        Recipe("r", (Part("random", "c", {"confidence": 2}),))
    with pytest.raises(RecipeError, match="recipe r: members: found 5, expected a list"):
        Recipe("r", 5)
    with pytest.raises(RecipeError, match="folds: found 2"):
        prior.revised(folds=2)
    with pytest.raises(RecipeError, match=r'augment\.item 1: found "sing"'):
        prior.override("augment", ["sing"])


BROKEN = {
    b"name = ": "TOML",
    b'name = "caf\xe9"\n': "UTF-8",
    b"a = " + b"[" * 100_000: "TOML",
    b"folds = " + b"9" * 5000: "TOML",
    b"folds = 0x" + b"f" * 5000: "folds",
    b"": "name and members",
    b"name = 'r'\nmembers = 2026-01-01": "members",
}


@pytest.mark.parametrize(("content", "keyword"), BROKEN.items(), ids=range(len(BROKEN)))
def test_a_broken_file_is_refused_in_one_line(tmp_path, content, keyword):
    (tmp_path / "broken.toml").write_bytes(content)
    with pytest.raises(RecipeError) as refused:
        Recipe.load(str(tmp_path / "broken.toml"))
    assert keyword in str(refused.value)
    assert str(refused.value).isprintable()


def test_missing_recipes_are_named(tmp_path):
    with pytest.raises(RecipeError, match="no recipe file"):
        Recipe.load(str(tmp_path / "none.toml"))
    with pytest.raises(RecipeError, match="did you mean quickstart"):
        Recipe.load("quickstrat")


def test_settings_are_changed_in_members_that_have_them_and_epochs_in_every_phase():
    recipe = Recipe("r", (Part("prior", "prior"), Part("random", "coin")))
    assert recipe.override("seed", 3).members == (Part("prior", "prior"), Part("random", "coin", {"seed": 3}))
    names = ("frozen_spans", "probert", "prior")
    members = [{"name": "span_head", "settings": "published"}, *({"name": name} for name in names)]
    span_head, frozen, probert, prior = (
        Recipe.parse({"name": "r", "members": members}, "t").with_epochs(1).members
    )
    assert [phase["epochs"] for phase in span_head.settings["pretraining"]] == [1, 1]
    assert span_head.settings["training"]["epochs"] == frozen.settings["epochs"] == 1
    assert probert.settings == {"training": {"epochs": 1}}, "a stage that it does not have gets no settings"
    assert prior.settings == {}


VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5) | st.dates(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=5,
)
PART = st.fixed_dictionaries(
    {"name": st.sampled_from(["surface", "probert", "nobody"]) | VALUES},
    optional={"label": VALUES, "settings": st.dictionaries(st.sampled_from(["rounds", "training"]), VALUES)},
)
FIELDS = ("title", "train", "test", "labels", "folds", "seed", "stackers", "calibrators", "other")


@settings(max_examples=100)
@given(VALUES, st.lists(PART | VALUES, max_size=3), st.dictionaries(st.sampled_from(FIELDS), VALUES))
def test_any_table_is_a_recipe_or_refused_in_one_line(name, members, others):
    message = ""
    try:
        Recipe.parse({"name": name, "members": members, **others}, "fuzz.toml")
    except RecipeError as refused:
        message = str(refused)
    assert message.isprintable()


REFUSING = """
import sys
from gapstack.cli import main
try:
    main()
finally:
    heavy = "torch spacy sklearn scipy pandas lightgbm transformers".split()
    print([name for name in heavy if name in sys.modules], file=sys.stderr)
"""


@pytest.mark.parametrize(
    ("arguments", "hint"),
    [
        (["run", "quickstrat"], "did you mean quickstart?"),
        (
            ["predict", "famlies", "--input", "models/families/run.json", "--output", "y"],
            "did you mean families?",
        ),
    ],
    ids=["run", "predict"],
)
def test_the_command_line_refuses_before_anything_heavy_is_imported(tmp_path, arguments, hint):
    folder = tmp_path / "models" / "families"
    folder.mkdir(parents=True)
    seal(folder / "run.json", {"recipe": asdict(Recipe.load("families"))})
    environment = {**os.environ, "GAPSTACK_HOME": str(tmp_path)}
    command = [sys.executable, "-c", REFUSING, *arguments]
    done = subprocess.run(command, capture_output=True, text=True, check=False, cwd=tmp_path, env=environment)
    error, imported = done.stderr.splitlines()
    assert (done.returncode, imported) == (2, "[]")
    assert hint in error


def test_published_settings_are_the_modules_and_may_be_changed_one_by_one():
    own = {"base": "published", "seed": 3, "training": [{}, {"epochs": 2}]}
    members = [{"name": "msnet", "settings": "published"}, {"name": "msnet", "label": "own", "settings": own}]
    recipe = Recipe.parse({"name": "r", "members": members}, "test")
    paper, changed = recipe.members
    assert paper.settings == published("msnet")
    assert changed.settings["seed"] == 3
    assert [phase["epochs"] for phase in changed.settings["training"]] == [30, 2]
    assert changed.settings["training"][1]["encoder_lr"] == 5e-6, "the other fields stay the paper's"
    assert Recipe.parse(asdict(recipe), "run.json") == recipe


def test_each_makes_one_member_of_every_combination():
    each = {"encoder": ["bert-large-cased", "some/folder"], "seed": [1, 2], "blocks": [[], ["surface"]]}
    recipe = Recipe.parse({"name": "r", "members": [{"name": "siamese", "each": each}]}, "test")
    assert len(recipe.members) == 8
    assert recipe.members[0].label == "siamese_bert-large-cased_1_no_blocks"
    assert recipe.members[-1].label == "siamese_folder_2_surface"
    assert recipe.members[-1].settings == {"encoder": "some/folder", "seed": 2, "blocks": ["surface"]}


def test_resolvers_that_cannot_be_used_are_left_out(sample_train, monkeypatch):
    monkeypatch.setattr(
        recipes, "why_unavailable", lambda name, rows: "no model" if name == "fastcoref" else None
    )
    table = {
        "name": "resolvers",
        "members": [
            {"name": "prior"},
            {"name": "resolver", "settings": {"clusters": ["fastcoref"]}},
            {"name": "grep", "settings": {"clusters": ["fastcoref", "gapstack"]}},
            {"name": "grep", "label": "cues", "settings": {"clusters": ["fastcoref"]}},
            {"name": "grep", "label": "nothing", "settings": {"sources": [], "clusters": ["fastcoref"]}},
            {"name": "running_text"},
        ],
    }
    found, lines = Recipe.parse(table, "here").with_available_resolvers(sample_train)
    assert {part.label: part.settings.get("clusters") for part in found.members} == {
        "prior": None,
        "grep": ["gapstack"],
        "cues": [],
        "running_text": None,
    }
    assert lines == ["left out: no model"]
    monkeypatch.setattr(recipes, "why_unavailable", lambda name, rows: f"no {name}")
    found, lines = Recipe.parse(table, "here").with_available_resolvers(sample_train)
    assert [part.label for part in found.members] == ["prior", "grep", "cues"]
    assert lines == ["left out: no fastcoref", "left out: no gapstack"]
