import pytest

from gapstack.encoding.sizes import KNOWN, encoder_size
from gapstack.errors import DataNotFoundError
from gapstack.members import create, published
from gapstack.members.work import RowCounts
from gapstack.report.plan import plan_table
from gapstack.runs import Recipe, available, estimate
from gapstack.runs.estimate import plan_run

ROWS = RowCounts(fitted=1000, predicted=200, all=1200, pieces=100)


@pytest.fixture(autouse=True)
def _quick_clock(monkeypatch):
    monkeypatch.setattr(estimate, "_SECONDS", 0.01)
    # also on a machine that has them
    monkeypatch.setattr(estimate, "is_at_hand", lambda name: name not in KNOWN)


@pytest.mark.slow
@pytest.mark.parametrize("name", available())
def test_every_recipe_is_planned_without_its_encoders(name):
    recipe = Recipe.load(name)
    plan = plan_run(recipe, "sample")
    assert [member.label for member in plan.members] == [part.label for part in recipe.members]
    for part, member in zip(recipe.members, plan.members, strict=True):
        if part.settings.get("encoder") in KNOWN:
            assert member.seconds > 0
            assert any(part.settings["encoder"] in line for line in plan.missing)
    assert "all members" in plan_table(plan).text()


def test_fifty_models_are_fifty():
    assert sum(member.models for member in plan_run(Recipe.load("attree2019"), "sample").members) == 50


def test_missing_labels_and_rows_are_named_and_counted_as_published(monkeypatch, tmp_path):
    monkeypatch.setattr(
        estimate, "corpora", lambda *_: (_ for _ in ()).throw(DataNotFoundError("no stage 2"))
    )
    plan = plan_run(Recipe.load("attree2019"))
    assert "no stage 2" in plan.missing
    assert (plan.train[1], plan.test[1]) == (4454, 12_359)


def test_training_costs_three_forward_passes_an_epoch():
    size = encoder_size(None)
    work = create("probert", training={"epochs": 1, "frozen": []}).work(size, ROWS)
    forward = 2 * size.layers * size.layer * ROWS.pieces
    assert work.fold == pytest.approx(forward * (3 * ROWS.fitted + ROWS.predicted))
    twice = create("probert", training={"epochs": 2, "frozen": []}).work(size, ROWS)
    assert twice.fold - work.fold == pytest.approx(3 * forward * ROWS.fitted)


def test_frozen_layers_cost_no_backward_pass_and_learn_nothing():
    size = KNOWN["bert-large-uncased"]
    whole = create("question_answering", training={"frozen": []}).work(size, ROWS)
    half = create("question_answering", **published("question_answering")).work(size, ROWS)
    assert half.learned == pytest.approx(whole.learned / 2, rel=0.1)
    assert half.memory < whole.memory


@pytest.mark.parametrize(
    "name", ["siamese", "frozen_mlp", "anonymised", "rgcn", "probert", "grep", "msnet", "span_head", "bidaf"]
)
def test_learned_parameters_are_those_of_the_fitted_member(name, tiny_encoder_folder, sample_train):
    settings = {"encoder": str(tiny_encoder_folder), "training": {"epochs": 1}}
    member = create(name, **settings).fit(sample_train.take(range(24)))
    size = encoder_size(str(tiny_encoder_folder))
    kept = sum(
        array.size
        for key, array in member.state().arrays.items()
        if "running" not in key and "num_" not in key
    )
    scales = sum(array.size for key, array in member.state().arrays.items() if key.startswith("scales/"))
    assert create(name, **settings).work(size, ROWS).learned == pytest.approx(kept - scales, rel=0.1)
