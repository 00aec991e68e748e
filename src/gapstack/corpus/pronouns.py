"""Third-person pronouns and their grammatical gender."""

from __future__ import annotations

from enum import StrEnum


class Gender(StrEnum):
    """Grammatical gender of a pronoun form."""

    MASCULINE = "masculine"
    FEMININE = "feminine"
    NEUTRAL = "neutral"


# Masculine and feminine are the official scorer's sets plus the reflexives that audit suites use;
# GAP itself has only he, his, him, she and her.
_FORMS: dict[Gender, tuple[str, ...]] = {
    Gender.MASCULINE: ("he", "him", "his", "himself"),
    Gender.FEMININE: ("she", "her", "hers", "herself"),
    Gender.NEUTRAL: (
        *("they", "them", "their", "theirs", "themself", "themselves"),
        *("ze", "zir", "zirs", "zirself", "hir", "hirs", "hirself", "xe", "xem", "xyr", "xyrs", "xemself"),
        *("ey", "em", "eir", "eirs", "emself", "fae", "faer", "faers", "faerself"),
    ),
}
GENDER_BY_FORM: dict[str, Gender] = {form: gender for gender, forms in _FORMS.items() for form in forms}


def gender_of(pronoun: str) -> Gender:
    """Gender of a pronoun form in any case; KeyError for anything else."""
    return GENDER_BY_FORM[pronoun.lower()]
