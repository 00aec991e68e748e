"""Speed on the user's machine."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import typer
from typer import Argument

from gapstack.cli import common
from gapstack.errors import DataNotFoundError
from gapstack.registry import Registry

app = typer.Typer()

FOLDER = Path(__file__).resolve().parents[3] / "benchmarks"
"""In a checkout; a wheel has no benchmarks."""
_SCRIPTS = {
    "parses": "cues.py",
    "frozen": "frozen_features.py",
    "fine-tuning": "fine_tuning.py",
    "gpu": "gpu.py",
}
BENCHMARKS: Registry[Path] = Registry("benchmark", {name: FOLDER / file for name, file in _SCRIPTS.items()})
"""Scripts in ``benchmarks/``, by what they measure."""


@app.command("bench")
def bench_command(
    names: list[str] | None = Argument(
        None, help=f"Any of {', '.join(_SCRIPTS)}; without names all but gpu.", show_default=False
    ),
) -> None:
    """Measure this machine against plain baselines in the same run, and print the ratios.

    Exit status 1 if a benchmark misses its target. Needs a checkout of the repository.
    """
    scripts = [BENCHMARKS[name] for name in names or [name for name in BENCHMARKS if name != "gpu"]]
    if not FOLDER.is_dir():
        raise DataNotFoundError(
            "the installed package has no benchmarks; clone the repository and run ./run.sh gap bench"
        )
    missed = []
    for script in scripts:
        common.log_note(f"{script.name}:")
        # a separate process, so that memory and threads are its own
        if subprocess.run([sys.executable, str(script)], check=False).returncode:
            missed.append(script.name)
    if missed:
        common.log_note(f"targets missed, or not measured: {', '.join(missed)}")
        raise typer.Exit(1)
