"""What a run sends to a tracking service, by a service that writes it down and by those that are installed."""

import sys
from types import SimpleNamespace

import pytest
from typer.testing import CliRunner

from gapstack.cli import app
from gapstack.cli.services import log_fold, tracking
from gapstack.errors import ExtraError, MemberError, RemoteError
from gapstack.runs.folder import RunFolder
from gapstack.runs.recipe import Part, Recipe
from tests.commands import RECIPE
from tests.training.toys import write_log

RECIPE_OF_ONE = Recipe("mine", (Part("probert", "probert", {"training": {"epochs": 2}}),))


class Notebook:
    """A tracker that records what it is sent."""

    def __init__(self, name="mlflow"):
        self.name, self.settings, self.lines, self.ends = name, {}, [], []

    def start(self):
        pass

    def store_init_configuration(self, values):
        self.settings |= values

    def log(self, values, step=None):
        self.lines.append((step, values))

    def finish(self):
        self.ends.append("FINISHED")


def log(folder, *losses):
    write_log(folder, *((0, 5 * number, loss, None) for number, loss in enumerate(losses, 1)))


def test_each_training_of_a_fold_is_sent_by_update(tmp_path):
    folder, tracker, increasing = RunFolder(tmp_path), Notebook(), Notebook("wandb")
    log(folder.fold("probert", 0) / "training/abc", 0.9, 0.7)
    log(folder.fold("probert", 1) / "training/abc", 1.0)
    log(folder.fold("probert", 1) / "training/abd", 0.8)
    log_fold(tracker, folder, "probert", 0)
    first = "probert/fold-0/training-1"
    assert tracker.lines == [
        (step, {f"{first}/update": step, f"{first}/loss": loss}) for step, loss in ((5, 0.9), (10, 0.7))
    ]
    log_fold(tracker, folder, "probert", 1)
    log_fold(tracker, folder, "prior", 0)
    assert tracker.lines[-1] == (
        5,
        {f"probert/fold-1/training-2/{k}": v for k, v in (("update", 5), ("loss", 0.8))},
    )
    log_fold(increasing, folder, "probert", 0)
    assert {step for step, _ in increasing.lines} == {None}


@pytest.fixture
def notebook(monkeypatch):
    """A tracker, and a module in MLflow's place that ends its runs."""
    made = Notebook()

    class MlflowException(Exception):  # noqa: N818 - its name in MLflow
        pass

    fake = SimpleNamespace(MlflowException=MlflowException, end_run=made.ends.append)
    monkeypatch.setitem(sys.modules, "mlflow", fake)
    monkeypatch.setattr("accelerate.tracking.MLflowTracker", lambda *place, run_name: made)
    return made


def test_a_run_begins_with_its_settings(notebook):
    with tracking("mlflow", RECIPE_OF_ONE) as tracker:
        assert tracker is notebook
    assert notebook.settings["members/probert/settings/training/epochs"] == "2"
    assert (notebook.settings["folds"], notebook.settings["labels"]) == ("5", "official")
    assert notebook.ends == ["FINISHED"]


def test_a_run_that_fails_ends_as_failed_with_its_own_error(notebook):
    with pytest.raises(MemberError, match="no gradient"), tracking("mlflow", RECIPE_OF_ONE):
        raise MemberError("no gradient")
    assert notebook.ends == ["FAILED"]


def test_a_service_that_refuses_is_one_line_with_a_remedy(notebook):
    def refuse():
        raise sys.modules["mlflow"].MlflowException("no route to host\nTraceback")

    notebook.start = refuse
    with pytest.raises(RemoteError, match=r"mlflow .*no route to host.*leave --log out"):
        tracking("mlflow", RECIPE_OF_ONE).__enter__()


@pytest.mark.parametrize("service", ["mlflow", "wandb", "tensorboard"])
def test_a_missing_package_names_the_extra_before_anything_is_computed(service, tmp_path, monkeypatch):
    monkeypatch.setenv("GAPSTACK_HOME", str(tmp_path / "home"))
    monkeypatch.setitem(sys.modules, service, None)
    (tmp_path / "tiny.toml").write_text(RECIPE)
    asked = ["run", str(tmp_path / "tiny.toml"), "--data", "sample", "--log", service]
    refusal = CliRunner().invoke(app, asked).exception
    assert isinstance(refusal, ExtraError)
    assert f"'.[{service}]'" in str(refusal)
    assert not (tmp_path / "home").exists()
