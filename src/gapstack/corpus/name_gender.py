"""The gender of persons by their titles and first names, where these tell it."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path

from gapstack.corpus import sources
from gapstack.corpus.augment.gender import first_names
from gapstack.corpus.extra.mined import GENDER_BY_TITLE
from gapstack.corpus.pronouns import Gender

_TITLE = re.compile(rf"\b({'|'.join(re.escape(title) for title in GENDER_BY_TITLE)})\s+\Z", re.IGNORECASE)


def known_first_names(data: Path | None = None) -> Mapping[str, Gender]:
    """Genders of :func:`~gapstack.corpus.augment.gender.first_names`; empty where the data set ``names`` is nowhere."""
    return first_names(data).genders if sources.find("names", data) else {}


def gender_of_name(name: str, before: str, by_first_name: Mapping[str, Gender]) -> Gender | None:
    """Gender that a name's title, in it or in the text before it, or else its first word tells; None for neither."""
    first = name.split(maxsplit=1)[0]
    title = _TITLE.search(before) or _TITLE.search(first + " ")
    return GENDER_BY_TITLE[title[1].lower()] if title else by_first_name.get(first.capitalize())
