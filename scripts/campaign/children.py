"""Commands of gapstack in forked children.

A cold process spends seconds on imports. Here the parent imports everything and computes nothing, so that each child
starts in milliseconds and still with empty caches, and does what a user's command would do, from ``main()`` on.
"""

from __future__ import annotations

import importlib
import os
import pkgutil
import resource
import signal
import sys
import time
import traceback
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

TIMEOUT = 900.0
_TICK = 0.005
# what commands import when they begin to work
_LAZY = (
    *(
        "torch",
        "lightgbm",
        "spacy.lang.en",
        "spacy.pipeline",
        "pyarrow.parquet",
        "pyarrow.dataset",
        "safetensors.numpy",
    ),
    *("sklearn.linear_model", "sklearn.isotonic", "scipy.optimize", "scipy.stats", "transformers"),
    *(
        "transformers.models.bert.modeling_bert",
        "transformers.models.auto.modeling_auto",
        "torch.optim.adamw",
    ),
    *(
        "transformers.models.auto.tokenization_auto",
        "transformers.models.bert.tokenization_bert",
        "torch._dynamo",
    ),
)


@dataclass(frozen=True)
class Ended:
    """How a command ended. ``status`` is negative where a signal ended it."""

    status: int
    out: str
    err: str
    seconds: float
    peak_bytes: int
    timed_out: bool = False
    cpu_seconds: float = 0.0

    @property
    def problem(self) -> str:
        """Why this is neither a success nor a proper refusal, or ""."""
        return "" if self.status == 0 and not self.timed_out else self.refusal_problem

    @property
    def refusal_problem(self) -> str:
        """Why this is no proper refusal: exit status 2 and one line "gap: ..." that ends standard error; or ""."""
        if self.timed_out:
            return f"did not end in {self.seconds:.0f} s"
        said = self.err.rstrip("\n").split("\n")
        if self.status < 0:
            return f"died of signal {-self.status}: {said[-1]}"
        if "Traceback (most recent call last)" in self.err:
            return f"traceback: {said[-1]}"
        if self.status != 2:
            return f"exit status {self.status}: {said[-1]}"
        if not said[-1].startswith("gap: ") or sum(line.startswith("gap: ") for line in said) != 1:
            return f"not one line: {self.err[-300:]!r}"
        return line_problem(said[-1])


def line_problem(message: str) -> str:
    """Why a message may not go to a terminal as one line, or ""."""
    strange = sorted({character for character in message if not character.isprintable()})
    return f"control characters {strange} in {message[:300]!r}" if strange else ""


class Child:
    """A process under way, its standard streams in files."""

    def __init__(self, pid: int, streams: Path):
        self.pid, self.streams, self.started = pid, streams, time.perf_counter()

    def kill(self) -> None:
        """SIGKILL it, and nothing else."""
        os.kill(self.pid, signal.SIGKILL)

    def alive(self) -> bool:
        """Whether it has not ended yet."""
        return not os.waitid(os.P_PID, self.pid, os.WEXITED | os.WNOHANG | os.WNOWAIT)

    def wait_or_kill(self, seconds: float, timeout: float = TIMEOUT) -> Ended:
        """SIGKILL it after so many seconds, if it has not ended by then."""
        while time.perf_counter() - self.started < seconds:
            if not self.alive():
                break
            time.sleep(_TICK)
        else:
            self.kill()
        return self.wait(timeout)

    def wait(self, timeout: float = TIMEOUT) -> Ended:
        """Wait for its end; after ``timeout`` seconds it is killed with all that it started."""
        late = False
        while True:
            pid, status, usage = os.wait4(self.pid, os.WNOHANG)
            seconds = time.perf_counter() - self.started
            if pid:
                break
            if seconds > timeout and not late:
                late = True
                os.killpg(self.pid, signal.SIGKILL)
            time.sleep(_TICK)
        out, err = (
            self.streams.with_suffix(suffix).read_text(encoding="utf-8", errors="surrogateescape")
            for suffix in (".out", ".err")
        )
        code = os.waitstatus_to_exitcode(status)
        cpu_seconds = usage.ru_utime + usage.ru_stime
        return Ended(code, out, err, seconds, usage.ru_maxrss * 1024, late, cpu_seconds)


