"""What runs are there and how good they are, recipes as files, standard streams, and GAP's labels found by ids."""

import json
from dataclasses import replace

import pytest
from typer.testing import CliRunner

from gapstack.cli import app, complete
from gapstack.data import Corpus, sources
from gapstack.data.gap_files import write_gap, write_submission
from gapstack.errors import DataError, DataNotFoundError
from gapstack.files import open_bytes
from gapstack.registry import UnknownNameError
from gapstack.runs import Recipe, folder
from gapstack.runs.folder import home
from tests.commands import RECIPE, gap


@pytest.fixture(scope="module")
def place(tmp_path_factory):
    """A home with a finished tiny run on the sample."""
    root = tmp_path_factory.mktemp("home")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("GAPSTACK_HOME", str(root))
        patch.setenv("GAPSTACK_CACHE", str(tmp_path_factory.mktemp("cache")))
        (root / "tiny.toml").write_text(RECIPE)
        gap("run", root / "tiny.toml", "--data", "sample")
    return root


@pytest.fixture
def workplace(place, monkeypatch):
    monkeypatch.setenv("GAPSTACK_HOME", str(place))
    return place


def test_show_is_the_table_that_ended_the_run(workplace):
    shown = json.loads(gap("show", "tiny-sample", "--json"))
    assert shown == json.loads(gap("run", workplace / "tiny.toml", "--data", "sample", "--json"))
    first, *_ = shown["sections"][0]["rows"]
    assert first["name"] == "stack"
    assert "training rows" in gap("show", "tiny-sample", "--identity")


def test_an_unfinished_run_shows_what_is_finished(workplace):
    unfinished = workplace / "models/tiny-sample/members/random/fold-1"
    aside = unfinished.rename(workplace / "aside")
    try:
        result = CliRunner().invoke(app, ["show", "tiny-sample"], catch_exceptions=False)
    finally:
        aside.rename(unfinished)
    assert "5 of 6 folds are finished. Finish or repair it" in result.stderr
    names = [line.split()[0] for line in result.stdout.splitlines() if line.strip()]
    assert "prior" in names
    assert "random" not in names


def test_all_runs_are_a_leaderboard_and_a_broken_one_says_why(workplace, monkeypatch):
    monkeypatch.setenv("COLUMNS", "200")
    broken = workplace / "models" / "broken"
    broken.mkdir()
    (broken / "run.json").write_text("{")
    try:
        printed = gap("runs")
        (section, without) = json.loads(gap("runs", "--json"))["sections"]
    finally:
        (broken / "run.json").unlink()
        broken.rmdir()
    (row,) = section["rows"]
    assert (row["name"], row["system"], row["folds"]) == ("tiny-sample", "stack", "6 of 6")
    assert row["out of fold logloss_low"] < row["out of fold logloss"] < row["out of fold logloss_high"]
    assert [row["name"] for row in without["rows"]] == ["broken"]
    assert "broken: " in printed.split("nothing is to be chosen")[1]


def test_some_members_of_a_recipe_are_a_run_of_their_own(workplace):
    recipe = Recipe.load(str(workplace / "tiny.toml"))
    assert recipe.restricted(["random"]).name == "tiny-random"
    with pytest.raises(
        UnknownNameError, match='no member of recipe tiny is called "priro"; did you mean prior'
    ):
        gap("run", workplace / "tiny.toml", "--members", "random,priro")
    printed = gap(
        "run", workplace / "tiny.toml", "--members", "prior", "--data", "sample", "--dry-run", "--json"
    )
    rows = json.loads(printed)["sections"][0]["rows"]
    assert [row["name"] for row in rows] == ["prior", "all members"]


def test_a_run_on_one_s_own_rows_is_shown_and_predicts_without_gap(
    workplace, tmp_path, sample_train, sample_test
):
    write_gap(tmp_path / "mine.tsv", sample_train[:60])
    write_gap(tmp_path / "new.tsv.gz", sample_test[:10].unlabelled())
    own = ("--train", tmp_path / "mine.tsv", "--test", tmp_path / "new.tsv.gz")
    gap("run", workplace / "tiny.toml", *own, "--data", tmp_path)
    submission = workplace / "submissions" / "tiny-mine.csv"
    assert [line.split(",")[0] for line in submission.read_text().splitlines()[1:]] == sample_test.ids[:10]
    (section,) = json.loads(gap("show", "tiny-mine", "--data", tmp_path, "--json"))["sections"]
    assert section["title"].startswith("out of fold: mine, 60 rows")
    gap("predict", "tiny-mine", "--input", tmp_path / "new.tsv.gz", "--output", tmp_path / "answers.csv")
    assert (tmp_path / "answers.csv").read_bytes() == submission.read_bytes()
    # what is not one's own is GAP's, or the sample's in its place
    gap("run", workplace / "tiny.toml", "--train", tmp_path / "mine.tsv", "--data", "sample")
    rows = (workplace / "submissions" / "tiny-mine-sample.csv").read_text().splitlines()
    assert len(rows) == 1 + len(sample_test)


