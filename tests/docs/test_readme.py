"""The Python of the README runs as it stands."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from gapstack.data import write_gap

ROOT = Path(__file__).resolve().parents[2]


@pytest.mark.slow
def test_its_python_runs_and_prints_a_prediction_and_scores(sample_train, sample_test, tmp_path):
    """In a process that finds the embedded sample where GAP should be, since GAP would take minutes."""
    splits = {"development": sample_train[:120], "validation": sample_train[120:], "test": sample_test}
    for name, corpus in splits.items():
        write_gap(tmp_path / f"gap-{name}.tsv", corpus)
    (code,) = re.findall(
        r"^```python\n(.*?)^```$", (ROOT / "README.md").read_text(), re.MULTILINE | re.DOTALL
    )
    done = subprocess.run(
        [sys.executable, "-c", code],
        cwd=tmp_path,
        env=os.environ | {"GAP_DATA": str(tmp_path), "GAPSTACK_OFFLINE": "1"},
        capture_output=True,
        text=True,
        timeout=250,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert re.search(r"\[\[0\.\d+\s+0\.\d+\s+0\.\d+", done.stdout)
    assert "logloss" in done.stdout
