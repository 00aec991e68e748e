"""The precision in which a device computes fastest."""

import torch


def fastest_dtype(device: torch.device) -> torch.dtype:
    """bfloat16 if ``device`` multiplies it in hardware, else float32."""
    if device.type == "cuda":
        has_bfloat16 = torch.cuda.is_bf16_supported(including_emulation=False)
    else:
        has_bfloat16 = device.type == "cpu" and (
            torch.cpu._is_avx512_bf16_supported() or torch.cpu._is_amx_tile_supported()
        )
    return torch.bfloat16 if has_bfloat16 else torch.float32
