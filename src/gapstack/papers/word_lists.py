"""Word lists for debiasers and for measures of bias in word vectors."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from gapstack.data.cells import read_json, read_text
from gapstack.data.sources import file_of, require
from gapstack.errors import Place, located
from gapstack.files import tree_digest

Pairs = tuple[tuple[str, str], ...]


@dataclass(frozen=True)
class Lists:
    """Word lists of the literature.

    definitional: feminine and masculine words that differ in gender alone (Bolukbasi et al. 2016, section 5.1);
    equalize: pairs that hard debiasing puts at equal distance from all neutral words; gender_specific: words that are
    gendered by definition; professions: occupations that are not; sembias: questions of a definitional pair, two
    unrelated ones and a stereotypical one (Zhao et al. 2018, section 4.1); weat: word sets of Caliskan et al. 2017 by
    name; sowinobias: occupations, adjectives and definitional words of Dawkins 2021; masculine, feminine: words used to
    train GN-GloVe.
    """

    definitional: Pairs
    equalize: Pairs
    gender_specific: frozenset[str]
    professions: tuple[str, ...]
    sembias: tuple[Pairs, ...]
    weat: Mapping[str, tuple[str, ...]]
    sowinobias: Mapping[str, tuple[str, ...]]
    masculine: tuple[str, ...]
    feminine: tuple[str, ...]

    @cached_property
    def gendered(self) -> frozenset[str]:
        """All gendered words, in lower case: specific, definitional, equalized, and GN-GloVe's."""
        pairs = {word for pair in self.definitional + self.equalize for word in pair}
        return frozenset(
            w.lower() for w in self.gender_specific | pairs | {*self.masculine, *self.feminine, "he", "she"}
        )

    @cached_property
    def every_word(self) -> frozenset[str]:
        """All words of all lists."""
        rows = (word for row in self.sembias for pair in row for word in pair)
        sets = (word for words in (*self.weat.values(), *self.sowinobias.values()) for word in words)
        return self.gendered | {*rows, *sets, *self.professions} | self.gender_specific


def read_lists() -> Lists:
    """Read the lists of the data set ``wordlists``; DataError if a file breaks its format."""

    def load(name: str, kind: Any) -> Any:
        path = file_of("wordlists", name)
        return read_json(read_text(path).encode(), path, kind=kind)

    def words(name: str) -> tuple[str, ...]:
        return tuple(read_text(file_of("wordlists", name)).split())

    specific = frozenset(load("gender_specific_full.json", list[str]))
    sets = dict[str, tuple[str, ...]]
    return Lists(
        definitional=load("definitional_pairs.json", Pairs),
        equalize=load("equalize_pairs.json", Pairs),
        gender_specific=specific,
        # the first number says how gendered the word is by definition
        professions=tuple(
            word
            for word, by_definition, _ in load("professions.json", list[tuple[str, float, float]])
            if not by_definition and word not in specific
        ),
        sembias=read_sembias(file_of("wordlists", "SemBias.txt")),
        weat=load("WEAT_wefe.json", sets),
        sowinobias=load("sowinobias_vocab.json", sets),
        masculine=words("gn_glove_male_word_file.txt"),
        feminine=words("gn_glove_female_word_file.txt"),
    )


def lists_key() -> str:
    """Digest of the lists' files; DataNotFoundError if they are missing."""
    return tree_digest(require("wordlists"))


def read_sembias(path: Path) -> tuple[Pairs, ...]:
    """Read the questions of SemBias; DataError with the line of one that is not four pairs ``word:word``."""
    rows = []
    for number, line in enumerate(read_text(path).splitlines(), 1):
        with located(Place(path, number), "four pairs word:word"):
            pairs = [(first, second) for first, second in (pair.split(":") for pair in line.split())]
            first, second, third, fourth = pairs
        rows.append((first, second, third, fourth))
    return tuple(rows)
