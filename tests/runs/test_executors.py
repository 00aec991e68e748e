"""Who does the jobs changes nothing, and a worker that is lost costs its job's time alone."""

import os
import signal
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest

from gapstack.errors import MemberError
from gapstack.runs import run
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
        runtime_env={"env_vars": {"PYTHONPATH": paths}},
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
    """The recipe done by this process."""
    return run(recipe, sample_train[:60], sample_test[:20], root=tmp_path / "alone")


@pytest.mark.parametrize("kind", ["local", "ray"])
def test_the_same_comes_out_whoever_does_it(
    kind, request, alone, recipe, sample_train, sample_test, tmp_path
):
    if kind == "ray":
        request.getfixturevalue("ray")
    executor = create_executor(kind, workers=2)
    other = run(recipe, sample_train[:60], sample_test[:20], root=tmp_path / kind, executor=executor)
    for here, there in zip(alone.members, other.members, strict=True):
        # sums over a batch depend on the number of threads in the last digit
        np.testing.assert_allclose(there.out_of_fold, here.out_of_fold, atol=1e-5)
        np.testing.assert_allclose(there.test, here.test, atol=1e-5)


@dataclass(frozen=True)
class Murderous(Job):
    """A job that kills the process it runs in, for as many times as its diary allows."""

    diary: Path = Path()
    deaths: int = 1

    def run(self, folder) -> None:
        if self.fold == 1:
            died = self.diary.read_text() if self.diary.exists() else ""
            if len(died) < self.deaths:
                self.diary.write_text(died + "x")
                os.kill(os.getpid(), signal.SIGKILL)
        super().run(folder)


def jobs_of(alone, sample_train, sample_test, tmp_path, deaths) -> list[Job]:
    job = Murderous(
        *(Part("prior", "prior"), 0, _folds(sample_train), sample_train[:60], sample_test[:20]),
        diary=tmp_path / "diary",
        deaths=deaths,
    )
    return [Murderous(**{**vars(job), "fold": fold}) for fold in range(3)]


def _folds(sample_train):
    from gapstack.corpus.folds import make_folds

    return make_folds(sample_train[:60], 3, seed=0)


@pytest.mark.parametrize("kind", ["local", "ray"])
def test_a_lost_workers_job_is_done_again(kind, request, alone, sample_train, sample_test, tmp_path):
    if kind == "ray":
        request.getfixturevalue("ray")
    jobs, told = jobs_of(alone, sample_train, sample_test, tmp_path, deaths=1), []
    folder = alone.folder.__class__(tmp_path / "run")
    create_executor(kind, workers=2)(jobs, folder, lambda job: told.append(job.fold))
    assert (tmp_path / "diary").read_text() == "x"
    assert sorted(told) == [0, 1, 2]
    assert all(job.is_done(folder) for job in jobs)


def test_a_job_that_kills_every_worker_is_given_up_and_the_rest_is_kept(
    alone, sample_train, sample_test, tmp_path
):
    jobs = jobs_of(alone, sample_train, sample_test, tmp_path, deaths=99)
    folder = alone.folder.__class__(tmp_path / "run")
    with pytest.raises(MemberError, match="worker processes died 3 times over prior, fold 1"):
        create_executor("local", workers=2)(jobs, folder, lambda job: None)
    assert [job.is_done(folder) for job in jobs] == [True, False, True]


@pytest.mark.parametrize(
    ("kind", "workers", "message"),
    [("dask", 1, "no executor is called 'dask'; there are: local, ray"), ("local", 0, "at least one worker")],
)
def test_impossible_executors_are_refused(kind, workers, message):
    with pytest.raises(MemberError, match=message):
        create_executor(kind, workers)


def test_ray_that_is_not_installed_is_named(monkeypatch):
    monkeypatch.setitem(__import__("sys").modules, "ray", None)
    with pytest.raises(MemberError, match=r"pip install 'gapstack\[ray\]'"):
        create_executor("ray", 2)
