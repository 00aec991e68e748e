"""Winogender and WinoBias: an occupation, another person, and a pronoun whose gender must not matter.

Both are audit suites. A member that was trained on one must not be audited with it.
"""

from __future__ import annotations

import re
from pathlib import Path

from gapstack.corpus import sources
from gapstack.corpus.cells import Row, read_table
from gapstack.corpus.example import Span, occurrences
from gapstack.corpus.extra.extra_corpus import (
    PRONOUN,
    ExtraRows,
    file_of,
    read_text,
    with_article,
)
from gapstack.errors import DataError, DataNotFoundError, Place

_WINOGENDER_ID = re.compile(r"([a-z]+)\.([a-z]+)\.([01])\.(male|female|neutral)\.txt")
_BRACKET = re.compile(r"\[ ?([^\[\]]*?) ?\]")
_NUMBERED = re.compile(r"\d+ ")


def read_winogender(data: Path | None, into: ExtraRows) -> None:
    """Read the 720 Winogender sentences (Rudinger et al. 2018).

    An id names occupation, participant, answer (0 the occupation, 1 the participant) and gender. Mentions
    include their article, as WinoBias's and DPR's do. "someone" as participant counts as a name.
    """

    def parse(row: Row) -> None:
        parts = _WINOGENDER_ID.fullmatch(row["sentid"])
        if parts is None:
            raise row.error(
                "sentid",
                f"found {row['sentid']!r}",
                expected="occupation.participant.answer.gender.txt, the answer 0 or 1",
            )
        text = row["sentence"]
        spans: list[Span] = []
        for words in parts[1], parts[2]:
            places = occurrences(text, words, any_case=True)
            if len(places) != 1:
                raise row.error("sentence", f"{words!r} occurs {len(places)} times", expected="once")
            spans.append(with_article(text, places[0]))
        pronouns = [Span(*match.span()) for match in PRONOUN.finditer(text)]
        if len(pronouns) != 1:
            raise row.error("sentence", f"it has {len(pronouns)} pronouns", expected="one")
        right = int(parts[3])
        place = Place(row.file, row.line)
        name = f"winogender-{row['sentid'].removesuffix('.txt')}"
        into.add(name, text, pronouns[0], spans[right], spans[1 - right], place)

    read_table(file_of("winogender", "all_sentences.tsv", data), (("sentid", "sentence"),), parse)


def read_winobias(release: str, data: Path | None, into: ExtraRows) -> None:
    """Read all eight files of a WinoBias release (Zhao et al. 2018): ``current`` or ``original``.

    A line has the right occupation in brackets, and last the pronoun; a further bracket between them is
    passed over. The other occupation is not marked: it is the one other occupation of the release's
    bracketed ones that the sentence has. Lines with none (misspelt ones) or several are skipped.
    """
    folder = sources.require("winobias", data)
    if release == "original":
        folder /= "original_site"
    paths = sorted(folder.glob("*_stereotyped_type?.txt.*"))
    if len(paths) != 8:
        raise DataNotFoundError(
            f"{folder} has {len(paths)} WinoBias files; expected 8 (pro and anti, type 1 and 2)"
        )
    lines: list[tuple[str, Place, list[re.Match[str]], str]] = []
    for path in paths:
        kind, part = path.name.replace("_stereotyped_", "-").split(".txt.")
        for number, line in enumerate(read_text(path).split("\n"), start=1):
            if not line.strip():
                continue
            marked = _NUMBERED.sub("", line, count=1) if release == "current" else line
            brackets = list(_BRACKET.finditer(marked))
            if not brackets or not PRONOUN.fullmatch(brackets[-1][1]):
                raise DataError(
                    "the last bracket is no pronoun",
                    place=Place(path, number),
                    expected="[an occupation] ... [he]",
                )
            lines.append(
                (f"winobias-{release}-{kind}-{part}-{number}", Place(path, number), brackets, marked)
            )
    occupations = {
        _occupation(b[1]) for *_, brackets, _ in lines for b in brackets if not PRONOUN.fullmatch(b[1])
    }
    any_occupation = re.compile(
        rf"\b(?:{'|'.join(sorted(map(re.escape, occupations), key=len, reverse=True))})\b", re.IGNORECASE
    )
    for name, place, brackets, marked in lines:
        text, spans = _without_brackets(marked, brackets)
        right = [span for span in spans if not PRONOUN.fullmatch(text[slice(*span)])]
        if len(right) != 1:
            into.skip("not one occupation is in brackets")
            continue
        others = [
            Span(*match.span())
            for match in any_occupation.finditer(text)
            if not Span(*match.span()).overlaps(right[0])
        ]
        if len(others) != 1:
            into.skip("not one other occupation is in the sentence")
            continue
        into.add(name, text, spans[-1], with_article(text, right[0]), with_article(text, others[0]), place)


def _occupation(words: str) -> str:
    return re.sub(r"^(?:the|an?|some) | 's$", "", words.strip().lower())


def _without_brackets(marked: str, brackets: list[re.Match[str]]) -> tuple[str, list[Span]]:
    """The sentence without its brackets (and a blank just inside one), and the spans of what was in them."""
    pieces: list[str] = []
    spans: list[Span] = []
    at = length = 0
    for bracket in brackets:
        pieces += [marked[at : bracket.start()], bracket[1]]
        start = length + bracket.start() - at
        length = start + len(bracket[1])
        spans.append(Span(start, length))
        at = bracket.end()
    return "".join([*pieces, marked[at:]]), spans
