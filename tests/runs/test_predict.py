"""What a run that learned from other data says before it answers rows of them."""

from dataclasses import replace

import pytest

from gapstack.data import Corpus
from gapstack.data.gap_files import write_gap
from gapstack.errors import ExtraError
from gapstack.members import create
from gapstack.members.baselines import Prior
from gapstack.runs import Recipe, run
from gapstack.runs.predict import predict, predict_file
from gapstack.runs.predictors import load
from gapstack.runs.recipe import Part


@pytest.fixture(scope="module")
def finished(sample_train, sample_test, tmp_path_factory):
    recipe = Recipe("small", (Part("prior", "prior"),), folds=3)
    return run(recipe, sample_train, sample_test, root=tmp_path_factory.mktemp("run"))


def of_development(rows: Corpus) -> Corpus:
    """The rows under ids of GAP development."""
    return Corpus(replace(row, id=f"development-{number}") for number, row in enumerate(rows, start=1))


def test_a_run_warns_of_rows_that_it_has_learned_from(finished, sample_train, sample_test, caplog):
    predict(finished.folder, sample_test)
    assert not caplog.messages
    predict(finished.folder, of_development(sample_train))
    assert "share rows with gap-development" in caplog.text


def test_a_fitted_stack_read_back_warns_of_rows_that_it_has_learned_from(sample_train, tmp_path, caplog):
    rows = of_development(sample_train)
    create("stack", members=["prior", "random"]).fit(rows).save(tmp_path / "stack")
    write_gap(tmp_path / "rows.tsv", rows[:4].unlabelled())
    assert predict_file(load(tmp_path / "stack"), tmp_path / "rows.tsv", tmp_path / "out.csv") == 4
    assert "share rows with gap-development, and 4 of these 4 rows" in caplog.text


def test_a_stack_is_not_for_what_any_of_its_members_is_not_for(
    sample_train, sample_test, tmp_path, monkeypatch
):
    monkeypatch.setattr(Prior, "contaminated_by", ("gap-stage2",))
    parts = (Part("random", "random"), Part("prior", "prior"))
    recipe = Recipe("stacked", parts, (Part("logistic", "logistic"),), folds=3)
    done = run(recipe, sample_train, sample_test, root=tmp_path)
    assert [result.contaminated_by for result in done.members] == [(), ("gap-stage2",)]
    assert done.stack.contaminated_by == ("gap-stage2",)


def test_tensorboard_that_is_not_installed_is_named_before_any_work(
    finished, sample_train, sample_test, tmp_path, monkeypatch
):
    monkeypatch.setattr("gapstack.runs.runner.find_spec", lambda name: None)
    with pytest.raises(ExtraError, match="tensorboard"):
        run(finished.recipe, sample_train, sample_test, root=tmp_path, tensorboard=True)
    assert not (tmp_path / "models").exists()
