"""A fold's job that is killed in the middle of a training goes on where it was."""

import json
import os
import signal
import subprocess
import sys
import textwrap
import time
from pathlib import Path

import numpy as np
import pytest

from gapstack.corpus.folds import make_folds
from gapstack.errors import RecipeError
from gapstack.runs import RunFolder
from gapstack.runs.folder import read_probabilities
from gapstack.runs.jobs import Job
from gapstack.runs.recipe import Part, Recipe


def job(sample_train, sample_test, encoder, *, epochs: int) -> Job:
    settings = {
        "encoder": str(encoder),
        "max_pieces": 96,
        "training": {"epochs": epochs, "precision": "float32"},
    }
    train = sample_train[:60]
    return Job(
        Part("probert", "probert", settings),
        *(0, make_folds(train, 3, seed=0), train, sample_test[:20]),
        checkpoint_seconds=0.0,
    )


SCRIPT = """
    import sys
    from gapstack.corpus.sources import sample
    from gapstack.runs import RunFolder
    from tests.runs.test_jobs import job
    from pathlib import Path
    data = sample()
    job(data["train"], data["test"], sys.argv[1], epochs=20).run(RunFolder(Path(sys.argv[2])))
"""


@pytest.mark.slow
def test_a_killed_training_goes_on_and_gives_what_an_undisturbed_one_gives(
    sample_train, sample_test, tiny_encoder_folder, tmp_path
):
    work = job(sample_train, sample_test, tiny_encoder_folder, epochs=20)
    folder, undisturbed = RunFolder(tmp_path / "run"), RunFolder(tmp_path / "undisturbed")
    command = [sys.executable, "-c", textwrap.dedent(SCRIPT), str(tiny_encoder_folder), str(folder.root)]
    environment = {
        **os.environ,
        "PYTHONPATH": os.pathsep.join([str(Path.cwd()), os.environ.get("PYTHONPATH", "")]),
    }
    killed = subprocess.Popen(command, env=environment, stderr=subprocess.DEVNULL)
    unfinished = folder.unfinished("probert", 0)
    deadline = time.monotonic() + 60
    while not list(unfinished.rglob("checkpoint.safetensors")):
        assert killed.poll() is None, "it ended before it could be killed"
        assert time.monotonic() < deadline
        time.sleep(0.01)
    killed.send_signal(signal.SIGKILL)
    killed.wait()
    assert not work.is_done(folder)

    work.run(folder)
    work.run(undisturbed)
    assert work.is_done(folder)
    ids = work.test.ids
    np.testing.assert_array_equal(
        read_probabilities(folder.fold("probert", 0) / "test.parquet", ids),
        read_probabilities(undisturbed.fold("probert", 0) / "test.parquet", ids),
    )
    assert not unfinished.exists()
    assert not list(folder.root.rglob("checkpoint.safetensors"))
    losses = list(folder.fold("probert", 0).rglob("history.jsonl"))
    assert len(losses) == 1
    assert len(losses[0].read_text().splitlines()) == 20
    assert json.loads((folder.fold("probert", 0) / "job.json").read_text())["parameters"] > 1000


def test_what_killed_trainings_left_goes_once_no_job_needs_it(tmp_path):
    folder = RunFolder(tmp_path)
    for label, key in (("probert", "needed"), ("probert", "older"), ("dropped", "any")):
        (folder.unfinished(label, 0) / key).mkdir(parents=True)
    folder.sweep({"needed"})
    assert [place.name for place in tmp_path.glob("members/*/unfinished/*/*")] == ["needed"]


def test_a_member_that_knows_the_held_out_rows_is_refused():
    leaky = Part("probert", "probert", {"extra": ["neither-attree"]})
    with pytest.raises(
        RecipeError, match=r"probert trains on data that share rows with test, on which it would"
    ):
        Recipe("leaky", (leaky,)).refuse_contaminated()
    Recipe("sound", (Part("probert", "probert", {"extra": ["winogender"]}),)).refuse_contaminated()
