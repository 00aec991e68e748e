"""History: a row's answer is the same to the bit alone or in company, in any order, with cold or warm caches."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from random import Random

from scripts.campaign.tries import Outcome, Part
from scripts.campaign.workplace import RUN, Workplace, reference, rows, succeeded

_CACHES = ("cold", "warm by the run", "warm by the attempts before")
_THREADS = ("1", "2")
_PARSED = 7
"""Of ten attempts, the one on texts that are parsed."""


class History(Part):
    """Random rows of the sample through one run, in random company."""

    name, short, usual, full = "history", 2, 60, 200

    def prepare(self) -> None:
        """A finished run, and each row's answer in the company of all with an empty cache."""
        self.reference = reference(self.place)
        # the sample's own texts are parsed already; the others have to be
        self.tables = [rows(self.place / "rows.tsv"), rows(self.place / "parsed.tsv", copies=40)]
        self.expected: dict[str, str] = {}
        for table in self.tables:
            cold = replace(self.reference, root=self.place / f"cold-{table.stem}")
            self.expected |= self._predicted(self._home(cold), table)

    def attempt(self, number: int, rng: Random) -> Iterator[Outcome]:
        """Predict some rows."""
        place = self._home(replace(self.reference, root=self.folder(number)))
        cache = _CACHES[number % len(_CACHES)]
        environment: dict[str, str | None] = {"OMP_NUM_THREADS": rng.choice(_THREADS)}
        if cache == "warm by the run":
            shutil.copytree(self.reference.cache, place.cache)
        elif cache != "cold":
            environment["GAPSTACK_CACHE"] = str(self.place / "shared-cache")
        table = self.tables[number % 10 == _PARSED]
        header, *lines = table.read_text(encoding="utf-8").splitlines()
        size = rng.choice([1, 2, rng.randint(3, 20), len(lines)])
        company = {1: "alone", 2: "in pairs", len(lines): "all, in another order"}.get(size, "a few")
        chosen = rng.sample(lines, size)
        table = place.root / "rows.tsv"
        table.write_text("\n".join([header, *chosen]) + "\n", encoding="utf-8")
        found = self._predicted(place, table, environment)
        apart = {row: _apart(answer, self.expected[row]) for row, answer in found.items()}
        other = [row for row, difference in apart.items() if difference]
        problem = ""
        if other:
            most = max(apart.values())
            problem = (
                f"{len(other)} of {size} rows got answers up to {most:.1g} apart: {', '.join(other[:3])}"
            )
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
            place.gap("predict", RUN, "--input", table, "--output", output, environment=environment),
            "predict",
        )
        lines = output.read_text(encoding="utf-8").splitlines()[1:]
        return {line.split(",", 1)[0]: line for line in lines}


def _apart(line: str, expected: str) -> float:
    """Largest difference of a row's probabilities; not 0 where only the text differs."""
    pairs = zip(line.split(",")[1:], expected.split(",")[1:], strict=True)
    return max(abs(float(one) - float(other)) or float(one != other) for one, other in pairs)
