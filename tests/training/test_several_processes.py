"""A training that several processes share, as ``torchrun`` and ``accelerate launch`` start them, is one training."""

import json
import os
import subprocess
import sys
import textwrap
from pathlib import Path

import numpy as np
import pytest

SCRIPT = """
    import json, sys
    import numpy as np, torch
    from dataclasses import replace
    from pathlib import Path
    from gapstack.training import PLAIN, RowData, train
    from gapstack.training.devices import processes

    class Linear(torch.nn.Linear):
        def forward(self, rows):
            return super().forward(rows)

    rng = np.random.default_rng(0)
    data = RowData({"rows": rng.normal(size=(50, 4))}, rng.integers(0, 3, 50))
    torch.manual_seed(0)
    model = Linear(4, 3)
    history = train(model, data, replace(PLAIN, epochs=3, batch_size=8, head_lr=0.05))
    record = {
        "processes": processes().num_processes,
        "losses": [line.loss for line in history.evaluations],
        "weights": model.weight.tolist(),
    }
    Path(sys.argv[1], f"{processes().process_index}.json").write_text(json.dumps(record))
"""


def trained(folder: Path, launcher: list[str]) -> list[dict]:
    """What each process of a training ended with."""
    folder.mkdir()
    script = folder / "script.py"
    script.write_text(textwrap.dedent(SCRIPT))
    # the loopback interface, so that no name of this machine has to be looked up
    environment = {**os.environ, "OMP_NUM_THREADS": "1", "GLOO_SOCKET_IFNAME": "lo"}
    done = subprocess.run(
        [sys.executable, *launcher, str(script), str(folder)],
        check=False,
        env=environment,
        capture_output=True,
        text=True,
        timeout=240,
    )
    assert done.returncode == 0, done.stderr
    return [json.loads(path.read_text()) for path in sorted(folder.glob("*.json"))]


@pytest.mark.slow
def test_two_processes_train_what_one_does(tmp_path):
    (alone,) = trained(tmp_path / "one", [])
    both = trained(tmp_path / "two", ["-m", "torch.distributed.run", "--nproc-per-node=2", "--standalone"])
    assert [record["processes"] for record in (alone, *both)] == [1, 2, 2]
    assert both[0] == both[1]
    np.testing.assert_allclose(both[0]["losses"], alone["losses"], rtol=1e-5)
    np.testing.assert_allclose(both[0]["weights"], alone["weights"], atol=1e-6)
