"""Word lists for measures of bias in word vectors and debiasers."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from gapstack.corpus.extra.base import file_of, read_text
from gapstack.errors import DataError, Place

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

    Raises
    ------
    DataNotFoundError
        If it is missing.
    DataError
        If a file breaks its format.
    """

    def load_json(name: str) -> Any:
        return read_json(file_of("wordlists", name, data))

    def lines(name: str) -> tuple[str, ...]:
        return tuple(read_text(file_of("wordlists", name, data), windows=True).split())

    specific = frozenset(load_json("gender_specific_full.json"))
    return Lists(
        definitional=_pairs(load_json("definitional_pairs.json")),
        equalize=_pairs(load_json("equalize_pairs.json")),
        gender_specific=specific,
        # the middle figure is the degree to which the word is gendered by definition
        professions=tuple(
            w
            for w, by_definition, _ in load_json("professions.json")
            if not by_definition and w not in specific
        ),
        sembias=_sembias(file_of("wordlists", "SemBias.txt", data)),
        weat={name: tuple(words) for name, words in load_json("WEAT_wefe.json").items()},
        sowinobias={name: tuple(words) for name, words in load_json("sowinobias_vocab.json").items()},
        masculine=lines("gn_glove_male_word_file.txt"),
        feminine=lines("gn_glove_female_word_file.txt"),
    )


def read_json(path: Path) -> Any:
    """Read a JSON file; DataError with the place if it is none."""
    try:
        return json.loads(read_text(path, windows=True))
    except json.JSONDecodeError as problem:
        place = Place(path, problem.lineno, problem.colno)
        raise DataError(f"is no JSON ({problem.msg})", place=place, expected="JSON") from None


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
