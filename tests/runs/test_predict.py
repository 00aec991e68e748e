"""What a run that learned from other data says before it answers rows of them."""

from dataclasses import replace

import pytest

from gapstack.corpus import Corpus
from gapstack.errors import MemberError
from gapstack.members.prior import Prior
from gapstack.runs import Recipe, run
from gapstack.runs.predict import predict
from gapstack.runs.recipe import Part


@pytest.fixture(scope="module")
def finished(sample_train, sample_test, tmp_path_factory):
    recipe = Recipe("small", (Part("prior", "prior"),), folds=3)
    return run(recipe, sample_train, sample_test, root=tmp_path_factory.mktemp("run"))


def named(rows: Corpus, *ids: str) -> Corpus:
    """The first rows, called so."""
    return Corpus(replace(row, id=name) for name, row in zip(ids, rows, strict=False))


@pytest.mark.parametrize(
    ("not_for", "ids", "warning"),
    [
        (
            ("winogender", "gap-stage2"),
            ("000075809a8e6b062f5fb3c191a8ed52", "mine-1"),
            "prior learned from data that share rows with gap-stage2, and 1 of these 2 rows have ids of it "
            "(soft labels of these rows were trained on). A score on them would be worth nothing",
        ),
        (
            ("gap-test",),
            ("test-1", "test-20"),
            "prior learned from data that share rows with gap-test, and 2 of these 2 rows have ids of it. "
            "A score on them would be worth nothing",
        ),
        (("gap-stage2",), ("test-1", "development-3"), None),
        (("winogender",), ("test-1",), None),
        ((), ("000075809a8e6b062f5fb3c191a8ed52",), None),
    ],
)
def test_a_run_warns_of_rows_that_a_member_has_heard_about(
    finished, sample_test, monkeypatch, caplog, not_for, ids, warning
):
    monkeypatch.setattr(Prior, "contaminated_by", not_for)
    caplog.set_level("WARNING", "gapstack")
    predict(finished.folder, named(sample_test, *ids))
    assert [record.getMessage() for record in caplog.records] == ([warning] if warning else [])


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
    monkeypatch.setattr("gapstack.runs.crossval.find_spec", lambda name: None)
    with pytest.raises(MemberError, match=r"pip install 'gapstack\[tensorboard\]'"):
        run(finished.recipe, sample_train, sample_test, root=tmp_path, tensorboard=True)
    assert not (tmp_path / "models").exists()