def test_a_recipe_is_shown_and_exported_and_never_overwrites(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    text = gap("recipes", "quickstart")
    assert "quickstart.toml" in gap("recipes", "quickstart", "--export")
    assert (tmp_path / "quickstart.toml").read_text(encoding="utf-8") == text
    assert Recipe.load("quickstart.toml") == Recipe.load("quickstart")
    with pytest.raises(DataError, match="exists"):
        gap("recipes", "quickstart", "--export")
    names = [recipe["name"] for recipe in json.loads(gap("recipes", "--json"))]
    assert "quickstart" in names


def test_gold_is_found_by_the_ids(tmp_path, sample_test):
    renamed = (replace(example, id=f"test-{number}") for number, example in enumerate(sample_test, 1))
    corpus = Corpus(renamed, name="gap-test")
    write_gap(tmp_path / "gap-test.tsv", corpus)
    for name, ids in (("mine.csv", corpus.ids), ("other.csv", sample_test.ids)):
        write_submission(tmp_path / name, ids, [[0.5, 0.3, 0.2]] * len(corpus))
    asked = ("--data", tmp_path, "--json")
    with_gold = gap("score", tmp_path / "mine.csv", "--gold", tmp_path / "gap-test.tsv", "--json")
    assert json.loads(gap("score", tmp_path / "mine.csv", *asked)) == json.loads(with_gold)
    with pytest.raises(DataError, match="Name the labelled rows with --gold"):
        gap("score", tmp_path / "other.csv", *asked)


def test_streams_stand_for_files(workplace, tmp_path, sample_test):
    write_gap(tmp_path / "rows.tsv", sample_test.unlabelled())
    rows = (tmp_path / "rows.tsv").read_bytes()
    gap("predict", "tiny-sample", "--input", tmp_path / "rows.tsv", "--output", tmp_path / "out.csv")
    printed = gap("predict", "tiny-sample", "--input", "-", "--output", "-", stdin=rows)
    assert printed == (tmp_path / "out.csv").read_text()
    write_gap(tmp_path / "gold.tsv", sample_test)
    scored = json.loads(gap("score", "-", "--gold", tmp_path / "gold.tsv", "--json", stdin=printed.encode()))
    assert scored["n"] == len(sample_test)


def test_a_file_that_is_not_there_is_named_with_the_closest_one(tmp_path):
    (tmp_path / "submission.csv").write_text("ID,A,B,NEITHER\n")
    with pytest.raises(DataNotFoundError, match=r"no file .*submision.csv; did you mean .*submission.csv\?"):
        open_bytes(tmp_path / "submision.csv")


def test_version_help_and_shell_completion(workplace):
    assert gap("--version").startswith("gapstack ")
    assert "leaderboard" in gap("show", "-h")
    assert complete.runs("tiny-s") == ["tiny-sample"]
    assert complete.runs("tiny-sample:") == ["tiny-sample:prior", "tiny-sample:random", "tiny-sample:stack"]
    assert complete.recipes("quick") == ["quickstart"]
    assert complete.members("parall") == ["parallelism"]
    assert complete.suites("winog") == ["winogender", "winogrande"]
    assert complete.datasets("gap-t") == ["gap-test"]


def test_the_home_is_the_checkout_or_the_user_s_data_folder(tmp_path, monkeypatch):
    monkeypatch.delenv("GAPSTACK_HOME", raising=False)
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))
    project = tmp_path / "project"
    (project / "notebooks").mkdir(parents=True)
    monkeypatch.setattr(folder, "_PROJECT", project)
    monkeypatch.chdir(project / "notebooks")
    assert home() == tmp_path / "data" / "gapstack"  # an installed package has no project
    (project / "pyproject.toml").touch()
    assert home() == project
    monkeypatch.chdir(tmp_path)
    assert home() == tmp_path / "data" / "gapstack"


def test_data_sets_are_listed_and_fetched_as_json():
    records = {record["name"]: record for record in json.loads(gap("data", "status", "--json"))}
    assert records["winogender"]["licence"] == "MIT"
    assert records["gap-test"]["fetchable"]
    (fetched,) = json.loads(gap("data", "fetch", "winogender", "--json"))
    assert fetched["path"] == str(sources.fetch(["winogender"])[0])
