"""A small run of every kind of member on the embedded sample, and the commands that read it."""

from __future__ import annotations

import hashlib
import json
import shutil
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from scripts.campaign import children
from scripts.campaign.children import TIMEOUT, Child, Ended

RUN = "campaign-sample"
"""What ``gap run`` calls the run of :data:`RECIPE` on the sample."""
RECIPE = """\
name = "campaign"
folds = 3

[[members]]
name = "prior"

[[members]]
name = "parallelism"

[[members]]
name = "surface"
settings = {{ rounds = 5, bags = 2, seed = {seed} }}

[[members]]
name = "frozen_spans"
settings = {{ encoder = "{encoder}", seeds = 1, epochs = 2, width = 8, hidden = 8, seed = {seed} }}

[[members]]
name = "probert"
settings = {{ encoder = "{encoder}", max_pieces = 128, training = {{ epochs = 1, batch_size = 32 }}, seed = {seed} }}

[[stackers]]
name = "logistic"

[[stackers]]
name = "lightgbm"
settings = {{ rounds = 5 }}
"""
# what decides an answer; the rest of a run folder holds seconds and versions as well
_ANSWERS = (".parquet", ".csv", ".safetensors", ".txt", ".lgb")
_NO_ROOM = {"GAP_PARSER": None, "GAP_DATA": None, "GAP_ENCODER": None}


@dataclass(frozen=True)
class Workplace:
    """Home, cache and streams of commands; a recipe file.

    ``root`` holds ``home/``, ``cache/`` and ``streams/``.
    """

    root: Path
    recipe: Path

    @property
    def home(self) -> Path:
        """``GAPSTACK_HOME``."""
        return self.root / "home"

    @property
    def cache(self) -> Path:
        """``GAPSTACK_CACHE``."""
        return self.root / "cache"

    @property
    def run(self) -> Path:
        """The run folder."""
        return self.home / "models" / RUN

    @property
    def environment(self) -> dict[str, str | None]:
        """What its commands see."""
        own = {"GAPSTACK_HOME": str(self.home), "GAPSTACK_CACHE": str(self.cache), "GAPSTACK_OFFLINE": "1"}
        return {**_NO_ROOM, **own, "OMP_NUM_THREADS": "1", "TOKENIZERS_PARALLELISM": "false"}

    def start(
        self,
        *arguments: object,
        before: Callable[[], None] | None = None,
        environment: Mapping[str, str | None] | None = None,
        cold: bool = False,
    ) -> Child:
        """Start ``gap`` here."""
        streams = self.root / "streams"
        count = len(list(streams.glob("*.err"))) if streams.is_dir() else 0
        name, full = streams / f"{count:03d}", {**self.environment, **(environment or {})}
        self.root.mkdir(parents=True, exist_ok=True)
        if cold:
            return children.cold(arguments, name, full)
        return children.command(arguments, name, full, before=before, folder=self.root)

    def gap(
        self,
        *arguments: object,
        timeout: float = TIMEOUT,
        environment: Mapping[str, str | None] | None = None,
        cold: bool = False,
    ) -> Ended:
        """Run ``gap`` here to its end."""
        return self.start(*arguments, environment=environment, cold=cold).wait(timeout)

    def carry_out(self, *options: object, environment: Mapping[str, str | None] | None = None) -> Ended:
        """``gap run`` of the recipe on the sample."""
        return self.gap(*self.arguments, *options, environment=environment)

    @property
    def arguments(self) -> tuple[object, ...]:
        """Of ``gap`` for the recipe on the sample."""
        return ("run", self.recipe, "--data", "sample")

    def copy(self, root: Path) -> Workplace:
        """The same home and cache elsewhere, times of files included."""
        for name in ("home", "cache"):
            if (self.root / name).is_dir():
                shutil.copytree(self.root / name, root / name, symlinks=True)
        return replace(self, root=root)

    def answers(self) -> dict[str, str]:
        """Hash of every file below home that holds answers or what gives them, by relative path."""
        return {
            str(path.relative_to(self.home)): hashlib.sha256(path.read_bytes()).hexdigest()
            for path in sorted(self.home.rglob("*"))
            if path.suffix in _ANSWERS and path.is_file()
        }

    def finished(self) -> dict[str, tuple[int, int]]:
        """Time and inode of the record of every finished fold: they tell whether it was done again."""
        found = {str(path.relative_to(self.home)): path.stat() for path in self.home.rglob("fold-*/job.json")}
        return {path: (stat.st_mtime_ns, stat.st_ino) for path, stat in found.items()}

    def leftovers(self) -> list[str]:
        """Temporary files and folders that nobody needs any more."""
        found = [path for room in (self.home, self.cache) for path in room.rglob(".*")]
        kept = list(self.home.rglob("unfinished/*/*"))
        return [
            str(path.relative_to(self.root))
            for path in sorted(found + kept)
            if not path.name.endswith("lock") and path.name != ".gitignore"
        ]


