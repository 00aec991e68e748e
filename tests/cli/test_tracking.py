"""What a run sends to a tracking service, by a service that writes it down and by those that are installed."""

import sys
from types import SimpleNamespace

import numpy as np
import pytest
from typer.testing import CliRunner

from gapstack.cli import app
from gapstack.cli.tracking import log_fold, tracking
from gapstack.errors import ExtraError, MemberError, RemoteError
from gapstack.runs.folder import RunFolder
from gapstack.runs.recipe import Part, Recipe
from tests.commands import RECIPE
from tests.training.toys import write_log

RECIPE_OF_ONE = Recipe("mine", (Part("probert", "probert", {"training": {"epochs": 2}}),))


class Notebook:
    """A service that records what it is sent."""

    def __init__(self):
        self.curves = {}

    def curve(self, name, updates, values):
        self.curves |= {f"{name}/{key}": (updates.tolist(), list(column)) for key, column in values.items()}


def log(folder, *losses):
    write_log(folder, *((0, 5 * number, loss, None) for number, loss in enumerate(losses, 1)))


def test_each_training_of_a_fold_is_sent_by_update(tmp_path):
    folder, tracker = RunFolder(tmp_path), Notebook()
    log(folder.fold("probert", 0) / "training/abc", 0.9, 0.7)
    log(folder.fold("probert", 1) / "training/abc", 1.0)
    log(folder.fold("probert", 1) / "training/abd", 0.8)
    log_fold(tracker, folder, "probert", 0)
    assert {name.rpartition("/")[0] for name in tracker.curves} == {"probert/fold-0/training-1"}
    log_fold(tracker, folder, "probert", 1)
    log_fold(tracker, folder, "prior", 0)
    assert tracker.curves["probert/fold-0/training-1/loss"] == ([5, 10], [0.9, 0.7])
    assert tracker.curves["probert/fold-1/training-2/loss"] == ([5], [0.8])
    assert np.isnan(tracker.curves["probert/fold-1/training-2/validation"][1]).all()


@pytest.fixture
def fake_mlflow(monkeypatch):
    """A module in MLflow's place that writes down runs and parameters."""
    calls = []

    class MlflowException(Exception):  # noqa: N818 - its name in MLflow
        pass

    def start_run(run_name):
        calls.append(("start", run_name))
        return SimpleNamespace(info=SimpleNamespace(run_id="1"))

    fake = SimpleNamespace(
        MlflowException=MlflowException,
        start_run=start_run,
        get_tracking_uri=lambda: "postgresql://me:secret@host/runs",
        log_params=lambda values: calls.append(("settings", values)),
        end_run=lambda status: calls.append(("end", status)),
        calls=calls,
    )
    monkeypatch.setitem(sys.modules, "mlflow", fake)
    return fake


def test_a_run_begins_with_its_settings_and_hides_passwords(fake_mlflow):
    with tracking("mlflow", RECIPE_OF_ONE) as tracker:
        assert tracker.address == "MLflow run 1 in postgresql://host/runs"
    (_, name), (_, settings), (_, status) = fake_mlflow.calls
    assert (name, status) == ("mine", "FINISHED")
    assert settings["members/probert/settings/training/epochs"] == "2"
    assert (settings["folds"], settings["labels"]) == ("5", "official")


def test_a_run_that_fails_ends_as_failed_with_its_own_error(fake_mlflow):
    def refuse(status):
        fake_mlflow.calls.append(("end", status))
        raise fake_mlflow.MlflowException("gone")

    fake_mlflow.end_run = refuse
    with pytest.raises(MemberError, match="no gradient"), tracking("mlflow", RECIPE_OF_ONE):
        raise MemberError("no gradient")
    assert fake_mlflow.calls[-1] == ("end", "FAILED")


def test_a_service_that_refuses_is_one_line_with_a_remedy(fake_mlflow):
    def refuse(run_name):
        raise fake_mlflow.MlflowException("no route to host\nTraceback")

    fake_mlflow.start_run = refuse
    with pytest.raises(RemoteError, match=r"MLflow .*no route to host.*leave --log out"):
        tracking("mlflow", RECIPE_OF_ONE).__enter__()


@pytest.mark.parametrize("service", ["mlflow", "wandb"])
def test_a_missing_package_names_the_extra_before_anything_is_computed(service, tmp_path, monkeypatch):
    monkeypatch.setenv("GAPSTACK_HOME", str(tmp_path / "home"))
    monkeypatch.setitem(sys.modules, service, None)
    (tmp_path / "tiny.toml").write_text(RECIPE)
    asked = ["run", str(tmp_path / "tiny.toml"), "--data", "sample", "--log", service]
    refusal = CliRunner().invoke(app, asked).exception
    assert isinstance(refusal, ExtraError)
    assert f"pip install 'gapstack[{service}]'" in str(refusal)
    assert not (tmp_path / "home").exists()
