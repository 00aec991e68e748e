"""Runs shell commands. ``gap`` and ``python`` fork a server that has imported what takes seconds to import."""

import multiprocessing
import os
import runpy
import shlex
import subprocess
import sys
from pathlib import Path

SERVER = multiprocessing.get_context("forkserver")
SERVER.set_forkserver_preload(
    [
        "tests.docs.shell",
        "gapstack.cli",
        "lightgbm",
        "pandas",
        "sklearn.linear_model",
        "spacy.lang.en",
        "torch",
        "transformers",
    ]
)


def run(script: str, folder: Path, variables: dict[str, str]) -> None:
    """Run the lines of a script in a folder; AssertionError with the output of the first that fails."""
    for line in script.splitlines():
        output = folder.with_suffix(".output")
        if line.startswith(("gap ", "python ")):
            process = SERVER.Process(target=_run_here, args=(line, folder, output, variables))
            process.start()
            process.join()
            status = process.exitcode
        else:
            environment = os.environ | variables
            with output.open("w") as file:
                status = subprocess.call(
                    ["bash", "-c", line], cwd=folder, env=environment, stdout=file, stderr=file
                )
        assert status == 0, f"{line}\n{output.read_text(encoding='utf-8')}"


def _run_here(line: str, folder: Path, output: Path, variables: dict[str, str]) -> None:
    """Run ``gap`` or a Python script in this process."""
    from gapstack.cli import main

    os.chdir(folder)
    os.environ.update(variables)
    with output.open("wb") as file:
        os.dup2(file.fileno(), 1)
        os.dup2(file.fileno(), 2)
    line, _, given = line.partition(" < ")
    if given:
        sys.stdin = Path(given).open(encoding="utf-8")  # noqa: SIM115 (open until the process ends)
    sys.argv = shlex.split(line)
    if sys.argv[0] == "gap":
        main()
    else:
        runpy.run_path(sys.argv[1], run_name="__main__")
