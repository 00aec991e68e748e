"""How seconds and memory grow with the rows: run, predict, compare and audit, on rows made out of GAP development's.

    python scripts/cost.py docs/cost.json --rows 1000 10000 100000      # each point once; a second call goes on
    python scripts/cost.py docs/cost.json --plot docs/cost.svg          # draw the points, measure nothing

Rows are GAP development's again and again, each with a number behind its text, so that every text is parsed anew. Each
point is a process of its own with an empty cache, measured from its start to its end:

- run: the quickstart's parallelism, trees and stack (five folds) learn the rows, and hold out a hundred;
- predict: the model that ships answers them, as ``gap predict`` does;
- compare: two files of probabilities for them, all label sets, slices and 1,000 resamples;
- audit: a file of probabilities for as many sentences of SoWinoBias, of which there are 16,384.

The slopes printed are of logarithms, from point to point: 1 where cost is linear, less where starting costs count.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
from dataclasses import asdict, dataclass, replace
from functools import partial
from itertools import pairwise
from pathlib import Path

import numpy as np

from gapstack.corpus import Corpus, Example
from gapstack.corpus.sources import gap_split
from gapstack.corpus.writers import write_gap, write_submission
from gapstack.files import write_json

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))  # the script is run by path, its parts are imported by name

from scripts.campaign.children import Child, cold, start  # noqa: E402
from scripts.campaign.workplace import succeeded  # noqa: E402
from scripts.plots import svg  # noqa: E402

STEPS = ("compare", "audit", "predict", "run")
HELD_OUT, MOST_SENTENCES = 100, 16_384


@dataclass(frozen=True)
class Point:
    """Wall and CPU seconds, and the highest memory in MB, of ``step`` with ``rows`` rows."""

    step: str
    rows: int
    seconds: float
    cpu: float
    megabytes: float


def made(count: int, start: int = 0) -> Corpus:
    """Rows with texts of their own: GAP development's, with a number behind."""
    gold = gap_split("development")

    def row(number: int) -> Example:
        example = gold[number % len(gold)]
        return replace(
            example,
            id=f"made-{number}",
            text=f"{example.text} ({number})",
            url=f"http://en.wikipedia.org/wiki/Page_{number % 5000}",
        )

    return Corpus([row(number) for number in range(start, start + count)])


def guesses(count: int, seed: int) -> np.ndarray:
    """Random probabilities (count, 3)."""
    return np.random.default_rng(seed).dirichlet([2, 2, 1], count)


def begin(step: str, rows: int, folder: Path) -> Child:
    """Write what the step reads, and begin it in an empty home with an empty cache."""
    streams, table = folder / "streams" / step, folder / "rows.tsv"
    environment = {"GAPSTACK_HOME": str(folder), "GAPSTACK_CACHE": str(folder / "cache")}
    if step == "audit":
        return start(partial(audit, rows, folder), streams, environment)
    corpus = made(rows)
    write_gap(table, corpus)
    if step == "run":
        write_gap(folder / "held.tsv", made(HELD_OUT, rows))
        arguments = (
            "quickstart",
            "--members",
            "parallelism,surface_cues",
            "--train",
            table,
            "--test",
            folder / "held.tsv",
        )
    elif step == "predict":
        arguments = (ROOT / "models" / "gapstack-small", "--input", table, "--output", folder / "out.csv")
    else:
        files = [folder / "one.csv", folder / "other.csv"]
        for seed, file in enumerate(files):
            write_submission(file, list(corpus.ids), guesses(rows, seed))
        arguments = (*files, "--gold", table, "--replicates", 1000)
    return cold((step, *arguments), streams, environment)


def audit(rows: int, folder: Path) -> None:
    """Audit random probabilities for so many sentences of SoWinoBias."""
    from gapstack.audit.run import audit as audit_of
    from gapstack.audit.sowinobias import SoWinoBias

    SoWinoBias.cap = rows
    ids = SoWinoBias().load(cap=rows).corpus.ids
    write_submission(folder / "sowinobias.csv", list(ids), guesses(len(ids), 0))
    audit_of(folder, suites=["sowinobias"])


def measured(step: str, rows: int) -> Point:
    """Take the step in a process of its own."""
    with tempfile.TemporaryDirectory() as name:
        ended = begin(step, rows, Path(name)).wait(timeout=float("inf"))
    succeeded(ended, f"{step} of {rows:,} rows")
    return Point(
        step, rows, round(ended.seconds, 1), round(ended.cpu_seconds, 1), round(ended.peak_bytes / 2**20)
    )


def plot(points: list[Point], place: Path) -> None:
    """Draw seconds and memory against rows."""
    with svg(place) as pyplot:
        _, panels = pyplot.subplots(1, 2, figsize=(8, 3.4))
        shown = ((panels[0], "cpu", "CPU seconds"), (panels[1], "megabytes", "highest memory, MB"))
        for panel, field, title in shown:
            for step in STEPS:
                own = of_step(points, step)
                values = [getattr(point, field) for point in own]
                panel.plot([point.rows for point in own], values, marker="o", markersize=3, label=step)
            panel.set(xscale="log", yscale="log", xlabel="rows", title=title)
            panel.grid(alpha=0.3)
        panels[0].legend(fontsize=8, frameon=False)


def of_step(points: list[Point], step: str) -> list[Point]:
    """Points of one step, by their rows."""
    return sorted((point for point in points if point.step == step), key=lambda point: point.rows)


def main() -> None:
    """Measure what is missing in the file, or draw it."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("points", type=Path, help="JSON file of the points, which is added to")
    parser.add_argument("--rows", type=int, nargs="+", default=[1000, 10_000, 100_000])
    parser.add_argument("--steps", nargs="+", choices=STEPS, default=STEPS)
    parser.add_argument("--plot", type=Path, help="draw the points of the file as SVG, and measure nothing")
    arguments = parser.parse_args()
    place = arguments.points
    points = [Point(**values) for values in json.loads(place.read_text())] if place.exists() else []
    if arguments.plot:
        plot(points, arguments.plot)
        return
    known = {(point.step, point.rows) for point in points}
    for rows in sorted(arguments.rows):
        for step in arguments.steps:
            count = min(rows, MOST_SENTENCES) if step == "audit" else rows
            if (step, count) not in known:
                points.append(measured(step, count))
                write_json(place, [asdict(point) for point in points])
                print(points[-1], flush=True)
    for step in STEPS:
        for one, other in pairwise(of_step(points, step)):
            slope = np.log(other.cpu / one.cpu) / np.log(other.rows / one.rows)
            print(f"{step}: from {one.rows:,} to {other.rows:,} rows, slope {slope:.2f}")


if __name__ == "__main__":
    main()
