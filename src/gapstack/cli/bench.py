"""Speed on the user's machine."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Annotated

import typer

from gapstack.cli.common import log_note
from gapstack.errors import DataNotFoundError
from gapstack.registry import Entry, Registry

app = typer.Typer()

FOLDER = Path(__file__).resolve().parents[3] / "benchmarks"
"""In a checkout; a wheel has no benchmarks."""
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
"""Scripts in ``benchmarks/``, by what they measure."""


@app.command("bench")
def bench_command(
    names: Annotated[
        list[str] | None,
        typer.Argument(
            help=f"Any of {', '.join(BENCHMARKS)}; without names all but gpu.", show_default=False
        ),
    ] = None,
) -> None:
    """Measure this machine against plain baselines in the same run, and print the ratios.

    Exit status 1 if a benchmark misses its target. Needs a checkout of the repository.
    """
    wanted = [BENCHMARKS[name] for name in names or [name for name in BENCHMARKS if name != "gpu"]]
    if not FOLDER.is_dir():
        raise DataNotFoundError(
            "the installed package has no benchmarks; clone the repository and run ./run.sh gap bench"
        )
    missed = []
    for script in wanted:
        log_note(f"{script.name}:")
        # a separate process, so that memory and threads are its own
        if subprocess.run([sys.executable, str(script)], check=False).returncode:
            missed.append(script.name)
    if missed:
        log_note(f"targets missed, or not measured: {', '.join(missed)}")
        raise typer.Exit(1)
