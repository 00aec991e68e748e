"""Where fine-tuning writes checkpoints and logs, set around the code that trains.

Members know no files, so the caller of ``fit`` names the folder:

    with checkpoint_context(folder):
        member.fit(corpus)
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, replace
from pathlib import Path


@dataclass(frozen=True)
class CheckpointContext:
    """A folder for checkpoints and logs.

    Parameters
    ----------
    folder : Path
        Each training has a subfolder named by a hash of everything that decides its result: only the same run
        resumes from it, and a finished run is not repeated. The caller removes the folder.
    checkpoint_seconds : float
        Minimum time between two checkpoints; 0 for one after each update.
    tensorboard : bool
        Also write TensorBoard event files.
    """

    folder: Path
    checkpoint_seconds: float = 120.0
    tensorboard: bool = False

    def subfolder(self, identity: str) -> CheckpointContext:
        """Give the same settings for the training named ``identity``, in a folder of its own."""
        return replace(self, folder=self.folder / identity)


_current: ContextVar[CheckpointContext | None] = ContextVar("checkpoint_context", default=None)


@contextmanager
def checkpoint_context(
    folder: Path, *, checkpoint_seconds: float = 120.0, tensorboard: bool = False
) -> Iterator[None]:
    """Let every training within the block use ``folder`` (see :class:`CheckpointContext`)."""
    token = _current.set(CheckpointContext(Path(folder), checkpoint_seconds, tensorboard))
    try:
        yield
    finally:
        _current.reset(token)


def current() -> CheckpointContext | None:
    """Give the context of the enclosing block, if any."""
    return _current.get()
