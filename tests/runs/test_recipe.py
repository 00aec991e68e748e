import os
import subprocess
import sys
from importlib import import_module

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gapstack.errors import MemberError, RecipeError
from gapstack.members import MEMBERS, published
from gapstack.runs import Recipe, available
from gapstack.runs.recipe import Part
from gapstack.sealed import seal

FOLDER = r"expected text that can name a folder (at most 100 bytes, no / or \, no dot in front)"


def has_published(name: str) -> bool:
    try:
        return bool(published(name))
    except MemberError:
        return False


MINIMAL = {"name": "r", "members": [{"name": "prior"}]}


@pytest.mark.parametrize("name", available())
def test_every_shipped_recipe_is_valid_and_named_after_its_file(name):
    assert Recipe.load(name).name == name


def test_a_recipe_takes_what_it_does_not_say_from_another():
    strong, stage2 = Recipe.load("strong"), Recipe.load("stage2")
    assert stage2.members == strong.members
    assert (stage2.train, stage2.test) == (("development", "validation", "test"), ("stage2",))
    stage2.refuse_contaminated()  # its teacher is about rows of stage 2, where nothing is scored


@pytest.mark.parametrize(
    ("like", "problem"),
    [
        (5, "key 'like': found 5, expected a recipe's name"),
        ("stong", 'no recipe is called "stong"; did you mean strong?'),
    ],
)
def test_a_recipe_like_none_is_refused(like, problem):
    with pytest.raises(RecipeError) as refusal:
        Recipe.parse({"name": "r", "like": like}, "test")
    assert problem in str(refusal.value)


