"""How long all parses and all cues take from an empty cache, against parsing text by text.

    python benchmarks/cues.py [--stage2] [--parser NAME] [--plain 200]

Ours: every text of the corpus parsed in one pass and stored, then the five cues over both kinds of candidates and the
feature block of the surface member. Plain: the same pipeline called on one text after another, without pipe and cache,
for the first ``--plain`` texts; the parsing alone is compared. Where others keep the processors busy, the CPU
seconds still say what two free cores would do.

Bars: all 4,454 GAP rows in 90 s, all 12,359 rows of Kaggle's stage 2 in 5 minutes. Exit status 1 where one is
missed.
"""

import argparse
import os
import sys
import tempfile
import time
from collections.abc import Callable
from typing import get_args

from gapstack.data import Corpus, gap_data
from gapstack.features.cue_features import cue_features
from gapstack.language.cues import Cue, decide
from gapstack.language.parses import find_parser, parses
from gapstack.language.scenes import Candidates, Setting

CORES = 2
GAP_SECONDS, STAGE2_SECONDS = 90, 300


def clock(work: Callable[[], object]) -> tuple[float, float]:
    """Wall and CPU seconds of a piece of work, its child processes included."""
    before, start = os.times(), time.perf_counter()
    work()
    wall, after = time.perf_counter() - start, os.times()
    return wall, sum(after[:4]) - sum(before[:4])


def all_cues(corpus: Corpus, parser: str | None) -> None:
    """Every cue over either kind of candidates, and every feature."""
    for candidates in get_args(Candidates):
        for cue in Cue:
            decide(corpus, cue, Setting(candidates), parser)
    cue_features(corpus, parser)


def measure(corpus: Corpus, parser: str | None, bar: float, plain: int) -> bool:
    """Print one corpus' figures from an empty cache; whether the bar is met."""
    with tempfile.TemporaryDirectory() as cache:
        os.environ["GAPSTACK_CACHE"] = cache
        parsing = clock(lambda: parses(corpus, parser))
        reading = clock(lambda: parses(corpus, parser))
        cues = clock(lambda: all_cues(corpus, parser))
    nlp = find_parser(parser).load()
    texts = list(dict.fromkeys(corpus.texts))
    one_by_one = clock(lambda: [nlp(text) for text in texts[:plain]])
    share = len(texts) / len(texts[:plain])
    wall = parsing[0] + cues[0]
    # parsing runs in as many processes as there are cores, the rest in one
    free = parsing[1] / CORES + cues[1]
    print(f"{corpus.name}: {len(corpus):,} rows, {len(texts):,} texts")
    print(f"  parse and store   {parsing[0]:7.1f} s ({parsing[1]:.1f} CPU s)")
    print(f"  read back         {reading[0]:7.1f} s ({reading[1]:.1f} CPU s)")
    print(f"  cues and features {cues[0]:7.1f} s ({cues[1]:.1f} CPU s)")
    print(
        f"  text by text      {one_by_one[0] * share:7.1f} s ({one_by_one[1] * share:.1f} CPU s), from {plain}"
    )
    print(f"  parsing is {one_by_one[0] * share / parsing[0]:.1f} times as fast as text by text")
    met = min(wall, free) < bar
    print(
        f"  together {wall:.1f} s, {free:.1f} s on {CORES} free cores; bar {bar} s: {'met' if met else 'MISSED'}"
    )
    return met


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    options.add_argument("--stage2", action="store_true", help="measure Kaggle's stage-2 rows as well")
    options.add_argument("--parser", help="spaCy pipeline, by folder or package name")
    options.add_argument("--plain", type=int, default=200, help="texts parsed one by one")
    chosen = options.parse_args()
    gap = gap_data.gap_split("development") + gap_data.gap_split("test") + gap_data.gap_split("validation")
    met = [measure(gap, chosen.parser, GAP_SECONDS, chosen.plain)]
    if chosen.stage2:
        met.append(measure(gap_data.stage2(), chosen.parser, STAGE2_SECONDS, chosen.plain))
    sys.exit(not all(met))


if __name__ == "__main__":
    main()
