"""Damage at rest: one file of a finished run, or of the caches beneath it, is not what it was.

Commands that read must then refuse with one line or answer the very same bytes; ``gap run`` must bring back the very
same bytes, without doing again what is sound, and what was refused must work afterwards.
"""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from random import Random

from scripts.campaign.children import Ended
from scripts.campaign.tries import Outcome, Part
from scripts.campaign.workplace import (
    Workplace,
    another,
    differing,
    read_commands,
    reference,
    rows,
    said,
    succeeded,
)
from tests.damage import DAMAGES, apply_damage

_TAIL = 64


def _flip_near_end(path: Path, rng: Random) -> None:
    blob = bytearray(path.read_bytes())
    if blob:
        blob[(len(blob) - rng.randint(1, _TAIL)) % len(blob)] ^= 1 << rng.randrange(8)
        path.write_bytes(blob)


def _zero(path: Path, rng: Random) -> None:
    """Leave what a power cut leaves of a file that was never flushed."""
    path.write_bytes(bytes(path.stat().st_size))


def _lose_lines(path: Path, rng: Random) -> None:
    lines = path.read_bytes().splitlines(keepends=True)
    start = rng.randrange(max(1, len(lines)))
    del lines[start : start + rng.randint(1, 3)]
    path.write_bytes(b"".join(lines))


_FURTHER: dict[str, Callable[[Path, Random], None]] = {
    "flip near the end": _flip_near_end,
    "zeros": _zero,
    "lines lost": _lose_lines,
}
NEED_OTHER = ("another fold's file", "an older version")
"""Kinds that put another, sound file in the place of this one."""


KINDS = (*(kind for kind in DAMAGES if kind != "unreadable"), *_FURTHER, *NEED_OTHER)
"""Kinds of damage by name; the tests' unreadable link to itself is no file that a disk leaves."""


def apply(path: Path, kind: str, rng: Random, other: Path | None = None) -> None:
    """Damage a file in one of the :data:`KINDS`; ``other`` takes its place for those in :data:`NEED_OTHER`."""
    if kind in _FURTHER:
        _FURTHER[kind](path, rng)
    elif kind not in NEED_OTHER:
        apply_damage(path, kind, rng)
    elif other is None:
        raise ValueError("this kind of damage needs another file")
    else:
        shutil.copyfile(other, path)


def sibling(path: Path) -> Path | None:
    """Another fold's file of the same name, if there is one; in a flat folder, another file of the same suffix."""
    for parent in path.parents:
        if parent.name.startswith("fold-"):
            for fold in sorted(parent.parent.glob("fold-*")):
                there = fold / path.relative_to(parent)
                if fold != parent and there.is_file():
                    return there
            return None
    return next((other for other in sorted(path.parent.glob(f"*{path.suffix}")) if other != path), None)


class Damage(Part):
    """Files x kinds, in a shuffled order of the seed."""

    name, short, usual, full = "damage", 5, 120, 2000

    def prepare(self) -> None:
        """A finished run, an older version of it, and what the commands that read say of it."""
        self.reference = reference(self.place)
        self.older = another(self.place)
        self.rows = rows(self.place / "rows.tsv")
        self.said = {}
        place = self.reference.copy(self.place / "read")
        for name, arguments in read_commands(place, self.rows).items():
            ended = place.gap(*arguments)
            succeeded(ended, name)
            self.said[name] = said(place, name, ended)
        # what predict adds to the caches is damaged as well
        self.reference = place
        self.expected = place.answers()

    def attempt(self, number: int, rng: Random) -> Iterator[Outcome]:
        """Damage one file, read, repair."""
        place = self.reference.copy(self.folder(number))
        path, kind, other = self._drawn(number, place)
        apply(path, kind, rng, other)
        name = path.relative_to(place.root)
        problem = self._tried(place, path, rng)
        yield Outcome(kind, problem and f"{name}: {problem}")

    def _drawn(self, number: int, place: Workplace) -> tuple[Path, str, Path | None]:
        """The file, the kind and the other file of an attempt: all pairs come before one comes again."""
        files = [path for path in sorted(place.root.rglob("*")) if path.is_file() and _counts(path, place)]
        pairs = [(path, kind) for path in files for kind in KINDS]
        Random(f"damage {self.seed}").shuffle(pairs)
        for path, kind in (pairs * 2)[number % len(pairs) :]:
            other = None
            if kind == "another fold's file":
                other = sibling(path)
            elif kind == "an older version":
                other = self.older.root / path.relative_to(place.root)
            if kind not in NEED_OTHER or (other is not None and other.is_file()):
                return path, kind, other
        raise RuntimeError("nothing to damage")

    def _tried(self, place: Workplace, path: Path, rng: Random) -> str:
        """What goes wrong when a command reads the damaged run, ``gap run`` repairs it, and the command reads again."""
        sound = {
            record: made
            for record, made in place.finished().items()
            if not path.is_relative_to((place.home / record).parent)
        }
        commands = read_commands(place, self.rows)
        name = rng.choice(sorted(commands))
        read = place.gap(*commands[name])
        problem = self._read(place, name, read, path) or self._repaired(place, sound, path)
        if read.status and not problem:
            again = place.gap(*commands[name])
            if again.status or said(place, name, again) != self.said[name]:
                problem = f"{name} does not work after the repair: {again.err.strip()[-200:]}"
        return problem

    def _read(self, place: Workplace, name: str, read: Ended, path: Path) -> str:
        if read.status == 0:
            same = said(place, name, read) == self.said[name]
            return "" if same else f"{name} silently gave other answers"
        if read.refusal_problem:
            return f"{name}: {read.refusal_problem}"
        if path.name == "views.json" or "training" in path.parts:
            return f"{name} was stopped by a file that holds timings only: {read.err.strip()[-200:]}"
        return ""

    def _repaired(self, place: Workplace, sound: dict[str, tuple[int, int]], path: Path) -> str:
        ended = place.carry_out()
        if path.is_dir() and path.parent == place.home / "submissions" and not ended.refusal_problem:
            # a folder where the user looks for answers is the user's: it is named, and never deleted
            shutil.rmtree(path)
            ended = place.carry_out()
        if ended.status:
            return f"run did not repair it: {ended.problem or ended.err.strip()[-300:]}"
        if other := differing(place.answers(), self.expected):
            return f"run left other bytes: {other}"
        now = place.finished()
        again = differing({record: now.get(record) for record in sound}, sound)
        return f"run did sound folds again: {again}" if again else ""


def _counts(path: Path, place: Workplace) -> bool:
    """Whether a file is one that a command reads: not a lock, not what a terminal saw."""
    return not path.name.endswith("lock") and (
        path.is_relative_to(place.home) or path.is_relative_to(place.cache)
    )
