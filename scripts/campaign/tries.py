"""What all parts of the campaign share: a try, its outcome, who runs the tries, and the table of what failed."""

from __future__ import annotations

import json
import os
import shutil
import sys
import time
import traceback
from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from random import Random
from typing import ClassVar

COMMAND = "python scripts/campaign"
_TICK = 0.1
_MINUTE = 60.0
_MOST_SHOWN = 20
"""Failures of one kind that the table lists."""


class Skip(Exception):  # noqa: N818 (nothing went wrong)
    """A part cannot be tried on this machine; the message says why."""


@dataclass(frozen=True)
class Outcome:
    """One try: ``what`` was tried (a row of the table), and the ``problem`` if it failed.

    ``number`` names the attempt that it was part of: the part, the seed and the number repeat it.
    """

    what: str
    problem: str = ""
    number: int = 0


class Part(ABC):
    """One part of the campaign. An attempt is a function of the part, the seed and its number, and of nothing else.

    Parameters
    ----------
    place : Path
        An empty folder of its own.
    seed : int
    large : bool
        Whether parts that have sizes take their full ones.
    """

    name: ClassVar[str]
    short: ClassVar[int]
    """Tries in the tests; 0 leaves the part out."""
    usual: ClassVar[int]
    """Tries unless a number is given."""
    full: ClassVar[int]
    """Tries of the full campaign."""

    def __init__(self, place: Path, seed: int, *, large: bool = False):
        self.place, self.seed, self.large = place, seed, large
        self.notes: list[str] = []
        """What of the part is not tried on this machine, and why."""

    def prepare(self) -> None:  # noqa: B027 (there may be nothing to prepare)
        """Make what the attempts compare with, once.

        Raises
        ------
        Skip
            If this machine does not allow the part.
        """

    @abstractmethod
    def attempt(self, number: int, rng: Random) -> Iterator[Outcome]:
        """Try once or several times, and yield the outcome of each try.

        Whatever an attempt writes goes below :meth:`folder`. An exception counts as a failed try.
        """

    def say(self, figure: str) -> None:
        """Keep a figure for the table; attempts are made in other processes, so it goes through a file."""
        with (self.place / "figures.txt").open("a", encoding="utf-8") as stream:
            print(figure, file=stream)

    def folder(self, number: int) -> Path:
        """Empty folder of an attempt; it is deleted when the attempt is over, unless that failed."""
        folder = self.place / f"{number:06d}"
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir(parents=True)
        return folder


@dataclass
class Report:
    """What came of one part."""

    part: str
    seed: int
    seconds: float = 0.0
    skipped: str = ""
    notes: list[str] = field(default_factory=list)
    figures: list[str] = field(default_factory=list)
    outcomes: list[Outcome] = field(default_factory=list)

    @property
    def failures(self) -> list[Outcome]:
        """Tries that failed."""
        return [outcome for outcome in self.outcomes if outcome.problem]

    def rows(self) -> list[tuple[str, int, int]]:
        """What, tried, failed."""
        tried = Counter(outcome.what for outcome in self.outcomes)
        failed = Counter(outcome.what for outcome in self.failures)
        return [(what, count, failed[what]) for what, count in sorted(tried.items())]

    def repeat(self, number: int) -> str:
        """The command that repeats an attempt."""
        return f"{COMMAND} {self.part} --seed {self.seed} --only {number}"

    def json(self) -> dict[str, object]:
        """All of it, the sound tries as counts."""
        return {
            **{"part": self.part, "seed": self.seed, "seconds": self.seconds, "skipped": self.skipped},
            **{"tried": len(self.outcomes), "failed": len(self.failures)},
            **{"not tried": self.notes, "figures": self.figures},
            "rows": [dict(zip(("what", "tried", "failed"), row, strict=True)) for row in self.rows()],
            "failures": [asdict(one) | {"repeat": self.repeat(one.number)} for one in self.failures],
        }


def generator(part: str, seed: int, number: int) -> Random:
    """Random numbers of one attempt."""
    return Random(f"{part} {seed} {number}")


def attempts(part: Part, numbers: Iterator[int], least: int) -> Iterator[Outcome]:
    """Make attempts until ``least`` tries are made; what breaks in one is its failure and stops no other."""
    tried = 0
    while tried < least and (number := next(numbers, None)) is not None:
        sound = True
        try:
            for outcome in part.attempt(number, generator(part.name, part.seed, number)):
                tried += 1
                sound &= not outcome.problem
                yield Outcome(outcome.what, outcome.problem, number)
        except Exception as error:
            tried, sound = tried + 1, False
            at = traceback.extract_tb(error.__traceback__)[-1]
            yield Outcome(
                "an attempt",
                f"broke off: {type(error).__name__}: {error} ({at.filename}:{at.lineno})",
                number,
            )
        if sound:
            shutil.rmtree(part.place / f"{number:06d}", ignore_errors=True)