def test_a_recipe_survives_the_run_folder():
    recipe = Recipe.parse(
        {**MINIMAL, "folds": 7, "stackers": [{"name": "logistic", "settings": {"C": 0.1}}]}, "test"
    )
    assert Recipe.parse(recipe.as_dict(), "run.json") == recipe


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"fold": 5}, "test: fold: no such key; did you mean folds?"),
        ({"folds": "five"}, 'test: folds: found "five", expected a whole number, at least 3, at most 1000'),
        ({"folds": 2}, "test: folds: found 2, expected a whole number, at least 3, at most 1000"),
        (
            {"folds": 1e9},
            "test: folds: found 1000000000.0, expected a whole number, at least 3, at most 1000",
        ),
        ({"folds": True}, "test: folds: found true, expected a whole number, at least 3, at most 1000"),
        ({"seed": -1}, "test: seed: found -1, expected a whole number, at least 0"),
        ({"title": 5}, "test: title: found 5, expected text"),
        (
            {"train": "development"},
            'test: train: found "development", expected a list, each one of development, validation, test, '
            "or a file (.tsv, .tsv.gz, .tsv.xz)",
        ),
        (
            {"train": [1]},
            "test: train.item 1: found 1, expected one of development, validation, test, or a file "
            "(.tsv, .tsv.gz, .tsv.xz)",
        ),
        (
            {"train": ["validatoin"]},
            'test: train.item 1: found "validatoin", expected one of development, validation, test, or a file '
            "(.tsv, .tsv.gz, .tsv.xz); did you mean validation?",
        ),
        ({"train": []}, "recipe r: train has no split"),
        ({"test": []}, "recipe r: test has no split"),
        ({"train": ["test"], "test": ["test"]}, "recipe r: test would be both trained and scored on"),
        ({"train": ["validation"] * 2}, "recipe r: validation is named twice"),
        (
            {"labels": "atree"},
            'test: labels: found "atree", expected one of official, liu, kaggle, attree, majority; '
            "did you mean attree?",
        ),
        (
            {"calibrators": ["temprature"]},
            'test: calibrators.item 1: found "temprature", expected one of none, temperature, vector, by_gender, '
            "isotonic; did you mean temperature?",
        ),
        ({"members": []}, "recipe r has no members"),
        ({"members": 5}, "test: members: found 5, expected a list, each anything"),
        (
            {"members": {"name": "prior"}},
            'test: members: found {"name": "prior"}, expected a list, each anything',
        ),
        ({"members": [3]}, "test, members 1: found 3, expected a table with a name"),
        ({"members": [{"name": 3}]}, "test, members 1: name: found 3, expected text"),
        (
            {"members": [{"name": "priro"}]},
            'test, members 1 (priro): no member is called "priro"; did you mean prior?',
        ),
        (
            {"members": [{"name": "prior"}, {"name": "prior"}]},
            "recipe r: label prior is used twice, or differs in case alone; give each member its own",
        ),
        (
            {"members": [{"name": "prior"}, {"name": "random", "label": "PRIOR"}]},
            "recipe r: label prior and PRIOR is used twice, or differs in case alone; give each member its own",
        ),
        (
            {"members": [{"name": "prior", "label": "Stack"}]},
            "recipe r: 'stack' is what the stack is called; choose another label",
        ),
        (
            {"members": [{"name": "prior", "label": "../x"}]},
            f'test, members 1 (../x): label: found "../x", {FOLDER}',
        ),
        (
            {"members": [{"name": "prior", "label": "a\0b"}]},
            'test, members 1: label: found "a\\u0000b", ' + FOLDER,
        ),
        (
            {"members": [{"name": "prior", "label": "x" * 101}]},
            f'test, members 1 ({"x" * 101}): label: found "{"x" * 56}..., {FOLDER}',
        ),
        (
            {"members": [{"name": "prior", "settings": 5}]},
            "test, members 1 (prior): settings: found 5, expected a table",
        ),
        (
            {"members": [{"name": "prior", "settings": {"depth": 3}}]},
            "test, members 1 (prior): settings.depth: no such setting; there are: augment, average, extra, "
            "teacher, gold_weight",
        ),
        (
            {
                "members": [
                    {"name": "prior"},
                    {"name": "random"},
                    {"name": "surface", "settings": {"rounds": "abc"}},
                ]
            },
            'test, members 3 (surface): settings.rounds: found "abc", expected a whole number, at least 1',
        ),
        (
            {"members": [{"name": "surface", "label": "s", "settings": {"blocks": 5}}]},
            "test, members 1 (s): settings.blocks: found 5, expected a list, each one of surface, cues, "
            "fill_the_gap, positions, gender",
        ),
        (
            {"members": [{"name": "probert", "settings": {"first": {"epochs": -1}}}]},
            "test, members 1 (probert): settings.first.epochs: found -1, expected a whole number, at least 1",
        ),
        (
            {"members": [{"label": "x"}]},
            'test, members 1: found {"label": "x"}, expected a table with a name',
        ),
        (
            {"members": [{"name": "prior", "weight": 1}]},
            "test, members 1 (prior): weight: no such key; there are: name, label, settings",
        ),
        (
            {"stackers": [{"name": "best"}]},
            'test, stackers 1 (best): no stacker is called "best"; there are: mean, simplex, conditional, logistic, '
            "feature_weighted, lightgbm, dense, pool, evidence",
        ),
        (
            {"stackers": [{"name": "logistic", "settings": {"c": 1}}]},
            "test, stackers 1 (logistic): settings.c: no such setting; did you mean C?",
        ),
        ({"name": "a/b"}, f'test: name: found "a/b", {FOLDER}'),
        ({"name": 5}, f"test: name: found 5, {FOLDER}"),
    ],
)
def test_what_cannot_run_is_refused_before_anything_is_computed(change, message):
    with pytest.raises(RecipeError) as refused:
        Recipe.parse({**MINIMAL, **change}, "test")
    assert str(refused.value) == message


def test_a_recipe_made_in_python_is_checked_too():
    with pytest.raises(
        RecipeError, match=r"^recipe r, members 1 \(c\): settings.confidence: found 2, expected a number"
    ):
        Recipe("r", (Part("random", "c", {"confidence": 2}),))
    with pytest.raises(RecipeError, match=r"recipe r: folds: found 1\.5"):
        Recipe("r", (Part("prior", "prior"),), folds=1.5)
    with pytest.raises(RecipeError, match="recipe r: members: found 5, expected a list"):
        Recipe("r", 5)
    with pytest.raises(RecipeError, match="folds: found 2"):
        Recipe("r", (Part("prior", "prior"),)).revised(folds=2)
    with pytest.raises(RecipeError, match=r'augment\.item 1: found "sing"'):
        Recipe("r", (Part("prior", "prior"),)).override("augment", ["sing"])


BROKEN = (
    # bytes of a file, what is said of it
    (b"name = ", "not valid TOML: Invalid value"),
    (b'name = "caf\xe9"\n', "broken.toml, line 1: found the byte 0xe9, expected UTF-8"),
    ("name = 'mine'".encode("utf-16"), "broken.toml, line 1: found the byte 0xff, expected UTF-8"),
    (b"a = " + b"[" * 100_000, "not valid TOML: too deep"),
    (b"folds = " + b"9" * 5000, "not valid TOML: Exceeds the limit"),
    (b"folds = 0x" + b"f" * 5000, "folds: found a very long int, expected a whole number"),
    (b"# " + b"x" * 1_000_000, "too long for a recipe; expected at most 1,000,000 bytes"),
    (b"", "a recipe needs name and members"),
    (b"name = 'r'\nmembers = 2026-01-01", 'members: found "datetime.date'),
)


