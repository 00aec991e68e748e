"""Commands for runs and files of predictions: run, predict, show, runs, score, compare, audit."""

import errno
import json
import os
from dataclasses import replace

import pytest
from typer.testing import CliRunner

from gapstack import create
from gapstack.cli import app
from gapstack.data import Corpus
from gapstack.data.gap_files import read_submission, write_gap, write_submission
from gapstack.runs import folder, predictors
from gapstack.runs.folder import home
from gapstack.runs.recipe import Recipe
from tests.commands import gap, refused

AGAIN = ("run", "tiny.toml", "--data", "sample")


def test_a_run_ends_with_members_stack_and_constants_for_both_parts(workplace):
    printed = gap(*AGAIN)
    for expected in ("prior", "random", "stack", "both TRUE", "out of fold", "held out", "6 of 6 folds"):
        assert expected in printed
    shown = json.loads(gap(*AGAIN, "--json"))
    stack, *others = shown["sections"][1]["rows"]
    members = [row for row in others if row["name"] in ("prior", "random")]
    assert (stack["name"], len(members)) == ("stack", 2)
    assert [row["name"] for row in others if row["name"].startswith("stack: ")] == ["stack: logistic"]
    assert members == sorted(members, key=lambda row: row["logloss"])
    assert stack["logloss_low"] < stack["logloss"] < stack["logloss_high"]
    # the prior learns one number for each class
    assert [row["parameters"] for row in members if row["name"] == "prior"] == [3]
    assert json.loads(gap("show", "tiny-sample", "--json")) == shown
    assert "training rows" in gap("show", "tiny-sample", "--identity")
    scored = json.loads(gap("score", "submissions/tiny-sample.csv", "--gold", "gold.tsv", "--json"))
    assert scored["logloss"] == pytest.approx(stack["logloss"])
    assert scored["f1_overall"] == pytest.approx(stack["f1_overall"])
    assert "always A" in gap("score", "submissions/tiny-sample.csv", "--gold", "gold.tsv")


def test_a_run_on_the_sample_and_one_on_gap_have_different_names(workplace, gap_folder):
    assert "0 of 6 folds were already" in gap("run", "tiny.toml", "--data", gap_folder)
    assert {path.name for path in (workplace / "models").iterdir()} == {"tiny", "tiny-sample"}


def test_predictions_have_the_ids_of_the_input_in_order(workplace, sample_test):
    gap("predict", "tiny-sample", "--input", "rows.tsv", "--output", "out.csv")
    assert read_submission(workplace / "out.csv").ids == sample_test.ids
    assert "take it" in gap("submit-check", "out.csv", "--against", "rows.tsv")
    lines = (workplace / "out.csv").read_text().splitlines()
    (workplace / "short.csv").write_text("\n".join(lines[:-1]) + "\n")
    done = CliRunner().invoke(app, ["submit-check", "short.csv", "--against", "rows.tsv"])
    assert done.exit_code == 1
    assert "refuse it" in done.stdout


def test_streams_stand_for_files(workplace, sample_test):
    gap("predict", "tiny-sample", "--input", "rows.tsv", "--output", "out.csv")
    rows = (workplace / "rows.tsv").read_bytes()
    printed = gap("predict", "tiny-sample", "--input", "-", "--output", "-", stdin=rows)
    assert printed == (workplace / "out.csv").read_text()
    scored = json.loads(gap("score", "-", "--gold", "gold.tsv", "--json", stdin=printed.encode()))
    assert scored["n"] == len(sample_test)


def test_an_unfinished_run_shows_what_is_finished(workplace):
    (workplace / "models/tiny-sample/members/random/fold-1").rename(workplace / "aside")
    result = CliRunner().invoke(app, ["show", "tiny-sample"], catch_exceptions=False)
    assert "5 of 6 folds are finished. Finish or repair it" in result.stderr
    names = [line.split()[0] for line in result.stdout.splitlines() if line.strip()]
    assert "prior" in names
    assert "random" not in names


def test_all_runs_are_a_leaderboard_and_a_broken_one_says_why(workplace):
    (workplace / "models" / "broken").mkdir()
    (workplace / "models" / "broken" / "run.json").write_text("{")
    section, without = json.loads(gap("runs", "--json"))["sections"]
    (row,) = section["rows"]
    assert (row["name"], row["system"], row["folds"]) == ("tiny-sample", "stack", "6 of 6")
    assert row["out of fold logloss_low"] < row["out of fold logloss"] < row["out of fold logloss_high"]
    assert [row["name"] for row in without["rows"]] == ["broken"]
    assert "broken: " in gap("runs").split("do not choose a run")[1]