def start(
    work: Callable[[], Any], streams: Path, environment: Mapping[str, str | None] | None = None
) -> Child:
    """Fork a child that does ``work`` in a process group of its own; ``streams`` names its files .out and .err.

    Variables that ``environment`` gives as None are unset.
    """
    streams.parent.mkdir(parents=True, exist_ok=True)
    for suffix in (".out", ".err"):
        streams.with_suffix(suffix).write_bytes(b"")
    sys.stdout.flush()
    sys.stderr.flush()
    pid = os.fork()
    if pid:
        return Child(pid, streams)
    status = 1
    try:
        os.setpgid(0, 0)
        os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
        for number, suffix in ((1, ".out"), (2, ".err")):
            os.dup2(os.open(streams.with_suffix(suffix), os.O_WRONLY | os.O_TRUNC), number)
        # the parent's may be somebody's capture
        sys.stdout = sys.__stdout__ = open(1, "w", encoding="utf-8", closefd=False)  # noqa: SIM115
        sys.stderr = sys.__stderr__ = open(2, "w", encoding="utf-8", closefd=False)  # noqa: SIM115
        for name, value in (environment or {}).items():
            if value is None:
                os.environ.pop(name, None)
            else:
                os.environ[name] = value
        status = _status_of(work)
    except BaseException:
        traceback.print_exc()
    finally:
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(status)


def _status_of(work: Callable[[], Any]) -> int:
    """Exit status as Python would give it."""
    try:
        work()
    except SystemExit as end:
        return end.code if isinstance(end.code, int) else int(end.code is not None)
    except BaseException:
        traceback.print_exc()
        return 1
    return 0


def command(
    arguments: Sequence[object],
    streams: Path,
    environment: Mapping[str, str | None] | None = None,
    *,
    before: Callable[[], None] | None = None,
    folder: Path | None = None,
) -> Child:
    """Start ``gap`` with these arguments; ``before`` is called in the child first."""

    def work() -> None:
        import torch

        from gapstack.cli import main

        if folder:
            os.chdir(folder)
        torch.set_num_threads(1)
        sys.argv = ["gap", *map(str, arguments)]
        if before:
            before()
        main()

    return start(work, streams, environment)


def cold(
    arguments: Sequence[object], streams: Path, environment: Mapping[str, str | None] | None = None
) -> Child:
    """Start ``gap`` as a process of its own, for what forked children cannot show (memory, other source)."""

    def work() -> None:
        os.execv(sys.executable, [sys.executable, "-m", "gapstack.cli", *map(str, arguments)])

    return start(work, streams, environment)


def die_at(event: int, below: Path) -> None:
    """Have this process SIGKILL itself at its n-th creation, renaming or deletion of a file below a folder."""
    left, prefix = [event], str(below)

    def hook(name: str, arguments: tuple[Any, ...]) -> None:
        if name not in _OF_FILES or not str(arguments[0]).startswith(prefix):
            return
        if name == "open" and not int(arguments[2] or 0) & (os.O_WRONLY | os.O_RDWR):
            return
        left[0] -= 1
        if left[0] == 0:
            os.kill(os.getpid(), signal.SIGKILL)

    sys.addaudithook(hook)


_OF_FILES = frozenset({"open", "os.rename", "os.remove", "os.rmdir", "os.mkdir", "os.chmod", "os.truncate"})


def limit_memory(spare: int) -> None:
    """Let this process have so many bytes more than it has now."""
    pages = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[0])
    most = pages * os.sysconf("SC_PAGE_SIZE") + spare
    resource.setrlimit(resource.RLIMIT_AS, (most, most))


def warm() -> None:
    """Import all of gapstack and what it imports when it begins to work, and read its source for identities."""
    import gapstack
    from gapstack.code import code_behind

    modules = [
        module.name
        for module in pkgutil.walk_packages(gapstack.__path__, "gapstack.")
        if not module.name.endswith("__main__") and ".live" not in module.name
    ]
    for name in (*modules, *_LAZY):
        importlib.import_module(name)
    # half of a command's seconds; cold commands of other parts read it each time
    code_behind(*modules)
