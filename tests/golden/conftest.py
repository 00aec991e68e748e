"""How values are stored, compared and written anew; and the rows of the members' contract."""

import os

import pytest
import torch
from threadpoolctl import threadpool_limits

from tests.golden import stored

# the rows of every member, their encoders put in, and the parts of the sample that they learn from and answer
from tests.members.test_contract import _nearest_name, cache, clusters_file, held, row, train  # noqa: F401


def compute_in_bfloat16(monkeypatch, yes: bool) -> None:
    """Let the processor say whether it multiplies bfloat16 in hardware."""
    for name in ("_is_avx512_bf16_supported", "_is_amx_tile_supported"):
        monkeypatch.setattr(torch.cpu, name, lambda: yes)


@pytest.fixture(autouse=True)
def _one_thread_in_float32(monkeypatch):
    """What the machine decides: sums depend on how many threads share them, and ``auto`` on the processor."""
    compute_in_bfloat16(monkeypatch, False)
    monkeypatch.setenv("OMP_NUM_THREADS", "1")
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    with threadpool_limits(1):
        yield
    torch.set_num_threads(before)


@pytest.fixture
def bfloat16(monkeypatch):
    """Compute as a processor with bfloat16 does."""
    compute_in_bfloat16(monkeypatch, True)


@pytest.fixture
def golden():
    """Compare ``found`` to what is stored under ``key`` of a file, or store it where that is asked for."""

    def check(file: str, key: str, found: object, tolerance: float = 0.0) -> None:
        if os.environ.get("GAPSTACK_UPDATE_GOLDEN", "") not in {"", "0"}:
            stored.write(file, key, found)
        problems = stored.differences(stored.plain(found), stored.read(file, key), tolerance)
        assert not problems, f"{file}, {key}:\n" + "\n".join(problems)

    return check
