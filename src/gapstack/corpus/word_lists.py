"""Word lists for measures of bias in word vectors and debiasers."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from gapstack.corpus import strict_json
from gapstack.corpus.extra.extra_corpus import file_of, read_text
from gapstack.corpus.sources import require
from gapstack.errors import DataError, Place
from gapstack.files import tree_digest

Pairs = tuple[tuple[str, str], ...]


@dataclass(frozen=True)
class Lists:
    """Word lists of the literature.

    Attributes
    ----------
    definitional : pairs
        Feminine and masculine words that differ in gender alone (Bolukbasi et al. 2016, figure in section 5.1).
    equalize : pairs
        Pairs that hard debiasing puts at equal distance from all neutral words.
    gender_specific : frozenset of str
        Words that are gendered by definition.
    professions : tuple of str
        Occupations that are not gendered by definition.
    sembias : tuple of four pairs
        Questions: a definitional pair, two unrelated ones, a stereotypical one (Zhao et al. 2018, section 4.1).
    weat : mapping of str to tuple of str
        Word sets of Caliskan et al. 2017 by name.
    sowinobias : mapping of str to tuple of str
        Occupations, adjectives and definitional words of Dawkins 2021.
    masculine, feminine : tuple of str
        Gendered words used to train GN-GloVe.
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


def read_lists(data: Path | None = None) -> Lists:
    """Read the lists of the data set ``wordlists``.

    Raises DataNotFoundError if it is missing; DataError if a file breaks its format.
    """

    def loaded(name: str, shape: Any) -> Any:
        path = file_of("wordlists", name, data)
        return strict_json.read(read_text(path, windows=True).encode(), path, shape=shape)

    def lines(name: str) -> tuple[str, ...]:
        return tuple(read_text(file_of("wordlists", name, data), windows=True).split())

    specific = frozenset(loaded("gender_specific_full.json", [str]))
    return Lists(
        definitional=_pairs(loaded("definitional_pairs.json", [(str, str)])),
        equalize=_pairs(loaded("equalize_pairs.json", [(str, str)])),
        gender_specific=specific,
        # the middle figure is the degree to which the word is gendered by definition
        professions=tuple(
            word
            for word, by_definition, _ in loaded("professions.json", [(str, float, float)])
            if not by_definition and word not in specific
        ),
        sembias=_sembias(file_of("wordlists", "SemBias.txt", data)),
        weat={name: tuple(words) for name, words in loaded("WEAT_wefe.json", {str: [str]}).items()},
        sowinobias={
            name: tuple(words) for name, words in loaded("sowinobias_vocab.json", {str: [str]}).items()
        },
        masculine=lines("gn_glove_male_word_file.txt"),
        feminine=lines("gn_glove_female_word_file.txt"),
    )


def lists_key(data: Path | None = None) -> str:
    """Digest of the lists' files; DataNotFoundError if they are nowhere."""
    return tree_digest(require("wordlists", data))


def _pairs(rows: list[list[str]]) -> Pairs:
    return tuple((one, other) for one, other in rows)


def _sembias(path: Path) -> tuple[Pairs, ...]:
    rows = []
    for number, line in enumerate(read_text(path, windows=True).splitlines(), 1):
        row = tuple(tuple(pair.split(":")) for pair in line.split())
        if len(row) != 4 or any(len(pair) != 2 for pair in row):
            raise DataError(
                f"{line!r} is no question", place=Place(path, number), expected="four pairs, word:word"
            )
        rows.append(_pairs([list(pair) for pair in row]))
    return tuple(rows)
