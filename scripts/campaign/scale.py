"""Scale: time and memory of commands on many synthetic rows, in processes of their own.

The limits are those that the project holds itself to; the sizes are a fraction of the full ones unless ``--full``.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from random import Random

from scripts.campaign.children import Ended
from scripts.campaign.tries import Outcome, Part
from scripts.campaign.workplace import Workplace, rows, succeeded

ROWS_FULL, FEW_SHARE = 100_000, 10
MOST_RATIO = 1.3 * FEW_SHARE
"""Most that ten times the rows may take, in times of the tenth."""
PREDICT_BYTES = 3 * 10**9
FILES_FULL, FILE_ROWS_FULL, COMPARE_SECONDS = 200, 2_000, 180.0
SCORE_ROWS_FULL, SCORE_BYTES = 1_000_000, 10**9
TIMEOUT = 3 * 3600.0
_SHARE = 20
"""What part of the full sizes is the usual one."""
# the trees of the quickstart
_RECIPE = """\
name = "trees"
folds = 5

[[members]]
name = "surface"

[[members]]
name = "surface"
label = "surface_cues"
settings = { blocks = ["surface", "cues"] }

[[stackers]]
name = "conditional"
"""


class Scale(Part):
    """``predict`` at n and 10 n rows, ``compare`` of many files, ``score`` of many rows."""

    name, short, usual, full = "scale", 0, 5, 5

    def attempt(self, number: int, rng: Random) -> Iterator[Outcome]:
        """One of the three commands."""
        commands: tuple[Callable[[Path, Random], Iterator[Outcome]], ...]
        commands = (self._score, self._compare, self._predict)
        return commands[number % len(commands)](self.folder(number), rng)

    def _sized(self, full: int) -> int:
        return full if self.large else max(20, full // _SHARE)

    def _predict(self, folder: Path, rng: Random) -> Iterator[Outcome]:
        recipe = folder / "trees.toml"
        recipe.write_text(_RECIPE, encoding="utf-8")
        place = Workplace(folder / "here", recipe)
        place.root.mkdir()
        succeeded(place.carry_out(), "the run")
        many = self._sized(ROWS_FULL)
        seconds = {}
        for count in (many // FEW_SHARE, many):
            table = rows(folder / f"{count}.tsv", copies=count)
            cache: dict[str, str | None] = {"GAPSTACK_CACHE": str(folder / f"cache-{count}")}
            arguments = ("predict", "trees-sample", "--input", table, "--output", folder / f"{count}.csv")
            ended = place.gap(*arguments, environment=cache, cold=True, timeout=TIMEOUT)
            seconds[count] = ended.seconds
            self._note(f"predict, {count:,} rows", ended)
            yield Outcome(f"predict: memory, {count:,} rows", _within(ended, most_bytes=PREDICT_BYTES))
        ratio = seconds[many] / seconds[many // FEW_SHARE]
        self.say(f"predict: {many:,} rows took {ratio:.1f} times what {many // FEW_SHARE:,} took")
        slow = f"{ratio:.1f} times, at most {MOST_RATIO:.1f} allowed" if ratio > MOST_RATIO else ""
        yield Outcome("predict: ten times the rows", slow)

    def _compare(self, folder: Path, rng: Random) -> Iterator[Outcome]:
        count, size = self._sized(FILES_FULL), self._sized(FILE_ROWS_FULL)
        gold = rows(folder / "gold.tsv", copies=size, labelled=True)
        files = [_submission(folder / f"system-{at:03d}.csv", size, rng) for at in range(count)]
        place = Workplace(folder / "here", gold)
        place.root.mkdir()
        ended = place.gap("compare", *files, "--gold", gold, cold=True, timeout=10 * COMPARE_SECONDS)
        self._note(f"compare, {count} files of {size:,} rows", ended)
        yield Outcome(
            f"compare: {count} files of {size:,} rows", _within(ended, most_seconds=COMPARE_SECONDS)
        )

    def _score(self, folder: Path, rng: Random) -> Iterator[Outcome]:
        size = self._sized(SCORE_ROWS_FULL)
        gold = rows(folder / "gold.tsv", copies=size, labelled=True)
        file = _submission(folder / "one.csv", size, rng)
        place = Workplace(folder / "here", gold)
        place.root.mkdir()
        ended = place.gap("score", file, "--gold", gold, cold=True, timeout=TIMEOUT)
        self._note(f"score, {size:,} rows", ended)
        yield Outcome(f"score: memory, {size:,} rows", _within(ended, most_bytes=SCORE_BYTES))

    def _note(self, what: str, ended: Ended) -> None:
        self.say(f"{what}: {ended.seconds:.1f} s, {ended.peak_bytes / 1e9:.2f} GB")


def _within(ended: Ended, *, most_bytes: float = float("inf"), most_seconds: float = float("inf")) -> str:
    if ended.status or ended.timed_out:
        return f"did not succeed: {ended.problem or ended.err.strip()[-200:]}"
    if ended.peak_bytes > most_bytes:
        return f"{ended.peak_bytes / 1e9:.2f} GB, at most {most_bytes / 1e9:.2f} allowed"
    if ended.seconds > most_seconds:
        return f"{ended.seconds:.0f} s, at most {most_seconds:.0f} allowed"
    return ""


def _submission(path: Path, count: int, rng: Random) -> Path:
    """Random answers for the synthetic rows."""
    with path.open("w", encoding="utf-8") as stream:
        print("ID,A,B,NEITHER", file=stream)
        for number in range(count):
            draws = [rng.random() + 0.01 for _ in range(3)]
            print(f"synthetic-{number}", *(f"{one / sum(draws):.6f}" for one in draws), sep=",", file=stream)
    return path
