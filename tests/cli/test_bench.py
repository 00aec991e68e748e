"""Benchmarks by name: which are there, what is run, and what a missed bar gives."""

import subprocess
import sys

import pytest
from typer.testing import CliRunner

from gapstack.cli import app, bench
from gapstack.errors import DataNotFoundError
from gapstack.registry import UnknownNameError
from tests.commands import gap


def test_every_benchmark_is_a_script_of_the_repository():
    assert [script for name in bench.BENCHMARKS if not (script := bench.BENCHMARKS[name]).is_file()] == []


def test_those_that_are_named_run_and_a_missed_bar_is_the_exit_status(monkeypatch):
    ran = []

    def run(command, check):
        ran.append(command)
        return subprocess.CompletedProcess(command, returncode=len(ran) - 1)

    monkeypatch.setattr(bench.subprocess, "run", run)
    gap("bench", "frozen")
    assert ran == [[sys.executable, str(bench.FOLDER / "frozen_features.py")]]
    missed = CliRunner().invoke(app, ["bench", "parses", "frozen"])
    assert missed.exit_code == 1
    assert "not measured: cues.py, frozen_features.py" in missed.stderr


def test_a_name_that_is_none_and_an_installed_package_are_told_what_to_do(monkeypatch, tmp_path):
    with pytest.raises(UnknownNameError, match="frozen"):
        bench.bench_command(["frosen"])
    monkeypatch.setattr(bench, "FOLDER", tmp_path / "nowhere")
    with pytest.raises(DataNotFoundError, match="clone the repository"):
        bench.bench_command(["frozen"])
