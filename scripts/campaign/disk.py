"""Places that cannot be written: full disks, read-only ones, something in the way, names that are too long.

One line and exit status 2, nothing lost, and the same command works once there is room. Needs root, for a small tmpfs
of its own; nothing else is mounted or filled.
"""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from random import Random

from scripts.campaign.children import Ended
from scripts.campaign.tries import Outcome, Part, Skip
from scripts.campaign.workplace import RUN, Workplace, differing, reference, rows, succeeded

_SIZE = 48 << 20
_LEVELS = (0, 1 << 12, 1 << 14, 1 << 16, 1 << 18, 1 << 20, 1 << 22)
_LONG = "n" * 300


def mount(folder: Path) -> None:
    """Mount a tmpfs of 48 MB; Skip where that is not allowed."""
    folder.mkdir(parents=True, exist_ok=True)
    done = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", f"size={_SIZE}", "campaign", str(folder)],
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode:
        raise Skip(f"no tmpfs can be mounted here ({done.stderr.strip()})")


def unmount_below(folder: Path) -> None:
    """Unmount all that the campaign mounted below a folder."""
    for line in Path("/proc/mounts").read_text(encoding="utf-8").splitlines() if os.name == "posix" else ():
        source, target = line.split(" ")[:2]
        if source == "campaign" and Path(target).is_relative_to(folder):
            subprocess.run(["umount", "-l", target], check=False)


