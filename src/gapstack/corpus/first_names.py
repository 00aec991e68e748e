"""The gender of persons by their titles and first names, where these tell it.

First names are those of the data set ``names``: births by recorded sex in the United States, 1880 to 2018. Where it is
not at hand titles alone tell.
"""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Mapping
from pathlib import Path

from gapstack.corpus import sources
from gapstack.corpus.extra.extra_corpus import file_of, read_text
from gapstack.corpus.extra.mined import GENDER_BY_TITLE
from gapstack.corpus.pronouns import Gender
from gapstack.errors import DataError, Place
from gapstack.files import by_content, contents

FILE = "ssa_first_names_by_gender.csv"
LEAST_BIRTHS = 1000
"""A name of fewer births tells nothing."""
LEAST_SHARE = 0.95
"""Share of the births of one sex from which on a name tells it."""

_COLUMNS = ("name", "count_F", "count_M")
_TITLE = re.compile(rf"\b({'|'.join(re.escape(title) for title in GENDER_BY_TITLE)})\s+\Z", re.IGNORECASE)


@by_content(lambda data=None: contents([file_of("names", FILE, data)]), most=1)
def first_names(data: Path | None = None) -> Mapping[str, Gender]:
    """Read the first names, in lower case, that nearly all who bear them share one recorded sex.

    Raises
    ------
    DataNotFoundError
        If the data set ``names`` is nowhere.
    DataError
        If its file has not the columns name, count_F, count_M, or a count is no whole number.
    """
    path = file_of("names", FILE, data)
    rows = csv.DictReader(io.StringIO(read_text(path)))
    missing = [name for name in _COLUMNS if name not in (rows.fieldnames or ())]
    if missing:
        raise DataError(f"no column {', '.join(missing)}", place=Place(path, 1), expected=", ".join(_COLUMNS))
    found: dict[str, Gender] = {}
    for row in rows:
        try:
            feminine, masculine = int(row["count_F"]), int(row["count_M"])
        except (TypeError, ValueError):
            raise DataError(
                "a count is no whole number", place=Place(path, rows.line_num), expected="numbers of births"
            ) from None
        if feminine + masculine >= LEAST_BIRTHS:
            most = Gender.FEMININE if feminine > masculine else Gender.MASCULINE
            if max(feminine, masculine) >= LEAST_SHARE * (feminine + masculine):
                found[row["name"].lower()] = most
    return found


def known_first_names(data: Path | None = None) -> Mapping[str, Gender]:
    """As :func:`first_names`; empty where the data set is nowhere."""
    return first_names(data) if sources.find("names", data) else {}


def gender_of_name(name: str, before: str, by_first_name: Mapping[str, Gender]) -> Gender | None:
    """Gender that a name's title, in it or right before it, or else its first word tells; None for neither."""
    title = _TITLE.search(before) or _TITLE.search(name.split(maxsplit=1)[0] + " ")
    if title:
        return GENDER_BY_TITLE[title[1].lower()]
    return by_first_name.get(name.split(maxsplit=1)[0].lower())
