"""Time of a command alone and next to busy processes, and the ratio.

CPU seconds that grow next to busy processes show threads that spin while they wait.

    python benchmarks/busy.py -- gap run quickstart --data sample --fresh
    python benchmarks/busy.py --busy 2 --repeats 3 -- gap predict default --input rows.tsv --output out.csv

The command must do the same work each time: give ``gap run --fresh``. Times are the shortest of the repeats.
"""

import argparse
import os
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager


@contextmanager
def busy_processes(count: int) -> Iterator[list[subprocess.Popen[bytes]]]:
    """Keep ``count`` processes computing while the block runs."""
    processes = [subprocess.Popen([sys.executable, "-c", "while True: pass"]) for _ in range(count)]
    try:
        yield processes
    finally:
        for process in processes:
            process.kill()
            process.wait()


def seconds_of(command: Sequence[str], repeats: int) -> tuple[float, float]:
    """Shortest wall clock of a command, and its CPU time then; CalledProcessError if it fails."""
    times = []
    for _ in range(repeats):
        started, spent = time.perf_counter(), sum(os.times()[2:4])
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
        times.append((time.perf_counter() - started, sum(os.times()[2:4]) - spent))
    return min(times)


def main() -> None:
    """Print seconds alone, next to busy processes, and the ratio."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--busy", type=int, default=2, help="busy processes")
    parser.add_argument("--repeats", type=int, default=1)
    parser.add_argument("command", nargs="+")
    options = parser.parse_args()
    quiet, quiet_cpu = seconds_of(options.command, options.repeats)
    with busy_processes(options.busy):
        busy, busy_cpu = seconds_of(options.command, options.repeats)
    print(
        f"alone {quiet:.1f} s, next to {options.busy} busy processes {busy:.1f} s, ratio {busy / quiet:.2f}"
    )
    print(f"CPU: alone {quiet_cpu:.1f} s, next to them {busy_cpu:.1f} s, ratio {busy_cpu / quiet_cpu:.2f}")


if __name__ == "__main__":
    main()
