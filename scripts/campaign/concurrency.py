"""Concurrency: several commands at once on one cache or one run folder, workers that are killed or orphaned.

Bytes are those of a run that is alone; what may not work at once is refused at once; nobody survives its parent.
"""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Callable, Iterator
from importlib.util import find_spec
from pathlib import Path
from random import Random

from scripts.campaign.tries import Outcome, Part
from scripts.campaign.workplace import (
    RUN,
    Workplace,
    another,
    differing,
    reference,
    rows,
    succeeded,
)

_MARK = "GAPSTACK_CAMPAIGN"
_AT_ONCE = 8.0
_GRACE = 10.0


class Concurrency(Part):
    """The scenarios of :meth:`attempt`, in turn."""

    name, short, usual, full = "concurrency", 0, 14, 70

    def prepare(self) -> None:
        """Two runs that were alone."""
        self.reference = reference(self.place)
        self.other = another(self.place)
        self.rows = rows(self.place / "rows.tsv")
        output = self.place / "predicted.csv"
        succeeded(self.reference.gap("predict", RUN, "--input", self.rows, "--output", output), "predict")
        self.predicted = output.read_bytes()
        self.expected, self.expected_other = self.reference.answers(), self.other.answers()
        self.ray = find_spec("ray") is not None
        if not self.ray:
            self.notes.append("Ray: it is not installed")

    def attempt(self, number: int, rng: Random) -> Iterator[Outcome]:
        """One scenario."""
        scenarios: list[Callable[[Path, Random], Iterator[Outcome]]] = [
            *(self._predicts, self._shared_cache, self._two_recipes, self._one_folder),
            *(self._orphans, self._lost_worker),
        ]
        if self.ray:
            scenarios.append(self._on_ray)
        return scenarios[number % len(scenarios)](self.folder(number), rng)

    def _shared_cache(self, folder: Path, rng: Random) -> Iterator[Outcome]:
        """The same run three times at once, one cache."""
        yield from self._together(folder, rng, "one recipe, one cache", [self.reference] * 3)

    def _two_recipes(self, folder: Path, rng: Random) -> Iterator[Outcome]:
        yield from self._together(folder, rng, "two recipes, one cache", [self.reference, self.other])

    def _together(self, folder: Path, rng: Random, what: str, runs: list[Workplace]) -> Iterator[Outcome]:
        cache: dict[str, str | None] = {"GAPSTACK_CACHE": str(folder / "cache")}
        places = [Workplace(folder / f"{at}", run.recipe) for at, run in enumerate(runs)]
        started = []
        for place in places:
            place.root.mkdir()
            started.append(place.start(*place.arguments, environment=cache))
            time.sleep(rng.choice([0, 0, 0.05, 0.3]))
        for place, run, child in zip(places, runs, started, strict=True):
            ended = child.wait()
            expected = self.expected if run is self.reference else self.expected_other
            problem = ended.problem or (ended.status and f"refused: {ended.err[-200:]}")
            other = differing(place.answers(), expected)
            yield Outcome(what, problem or (other and f"other bytes than alone: {other}"))

    def _one_folder(self, folder: Path, rng: Random) -> Iterator[Outcome]:
        """Two at once on one run folder: one of them is refused while the other works."""
        place = Workplace(folder / "here", self.reference.recipe)
        place.root.mkdir()
        children = [place.start(*place.arguments)]
        while not (place.run / ".lock").exists() and children[0].alive():
            time.sleep(0.002)
        time.sleep(rng.uniform(0, 0.3))
        children.append(place.start(*place.arguments))
        second = children[1].wait()
        first_was_alive = children[0].alive()
        first = children[0].wait()
        problem = ""
        if first.status:
            problem = f"the first did not finish: {first.err.strip()[-200:]}"
        elif not first_was_alive:
            return  # it was done before the second began: nothing was tried
        elif second.status == 0 or second.refusal_problem:
            problem = f"the second was not refused: {second.refusal_problem or 'it ended well'}"
        elif second.seconds > _AT_ONCE:
            problem = f"the second was refused after {second.seconds:.1f} s"
        other = differing(place.answers(), self.expected)
        yield Outcome("two on one run folder", problem or (other and f"other bytes than alone: {other}"))

    def _predicts(self, folder: Path, rng: Random) -> Iterator[Outcome]:
        """Predict thrice at once with one empty cache."""
        place = self.reference.copy(folder / "here")
        cache: dict[str, str | None] = {"GAPSTACK_CACHE": str(folder / "cache")}
        outputs = [folder / f"predicted-{at}.csv" for at in range(3)]
        children = [
            place.start("predict", RUN, "--input", self.rows, "--output", output, environment=cache)
            for output in outputs
        ]
        for output, child in zip(outputs, children, strict=True):
            ended = child.wait()
            problem = ended.problem or (ended.status and f"refused: {ended.err[-200:]}")
            if not problem and output.read_bytes() != self.predicted:
                problem = "other bytes than alone"
            yield Outcome("predict, one cache", problem or "")

    def _orphans(self, folder: Path, rng: Random) -> Iterator[Outcome]:
        """SIGKILL of a run with two workers; then the run goes on."""
        place = Workplace(folder / "here", self.reference.recipe)
        place.root.mkdir()
        mark = f"{folder}"
        child = place.start(*place.arguments, "--workers", 2, environment={_MARK: mark}, cold=True)
        workers = _wait_for_workers(child.pid, mark)
        time.sleep(rng.uniform(0, 2))
        if not child.alive():
            child.wait()
            return
        child.kill()
        child.wait()
        end = time.monotonic() + _GRACE
        while (left := _marked(mark)) and time.monotonic() < end:
            time.sleep(0.1)
        for pid in left:
            os.kill(pid, signal.SIGKILL)
        problem = "" if workers else "no workers were seen, so that nothing was tried"
        if left:
            problem = f"{len(left)} processes went on {_GRACE:.0f} s after their parent's SIGKILL"
        yield Outcome("workers of a killed run", problem)
        ended = place.carry_out("--workers", 1)
        other = differing(place.answers(), self.expected)
        yield Outcome(
            "a killed run with workers, again",
            ended.problem or (ended.status and ended.err[-200:]) or (other and f"other bytes: {other}") or "",
        )

    def _lost_worker(self, folder: Path, rng: Random) -> Iterator[Outcome]:
        """SIGKILL of one worker: its work is done by others."""
        place = Workplace(folder / "here", self.reference.recipe)
        place.root.mkdir()
        mark = f"{folder}"
        child = place.start(*place.arguments, "--workers", 2, environment={_MARK: mark}, cold=True)
        workers = _wait_for_workers(child.pid, mark)
        time.sleep(rng.uniform(0, 2))
        victims = [pid for pid in _marked(mark) if pid in workers]
        if victims:
            os.kill(rng.choice(victims), signal.SIGKILL)
        ended = child.wait(300)
        other = differing(place.answers(), self.expected)
        yield Outcome(
            "one worker killed",
            ended.problem or (ended.status and ended.err[-200:]) or (other and f"other bytes: {other}") or "",
        )

    def _on_ray(self, folder: Path, rng: Random) -> Iterator[Outcome]:
        place = Workplace(folder / "here", self.reference.recipe)
        place.root.mkdir()
        options = ("--executor", "ray", "--workers", 2)
        ended = place.gap(*place.arguments, *options, cold=True, timeout=300)
        other = differing(place.answers(), self.expected)
        yield Outcome(
            "Ray",
            ended.problem or (ended.status and ended.err[-200:]) or (other and f"other bytes: {other}") or "",
        )


def _marked(mark: str) -> list[int]:
    """Living processes that carry a mark in their environment."""
    found = []
    for folder in Path("/proc").iterdir():
        if folder.name.isdigit():
            try:
                environment = (folder / "environ").read_bytes()
                dead = (folder / "stat").read_text().rpartition(")")[2].split()[0] in "ZX"
            except OSError:
                continue
            if not dead and f"{_MARK}={mark}\0".encode() in environment + b"\0":
                found.append(int(folder.name))
    return found


def _wait_for_workers(parent: int, mark: str) -> set[int]:
    """Wait until a run has two workers, or for half a minute."""
    end = time.monotonic() + 30
    workers: set[int] = set()
    while len(workers) < 2 and time.monotonic() < end:
        workers = {pid for pid in _marked(mark) if pid != parent and _spawned(pid)}
        time.sleep(0.05)
    return workers


def _spawned(pid: int) -> bool:
    try:
        return b"spawn_main" in Path(f"/proc/{pid}/cmdline").read_bytes()
    except OSError:
        return False