def test_some_members_of_a_recipe_are_a_run_of_their_own(workplace):
    assert Recipe.load("tiny.toml").restricted(["random"]).name == "tiny-random"
    assert "did you mean prior" in refused("run", "tiny.toml", "--members", "random,priro")
    printed = gap(*AGAIN, "--members", "prior", "--dry-run", "--json")
    rows = json.loads(printed)["sections"][0]["rows"]
    assert [row["name"] for row in rows] == ["prior", "all members"]


def test_options_reach_all_members(workplace):
    averages = ("--average", "original", "--average", "swap_gender")
    gap(*AGAIN, "--augment", "swap_gender", *averages, "--name", "fair")
    (manifest,) = workplace.glob("models/fair*/run.json")
    members = json.loads(manifest.read_text())["recipe"]["members"]
    switches = {"augment": ["swap_gender"], "average": ["original", "swap_gender"]}
    assert members
    assert all(member["settings"].items() >= switches.items() for member in members)


def test_a_run_on_own_rows_is_shown_and_predicts_without_gap(workplace, sample_train, sample_test):
    write_gap(workplace / "mine.tsv", sample_train[:60])
    write_gap(workplace / "new.tsv.gz", sample_test[:10].unlabelled())
    gap("run", "tiny.toml", "--train", "mine.tsv", "--test", "new.tsv.gz", "--data", workplace)
    submission = workplace / "submissions" / "tiny-mine.csv"
    assert [line.split(",")[0] for line in submission.read_text().splitlines()[1:]] == sample_test.ids[:10]
    (section,) = json.loads(gap("show", "tiny-mine", "--data", workplace, "--json"))["sections"]
    assert section["title"].startswith("out of fold: mine, 60 rows")
    gap("predict", "tiny-mine", "--input", "new.tsv.gz", "--output", "answers.csv")
    assert (workplace / "answers.csv").read_bytes() == submission.read_bytes()
    # the other part is GAP's or the sample's
    gap(*AGAIN, "--train", "mine.tsv")
    rows = (workplace / "submissions" / "tiny-mine-sample.csv").read_text().splitlines()
    assert len(rows) == 1 + len(sample_test)


def test_compare_takes_runs_and_files_and_writes_page_and_tables(workplace):
    asked = ("compare", "tiny-sample", "submissions/tiny-sample.csv", "--replicates", 100)
    printed = gap(*asked, "--flips", 5, "--html", "page.html", "--csv", "tables")
    assert "the same answers as stack" in " ".join(printed.split())
    assert "counterfactual flips" in printed.lower()
    assert (workplace / "page.html").read_text().startswith("<!doctype html>")
    found = json.loads(gap(*asked, "--gold", "gold.tsv", "--json"))
    assert len((workplace / "tables/scores.csv").read_text().splitlines()) == 1 + len(found["scores"])


def test_default_is_the_model_that_comes_with_gapstack(workplace, sample_train, gap_folder, monkeypatch):
    create("prior").fit(sample_train).save(workplace / "mine")
    monkeypatch.setattr(predictors, "shipped_model", lambda: workplace / "mine")
    gap("predict", "default", "--input", "rows.tsv", "--output", "default.csv")
    printed = gap("compare", "default", "default.csv", "--gold", "gold.tsv", "--replicates", "100")
    assert "the same answers as mine" in " ".join(printed.split())
    assert "a saved member, prior" in gap("audit", "default", "--data", gap_folder, "--suite", "winogender")


def test_audit_prints_the_report_and_keeps_answers_that_can_be_audited_again(workplace, gap_folder):
    asked = ("--data", gap_folder, "--suite", "wsc273")
    printed = gap("audit", "tiny-sample", *asked, "--output", "audit")
    for expected in ("Bias audit of run tiny-sample", "wsc273", "stack", "Not covered: bug"):
        assert expected in printed
    again = json.loads(gap("audit", "audit/answers/stack", *asked, "--json"))
    first = json.loads((workplace / "audit/audit.json").read_text())
    figures = [
        record["suites"]["wsc273"]["panels"]["wsc273.accuracy"]["rows"]["stack"] for record in (first, again)
    ]
    assert figures[0] == figures[1]


