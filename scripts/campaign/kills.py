"""Kills: commands that are killed again and again, also while they save, and started again until they end.

One attempt is a chain of kills on one folder. Half of them come at the n-th change of a file that the process makes
by its own hand, the others after some time. In the end nothing may tell that anything happened.
"""

from __future__ import annotations

import functools
from collections.abc import Iterator
from pathlib import Path
from random import Random

from scripts.campaign.children import TIMEOUT, Ended, die_at
from scripts.campaign.tries import Outcome, Part
from scripts.campaign.workplace import RUN, Workplace, differing, reference, rows, seconds, succeeded

_CHAIN = 5
_KILLED = -9


class Kills(Part):
    """``gap run`` and ``gap predict`` with empty caches, killed."""

    name, short, usual, full = "kills", 5, 40, 200

    def prepare(self) -> None:
        """An undisturbed run, how long it took, and what it predicts."""
        self.reference = reference(self.place)
        self.seconds = seconds(self.place)
        self.rows = rows(self.place / "rows.tsv")
        self.predicted = self.reference.root / "predicted.csv"
        succeeded(
            self.reference.gap("predict", RUN, "--input", self.rows, "--output", self.predicted), "predict"
        )

    def attempt(self, number: int, rng: Random) -> Iterator[Outcome]:
        """A chain of kills of one command."""
        place = Workplace(self.folder(number), self.reference.recipe)
        return self._predict(place, rng) if number % 4 == 3 else self._run(place, rng)

    def _run(self, place: Workplace, rng: Random) -> Iterator[Outcome]:
        before: dict[str, tuple[int, int]] = {}
        for _ in range(_CHAIN):
            ended = self._killed(place, place.arguments, rng, most_changes=400)
            now = place.finished()
            lost = differing({path: now.get(path) for path in before}, before)
            before = now
            if problem := _unexpected(ended) or (lost and f"finished folds were lost or done again: {lost}"):
                yield Outcome("run", problem)
                return
            yield Outcome("run")
        yield Outcome("run, finished afterwards", self._finish(place, before))

    def _finish(self, place: Workplace, before: dict[str, tuple[int, int]]) -> str:
        ended = place.carry_out()
        if ended.status != 0:
            return f"the next run did not succeed: {ended.problem}"
        now = place.finished()
        if not now:
            return "no records of finished folds: the campaign does not know this run folder any more"
        if again := differing({path: now.get(path) for path in before}, before):
            return f"finished folds were done again: {again}"
        if other := differing(place.answers(), self.reference.answers()):
            return f"other bytes than an undisturbed run: {other}"
        return _left(place)

    def _predict(self, place: Workplace, rng: Random) -> Iterator[Outcome]:
        place = self.reference.copy(place.root)
        (place.root / "cache").rename(place.root / "cache-of-the-run")
        output = place.home / "answers" / "predicted.csv"
        arguments = ("predict", RUN, "--input", self.rows, "--output", output)
        for _ in range(_CHAIN):
            ended = self._killed(place, arguments, rng, most_changes=12)
            if problem := _unexpected(ended) or self._other(output):
                yield Outcome("predict", problem)
                return
            yield Outcome("predict")
        ended = place.gap(*arguments)
        problem = f"the next call did not succeed: {ended.problem}" if ended.status else ""
        if not problem and not output.exists():
            problem = "no output"
        yield Outcome("predict, finished afterwards", problem or self._other(output) or _left(place))

    def _other(self, output: Path) -> str:
        """Whether an output is there and not the undisturbed one."""
        if output.exists() and output.read_bytes() != self.predicted.read_bytes():
            return "the output is not the bytes of an undisturbed call"
        return ""

    def _killed(
        self, place: Workplace, arguments: tuple[object, ...], rng: Random, most_changes: int
    ) -> Ended:
        """Start the command and have it killed, if it does not end before."""
        if rng.random() < 0.5:
            kill = functools.partial(die_at, rng.randint(1, most_changes), place.root)
            return place.start(*arguments, before=functools.partial(_impatient, kill)).wait()
        child = place.start(*arguments, before=_impatient)
        return child.wait_or_kill(rng.uniform(0, self.seconds / 2), TIMEOUT)


def _impatient(then: functools.partial[None] | None = None) -> None:
    """Have trainings leave a checkpoint after every step, so that kills meet them."""
    from gapstack.runs import run

    defaults = run.__kwdefaults__
    if "checkpoint_seconds" not in defaults:
        raise RuntimeError("run() has no checkpoint_seconds any more: tell the campaign its new name")
    defaults["checkpoint_seconds"] = 0.0
    if then:
        then()


def _unexpected(ended: Ended) -> str:
    """A command that was killed ends by the kill or, where that came too late, well."""
    return "" if ended.status == _KILLED and not ended.timed_out else (ended.problem or _refused(ended))


def _refused(ended: Ended) -> str:
    return f"refused what a kill left behind: {ended.err.strip()[-200:]}" if ended.status else ""


def _left(place: Workplace) -> str:
    left = place.leftovers()
    return f"{len(left)} leftovers: {', '.join(left[:3])}" if left else ""
