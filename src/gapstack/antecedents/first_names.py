"""First names that tell a gender: the few that any text can be read with, in the package itself.

Written by ``scripts/first_names.py``, which says what is listed. A name tells the gender that most of its bearers were
recorded with, never that of the person who bears it: it moves a probability (:mod:`gapstack.antecedents.coupling`) and
excludes nobody.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from pathlib import Path

from gapstack.corpus import Gender

FILE = Path(__file__).with_name("first_names.tsv")


@lru_cache(maxsize=1)
def common_first_names() -> Mapping[str, Gender]:
    """Genders by capitalised first name."""
    genders: dict[str, Gender] = {}
    for line in FILE.read_text(encoding="utf-8").splitlines():
        gender, _, names = line.partition("\t")
        genders |= dict.fromkeys(names.split(), Gender(gender))
    return genders
