import pytest
import torch

from gapstack.encoding import frozen
from gapstack.processes import fastest_dtype
from gapstack.training.devices import compute_dtype


@pytest.mark.parametrize("device", ["cpu", "cuda"])
@pytest.mark.parametrize("in_hardware", [False, True])
def test_frozen_encoders_and_training_compute_in_bfloat16_only_where_the_device_has_it(
    device, in_hardware, monkeypatch
):
    # emulation alone does not count
    monkeypatch.setattr(
        torch.cuda, "is_bf16_supported", lambda including_emulation=True: including_emulation or in_hardware
    )
    monkeypatch.setattr(torch.cpu, "_is_avx512_bf16_supported", lambda: in_hardware)
    monkeypatch.setattr(torch.cpu, "_is_amx_tile_supported", lambda: False)
    monkeypatch.setattr(frozen, "_device", lambda: torch.device(device))
    expected = torch.bfloat16 if in_hardware else torch.float32
    assert fastest_dtype(torch.device(device)) == frozen.computes_in() == expected
    assert compute_dtype("auto", torch.device(device)) == expected
    assert compute_dtype("bf16", torch.device(device)) == torch.bfloat16
    assert compute_dtype("float32", torch.device(device)) == torch.float32
    assert fastest_dtype(torch.device("meta")) == torch.float32, "an unknown device"