def differing(found: Mapping[str, object], expected: Mapping[str, object]) -> str:
    """The first few names under which two mappings differ, or ""."""
    names = [name for name in sorted({*found, *expected}) if found.get(name) != expected.get(name)]
    return f"{len(names)} differ: {', '.join(names[:3])}" if names else ""


def succeeded(ended: Ended, what: str) -> None:
    """RuntimeError if a command that must succeed did not."""
    if ended.status != 0 or ended.timed_out:
        said = ended.err.strip().split("\n")[-1]
        raise RuntimeError(f"{what} ended with {ended.status} after {ended.seconds:.0f} s: {said}")


def encoder(folder: Path, seed: int = 0) -> Path:
    """A tiny random encoder, built in a child, since the parent computes nothing."""
    from tests.fixtures_encoder import build_tiny_encoder

    def work() -> None:
        build_tiny_encoder(folder, seed=seed)

    succeeded(children.start(work, folder.with_suffix(".streams")).wait(), f"building {folder}")
    return folder


def recipe(path: Path, encoder_folder: Path, *, seed: int = 0) -> Path:
    """Write the recipe."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(RECIPE.format(encoder=encoder_folder, seed=seed), encoding="utf-8")
    return path


def rows(path: Path, *, copies: int | None = None, labelled: bool = False) -> Path:
    """Write the sample's held-out rows as GAP's TSV, or so many variants of them, each text its own."""
    import gapstack

    sample = Path(gapstack.__file__).parent / "corpus" / "sample" / "gap-sample-test.tsv"
    lines = sample.read_text(encoding="utf-8").splitlines()
    header, cells = lines[0].split("\t"), [line.split("\t") for line in lines[1:]]
    where = {name: header.index(name) for name in header}
    kept = [where[name] for name in header if labelled or not name.endswith("-coref")]
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("w", encoding="utf-8") as stream:
        print(*(header[column] for column in kept), sep="\t", file=stream)
        for number in range(len(cells) if copies is None else copies):
            row = list(cells[number % len(cells)])
            if copies is not None:
                before = f"Note {number} of the archive. "
                row[where["ID"]], row[where["Text"]] = f"synthetic-{number}", before + row[where["Text"]]
                for name in ("Pronoun-offset", "A-offset", "B-offset"):
                    row[where[name]] = str(int(row[where[name]]) + len(before))
            print(*(row[column] for column in kept), sep="\t", file=stream)
    return path


def reference(place: Path) -> Workplace:
    """A finished, undisturbed run with a home and a cache of its own; parts of one campaign share it.

    Parameters
    ----------
    place : Path
        The folder of a part.
    """
    shared = place.parent / "undisturbed"
    found = Workplace(shared / "run", shared / "campaign.toml")
    if not found.run.is_dir():
        recipe(found.recipe, encoder(shared / "encoder"))
        ended = found.carry_out()
        succeeded(ended, "the undisturbed run")
        (shared / "seconds").write_text(f"{ended.seconds}", encoding="ascii")
    return found.copy(place / "reference")


def seconds(place: Path) -> float:
    """How long the undisturbed run took; :func:`reference` must have been called."""
    return float((place.parent / "undisturbed" / "seconds").read_text(encoding="ascii"))


def another(place: Path) -> Workplace:
    """A finished run of the recipe by other seeds, shared in the same way and after it."""
    shared = place.parent / "undisturbed"
    found = Workplace(shared / "another", shared / "another.toml")
    if not found.run.is_dir():
        recipe(found.recipe, shared / "encoder", seed=7)
        succeeded(found.carry_out(), "the other run")
    return found


def read_commands(place: Workplace, table: Path) -> dict[str, Sequence[object]]:
    """Commands that answer from a finished run; what each prints or writes is a function of the run alone."""
    return {
        "predict": ("predict", RUN, "--input", table, "--output", place.root / "predicted.csv"),
        "predict one": (
            "predict",
            f"{RUN}:surface",
            "--input",
            table,
            "--output",
            place.root / "predicted.csv",
        ),
        "compare": ("compare", RUN, "--replicates", 100, "--json"),
    }


def said(place: Workplace, name: str, ended: Ended) -> str:
    """What such a command gave, without what it says of time."""
    if name.startswith("predict"):
        return (place.root / "predicted.csv").read_text(encoding="utf-8")
    return json.dumps(json.loads(ended.out), sort_keys=True)
