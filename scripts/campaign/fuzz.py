"""Fuzz: mutated files for every reader. A result or a refusal of one printable line; nothing else, and in time.

An attempt is a batch of mutations of one reader's valid file, read in a child with little memory. What kills the child
counts against the mutation that it was reading, and the next child goes on behind that.
"""

from __future__ import annotations

import json
import signal
import traceback
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from random import Random
from typing import Any

from scripts.campaign import children
from scripts.campaign.tries import Outcome, Part, generator

BATCH = 250
SECONDS = 5
"""Of the processor, for one mutation."""
SPARE_BYTES = 2 << 30
_SLOW = -signal.SIGPROF


class Fuzz(Part):
    """Mutations of every reader's file.

    ``readers`` maps a name to something with ``valid`` (bytes), ``suffix`` and ``read`` (of a path); ``mutate`` changes
    bytes by a generator. By default they are the tests' own.
    """

    name, short, usual, full = "fuzz", 500, 20_000, 200_000

    readers: Mapping[str, Any] | None = None
    mutate: Callable[[bytes, Random], bytes]

    def prepare(self) -> None:
        """Take the tests' readers, and see that each reads its valid file."""
        if self.readers is None:
            from tests import fuzz

            self.readers, self.mutate = fuzz.READERS, fuzz.mutate
        for name, reader in self.readers.items():
            path = self.place / f"valid{reader.suffix}"
            path.write_bytes(reader.valid)
            if problem := judge(reader.read, path):
                raise RuntimeError(f"{name} does not read its own valid file: {problem}")

    def attempt(self, number: int, rng: Random) -> Iterator[Outcome]:
        """A batch of mutations of one reader."""
        assert self.readers is not None
        folder = self.folder(number)
        name = list(self.readers)[number % len(self.readers)]
        at = 0
        while at < BATCH:
            child = children.start(lambda at=at: self._read(name, number, at, folder), folder / "said")
            ended = child.wait(timeout=BATCH * SECONDS)
            read = [json.loads(line) for line in ended.out.splitlines()]
            for problem in read[: BATCH - at]:
                yield Outcome(name, problem and f"mutation {at}: {problem}")
                at += 1
            if ended.status != 0 or ended.timed_out:
                why = f"took more than {SECONDS} s" if ended.status == _SLOW else _death(ended)
                yield Outcome(name, f"mutation {at}: {why}")
                at += 1

    def _read(self, name: str, number: int, first: int, folder: Path) -> None:
        """Read the mutations from ``first`` on, and print a line of JSON for each."""
        assert self.readers is not None
        reader = self.readers[name]
        children.limit_memory(SPARE_BYTES)
        signal.signal(signal.SIGPROF, signal.SIG_DFL)
        for at in range(first, BATCH):
            path = folder / f"mutation-{at}{reader.suffix}"
            path.write_bytes(self.mutate(reader.valid, generator(name, self.seed, number * BATCH + at)))
            signal.setitimer(signal.ITIMER_PROF, SECONDS)  # a busy machine is no bug
            problem = judge(reader.read, path)
            signal.setitimer(signal.ITIMER_PROF, 0)
            if not problem:
                path.unlink()
            print(json.dumps(problem), flush=True)


def judge(read: Callable[[Path], object], path: Path) -> str:
    """What is wrong with how a file was read, or ""."""
    from gapstack.errors import GapstackError

    try:
        read(path)
    except GapstackError as error:
        return children.line_problem(str(error))
    except BaseException as error:
        at = traceback.extract_tb(error.__traceback__)[-1]
        return f"{type(error).__name__}: {str(error)[:200]} ({Path(at.filename).name}:{at.lineno})"
    return ""


def _death(ended: children.Ended) -> str:
    return f"the process ended with {ended.status}: {ended.err.strip()[-200:]}"
