"""What int8 weights cost and save: a fine-tuned student, as it is and with a quantised encoder, in one process.

    python benchmarks/quantised.py --member FOLDER [--rows 454] [--repeats 3] [--compile]

The student is `tuned_spans` with its defaults (two epochs, one form), learned from GAP development alone; it is fitted
and saved in FOLDER unless it lies there (some 20 minutes on one core). The rows are GAP validation's, which it has not
seen. Its linear layers are quantised to int8 for each channel, activations as they come (dynamic quantisation), by

- the setting `int8 = true` of every fine-tuned member: torch.ao, each row in a pass of its own;
- torch.ao in batches. It comes with torch, is deprecated, and needs nothing else; a batch has one scale of activations,
  so that a row's probabilities depend on the rows beside it;
- torchao, its successor, if it is installed, as it is and with --compile (torch.compile, which needs a C++ compiler).

For each: logloss, F1, the largest change of a probability, and the largest where every second row is predicted without
the others (beside); rows a second of the network's forward passes (their CPU
time, the best of the repeats, so that other work on the machine counts little), the seconds of the first pass
(compilation), and the size of the weights. Last, rows a second of all that `gap predict` computes for new rows (parses,
features, frozen attention, three forms of each row), where the passes of the tuned encoder are only a part.
"""

from __future__ import annotations

import argparse
import copy
import io
import os
import sys
import tempfile
import time
import warnings
from collections.abc import Callable
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import torch
from torch import nn

from gapstack.corpus import Corpus, sources
from gapstack.members import create
from gapstack.members.store import is_saved, load, save
from gapstack.scoring import score
from gapstack.training.int8 import in_int8

PLAIN, OURS = "as it is", "int8 = true"
NEW_ROWS = 48
WARM_UP = 16


def with_torchao(encoder: nn.Module) -> nn.Module:
    from torchao.quantization import Int8DynamicActivationInt8WeightConfig, quantize_

    quantize_(encoder, Int8DynamicActivationInt8WeightConfig())
    return encoder


def compiled(encoder: nn.Module) -> nn.Module:
    return torch.compile(with_torchao(encoder), dynamic=True)


def contenders(compile_too: bool) -> dict[str, Callable[[nn.Module], nn.Module]]:
    found = {PLAIN: lambda encoder: encoder, OURS: lambda encoder: encoder, "int8, torch.ao": in_int8}
    if find_spec("torchao"):
        found["int8, torchao"] = with_torchao
        if compile_too:
            found["int8, torchao, compiled"] = compiled
    return found


def student(folder: Path, development: Corpus):
    """The member in `folder`, fitted first where there is none."""
    if not is_saved(folder):
        save(create("tuned_spans").fit(development), "tuned_spans", folder)
    return load(folder)


def variant(member, name: str, quantise: Callable[[nn.Module], nn.Module]):
    """A copy of the member whose encoder is quantised; int8 layers take float32."""
    changed = copy.deepcopy(member)
    changed.int8 = name == OURS
    changed.training = {**(member.training or {}), "precision": "float32"}
    changed.network_.eval()
    changed.network_.encoder = quantise(changed.network_.encoder)
    return changed


def megabytes(module: nn.Module) -> float:
    buffer = io.BytesIO()
    torch.save(module.state_dict(), buffer)
    return buffer.tell() / 1e6


def timed(work: Callable[[], object], repeats: int = 1) -> float:
    """CPU seconds, the best of the repeats."""
    best = float("inf")
    for _ in range(repeats):
        began = time.process_time()
        work()
        best = min(best, time.process_time() - began)
    return best


def rate_of_new_rows(member, rows: Corpus) -> float:
    """Rows a CPU second of all that a prediction computes, with an empty cache; the models are loaded before."""
    with tempfile.TemporaryDirectory() as cache:
        before = os.environ.get("GAPSTACK_CACHE")
        os.environ["GAPSTACK_CACHE"] = cache
        try:
            member.predict_proba(rows[:WARM_UP])
            new = rows[WARM_UP : WARM_UP + NEW_ROWS]
            return len(new) / timed(lambda: member.predict_proba(new))
        finally:
            os.environ.pop("GAPSTACK_CACHE")
            if before is not None:
                os.environ["GAPSTACK_CACHE"] = before


def main() -> int:
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    options.add_argument("--member", type=Path, required=True, help="folder of the fitted student")
    options.add_argument("--rows", type=int, default=454)
    options.add_argument("--repeats", type=int, default=3)
    options.add_argument("--compile", action="store_true", help="torchao with torch.compile too")
    chosen = options.parse_args()
    warnings.simplefilter("ignore")  # torch.ao warns that it is deprecated, which the text above says
    gap = sources.load_gap()
    if gap.is_sample:
        print("GAP is not here: see gap data status", file=sys.stderr)
        return 2
    member = student(chosen.member, gap.splits["development"])
    rows = gap.splits["validation"][: chosen.rows]

    print(f"{len(rows)} rows of GAP validation, {torch.get_num_threads()} threads, torch {torch.__version__}")
    print(f"{'':24} logloss    F1  change  beside  passes/s  ratio  first (s)  MB encoder  new rows/s  ratio")
    plain = plain_rate = plain_new = None
    for name, quantise in contenders(chosen.compile).items():
        one = variant(member, name, quantise) if name != PLAIN else member
        data = one._data(rows, one._encoder(), None)
        began = time.perf_counter()
        one._logits(data)
        first = time.perf_counter() - began
        rate = len(rows) / timed(lambda one=one, data=data: one._logits(data), chosen.repeats)
        probabilities = one.predict_proba(rows)
        beside = abs(one.predict_proba(rows.take(np.arange(0, len(rows), 2))) - probabilities[::2]).max()
        new = rate_of_new_rows(one, rows)
        if name == PLAIN:
            plain, plain_rate, plain_new = probabilities, rate, new
        scores = score(rows, probabilities)
        print(
            f"{name:24} {scores.logloss:7.4f} {scores.f1_overall:5.1f} {abs(probabilities - plain).max():7.3f} "
            f"{beside:7.3f} {rate:9.1f} {rate / plain_rate:6.2f} {first:10.1f} {megabytes(one.network_.encoder):11.1f} "
            f"{new:11.1f} {new / plain_new:6.2f}",
            flush=True,
        )
    return 0


if __name__ == "__main__":
    sys.exit(main())
