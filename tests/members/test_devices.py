"""Every member with an encoder on an emulated accelerator; see :mod:`tests.emulated_device` for what that proves."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from gapstack.runs.encoder_check import members_with_encoder


@pytest.mark.slow
@pytest.mark.timeout(1200)
def test_no_member_mixes_devices_or_needs_float64():
    command, root = [sys.executable, "-m", "tests.emulated_device"], Path(__file__).parents[2]
    printed = subprocess.run(command, check=True, capture_output=True, text=True, cwd=root).stdout
    records = [json.loads(line) for line in printed.splitlines() if line.startswith("{")]
    assert [record["member"] for record in records] == [*members_with_encoder(), "prompted"]
    assert not [record["problem"] for record in records if "problem" in record]
    assert all(record["difference"] < 1e-6 for record in records)
