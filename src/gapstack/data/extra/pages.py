"""Sentences with two persons and a pronoun: KnowRef, MAP, Attree's NEITHER rows, Winogender and WinoBias."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Iterable
from pathlib import Path

from typing_extensions import TypedDict

from gapstack.data import sources
from gapstack.data.cells import Row, read_json, read_table, read_text
from gapstack.data.example import Label, Span, occurrences
from gapstack.data.extra.extra_corpus import PRONOUN, ExtraRows, nearest, with_article
from gapstack.data.gap_files import GAP_COLUMNS, span_at
from gapstack.data.sources import file_of
from gapstack.errors import DataError, DataNotFoundError, Place

_MAP_COLUMNS = ("id", "full-text", "A", "A-offset", "B", "B-offset", "Pronoun", "Pronoun-offset", "Answer")
_MAP_ANSWERS = {"0": Label.A, "2": Label.B, "3": Label.NEITHER, "1": None}
# Phrases of the two KnowRef sentences and the MAP snippet that share thirteen words with GAP development or
# stage 2; found by shared_passages, and a test looks for more.
_IN_GAP = (
    "meant that finances became pretty tight",
    "until he believes him dead",
    "she won a gold award in the Open",
)
_SHARED = "the passage is in GAP or in stage 2"
# Phrases of the three sentences of KnowRef's training part that are the test's with other names.
_IN_KNOWREF_TEST = (
    "when she finds out she is cheating on her",
    "because she believes that she does not love her",
    "suffers feelings of guilt since he is Rose",
)
_WINOGENDER_ID = re.compile(r"([a-z]+)\.([a-z]+)\.([01])\.(male|female|neutral)\.txt")
_BRACKET = re.compile(r"\[ ?([^\[\]]*?) ?\]")


class _KnowRef(TypedDict):
    sentence_with_pronoun: str
    candidate0: str | list[str]
    candidate1: str | list[str]
    correct_candidate: str | list[str]


def read_knowref(split: str, data: Path | None, into: ExtraRows) -> None:
    """Read one split of KnowRef (Emami et al. 2019): ``test`` (1,269 sentences) or ``train`` (5,220).

    ``correct_candidate`` is taken as the answer: ``correct_candidate_idx``, which the test part has, contradicts it in
    299 rows, and reading them shows the words to be right.
    """
    path = file_of("knowref", f"knowref_{split}.json", data)
    prefix = "knowref" if split == "test" else "knowref-train"
    items: list[_KnowRef] = read_json(read_text(path).encode(), path, kind=list[_KnowRef])
    for number, item in enumerate(items, start=1):
        named = (item["candidate0"], item["candidate1"], item["correct_candidate"])
        # the test part has lists of mentions
        *candidates, answer = (name if isinstance(name, str) else "".join(name[:1]) for name in named)
        brackets = list(re.finditer(r"\[(\w+)\]", item["sentence_with_pronoun"]))
        if not brackets or answer not in candidates or not all(candidates):
            problem = "has no pronoun in brackets, or its answer is not a candidate"
            raise DataError(problem, place=Place(path, column=f"item {number}"), expected="[he]")
        text, (pronoun, *_) = _without_brackets(item["sentence_with_pronoun"], brackets)
        spans = {name: occurrences(text, name, any_case=True) for name in candidates}
        if len(brackets) > 1:
            into.skip("two pronouns are in brackets")
        elif any(phrase in text for phrase in _IN_GAP):
            into.skip(_SHARED)
        elif split == "train" and any(phrase in text for phrase in _IN_KNOWREF_TEST):
            into.skip("the sentence is in the test part, with other names")
        elif not all(spans.values()) or len(spans) == 1:
            into.skip("a candidate is not in the sentence, or both are one")
        else:
            other = candidates[1 - candidates.index(answer)]
            right, wrong = (nearest(spans[name], pronoun) for name in (answer, other))
            into.add(f"{prefix}-{number}", text, pronoun, right, wrong)


def read_map(data: Path | None, into: ExtraRows, *, rewritten: bool = False) -> None:
    """Read MAP, the Maybe Ambiguous Pronoun snippets (Cao & Daumé 2020): 183 from Wikipedia, in GAP's form.

    The file has each of them ten times with cues of gender removed; these copies are read only if ``rewritten`` (ids
    then say what was rewritten: ``+pro`` pronouns, ``+ent`` names, ``+lex`` nouns, ``+addr`` titles). The answer is 0
    for A, 2 for B, 3 for neither and 1 for both, which no label can express.
    """
    path = file_of("gicoref-map", "map.csv", data)
    reader = csv.reader(io.StringIO(read_text(path)), strict=True)
    try:
        rows = [Row(path, reader.line_num, _MAP_COLUMNS, cells) for cells in reader]
    except csv.Error as problem:
        place = Place(path, reader.line_num)
        raise DataError(
            f"a quoted cell is broken ({problem})", place=place, expected="closed quotes"
        ) from None
    header, *rows = rows
    if tuple(header.cells[: len(_MAP_COLUMNS)]) != _MAP_COLUMNS:
        raise header.error(None, f"the header is {header.cells}", expected=", ".join(_MAP_COLUMNS))
    for row in rows:
        if (
            len(row.cells) < len(_MAP_COLUMNS) or row["Answer"] not in _MAP_ANSWERS
        ):  # more columns: judgements
            expected = f"{len(_MAP_COLUMNS)} cells or more, the answer 0, 1, 2 or 3"
            raise row.error("Answer", f"found {row.cells}", expected=expected)
        is_copy = "+" in row["id"]
        label = _MAP_ANSWERS[row["Answer"]]
        text = row["full-text"].replace("\n", " ")  # GAP files cannot hold line breaks
        if is_copy and not rewritten:
            into.skip("a rewritten copy")
        elif any(phrase in text for phrase in _IN_GAP):
            into.skip(_SHARED)
        elif label is None:
            into.skip("the pronoun is both names")
        else:
            try:
                spans = [span_at(row, column, text) for column in ("Pronoun", "A", "B")]
            except DataError:
                if not is_copy:
                    raise
                into.skip("a rewritten copy's offsets miss its words")
            else:
                into.add_labelled(f"map-{row['id']}", text, spans, label)


def read_neither_attree(data: Path | None, into: ExtraRows) -> None:
    """Read the 253 NEITHER rows that the winner added (Attree 2019), in snippets and with the URLs of GAP test."""

    def parse(row: Row) -> None:
        for column in ("A-coref", "B-coref"):
            if row[column].lower() != "false":
                raise row.error(column, f"found {row[column]!r}", expected="False: all rows are NEITHER")
        spans = [span_at(row, column, row["Text"]) for column in ("Pronoun", "A", "B")]
        name = f"neither-attree-{row.line - 1}-{row['ID']}"
        into.add_labelled(name, row["Text"], spans, Label.NEITHER, row["URL"] or None)

    read_table(sources.require("neither-attree", data), (GAP_COLUMNS,), parse)


def read_winogender(data: Path | None, into: ExtraRows) -> None:
    """Read the 720 Winogender sentences (Rudinger et al. 2018); mentions include their article.

    An id names occupation, participant, answer (0 the occupation, 1 the participant) and gender.
    """

    def parse(row: Row) -> None:
        parts = _WINOGENDER_ID.fullmatch(row["sentid"])
        if parts is None:
            expected = "occupation.participant.answer.gender.txt, the answer 0 or 1"
            raise row.error("sentid", f"found {row['sentid']!r}", expected=expected)
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
        name = f"winogender-{row['sentid'].removesuffix('.txt')}"
        into.add(name, text, pronouns[0], spans[right], spans[1 - right])

    read_table(file_of("winogender", "all_sentences.tsv", data), (("sentid", "sentence"),), parse)


def read_winobias(release: str, data: Path | None, into: ExtraRows) -> None:
    """Read all eight files of a WinoBias release (Zhao et al. 2018): ``current`` or ``original``.

    A line has the right occupation in brackets, and last the pronoun. The other occupation is the one other of the
    release's bracketed ones that the sentence has; lines with none (misspelt ones) or several are skipped.
    """
    folder = sources.require("winobias", data)
    if release == "original":
        folder /= "original_site"
    paths = sorted(folder.glob("*_stereotyped_type?.txt.*"))
    if len(paths) != 8:
        raise DataNotFoundError(
            f"{folder} has {len(paths)} WinoBias files; expected 8 (pro and anti, type 1 and 2)"
        )
    lines: list[tuple[str, str, list[Span]]] = []
    occupations: set[str] = set()
    for path in paths:
        kind, part = path.name.replace("_stereotyped_", "-").split(".txt.")
        for number, line in enumerate(read_text(path).split("\n"), start=1):
            if not line.strip():
                continue
            marked = re.sub(r"\d+ ", "", line, count=1) if release == "current" else line
            text, spans = _without_brackets(marked, _BRACKET.finditer(marked))
            if not spans or not PRONOUN.fullmatch(text[slice(*spans[-1])]):
                place = Place(path, number)
                raise DataError("the last bracket is not a pronoun", place=place, expected="[he]")
            lines.append((f"winobias-{release}-{kind}-{part}-{number}", text, spans))
            words = (text[slice(*span)].strip().lower() for span in spans)
            occupations.update(
                re.sub(r"^(?:the|an?|some) | 's$", "", w) for w in words if not PRONOUN.fullmatch(w)
            )
    longest_first = sorted(map(re.escape, occupations), key=len, reverse=True)
    any_occupation = re.compile(rf"\b(?:{'|'.join(longest_first)})\b", re.IGNORECASE)
    for name, text, spans in lines:
        right = [span for span in spans if not PRONOUN.fullmatch(text[slice(*span)])]
        found = (Span(*match.span()) for match in any_occupation.finditer(text))
        others = [span for span in found if right and not span.overlaps(right[0])]
        if len(right) != 1:
            into.skip("not one occupation is in brackets")
        elif len(others) != 1:
            into.skip("not one other occupation is in the sentence")
        else:
            into.add(name, text, spans[-1], with_article(text, right[0]), with_article(text, others[0]))


def _without_brackets(marked: str, brackets: Iterable[re.Match[str]]) -> tuple[str, list[Span]]:
    """The sentence without its brackets (and a blank just inside one), and the spans of what was in them."""
    text, at, spans = "", 0, []
    for bracket in brackets:
        text += marked[at : bracket.start()]
        spans.append(Span(len(text), len(text) + len(bracket[1])))
        text += bracket[1]
        at = bracket.end()
    return text + marked[at:], spans
