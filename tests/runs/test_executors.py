"""Who does the jobs changes nothing, and a worker that is lost costs its job's time alone."""

import logging
import os
import signal
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest
import torch

from gapstack import progress
from gapstack.corpus.folds import make_folds
from gapstack.errors import MemberError
from gapstack.runs import RunFolder, executors, run
from gapstack.runs.executors import create_executor
from gapstack.runs.jobs import Job
from gapstack.runs.recipe import Part, Recipe


@pytest.fixture(scope="module")
def ray():
    """Ray, with a cluster of two workers on this machine."""
    found = pytest.importorskip("ray", reason="Ray is not installed (pip install 'gapstack[ray]')")
    # workers must find the tests' modules too
    paths = os.pathsep.join([str(Path(__file__).parents[2]), os.environ.get("PYTHONPATH", "")])
    os.environ.setdefault("RAY_worker_niceness", "0")
    found.init(
        num_cpus=2,
        include_dashboard=False,
        log_to_driver=False,
        logging_level="ERROR",
        runtime_env={"env_vars": {"PYTHONPATH": paths}, "py_executable": executors.python_for_ray()},
    )
    yield found
    found.shutdown()


@pytest.fixture
def recipe(tiny_encoder_folder) -> Recipe:
    probert = {
        "encoder": str(tiny_encoder_folder),
        "max_pieces": 96,
        "training": {"epochs": 1, "precision": "float32"},
    }
    return Recipe("tiny", (Part("prior", "prior"), Part("probert", "probert", probert)), folds=3)


@pytest.fixture
def alone(recipe, sample_train, sample_test, tmp_path):
    """The recipe done by this process, in one thread: the last digits of sums hang on the number of threads."""
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    yield run(recipe, sample_train[:60], sample_test[:20], root=tmp_path / "alone")
    torch.set_num_threads(threads)


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["local", "ray"])
def test_the_same_comes_out_whoever_does_it(
    kind, request, alone, recipe, sample_train, sample_test, tmp_path
):
    if kind == "ray":
        request.getfixturevalue("ray")
    executor = create_executor(kind, workers=2)
    other = run(recipe, sample_train[:60], sample_test[:20], root=tmp_path / kind, executor=executor)
    for here, there in zip(alone.members, other.members, strict=True):
        np.testing.assert_array_equal(there.out_of_fold, here.out_of_fold)
        np.testing.assert_array_equal(there.test, here.test)


@dataclass(frozen=True)
class Murderous(Job):
    """A job that kills the process it runs in, for as many times as its diary allows; others note how theirs is."""

    diary: Path = Path()
    deaths: int = 1

    def run(self, folder) -> None:
        if self.fold == 1:
            died = self.diary.read_text() if self.diary.exists() else ""
            if len(died) < self.deaths:
                self.diary.write_text(died + "x")
                os.kill(os.getpid(), signal.SIGKILL)
        else:
            threads = f"{os.environ.get('OMP_NUM_THREADS')} {torch.get_num_threads()}"
            self.diary.with_suffix(".note").write_text(f"{threads} {progress.console.quiet}")
        super().run(folder)


@pytest.fixture
def jobs_of(sample_train, sample_test, tmp_path):
    """Two jobs of which the second kills so many processes, and their diary."""
    folds = make_folds(sample_train[:60], 3, seed=0)
    common = (folds, sample_train[:60], sample_test[:20])

    def make(deaths: int) -> list[Job]:
        part, diary = Part("prior", "prior"), tmp_path / "diary"
        return [Murderous(part, fold, *common, diary=diary, deaths=deaths) for fold in range(2)]

    return make


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["local", "ray"])
def test_a_lost_workers_job_is_done_again(kind, request, jobs_of, tmp_path, monkeypatch):
    if kind == "ray":
        request.getfixturevalue("ray")
    monkeypatch.setattr(torch, "get_num_threads", lambda: 6)
    jobs, told = jobs_of(deaths=1), []
    folder = RunFolder(tmp_path / "run")
    create_executor(kind, workers=2)(jobs, folder, lambda job: told.append(job.fold))
    assert (tmp_path / "diary").read_text() == "x"
    assert sorted(told) == [0, 1]
    assert all(job.is_done(folder) for job in jobs)
    # six threads for two processes that leave the screen to their parent; one of the cluster's two cores each
    assert (tmp_path / "diary.note").read_text() == {"local": "3 3 True", "ray": "1 1 False"}[kind]


@pytest.mark.slow
def test_a_job_that_kills_every_worker_is_given_up(jobs_of, tmp_path, monkeypatch):
    monkeypatch.setattr(executors, "MOST_LOSSES", 2)
    deadly, folder = jobs_of(deaths=99)[1], RunFolder(tmp_path / "run")
    with pytest.raises(MemberError, match=r"workers died 2 times over prior, fold 1 \(killed for memory"):
        create_executor("local", workers=2)([deadly], folder, lambda job: None)
    assert (tmp_path / "diary").read_text() == "xx"
    assert not deadly.is_done(folder)


@pytest.mark.parametrize(
    ("kind", "workers", "message"),
    [("dask", 1, 'no executor is called "dask"; there are: local, ray'), ("local", 0, "at least one worker")],
)
def test_impossible_executors_are_refused(kind, workers, message):
    with pytest.raises(MemberError, match=message):
        create_executor(kind, workers)


def test_ray_that_is_not_installed_is_named(monkeypatch):
    monkeypatch.setitem(__import__("sys").modules, "ray", None)
    with pytest.raises(MemberError, match=r"pip install 'gapstack\[ray\]'"):
        create_executor("ray", 2)


@dataclass(frozen=True)
class Talkative(Job):
    """A job that logs two lines, one of them unasked for, and may fail."""

    def run(self, folder) -> None:
        logging.getLogger("gapstack.training").info("fold %d", self.fold)
        logging.getLogger("gapstack.training").debug("loss")
        if self.fold == 2:
            raise ValueError("no such fold")


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["local", "ray"])
def test_what_workers_log_is_logged_once_by_their_parent(
    kind, request, sample_train, sample_test, tmp_path, caplog
):
    if kind == "ray":
        request.getfixturevalue("ray")
    caplog.set_level("INFO", "gapstack")
    folds = make_folds(sample_train[:60], 3, seed=0)
    jobs = [
        Talkative(Part("prior", "prior"), fold, folds, sample_train[:60], sample_test) for fold in range(3)
    ]
    create_executor(kind, workers=2)(jobs[:2], RunFolder(tmp_path), lambda job: None)
    assert sorted(caplog.messages) == ["fold 0", "fold 1"]
    assert {record.name for record in caplog.records} == {"gapstack.training"}
    with pytest.raises(ValueError, match="no such fold") as error:
        create_executor(kind, workers=2)(jobs[2:], RunFolder(tmp_path), lambda job: None)
    assert "fold 2" in error.value.__notes__
