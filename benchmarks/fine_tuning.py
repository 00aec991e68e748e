"""How fast the loop fine-tunes the embedded MiniLM, against a plain `transformers.Trainer`.

    python benchmarks/fine_tuning.py [GAP.tsv] [--rows 256] [--repeats 3]

All train ProBERT's network for one epoch on the same rows. Plain: Trainer with its defaults (float32, batches of
8 at random, padded to their longest, attention dropout), and with its best standard settings (bfloat16, SDPA, no
attention dropout, batches of 32 by length). Ours: the member's defaults, then the same with nothing
frozen, the same in as many processes of one thread as there are threads, each with all the rows, as folds are
trained side by side, and the passes of `predict`. Each measurement is a process of its own, so that peak memory is
its own; the rounds alternate, so that other work on the machine falls on all; the median round counts.

Where others keep the processors busy, run it with OMP_NUM_THREADS=1 and look at the ratios in CPU seconds: they
still say what free cores would do (with more threads, waiting for each other counts as work).

Bars: 6 times Trainer, 2 times its best, 35 examples/s, 55% of the measured bfloat16 matrix peak in training and 50% in
forward passes. They are for a processor that multiplies bfloat16 in hardware. Exit status 1 where one is missed.
"""

import argparse
import json
import os
import resource
import statistics
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path

import torch
from plain_trainer import BEST, fit, matrix_peak, operations

from gapstack.data import sources
from gapstack.data.gap_files import read_gap
from gapstack.encoding.encoders import load_encoder
from gapstack.members.fine_tuned import Network
from gapstack.members.probert import ProBERT, ProBERTHead
from gapstack.training import predict, train

TRAINER, BEST_TRAINER, OURS, UNFROZEN, BESIDE, FORWARD = (
    "Trainer, float32",
    "Trainer, bf16, its best",
    "the loop",
    "the loop, nothing frozen",
    "the loop, side by side",
    "forward passes",
)
CONTENDERS = (TRAINER, BEST_TRAINER, OURS, UNFROZEN, BESIDE, FORWARD)
WARM_UP = 64
# square ones, and those of MiniLM's layers with 1024 pieces
SHAPES = ((1024, 1024, 1024), (2048, 2048, 2048), (1024, 384, 384), (1024, 384, 1536), (1024, 1536, 384))


def measure(name: str, file: Path, rows: int) -> dict[str, float]:
    """Rows, seconds, CPU seconds, peak memory (MiB), operations and the matrix peak of one contender's epoch."""
    corpus, member, encoder = read_gap(file)[:rows], ProBERT(), load_encoder()
    plan = replace(member.plans()[-1], epochs=1)
    if name == UNFROZEN:
        plan = replace(plan, frozen=())
    data, warm_up = (member._data(part, encoder, part.labels) for part in (corpus, corpus[:WARM_UP]))
    trainers = {TRAINER: {}, BEST_TRAINER: BEST}
    dropout = {} if name == TRAINER else {"attention_probs_dropout_prob": 0.0}
    network = (
        Network(encoder.fresh_model(**dropout), ProBERTHead(encoder.hidden_size))
        if name in trainers
        else member._network((plan,))[1]
    )

    def work(given, count: int) -> None:
        if name in trainers:
            fit(network, given, count, **trainers[name])
        elif name == FORWARD:
            predict(network, given)
        else:
            train(network, given, plan)

    work(warm_up, WARM_UP)
    began, began_cpu = time.perf_counter(), time.process_time()
    work(data, rows)
    seconds, cpu_seconds = time.perf_counter() - began, time.process_time() - began_cpu
    memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    config = encoder.config
    forward = operations(data, encoder.num_layers, encoder.hidden_size, config["intermediate_size"])
    return {
        "rows": rows,
        "seconds": seconds,
        "cpu_seconds": cpu_seconds,
        "memory": memory,
        "operations": forward * (1 if name == FORWARD else 3),
        "peak": matrix_peak(SHAPES, "cpu"),
    }


def round_of(name: str, file: Path, rows: int, threads: int) -> dict[str, float]:
    """One contender measured in a process of its own; side by side, in one for each thread, added up."""
    count, each = (threads, 1) if name == BESIDE else (1, threads)
    command = [sys.executable, "-W", "ignore", __file__, str(file), "--rows", str(rows), "--only", name]
    environment = os.environ | {"OMP_NUM_THREADS": str(each)}
    running = [
        subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=environment) for _ in range(count)
    ]
    printed = [process.communicate()[0] for process in running]
    if any(process.returncode for process in running):
        raise SystemExit(f"the measurement of {name!r} failed")
    found = [json.loads(text.splitlines()[-1]) for text in printed]
    longest = ("seconds", "peak")
    return {key: (max if key in longest else sum)(one[key] for one in found) for key in found[0]}


def main() -> int:
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    options.add_argument("file", nargs="?", type=Path, help="a GAP TSV; default: GAP development")
    options.add_argument("--rows", type=int, default=256)
    options.add_argument("--repeats", type=int, default=3)
    options.add_argument("--only", choices=CONTENDERS, help="one measurement, as JSON")
    chosen = options.parse_args()
    file = chosen.file or sources.find("gap-development")
    if file is None:
        print("no GAP development here; name a TSV", file=sys.stderr)
        return 2
    if chosen.only:
        print(json.dumps(measure(chosen.only, file, chosen.rows)))
        return 0

    threads = torch.get_num_threads()
    rounds: dict[str, list[dict[str, float]]] = {name: [] for name in CONTENDERS}
    for _ in range(chosen.repeats):
        for name in CONTENDERS:
            rounds[name].append(round_of(name, file, chosen.rows, threads))

    peak = max(found["peak"] for name in CONTENDERS for found in rounds[name])
    middle = {
        name: {key: statistics.median(found[key] for found in rounds[name]) for key in rounds[name][0]}
        for name in CONTENDERS
    }
    print(f"{chosen.rows} rows, {threads} threads, median of {chosen.repeats} rounds")
    print(f"bfloat16 matrix peak, the best of all rounds: {peak / 1e9:.0f} GFLOP/s")
    print(f"{'':26} examples/s  of Trainer  of the peak  memory (MiB)  examples/CPU s  of Trainer")
    rate, rate_cpu, share = ({} for _ in range(3))
    for name, found in middle.items():
        rate[name], rate_cpu[name] = (found["rows"] / found[key] for key in ("seconds", "cpu_seconds"))
        share[name] = found["operations"] / found["seconds"] / peak
        print(
            f"{name:26} {rate[name]:10.1f} {rate[name] / rate[TRAINER]:10.2f}x {share[name]:12.1%} "
            f"{found['memory']:13.0f} {rate_cpu[name]:15.1f} {rate_cpu[name] / rate_cpu[TRAINER]:10.2f}x"
        )
    bars = {
        "6 times Trainer": rate[OURS] / rate[TRAINER] >= 6,
        "2 times the best Trainer": rate[OURS] / rate[BEST_TRAINER] >= 2,
        "35 examples/s": rate[OURS] >= 35,
        "55% of the peak in training": share[OURS] >= 0.55,
        "50% of the peak in forward passes": share[FORWARD] >= 0.50,
    }
    for bar, met in bars.items():
        print(f"{'met' if met else 'MISSED':6} {bar}")
    return int(not all(bars.values()))


if __name__ == "__main__":
    sys.exit(main())