@pytest.mark.parametrize(("content", "message"), BROKEN, ids=[message for _, message in BROKEN])
def test_a_broken_file_is_refused_in_one_line(tmp_path, content, message):
    (tmp_path / "broken.toml").write_bytes(content)
    with pytest.raises(RecipeError) as refused:
        Recipe.load(str(tmp_path / "broken.toml"))
    assert message in str(refused.value)
    assert str(refused.value).isprintable()


def test_missing_recipes_are_named(tmp_path):
    with pytest.raises(RecipeError, match="no recipe file"):
        Recipe.load(str(tmp_path / "none.toml"))
    with pytest.raises(RecipeError, match="no recipe file"):
        Recipe.load("a\0b.toml")
    with pytest.raises(RecipeError, match='no recipe is called "quickstrat"; did you mean quickstart'):
        Recipe.load("quickstrat")


def test_override_reaches_only_members_that_have_the_setting():
    recipe = Recipe("r", (Part("prior", "prior"), Part("random", "coin")))
    assert recipe.override("seed", 3).members == (Part("prior", "prior"), Part("random", "coin", {"seed": 3}))


VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text() | st.dates(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=5,
)
SETTINGS = st.dictionaries(
    st.sampled_from(["rounds", "blocks", "training", "seed", "augment", "x"]), VALUES, max_size=3
)
PART = st.fixed_dictionaries(
    {"name": st.sampled_from(["surface", "probert", "prior", "nobody"]) | VALUES},
    optional={"label": st.text() | VALUES, "settings": SETTINGS | VALUES, "x": VALUES},
)
FIELDS = ("title", "train", "test", "labels", "folds", "seed", "stackers", "calibrators", "other")


@settings(max_examples=200, deadline=None)
@given(
    st.text(max_size=5) | VALUES,
    st.lists(PART | VALUES, max_size=3) | VALUES,
    st.dictionaries(st.sampled_from(FIELDS), VALUES | st.lists(PART, max_size=2), max_size=3),
)
def test_any_table_is_a_recipe_or_refused_in_one_line(name, members, others):
    said = ""
    try:
        Recipe.parse({"name": name, "members": members, **others}, "fuzz.toml")
    except RecipeError as refused:
        said = str(refused)
    assert said.isprintable()


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (
            ["run", "bad.toml"],
            'gap: bad.toml, members 1 (probert): settings.max_pieces: found "abc", expected',
        ),
        (["run", "quickstrat"], 'gap: no recipe is called "quickstrat"; did you mean quickstart?'),
        (["run", "quickstart", "--augment", "swap_gendr"], "did you mean swap_gender"),
        (
            ["predict", "famlies", "--input", "x", "--output", "y"],
            'gap: no run is called "famlies"; did you mean families?',
        ),
        (["predict", "families:bidat", "--input", "x", "--output", "y"], "member of run families is called"),
        (["audit", "famlies"], 'gap: no run is called "famlies"; did you mean families?'),
        (["compare", "famlies"], 'gap: no run is called "famlies"; did you mean families?'),
        (["members", "surfac"], 'gap: no member is called "surfac"; did you mean surface?'),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) else "",
)
def test_the_command_line_refuses_before_anything_heavy_is_imported(tmp_path, arguments, said):
    """In one line: neither torch nor any other large library is there at the end."""
    (tmp_path / "bad.toml").write_text(
        'name = "bad"\n[[members]]\nname = "probert"\nsettings = { max_pieces = "abc" }\n'
    )
    folder = tmp_path / "models" / "families"
    folder.mkdir(parents=True)
    seal(folder / "run.json", {"recipe": Recipe.load("families").as_dict()})
    script = (
        "import sys\nfrom gapstack.cli import main\n"
        "try:\n    main()\n"
        "finally:\n    heavy = 'torch spacy sklearn scipy pandas lightgbm transformers'.split()\n"
        "    imported = [name for name in heavy if name in sys.modules]\n"
        "    open('imported.txt', 'w').write(str(imported))"
    )
    done = subprocess.run(
        [sys.executable, "-c", script, *arguments],
        capture_output=True,
        text=True,
        check=False,
        cwd=tmp_path,
        env={**os.environ, "GAPSTACK_HOME": str(tmp_path)},
    )
    assert done.returncode == 2
    assert said in done.stderr
    assert done.stderr.count("\n") == 1
    assert (tmp_path / "imported.txt").read_text() == "[]"


