"""History: a row's answer is the same to the bit alone or in company, in any order, with cold or warm caches."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from random import Random

from scripts.campaign.tries import Outcome, Part
from scripts.campaign.workplace import RUN, Workplace, reference, rows, succeeded

_CACHES = ("cold", "warm by the run", "warm by the attempts before")
_THREADS = ("1", "2")


class History(Part):
    """Random rows of the sample through one run, in random company."""

    name, short, usual, full = "history", 8, 60, 200

    def prepare(self) -> None:
        """A finished run, and each row's answer in the company of all with an empty cache."""
        self.reference = reference(self.place)
        self.rows = rows(self.place / "rows.tsv", copies=150)
        cold = replace(self.reference, root=self.place / "cold")
        self.expected = self._predicted(self._home(cold), self.rows)

    def attempt(self, number: int, rng: Random) -> Iterator[Outcome]:
        """Predict some rows."""
        place = self._home(replace(self.reference, root=self.folder(number)))
        cache = _CACHES[number % len(_CACHES)]
        environment: dict[str, str | None] = {"OMP_NUM_THREADS": rng.choice(_THREADS)}
        if cache == "warm by the run":
            environment["GAPSTACK_CACHE"] = str(self.reference.cache)
        elif cache != "cold":
            environment["GAPSTACK_CACHE"] = str(self.place / "shared-cache")
        header, *lines = self.rows.read_text(encoding="utf-8").splitlines()
        size = rng.choice([1, 2, rng.randint(3, 20), len(lines)])
        company = {1: "alone", 2: "in pairs", len(lines): "all, in another order"}.get(size, "a few")
        chosen = rng.sample(lines, size)
        table = place.root / "rows.tsv"
        table.write_text("\n".join([header, *chosen]) + "\n", encoding="utf-8")
        found = self._predicted(place, table, environment)
        other = [row for row, answer in found.items() if answer != self.expected[row]]
        problem = f"{len(other)} of {size} rows got other answers: {', '.join(other[:3])}" if other else ""
        if len(found) != size:
            problem = f"{len(found)} answers for {size} rows"
        yield Outcome(f"{company}, {cache}", problem)

    def _home(self, place: Workplace) -> Workplace:
        """The place, its home that of the finished run."""
        place.root.mkdir(parents=True, exist_ok=True)
        place.home.symlink_to(self.reference.home)
        return place

    def _predicted(
        self, place: Workplace, table: Path, environment: dict[str, str | None] | None = None
    ) -> dict[str, str]:
        """Each row's line of the submission."""
        output = place.root / "out.csv"
        succeeded(
            place.gap("predict", RUN, "--input", table, "--output", output, environment=environment), "predict"
        )
        lines = output.read_text(encoding="utf-8").splitlines()[1:]
        return {line.split(",", 1)[0]: line for line in lines}
