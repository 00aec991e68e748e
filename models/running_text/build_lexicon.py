"""Write ``lexicon.json`` of the model of running text: genders of first names and nouns, surnames, nouns for people.

Sources are the first names of the US Social Security Administration, ``names.tsv`` and ``nouns.tsv`` (``words.py``), a
list of occupations, and the words of the four corpora. GAP, stage 2 and audit suites are not read.

    python models/running_text/build_lexicon.py models/gapstack-text
"""

from __future__ import annotations

import argparse
import json
import re
from collections import Counter, defaultdict
from collections.abc import Mapping
from pathlib import Path

import numpy as np
import pandas as pd

from gapstack.data.extra.conll import CORPORA, read_corpus
from gapstack.data.sources import file_of
from gapstack.files import open_bytes
from gapstack.running_text.lexicon import LONGEST_ENDING, Lexicon

WORDS = Path(__file__).parent
_SEEN = 12
"""Occurrences that a dictionary's entry for a noun counts for."""
_COMMON = 5000
"""Bearers in the United States of names that are recognised in lower case."""
_LOWER = re.compile(r"[a-z]+")


def american_names() -> pd.DataFrame:
    """Numbers of women and men with each first name in the United States, at least 10 together."""
    with open_bytes(file_of("names", "ssa_first_names_by_gender.csv")) as stream:
        table = pd.read_csv(stream, usecols=[0, 1, 2], keep_default_na=False)
    table.columns = pd.Index(["name", "women", "men"])
    table["name"] = table["name"].str.lower()
    return table[table["women"] + table["men"] >= 10].set_index("name")


def world_names() -> pd.DataFrame:
    """Numbers of a country's lists of names that have each name; see ``words.py``."""
    columns = ["name", "men", "women", "surnames", "is_word"]
    return pd.read_csv(WORDS / "names.tsv", sep="\t", names=columns, index_col="name", keep_default_na=False)


def first_names() -> dict[str, float]:
    """Signed log-odds of the gender of first names."""
    bearers = american_names()
    odds = np.log((bearers["women"] + 1) / (bearers["men"] + 1)).round(1).to_dict()
    for name, row in world_names().iterrows():
        if row["men"] or row["women"]:
            american, world = odds.get(name, 0.0), 2 * np.log((row["women"] + 0.5) / (row["men"] + 0.5))
            agree = american * world >= 0
            odds[name] = round(float(max(american, world, key=abs) if agree else (american + world) / 2), 1)
    return odds


def surnames() -> dict[str, float]:
    """Share of each name's lists that are lists of surnames."""
    table = world_names()
    shares = table["surnames"] / (table["surnames"] + table["men"] + table["women"] + 0.5)
    return {name: round(float(share), 2) for name, share in shares.items() if share >= 0.005}


def endings(names: Mapping[str, float]) -> dict[str, float]:
    """Signed log-odds of the gender of first names with an ending, smoothed by the next shorter one."""
    counts: dict[str, list[int]] = defaultdict(lambda: [0, 0])
    for name, odds in names.items():
        for length in range(1, LONGEST_ENDING + 1):
            if abs(odds) > 1 and length < len(name):
                counts[name[-length:]][odds > 0] += 1
    result: dict[str, float] = {}
    for ending in sorted(counts, key=len):
        masculine, feminine = counts[ending]
        if masculine + feminine >= 10:
            before = 1 / (1 + np.exp(-result.get(ending[1:], 0.0)))
            share = (feminine + 5 * before) / (masculine + feminine + 5)
            result[ending] = float(np.log(share / (1 - share)))
    return {ending: round(float(np.clip(odds, -1.5, 1.5)), 1) for ending, odds in result.items()}


def nouns() -> tuple[dict[str, tuple[int, int]], dict[str, int]]:
    """Counts for nouns of a dictionary and of a list of occupations, as if seen a few times; signed genders."""
    counts, genders = {}, {}
    for line in (WORDS / "nouns.tsv").read_text(encoding="utf-8").splitlines():
        lemma, share, gender = line.split("\t")
        counts[lemma] = round(_SEEN * float(share)), _SEEN
        if int(gender) and float(share) > 0.8:
            genders[lemma] = int(gender)
    with open_bytes(file_of("wordlists", "professions.json")) as stream:
        return counts | {name: (8, 8) for name, *_ in json.load(stream) if "_" not in name}, genders


def common_names() -> frozenset[str]:
    """Frequent first names that are not words: they hardly occur in lower case in the corpora."""
    words = Counter(
        token
        for corpus in CORPORA
        for document in read_corpus(corpus)
        for token in document.tokens
        if _LOWER.fullmatch(token)
    )
    bearers, world = american_names().sum(axis=1), world_names()
    listed = world.index[(world["men"] + world["women"] > 0) & (world["is_word"] == 0)]
    return frozenset(name for name in {*bearers.index[bearers >= _COMMON], *listed} if words[name] < 2)


def main() -> None:
    """Command line."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("output", type=Path)
    args = parser.parse_args()
    names, (people, genders) = first_names(), nouns()
    Lexicon(names, surnames(), people, common_names(), genders, endings(names)).save(args.output)


if __name__ == "__main__":
    main()
