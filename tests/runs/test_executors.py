"""Results do not depend on the executor, and a lost worker is one clear error."""

import logging
import os
import signal
import sys
from functools import partial
from pathlib import Path

import numpy as np
import pytest
import torch

from gapstack import progress
from gapstack.errors import ExtraError, MemberError
from gapstack.runs import executors
from gapstack.runs.executors import create_executor
from gapstack.runs.recipe import Part, Recipe
from gapstack.runs.runner import run


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
        runtime_env={"env_vars": {"PYTHONPATH": paths}, "py_executable": executors.PYTHON_FOR_RAY},
    )
    yield found
    found.shutdown()


@pytest.fixture(params=["local", "ray"])
def kind(request) -> str:
    if request.param == "ray":
        request.getfixturevalue("ray")
    return request.param


@pytest.mark.slow
def test_results_do_not_depend_on_the_executor(
    kind, sample_train, sample_test, tiny_encoder_folder, tmp_path, monkeypatch
):
    settings = {"max_pieces": 96, "training": {"epochs": 1, "precision": "float32"}}
    probert = Part("probert", "probert", {"encoder": str(tiny_encoder_folder)} | settings)
    recipe = Recipe("tiny", (Part("prior", "prior"), probert), folds=3)
    monkeypatch.setenv("OMP_NUM_THREADS", "1")
    alone = run(recipe, sample_train[:36], sample_test[:8], root=tmp_path / "alone")
    executor = create_executor(kind, workers=2)
    other = run(recipe, sample_train[:36], sample_test[:8], root=tmp_path / kind, executor=executor)
    for one, two in zip(alone.members, other.members, strict=True):
        np.testing.assert_allclose(two.out_of_fold, one.out_of_fold, atol=1e-6)
        np.testing.assert_allclose(two.test, one.test, atol=1e-6)


def work(folder: Path, number: int) -> None:
    """Note the threads of the worker; number 1 logs, 2 fails and 3 kills its process."""
    logging.getLogger("gapstack.training").debug("not relayed")
    if number:
        logging.getLogger("gapstack.training").info("task %d", number)
    if number == 2:
        raise ValueError("no such task")
    if number == 3:
        os.kill(os.getpid(), signal.SIGKILL)
    threads = f"{os.environ.get('OMP_NUM_THREADS')} {torch.get_num_threads()} {progress.console.quiet}"
    (folder / str(number)).write_text(threads)


@pytest.mark.slow
def test_workers_share_threads_and_their_log_and_errors_reach_this_process(
    kind, tmp_path, monkeypatch, caplog
):
    caplog.set_level("INFO", "gapstack")
    monkeypatch.setattr(torch, "get_num_threads", lambda: 6)
    execute = create_executor(kind, workers=2)
    read = []
    stream = execute(partial(work, tmp_path), (read.append(n) or n for n in [0, 1, *[0] * 40]))
    first = next(stream)
    assert len(read) < 20, "items are read a few ahead of the workers"
    assert {first, *stream} == {0, 1}
    assert caplog.messages == ["task 1"]
    assert (tmp_path / "0").read_text() == {"local": "3 3 True", "ray": "1 1 False"}[kind]
    with pytest.raises(ValueError, match="no such task") as error:
        list(execute(partial(work, tmp_path), [2]))
    assert "task 2" in error.value.__notes__
    with pytest.raises(MemberError, match=r"worker died over 3 .*finished work is kept"):
        list(execute(partial(work, tmp_path), [3]))


def test_impossible_executors_are_refused(monkeypatch):
    with pytest.raises(MemberError, match="dask"):
        create_executor("dask")
    with pytest.raises(MemberError, match="one worker"):
        create_executor("local", 0)
    monkeypatch.setitem(sys.modules, "ray", None)
    with pytest.raises(ExtraError, match=r"gapstack\[ray\]"):
        create_executor("ray", 2)
