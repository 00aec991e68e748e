"""Rows that the readers of extra corpora add."""

import re
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import NamedTuple

from gapstack.data.augment import swap_names
from gapstack.data.corpus import Corpus
from gapstack.data.example import GENDER_BY_FORM, Example, Gender, Label, Replacement, Span, edit
from gapstack.errors import DataError, GapstackError

PRONOUN = re.compile(rf"\b(?:{'|'.join(sorted(GENDER_BY_FORM, key=len, reverse=True))})\b", re.IGNORECASE)
"""Matches a pronoun of any gender, as a whole word."""
_TOKENISER_SPACE = re.compile(
    r"(?<=\w) (?=[,.;:!?)]|n't\b|'(?:s|re|ve|ll|d|m)\b)|(?<=[)']) (?=[,.;:!?])|(?<=\() "
)


@dataclass
class ExtraRows:
    """Rows of a corpus that was not made for GAP, A before B, and counts of skipped items by reason."""

    name: str = ""
    neutral: bool = False
    examples: list[Example] = field(default_factory=list)
    skipped: Counter[str] = field(default_factory=Counter)

    @property
    def corpus(self) -> Corpus:
        """The rows."""
        return Corpus(self.examples, name=self.name)

    def skip(self, reason: str) -> None:
        """Count an item that is not a row."""
        self.skipped[reason] += 1

    def add(self, name: str, text: str, pronoun: Span, right: Span, other: Span) -> None:
        """Add a row whose pronoun refers to ``right``, without the spaces that a tokeniser put before punctuation."""
        if pronoun.overlaps(right) or pronoun.overlaps(other) or right.overlaps(other):
            self.skip("mentions overlap")
        else:
            spaces = [Replacement(*match.span(), "") for match in _TOKENISER_SPACE.finditer(text)]
            self.keep(edit(Example(name, text, pronoun, right, other, None, Label.A), spaces))

    def keep(self, example: Example) -> None:
        """Add an example with the first name as A; skip it if its pronoun is unknown, or neutral and not wanted."""
        gender = GENDER_BY_FORM.get(example.pronoun_text.lower())
        if gender is None:
            self.skip("the pronoun is not a person's")
        elif gender == Gender.NEUTRAL and not self.neutral:
            self.skip("the pronoun has no gender")
        else:
            self.examples.append(example if example.a < example.b else swap_names(example))


Reader = Callable[[ExtraRows], None]
"""Adds the rows of a corpus."""


class ExtraSource(NamedTuple):
    """One extra corpus: its reader, the data sets it reads, and the test splits and suites that share rows with it."""

    read: Reader
    datasets: tuple[str, ...]
    contaminates: tuple[str, ...] = ()


def read_rows(name: str, read: Reader, *, neutral: bool = False) -> ExtraRows:
    """Rows that a reader adds; DataError, with the number of the item, for unexpected content of its files."""
    rows = ExtraRows(name, neutral)
    try:
        read(rows)
    except GapstackError:
        raise
    except (LookupError, ValueError, TypeError) as problem:
        read_so_far = len(rows.examples) + rows.skipped.total()
        raise DataError(
            f"{name}, item {read_so_far + 1}: {type(problem).__name__}: {problem}",
            expected="the published files",
            remedy="Get them again (see `gap data status`)",
        ) from problem
    return rows