class TestPublishedSettings:
    def test_are_those_of_the_members_module_and_may_be_changed_one_by_one(self):
        members = [
            {"name": "msnet", "settings": "published"},
            {
                "name": "msnet",
                "label": "own",
                "settings": {"base": "published", "seed": 3, "training": [{}, {"epochs": 2}]},
            },
        ]
        paper, own = Recipe.parse({"name": "r", "members": members}, "test").members
        assert paper.settings == published("msnet")
        assert own.settings["seed"] == 3
        assert [phase["epochs"] for phase in own.settings["training"]] == [30, 2]
        assert own.settings["training"][1]["encoder_lr"] == 5e-6, "the other fields stay the paper's"

    def test_each_makes_one_member_of_every_combination(self):
        each = {"encoder": ["bert-large-cased", "some/folder"], "seed": [1, 2], "blocks": [[], ["surface"]]}
        recipe = Recipe.parse({"name": "r", "members": [{"name": "siamese", "each": each}]}, "test")
        assert len(recipe.members) == 8
        assert recipe.members[0].label == "siamese_bert-large-cased_1_no_blocks"
        assert recipe.members[-1].label == "siamese_folder_2_surface"
        assert recipe.members[-1].settings == {"encoder": "some/folder", "seed": 2, "blocks": ["surface"]}

    def test_a_stored_recipe_has_them_spelled_out(self):
        recipe = Recipe.parse({"name": "r", "members": [{"name": "grep", "settings": "published"}]}, "test")
        assert recipe.as_dict()["members"][0]["settings"]["training"]["encoder_lr"] == 4e-6
        assert Recipe.parse(recipe.as_dict(), "run.json") == recipe

    @pytest.mark.parametrize(
        ("member", "message"),
        [
            (
                {"name": "prior", "settings": "published"},
                "prior has no published settings; leave them out for its defaults",
            ),
            ({"name": "priro", "settings": "published"}, 'no member is called "priro"; did you mean prior?'),
            (
                {"name": "grep", "settings": {"base": "papers"}},
                'settings.base: found "papers", expected "published"',
            ),
            (
                {"name": "grep", "each": {"seed": 3}},
                'each: found {"seed": 3}, expected a table of lists of values',
            ),
            (
                {"name": "grep", "each": {"training": [{"epochs": 3}]}},
                "each.training: values that are tables need members of their own",
            ),
        ],
    )
    def test_what_is_none_is_refused(self, member, message):
        with pytest.raises(RecipeError) as error:
            Recipe.parse({"name": "r", "members": [member]}, "test")
        assert str(error.value) == f"test, members 1: {message}"

    def test_are_read_without_loading_torch(self):
        load = "from gapstack.runs import Recipe; Recipe.load('yang2019')"
        script = f"import sys; {load}; sys.exit('torch' in sys.modules)"
        assert subprocess.run([sys.executable, "-c", script], check=False).returncode == 0

    @pytest.mark.parametrize("name", [name for name in MEMBERS if has_published(name)])
    def test_read_from_the_source_are_those_of_the_imported_module(self, name):
        assert published(name) == import_module(MEMBERS[name].__module__).PUBLISHED
        MEMBERS.check(name, published(name))


def test_epochs_are_changed_in_every_phase():
    members = [
        {"name": "span_head", "settings": "published"},
        {"name": "frozen_spans"},
        {"name": "probert"},
        {"name": "prior"},
    ]
    span_head, frozen, probert, prior = (
        Recipe.parse({"name": "r", "members": members}, "t").with_epochs(1).members
    )
    assert [phase["epochs"] for phase in span_head.settings["first"]] == [1, 1]
    assert span_head.settings["training"]["epochs"] == frozen.settings["epochs"] == 1
    assert probert.settings == {"training": {"epochs": 1}}, "a stage that it does not have gets no settings"
    assert prior.settings == {}


def test_stage_two_is_held_out_alone_and_never_trained_on():
    held = Recipe.parse({**MINIMAL, "test": ["stage2"]}, "t")
    assert held.test == ("stage2",)
    with pytest.raises(RecipeError, match="stage2 has no labels; hold it out alone"):
        Recipe.parse({**MINIMAL, "train": ["development"], "test": ["stage2", "test"]}, "t")
    with pytest.raises(RecipeError, match="expected one of development, validation, test"):
        Recipe.parse({**MINIMAL, "train": ["stage2"]}, "t")
