"""The benchmark for GPUs must be ready where there is one, though most machines have none."""

import importlib
from pathlib import Path

import pytest
import torch

BENCHMARKS = Path(__file__).resolve().parents[2] / "benchmarks"


@pytest.fixture
def gpu(monkeypatch):
    monkeypatch.syspath_prepend(BENCHMARKS)
    return importlib.import_module("gpu")


@pytest.mark.slow
def test_the_smoke_run_goes_through_all_of_it(gpu, capsys):
    assert gpu.main(["--smoke", "--epochs", "1"]) == 0
    printed = capsys.readouterr().out
    for part in (
        "matrix peak",
        "the loop:",
        "the loop, checkpointing:",
        "forward passes:",
        "Trainer, bfloat16, its best:",
        "Trainer, float32, its defaults:",
        "smoke run",
    ):
        assert part in printed
    assert "MISSED" not in printed


@pytest.mark.skipif(torch.cuda.is_available(), reason="there is a GPU, so there is something to measure")
def test_without_a_gpu_nothing_is_measured_and_it_says_so(gpu, capsys):
    assert gpu.main([]) == 2
    assert "no GPU here" in capsys.readouterr().err
