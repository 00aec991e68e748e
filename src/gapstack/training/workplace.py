"""Where a fine-tuning run leaves what it needs to go on after a kill, and what it tells of itself.

Members know no files, so whoever runs one says where, around the fit:

    with workplace(folder):
        member.fit(corpus)
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, replace
from pathlib import Path


@dataclass(frozen=True)
class Workplace:
    """A folder for checkpoints and logs.

    Parameters
    ----------
    folder : Path
        Each training gets a folder of its own in it, named by all that decides its result, so that what goes on
        is the very run that was killed, and a finished one is not done again. Whoever gave the folder removes it.
    checkpoint_seconds : float
        Least time between two checkpoints; 0 for one after each update.
    tensorboard : bool
        Write TensorBoard's event files too, beside the log.
    """

    folder: Path
    checkpoint_seconds: float = 120.0
    tensorboard: bool = False

    def of(self, identity: str) -> Workplace:
        """Give the place of one training in this one."""
        return replace(self, folder=self.folder / identity)


_current: ContextVar[Workplace | None] = ContextVar("workplace", default=None)


@contextmanager
def workplace(
    folder: Path, *, checkpoint_seconds: float = 120.0, tensorboard: bool = False
) -> Iterator[None]:
    """Let every training within the block use ``folder`` (see :class:`Workplace`)."""
    token = _current.set(Workplace(Path(folder), checkpoint_seconds, tensorboard))
    try:
        yield
    finally:
        _current.reset(token)


def current() -> Workplace | None:
    """The workplace of the block that this code runs in, if any."""
    return _current.get()
