"""Speed on the user's machine."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Annotated

import typer

from gapstack.cli.common import say
from gapstack.errors import DataNotFoundError
from gapstack.registry import Entry, Registry

app = typer.Typer()

FOLDER = Path(__file__).resolve().parents[3] / "benchmarks"
"""Of a checkout; a wheel has none."""
BENCHMARKS: Registry[Path] = Registry(
    "benchmark",
    {
        "parses": Entry(FOLDER / "cues.py", "parses and cues, against parsing text by text"),
        "frozen": Entry(FOLDER / "frozen_features.py", "frozen vectors and attention, against a plain loop"),
        "fine-tuning": Entry(
            FOLDER / "fine_tuning.py", "training the embedded MiniLM, against a plain Trainer"
        ),
        "gpu": Entry(FOLDER / "gpu.py", "training BERT-large on a GPU, against a plain Trainer"),
    },
)
"""Scripts in ``benchmarks/`` whose ratios tell how fast a machine does the work, by what they measure."""


@app.command("bench")
def bench_command(
    names: Annotated[
        list[str] | None,
        typer.Argument(
            help=f"Any of {', '.join(BENCHMARKS)}; without names all but gpu.", show_default=False
        ),
    ] = None,
) -> None:
    """Measure this machine against plain baselines, in the same minutes, and print the ratios.

    Exit status 1 where a bar that a benchmark sets itself is missed. Needs a checkout of the repository.
    """
    wanted = [BENCHMARKS[name] for name in names or [name for name in BENCHMARKS if name != "gpu"]]
    if not FOLDER.is_dir():
        raise DataNotFoundError(
            "the benchmarks are no part of the installed package: clone the repository, and call ./run.sh gap bench"
        )
    missed = []
    for script in wanted:
        say(f"{script.name}:")
        # a process of its own, whose memory and threads no other benchmark has touched
        if subprocess.run([sys.executable, str(script)], check=False).returncode:
            missed.append(script.name)
    if missed:
        say(f"bars missed, or not measured: {', '.join(missed)}")
        raise typer.Exit(1)
