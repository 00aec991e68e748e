"""A fold that is killed in the middle of a training continues where it was."""

import os
import signal
import subprocess
import sys
import textwrap
import time
from pathlib import Path

import numpy as np
import pytest

from gapstack.errors import RecipeError
from gapstack.runs import RunFolder, run
from gapstack.runs.recipe import Part, Recipe


def recipe(encoder) -> Recipe:
    settings = {"max_pieces": 96, "training": {"epochs": 20, "precision": "float32"}}
    return Recipe("r", (Part("probert", "probert", {"encoder": str(encoder)} | settings),), folds=3)


SCRIPT = """
    import sys
    from pathlib import Path
    from gapstack.data.sources import sample
    from gapstack.runs import run
    from tests.runs.test_jobs import recipe
    data = sample()
    root = Path(sys.argv[2])
    run(recipe(sys.argv[1]), data["train"][:60], data["test"][:20], root=root, checkpoint_seconds=0.0)
"""


@pytest.mark.slow
def test_a_killed_training_continues_and_gives_what_an_undisturbed_one_gives(
    sample_train, sample_test, tiny_encoder_folder, tmp_path
):
    root = tmp_path / "killed"
    command = [sys.executable, "-c", textwrap.dedent(SCRIPT), str(tiny_encoder_folder), str(root)]
    paths = os.pathsep.join([str(Path.cwd()), os.environ.get("PYTHONPATH", "")])
    killed = subprocess.Popen(command, env=os.environ | {"PYTHONPATH": paths}, stderr=subprocess.DEVNULL)
    folder = RunFolder(root / "models" / "r")
    deadline = time.monotonic() + 300
    while not list(folder.unfinished("probert", 0).rglob("checkpoint.safetensors")):
        assert killed.poll() is None, "it ended before it could be killed"
        assert time.monotonic() < deadline
        time.sleep(0.01)
    killed.send_signal(signal.SIGKILL)
    killed.wait()
    assert folder.job("probert", 0) is None

    rows = sample_train[:60], sample_test[:20]
    resumed = run(recipe(tiny_encoder_folder), *rows, root=root)
    undisturbed = run(recipe(tiny_encoder_folder), *rows, root=tmp_path / "undisturbed")
    np.testing.assert_allclose(resumed.members[0].test, undisturbed.members[0].test, atol=1e-6)
    assert not folder.unfinished("probert", 0).exists()
    assert not list(folder.root.rglob("checkpoint.safetensors"))
    (losses,) = folder.fold("probert", 0).rglob("history.jsonl")
    assert len(losses.read_text().splitlines()) == 20
    assert resumed.members[0].parameters > 1000


def test_a_member_that_knows_the_held_out_rows_is_refused():
    leaky = Part("probert", "probert", {"extra": ["neither-attree"]})
    with pytest.raises(RecipeError, match=r"probert .*share rows with test"):
        Recipe("leaky", (leaky,)).refuse_contaminated()
    Recipe("sound", (Part("probert", "probert", {"extra": ["winogender"]}),)).refuse_contaminated()
