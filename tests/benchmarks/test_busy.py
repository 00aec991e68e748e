"""The busy processes run during the block and end with it; a failing command is an error."""

import subprocess
import sys

import pytest

from benchmarks.busy import busy_processes, seconds_of


def test_busy_processes_end_with_the_block():
    with busy_processes(2) as processes:
        assert [process.poll() for process in processes] == [None, None]
    assert all(process.poll() is not None for process in processes)


def test_a_failing_command_is_an_error():
    wall, cpu = seconds_of([sys.executable, "-c", "for _ in range(10**6): pass"], 2)
    assert cpu > 0
    assert wall > 0
    with pytest.raises(subprocess.CalledProcessError):
        seconds_of([sys.executable, "-c", "raise SystemExit(3)"], 1)