def test_audit_embeddings_measures_before_and_after_debiasing(tmp_path, gap_folder):
    glove = gap_folder / "vectors/glove.6B.50d.top5050.txt"
    asked = ("audit-embeddings", glove, "--data", gap_folder, "--limit", 2000, "--debias", "hard")
    printed = gap(*asked, "--output", tmp_path)
    for expected in ("as given", "hard", "GIPE", "RBF SVM", "Not measured: sembias"):
        assert expected in printed
    figures = json.loads((tmp_path / "embeddings.json").read_text())["figures"]
    assert figures == json.loads(gap(*asked, "--json"))["figures"]
    assert figures["hard"]["gipe"] < figures["as given"]["gipe"]


def test_gold_is_found_by_the_ids(tmp_path, sample_test):
    renamed = (replace(example, id=f"test-{number}") for number, example in enumerate(sample_test, 1))
    corpus = Corpus(renamed, name="gap-test")
    write_gap(tmp_path / "gap-test.tsv", corpus)
    for name, ids in (("mine.csv", corpus.ids), ("other.csv", sample_test.ids)):
        write_submission(tmp_path / name, ids, [[0.5, 0.3, 0.2]] * len(corpus))
    with_gold = gap("score", tmp_path / "mine.csv", "--gold", tmp_path / "gap-test.tsv", "--json")
    found = gap("score", tmp_path / "mine.csv", "--data", tmp_path, "--json")
    assert json.loads(found) == json.loads(with_gold)
    assert "gold=ROWS" in refused("score", tmp_path / "other.csv", "--data", tmp_path)


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


def test_a_dry_run_says_what_would_be_trained_and_what_is_missing(tmp_path, monkeypatch):
    monkeypatch.setenv("GAPSTACK_HOME", str(tmp_path))
    monkeypatch.setattr("gapstack.runs.dry_run.is_available", lambda name: name in (None, "minilm"))
    printed = gap("run", "attree2019", "--dry-run", "--data", "sample")
    assert "grep_bert-large-uncased_42" in printed
    assert "missing: encoder bert-large-cased" in printed
    asked = ("run", "xuyang2019", "--encoder", "minilm", "--dry-run", "--data", "sample", "--json")
    record = json.loads(gap(*asked))
    assert record["missing"] == []
    assert record["note"].startswith("Not as published: rates rise and fall once")
    assert not list(tmp_path.iterdir())


def test_a_trial_reads_the_first_rows(workplace, sample_test):
    trial = (*AGAIN, "--limit", 40)
    gap(*trial)
    run_folder = workplace / "models/tiny-first40-sample"
    assert json.loads((run_folder / "run.json").read_text())["rows"] == {
        "train": ["gap-sample-train", 40],
        "test": ["gap-sample-test", 40],
    }
    submission = read_submission(workplace / "submissions/tiny-first40-sample.csv")
    assert submission.ids == sample_test.ids[:40]
    assert "6 of 6 folds were already" in gap(*trial)
    assert "6 of 6 folds were already" in gap("run", run_folder)
    gap("show", "tiny-first40-sample")
    gap("predict", "tiny-sample", "--input", "rows.tsv", "--output", "all.csv")
    gap("predict", "tiny-sample", "--input", "rows.tsv", "--output", "few.csv", "--limit", 7)
    few, every = read_submission(workplace / "few.csv"), read_submission(workplace / "all.csv")
    assert few.ids == every.ids[:7]
    assert (few.probabilities == every.probabilities[:7]).all()


def test_an_unwritable_output_or_home_is_refused_first(workplace, monkeypatch):
    monkeypatch.setattr("gapstack.runs.predict.predict_file", None)  # would be called to compute

    def fail(**_):
        raise PermissionError(errno.EACCES, os.strerror(errno.EACCES))

    monkeypatch.setattr("tempfile.TemporaryFile", fail)
    arguments = ["predict", "tiny-sample", "--input", "rows.tsv", "--output", str(workplace / "out.csv")]
    result = CliRunner().invoke(app, arguments)
    assert result.exit_code == 2
    assert workplace.name in result.output
    assert "GAPSTACK_HOME" in refused(*AGAIN)
