"""CPU time against rows, words of a document, candidates and compared systems: it should double where these double.

Each work is done in sizes that double, in this process, without the time to load models. A ratio is the time per unit
of a size divided by that of half the size: 1 is linear, 2 quadratic, and less has a fixed cost. Rows and documents are
made from the embedded sample, a document from many rows, so that the people in it grow with the words. Submissions are
the labels with noise.

    python benchmarks/linear.py
    python benchmarks/linear.py --works words systems --doublings 4 --plot linear.svg
"""

import argparse
import os
import tempfile
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import cache, partial
from itertools import count, cycle, islice
from pathlib import Path

import numpy as np

import gapstack
from gapstack.audits.plots import regression_svg
from gapstack.audits.suite import Scatter
from gapstack.data import Corpus, gap_data
from gapstack.files import CACHE
from gapstack.runs.text_resolvers import text_resolver

NAMES = (
    "Anna",
    "Berta",
    "Clara",
    "Dora",
    "Emma",
    "Frieda",
    "Greta",
    "Hanna",
    "Ida",
    "Johanna",
    "Karla",
    "Lina",
)
SURNAMES = ("Adler", "Brandt", "Cordes", "Decker", "Ebert", "Falk")

numbers = count()
resolver = cache(text_resolver)
predictor = cache(partial(gapstack.load, "default"))


def predict(size: int) -> None:
    """Predict rows with the default model; each text is new, so that nothing is in memory."""
    rows = islice(zip(numbers, cycle(sample()), strict=False), size)
    new = [replace(row, id=str(number), text=f"{row.text} In {number}.") for number, row in rows]
    predictor().predict_proba(Corpus(new))


def annotate(size: int) -> None:
    """Resolve a document of ``size`` words."""
    words: list[str] = []
    for row in sample():
        words += [*row.text.split(), "\n\n"]
    document = " ".join((words * (size // len(words) + 1))[:size])
    resolver().ask(document)


def ask(size: int) -> None:
    """Resolve a pronoun whose candidates are ``size`` women, two per sentence."""
    people = [f"{first} {last}" for last in SURNAMES for first in NAMES][:size]
    pairs = zip(people[::2], people[1::2], strict=True)
    resolver().ask(" ".join(f"{one} met {other}." for one, other in pairs) + " She smiled.", pronoun="She")


def compare(size: int) -> None:
    """Compare ``size`` submissions."""
    rng, truth = np.random.default_rng(0), np.eye(3)[sample().labels]
    systems = {f"system {number}": rng.dirichlet(np.ones(3), len(truth)) + truth for number in range(size)}
    systems = {name: answers / answers.sum(axis=1, keepdims=True) for name, answers in systems.items()}
    gapstack.compare(systems, sample(), replicates=1000)


WORKS: Mapping[str, tuple[Callable[[int], None], int, str]] = {
    "rows": (predict, 250, "gap predict default"),
    "words": (annotate, 1500, "gap annotate"),
    "candidates": (ask, 8, "gap ask"),
    "systems": (compare, 25, "gap compare"),
}
"""Functions that do a work of a size, the smallest size, and the command that does this work."""


@cache
def sample() -> Corpus:
    """Training rows of the embedded sample."""
    return gap_data.sample()["train"]


def seconds_of(work: Callable[[int], None], sizes: Sequence[int], repeats: int) -> list[float]:
    """Least CPU time of each size, with that of child processes, and an empty cache each time."""
    times = []
    for size in sizes:
        each = []
        for _ in range(repeats):
            with tempfile.TemporaryDirectory() as folder:
                os.environ[CACHE] = folder
                started = sum(os.times()[:4])
                work(size)
                each.append(sum(os.times()[:4]) - started)
        times.append(min(each))
    return times


def ratios(sizes: Sequence[int], times: Sequence[float]) -> list[float]:
    """Time per unit of each size but the first, divided by that of the size before."""
    per_unit = np.array(times) / np.array(sizes)
    ratio: list[float] = (per_unit[1:] / per_unit[:-1]).tolist()
    return ratio


def plot(measured: Mapping[str, tuple[Sequence[int], Sequence[float]]]) -> str:
    """SVG of time against size, both as percentages of the largest."""
    series = {
        f"{sizes[-1]:,} {name}: {times[-1]:.1f} s": 100
        * np.column_stack([np.array(sizes) / sizes[-1], np.array(times) / max(times)])
        for name, (sizes, times) in measured.items()
    }
    points = tuple(f"1/{2**power}" for power in range(max(len(s) for s, _ in measured.values()) - 1, -1, -1))
    return regression_svg(
        Scatter("linear", "CPU time against size", "size, % of the largest", "time, %", points, series, True)
    )


def main(arguments: Sequence[str] | None = None) -> None:
    """Print seconds and ratios."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--works", nargs="+", choices=list(WORKS), default=list(WORKS))
    parser.add_argument("--doublings", type=int, default=3)
    parser.add_argument("--scale", type=float, default=1.0, help="factor of the smallest sizes")
    parser.add_argument("--repeats", type=int, default=2)
    parser.add_argument("--plot", type=Path, help="SVG file to write")
    options = parser.parse_args(arguments)
    measured = {}
    for name in options.works:
        work, least, command = WORKS[name]
        sizes = [max(2, round(least * options.scale)) * 2**power for power in range(options.doublings + 1)]
        work(sizes[0])  # loads the models
        times = seconds_of(work, sizes, options.repeats)
        measured[name] = sizes, times
        for size, seconds, ratio in zip(sizes, times, [None, *ratios(sizes, times)], strict=True):
            last = "" if ratio is None else f"  ratio {ratio:.2f}"
            print(f"{command:20s} {size:7,} {name:10s} {seconds:8.2f} s{last}", flush=True)
    if options.plot:
        options.plot.write_text(plot(measured), encoding="utf-8")


if __name__ == "__main__":
    main()
