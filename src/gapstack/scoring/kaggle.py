"""Submission to Kaggle through its own command line, which knows the user's token."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

from gapstack.errors import ExtraError, RemoteError


def submit(competition: str, submission: Path, message: str) -> str:
    """Hand a file to ``kaggle competitions submit`` and give what it printed.

    Nothing of the file is checked here; see :func:`~gapstack.scoring.submission.submit_check`.

    Raises
    ------
    ExtraError
        If the command is not installed.
    RemoteError
        If it fails: no token, no such competition, no network.
    """
    # beside this Python too, since an environment need not be activated
    places = os.pathsep.join([os.environ.get("PATH", os.defpath), str(Path(sys.executable).parent)])
    command = shutil.which("kaggle", path=places)
    if command is None:
        raise ExtraError("Kaggle's command line", "kaggle")
    arguments = ["competitions", "submit", "-c", competition, "-f", str(submission), "-m", message]
    done = subprocess.run([command, *arguments], capture_output=True, text=True, check=False)
    if done.returncode:
        lines = (done.stderr.strip() or done.stdout.strip() or f"exit status {done.returncode}").splitlines()
        raise RemoteError(f"kaggle did not take {submission} for {competition}: {lines[-1]}")
    return done.stdout.strip()
