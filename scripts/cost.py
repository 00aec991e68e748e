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
import os
import sys
import tempfile
import time
from dataclasses import asdict, dataclass, replace
from itertools import islice
from pathlib import Path

import numpy as np

from gapstack.corpus import Corpus, Example
from gapstack.corpus.sources import gap_split
from gapstack.corpus.writers import write_gap, write_submission
from gapstack.files import atomic_path, write_json

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


def prepare(step: str, rows: int, folder: Path) -> list[str]:
    """Write what the step reads; give its command."""
    gap = [sys.executable, "-m", "gapstack"]
    if step == "audit":
        return [sys.executable, str(Path(__file__).resolve()), "--audit", str(rows), str(folder)]
    corpus = made(rows)
    write_gap(folder / "rows.tsv", corpus)
    if step == "run":
        write_gap(folder / "held.tsv", made(HELD_OUT, rows))
        members = ["--members", "parallelism,surface_cues"]
        return [
            *gap,
            "run",
            "quickstart",
            *members,
            "--train",
            f"{folder}/rows.tsv",
            "--test",
            f"{folder}/held.tsv",
        ]
    if step == "predict":
        model = Path(__file__).resolve().parents[1] / "models" / "gapstack-small"
        return [*gap, "predict", str(model), "--input", f"{folder}/rows.tsv", "--output", f"{folder}/out.csv"]
    for name in ("one", "other"):
        write_submission(folder / f"{name}.csv", list(corpus.ids), guesses(rows, len(name)))
    files = [f"{folder}/one.csv", f"{folder}/other.csv"]
    return [*gap, "compare", *files, "--gold", f"{folder}/rows.tsv", "--replicates", "1000"]


def audit(rows: int, folder: Path) -> None:
    """Audit random probabilities for so many sentences of SoWinoBias."""
    from gapstack.audit.run import audit as audit_of
    from gapstack.audit.sowinobias import SoWinoBias

    SoWinoBias.cap = rows
    ids = SoWinoBias().load(cap=rows).corpus.ids
    write_submission(folder / "sowinobias.csv", list(ids), guesses(len(ids), 0))
    audit_of(folder, suites=["sowinobias"])


def measured(step: str, rows: int) -> Point:
    """Run the step in a process of its own, in an empty home with an empty cache."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        command = prepare(step, rows, folder)
        log = (folder / "log").open("w")
        environment = {**os.environ, "GAPSTACK_HOME": name, "GAPSTACK_CACHE": f"{name}/cache"}
        began = time.perf_counter()
        files = [(os.POSIX_SPAWN_DUP2, log.fileno(), 1), (os.POSIX_SPAWN_DUP2, log.fileno(), 2)]
        child = os.posix_spawn(command[0], command, environment, file_actions=files)
        _, status, usage = os.wait4(child, 0)
        seconds = time.perf_counter() - began
        if status:
            raise SystemExit((folder / "log").read_text()[-2000:])
        cpu = usage.ru_utime + usage.ru_stime
        return Point(step, rows, round(seconds, 1), round(cpu, 1), round(usage.ru_maxrss / 1024))


def plot(points: list[Point], place: Path) -> None:
    """Draw seconds and memory against rows."""
    import matplotlib

    matplotlib.use("svg")
    from matplotlib import pyplot

    matplotlib.rcParams["svg.hashsalt"] = "gapstack"  # the same file for the same points
    figure, panels = pyplot.subplots(1, 2, figsize=(8, 3.4))
    shown = ((panels[0], "cpu", "CPU seconds"), (panels[1], "megabytes", "highest memory, MB"))
    for panel, field, title in shown:
        for step in STEPS:
            own = sorted((point for point in points if point.step == step), key=lambda point: point.rows)
            values = [getattr(point, field) for point in own]
            panel.plot([point.rows for point in own], values, marker="o", markersize=3, label=step)
        panel.set(xscale="log", yscale="log", xlabel="rows", title=title)
        panel.grid(alpha=0.3)
    panels[0].legend(fontsize=8, frameon=False)
    figure.tight_layout()
    with atomic_path(place) as temporary:
        figure.savefig(temporary, format="svg", metadata={"Date": None})


def main() -> None:
    """Measure what is missing in the file, or draw it."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("points", type=Path, nargs="?", help="JSON file of the points, which is added to")
    parser.add_argument("--rows", type=int, nargs="+", default=[1000, 10_000, 100_000])
    parser.add_argument("--steps", nargs="+", choices=STEPS, default=STEPS)
    parser.add_argument("--plot", type=Path, help="draw the points of the file as SVG, and measure nothing")
    parser.add_argument("--audit", nargs=2, help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.audit:
        audit(int(arguments.audit[0]), Path(arguments.audit[1]))
        return
    place = arguments.points
    points = [Point(**values) for values in json.loads(place.read_text())] if place.exists() else []
    if arguments.plot:
        plot(points, arguments.plot)
        return
    known = {(point.step, point.rows) for point in points}
    for rows in sorted(arguments.rows):
        for step in arguments.steps:
            asked = min(rows, MOST_SENTENCES) if step == "audit" else rows
            if (step, asked) not in known:
                points.append(measured(step, asked))
                write_json(place, [asdict(point) for point in points])
                print(points[-1], flush=True)
    for step in STEPS:
        own = sorted((point for point in points if point.step == step), key=lambda point: point.rows)
        for one, other in zip(own, islice(own, 1, None), strict=False):
            slope = np.log(other.cpu / one.cpu) / np.log(other.rows / one.rows)
            print(f"{step}: from {one.rows:,} to {other.rows:,} rows, slope {slope:.2f}")


if __name__ == "__main__":
    main()