def carry_out(part: Part, *, tries: int, first: int = 0, only: int | None = None, jobs: int = 1) -> Report:
    """Carry a part out from attempt ``first`` on in ``jobs`` forked workers, whose loss is a failure like any other."""
    report, started = Report(part.name, part.seed), time.perf_counter()
    try:
        part.prepare()
    except Skip as reason:
        report.skipped = str(reason)
        return report
    except Exception as error:
        traceback.print_exc()
        report.outcomes.append(Outcome("preparation", f"{type(error).__name__}: {error}"))
        return report
    report.notes = part.notes
    jobs = 1 if only is not None else jobs
    workers: dict[int, Path] = {}
    for job in range(jobs):
        numbers = iter(range(first + job, sys.maxsize, jobs)) if only is None else iter([only])
        share = len(range(job, tries, jobs))
        ledger = part.place / f"outcomes-{job}.jsonl"
        workers[_work(part, numbers, share, ledger)] = ledger
    said = 0.0
    open_workers = set(workers)
    while open_workers:
        for pid in list(open_workers):
            ended, status = os.waitpid(pid, os.WNOHANG)
            if ended:
                open_workers.remove(pid)
                if status:
                    report.outcomes.append(Outcome("a worker of the campaign", f"ended with status {status}"))
        if time.perf_counter() - started - said > _MINUTE:
            said = time.perf_counter() - started
            lines = sum(len(_lines(ledger)) for ledger in workers.values())
            print(f"{part.name}: {lines:,} tries after {said:.0f} s", file=sys.stderr)
        time.sleep(_TICK)
    for ledger in workers.values():
        report.outcomes += [Outcome(**json.loads(line)) for line in _lines(ledger)]
    report.figures = _lines(part.place / "figures.txt")
    report.seconds = time.perf_counter() - started
    return report


def _lines(ledger: Path) -> list[str]:
    return ledger.read_text(encoding="utf-8").splitlines() if ledger.exists() else []


def _work(part: Part, numbers: Iterator[int], share: int, ledger: Path) -> int:
    """Fork a worker that writes its outcomes as lines; give its process id."""
    sys.stdout.flush()
    sys.stderr.flush()
    pid = os.fork()
    if pid:
        return pid
    status = 1
    try:
        with ledger.open("w", encoding="utf-8") as stream:
            for outcome in attempts(part, numbers, share):
                print(json.dumps(asdict(outcome)), file=stream, flush=True)
        status = 0
    except BaseException:
        traceback.print_exc()
    finally:
        sys.stderr.flush()
        os._exit(status)


def table(reports: Sequence[Report]) -> str:
    """Tried and failed by part, then a line for each failure with the command that repeats it."""
    lines = [f"{'part':12} {'what':44} {'tried':>8} {'failed':>7}"]
    for report in reports:
        if report.skipped:
            lines.append(f"{report.part:12} skipped: {report.skipped}")
        lines += [f"{report.part:12} not tried: {note}" for note in report.notes]
        lines += [f"{report.part:12} {figure}" for figure in report.figures]
        lines += [
            f"{report.part:12} {what:44} {tried:8,} {failed:7,}" for what, tried, failed in report.rows()
        ]
        lines.append(
            f"{report.part:12} {'together':44} {len(report.outcomes):8,} {len(report.failures):7,}"
            f"  {report.seconds:.0f} s"
        )
    for report in reports:
        shown: Counter[str] = Counter()
        for one in report.failures:
            shown[one.what] += 1
            if shown[one.what] <= _MOST_SHOWN:
                lines.append(f"FAILED {report.part}, {one.what}: {_shown(one.problem)}")
                lines.append(f"       {report.repeat(one.number)}")
        lines += [
            f"FAILED {report.part}, {what}: {count - _MOST_SHOWN:,} more (--json lists all)"
            for what, count in shown.items()
            if count > _MOST_SHOWN
        ]
    return "\n".join(lines)


def _shown(text: str) -> str:
    """Text of a failure as one line that cannot move a cursor."""
    return text.encode("unicode_escape").decode("ascii")[:600]
