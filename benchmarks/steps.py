"""Three steps of fine-tuned encoders against plain ones, which a CPU can show: time, and memory of the results.

    python benchmarks/steps.py [--repeats 3]

- float32 weights from bfloat16 gradients, 390 tensors as of BERT-large: torch._foreach_* against a Python loop;
- a masked-LM head over XLM-R's vocabulary: logits at the masked position against those of all positions;
- a batch of frozen states: float16 that the device casts against float32 that is copied to it.
"""

import argparse
import time
from collections.abc import Callable

import torch
from torch import Tensor
from torch.nn import functional

WIDTH, VOCABULARY, ROWS, PIECES = 1024, 250_002, 8, 96
LAYER = [(WIDTH, WIDTH)] * 4 + [(4 * WIDTH, WIDTH), (WIDTH, 4 * WIDTH)] + [(WIDTH,)] * 10


def best(work: Callable[[], object], repeats: int) -> float:
    """Least seconds of several calls."""
    seconds = []
    for _ in range(repeats):
        began = time.perf_counter()
        work()
        seconds.append(time.perf_counter() - began)
    return min(seconds)


def compare(name: str, ours: Callable[[], object], plain: Callable[[], object], repeats: int) -> None:
    fast, slow = best(ours, repeats), best(plain, repeats)
    print(f"{name}: {fast * 1e3:.1f} ms, plain {slow * 1e3:.1f} ms: {slow / fast:.1f}x")


@torch.inference_mode()
def main() -> None:
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    options.add_argument("--repeats", type=int, default=3)
    repeats = options.parse_args().repeats

    # narrow ones: what counts is the number of tensors, for each of which a GPU launches a kernel
    shapes = [tuple(max(1, size // 64) for size in shape) for shape in LAYER * 24]
    masters = [torch.zeros(shape) for shape in shapes]
    copies = [torch.zeros(shape, dtype=torch.bfloat16) for shape in shapes]

    def loop() -> None:
        for master, copy in zip(masters, copies, strict=True):
            copy.copy_(master)

    compare(f"{len(shapes)} tensors", lambda: torch._foreach_copy_(copies, masters), loop, 20 * repeats)

    decoder, states = torch.randn(VOCABULARY, WIDTH), torch.randn(ROWS, PIECES, WIDTH)
    rows, at = torch.arange(ROWS), torch.full((ROWS,), PIECES // 2)

    def logits(hidden: Tensor) -> Tensor:
        return functional.linear(hidden, decoder)

    compare("masked position", lambda: logits(states[rows, at]), lambda: logits(states)[rows, at], repeats)
    one, every = (4 * ROWS * n * VOCABULARY / 2**20 for n in (1, PIECES))
    print(f"memory of its logits: {one:,.0f} MiB, plain {every:,.0f} MiB")

    half = torch.randn(ROWS, PIECES, WIDTH).half()
    print(f"a batch of states: {half.nbytes / 2**20:.1f} MiB, plain {half.float().nbytes / 2**20:.1f} MiB")


if __name__ == "__main__":
    main()