class Disk(Part):
    """Commands that write, where they cannot."""

    name, short, usual, full = "disk", 2, 60, 300

    def prepare(self) -> None:
        """See that a tmpfs can be mounted; a finished run and what its commands write."""
        try:
            mount(self.place / "probe")
        finally:
            unmount_below(self.place)
        self.reference = reference(self.place)
        self.rows = rows(self.place / "rows.tsv")
        self.gold = rows(self.place / "gold.tsv", labelled=True)
        self.submission = self.reference.home / "submissions" / f"{RUN}.csv"
        self.outputs = self.place / "outputs"
        self.outputs.mkdir()
        for name, arguments in self._commands(self.outputs).items():
            if name != "run":
                succeeded(self.reference.gap(*arguments), name)
        self.expected = self.reference.answers()

    def _commands(self, out: Path) -> dict[str, tuple[object, ...]]:
        """Commands that write, by name; what they write outside of home and cache goes to ``out``."""
        return {
            "run": ("run", self.reference.recipe, "--data", "sample"),
            "predict": ("predict", RUN, "--input", self.rows, "--output", out / "predicted.csv"),
            "compare": (
                *("compare", self.submission, "--gold", self.gold, "--replicates", 100),
                *("--csv", out / "tables", "--html", out / "page.html"),
            ),
            "stack": (
                *("stack", self.submission, self.outputs / "predicted.csv", "--gold", self.gold),
                *("--folds", 3, "--output", out / "stacked.csv"),
            ),
        }

    def attempt(self, number: int, rng: Random) -> Iterator[Outcome]:
        """One hindrance for one command."""
        folder = self.folder(number)
        hindrances: tuple[Callable[[Path, Random], Iterator[Outcome]], ...] = (
            self._full,
            self._full,
            self._read_only,
            self._full,
            self._in_the_way,
            self._too_long,
        )
        try:
            yield from hindrances[number % len(hindrances)](folder, rng)
        finally:
            unmount_below(folder)

    def _full(self, folder: Path, rng: Random) -> Iterator[Outcome]:
        disk = folder / "disk"
        mount(disk)
        name = rng.choice(["run", "run", "predict", "compare"])
        place = self._place(disk, name)
        filler = disk / "filler"
        level = rng.choice(_LEVELS)
        room = rng.randrange(level + 1)
        with filler.open("wb") as stream:
            free = shutil.disk_usage(disk).free
            stream.write(bytes(max(0, free - room)))
        before = place.finished()
        ended = self._here(place, folder, name, disk)
        problem = ended.problem
        if lost := differing({path: place.finished().get(path) for path in before}, before):
            problem = problem or f"finished folds were lost: {lost}"
        yield Outcome(f"full disk: {name}", problem and f"{room} bytes free: {problem}")
        kept = place.finished()
        filler.unlink()
        yield Outcome(
            f"full disk: {name}, with room again", self._afterwards(place, folder, name, disk, kept)
        )

    def _read_only(self, folder: Path, rng: Random) -> Iterator[Outcome]:
        disk = folder / "disk"
        mount(disk)
        name = rng.choice(["run", "predict", "compare"])
        place = self._place(disk, name)
        subprocess.run(["mount", "-o", "remount,ro", str(disk)], check=True, capture_output=True)
        ended = self._here(place, folder, name, disk)
        yield Outcome(f"read-only: {name}", ended.problem or ("" if ended.status else "wrote, they say"))
        subprocess.run(["mount", "-o", "remount,rw", str(disk)], check=True, capture_output=True)
        problem = self._afterwards(place, folder, name, disk, place.finished())
        yield Outcome(f"read-only: {name}, writable again", problem)

    def _in_the_way(self, folder: Path, rng: Random) -> Iterator[Outcome]:
        place = Workplace(folder / "here", self.reference.recipe)
        name = rng.choice(["home", "models", "submissions", "the run", "cache", "activations", "parses"])
        paths = {
            **{
                "home": place.home,
                "models": place.home / "models",
                "cache": place.cache,
                "the run": place.run,
            },
            **{"submissions": place.home / "submissions", "activations": place.cache / "activations"},
            "parses": place.cache / "parses",
        }
        paths[name].parent.mkdir(parents=True)
        paths[name].write_text("in the way", encoding="utf-8")
        ended = place.carry_out()
        # a cache that is not needed may do without
        problem = ended.problem or ("" if ended.status or name == "parses" else "ended well")
        yield Outcome(f"a file in place of {name}", problem)
        if paths[name].is_file():
            paths[name].unlink()
        place.home.mkdir(exist_ok=True)
        yield Outcome(
            f"a file in place of {name}, removed", self._afterwards(place, folder, "run", folder, {})
        )

    def _too_long(self, folder: Path, rng: Random) -> Iterator[Outcome]:
        place = self.reference.copy(folder / "here")
        cases: dict[str, tuple[object, ...]] = {
            "name of a run": ("run", place.recipe, "--data", "sample", "--name", _LONG),
            "recipe": ("run", _LONG),
            "run to predict by": ("predict", _LONG, "--input", self.rows, "--output", folder / "o.csv"),
            "input": ("predict", RUN, "--input", folder / _LONG, "--output", folder / "o.csv"),
            "output": ("predict", RUN, "--input", self.rows, "--output", folder / f"{_LONG}.csv"),
            "input is a folder": ("predict", RUN, "--input", folder, "--output", folder / "o.csv"),
            "output is a folder": ("predict", RUN, "--input", self.rows, "--output", self.place),
            "output below a file": ("predict", RUN, "--input", self.rows, "--output", self.rows / "o.csv"),
            "score of a folder": ("score", self.place, "--gold", self.gold),
            "score of nothing": ("score", folder / "none.csv", "--gold", self.gold),
            "page below a file": ("compare", self.submission, "--gold", self.gold, "--html", self.rows / "p"),
            "data is a file": ("run", place.recipe, "--data", self.rows),
            "status of a long name": ("data", "status", "--data", folder / _LONG),
        }
        name = rng.choice(sorted(cases))
        ended = place.gap(*cases[name])
        fine = name == "status of a long name" and ended.status == 0
        problem = "" if fine else ended.refusal_problem
        yield Outcome(f"impossible path: {name}", problem)
        if lost := differing(place.answers(), self.expected):
            yield Outcome(f"impossible path: {name}, afterwards", f"files changed: {lost}")

    def _place(self, disk: Path, name: str) -> Workplace:
        """An empty home for a run, a finished one for what reads it; the cache is empty. Streams go elsewhere."""
        place = Workplace(disk / "here", self.reference.recipe)
        place.root.mkdir()
        if name != "run":
            shutil.copytree(self.reference.home, place.home)
        return place

    def _here(self, place: Workplace, folder: Path, name: str, out: Path) -> Ended:
        """Run the command with its streams on another disk."""
        streams = replace(place, root=folder / "streams")
        streams.root.mkdir(exist_ok=True)
        return streams.gap(*self._commands(out / "out")[name], environment=place.environment)

    def _afterwards(
        self, place: Workplace, folder: Path, name: str, out: Path, kept: dict[str, tuple[int, int]]
    ) -> str:
        """What is wrong when the command is given again."""
        ended = self._here(place, folder, name, out)
        if ended.status:
            return f"does not work afterwards: {ended.err.strip()[-200:]}"
        now = place.finished()
        if again := differing({path: now.get(path) for path in kept}, kept):
            return f"finished folds were done again: {again}"
        if name == "run":
            other = differing(place.answers(), self.expected)
            return f"other bytes than elsewhere: {other}" if other else ""
        files = sorted(path for path in (out / "out").rglob("*") if path.is_file())
        different = [
            path.name
            for path in files
            if path.suffix == ".csv"
            and path.read_bytes() != (self.outputs / path.relative_to(out / "out")).read_bytes()
        ]
        if not files or different:
            return f"other outputs than elsewhere: {', '.join(different) or 'none at all'}"
        left = [str(path) for path in (out / "out").rglob(".*")]
        return f"leftovers: {', '.join(left[:3])}" if left else ""
