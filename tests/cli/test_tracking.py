"""What a run sends to a tracking service, by a service that writes it down and by those that are installed."""

import json
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
from tests.commands import RECIPE, gap
from tests.training.toys import write_log

RECIPE_OF_ONE = Recipe("mine", (Part("probert", "probert", {"training": {"epochs": 2}}),))
TUNED = """
name = "tuned"
folds = 3
[[members]]
name = "probert"
settings = {{ encoder = "{encoder}", training = {{ epochs = 1, frozen = ["encoder"] }} }}
[[members]]
name = "prior"
[[stackers]]
name = "logistic"
"""


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


@pytest.fixture
def tuned(tmp_path, tiny_encoder_folder, monkeypatch):
    """The words of a command that fine-tunes a tiny member, and logs in the folder it is given in."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("GAPSTACK_HOME", str(tmp_path))
    (tmp_path / "tuned.toml").write_text(TUNED.format(encoder=tiny_encoder_folder))
    return ("run", "tuned.toml", "--data", "sample", "--json", "--log")


def held_out(printed: str) -> float:
    """Logloss of the stack on the held-out rows, as `gap run --json` printed it."""
    section = json.loads(printed)["sections"][1]
    return next(row["logloss"] for row in section["rows"] if row["name"] == "stack")


def test_mlflow_has_curves_scores_settings_and_identity(tuned, tmp_path, monkeypatch):
    mlflow = pytest.importorskip("mlflow", reason="the extra mlflow is not installed")
    monkeypatch.setenv("MLFLOW_TRACKING_URI", f"sqlite:///{tmp_path}/mlflow.db")
    logloss = held_out(gap(*tuned, "mlflow"))
    (one,) = mlflow.search_runs(search_all_experiments=True, output_format="list")
    assert one.info.status == "FINISHED"
    assert one.data.metrics["stack/held_out/logloss"] == pytest.approx(logloss, abs=1e-12)
    assert one.data.params["members/probert/settings/training/epochs"] == "1"
    assert one.data.params["identity/probert/source"]
    curve = mlflow.MlflowClient().get_metric_history(one.info.run_id, "probert/fold-1/training-1/loss")
    assert len(curve)
    assert [metric.step for metric in curve] == sorted({metric.step for metric in curve})


def test_wandb_takes_the_same_offline(tuned, tmp_path, monkeypatch):
    pytest.importorskip("wandb", reason="the extra wandb is not installed")
    monkeypatch.setenv("WANDB_MODE", "offline")
    logloss = held_out(gap(*tuned, "wandb"))
    (stored,) = tmp_path.glob("wandb/offline-run-*/run-*.wandb")
    content = stored.read_bytes()
    for expected in (
        b"probert/fold-1/training-1/loss",
        b"identity/probert/source",
        repr(logloss)[:14].encode(),
    ):
        assert expected in content
