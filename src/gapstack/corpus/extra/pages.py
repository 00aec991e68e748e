"""Sentences and snippets from Wikipedia and subtitles with two names and a pronoun: KnowRef, MAP, Attree's Neither."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Iterator
from pathlib import Path

from gapstack.corpus import sources, strict_json
from gapstack.corpus.cells import Row, read_table, whole_number
from gapstack.corpus.example import Example, Label, Span, occurrences
from gapstack.corpus.extra.extra_corpus import ExtraRows, file_of, nearest, read_text
from gapstack.corpus.pronouns import GENDER_BY_FORM
from gapstack.errors import DataError, Place

_MAP_COLUMNS = ["id", "full-text", "A", "A-offset", "B", "B-offset", "Pronoun", "Pronoun-offset", "Answer"]
_MAP_ANSWERS = {"0": Label.A, "2": Label.B, "3": Label.NEITHER, "1": None}
_NEITHER_COLUMNS = (
    *("id", "text", "pronoun", "pronoun-offset", "a", "a-offset", "a-coref"),
    *("b", "b-offset", "b-coref", "url"),
)
_KNOWREF_CANDIDATES = ("candidate0", "candidate1", "correct_candidate")
_KNOWREF: dict[str, tuple[str, type[str] | list[type[str]], str]] = {
    # file, type of a candidate in it, and where the rows' ids begin
    "test": ("knowref_test.json", [str], "knowref"),
    "train": ("knowref_train.json", str, "knowref-train"),
}
# Phrases of the two KnowRef sentences and the MAP snippet that share thirteen words with GAP development or
# stage 2; found by shared_passages, and a test looks for more.
_IN_GAP = (
    "meant that finances became pretty tight",
    "until he believes him dead",
    "she won a gold award in the Open",
)
# Phrases of the three sentences of KnowRef's training part that are the test's with other names.
_IN_KNOWREF_TEST = (
    "when she finds out she is cheating on her",
    "because she believes that she does not love her",
    "suffers feelings of guilt since he is Rose",
)


def _is_in_gap(text: str, into: ExtraRows) -> bool:
    shares = any(phrase in text for phrase in _IN_GAP)
    if shares:
        into.skip("the passage is in GAP or in stage 2")
    return shares


def read_knowref(split: str, data: Path | None, into: ExtraRows) -> None:
    """Read one split of KnowRef (Emami et al. 2019): ``test`` (1,269 sentences) or ``train`` (5,220).

    Sentences of the training part have first names in the place of their own, so copies of the test's are skipped.
    ``correct_candidate`` is taken as the answer: ``correct_candidate_idx``, which the test part has, contradicts it in
    299 rows, and reading them shows the words to be right.
    """
    file, candidate_type, prefix = _KNOWREF[split]
    path = file_of("knowref", file, data)
    shape = {"sentence_with_pronoun": str, **dict.fromkeys(_KNOWREF_CANDIDATES, candidate_type)}
    items = strict_json.read(read_text(path).encode(), path, shape=[shape])
    for number, item in enumerate(items, start=1):
        place = Place(path, column=f"item {number}")
        marked = item["sentence_with_pronoun"]
        named = [item[key] for key in _KNOWREF_CANDIDATES]
        if not all(named):
            raise DataError(
                "has an empty candidate", place=place, expected="two candidates and the right one"
            )
        *candidates, answer = named if candidate_type is str else [one[0] for one in named]
        brackets = list(re.finditer(r"\[(\w+)\]", marked))
        if not brackets or answer not in candidates:
            raise DataError("has no pronoun in brackets, or another answer", place=place, expected="[he]")
        if len(brackets) > 1:
            into.skip("two pronouns are in brackets")
            continue
        pronoun = Span(brackets[0].start(), brackets[0].start() + len(brackets[0][1]))
        plain = marked[: brackets[0].start()] + brackets[0][1] + marked[brackets[0].end() :]
        if _is_in_gap(plain, into):
            continue
        if split == "train" and any(phrase in plain for phrase in _IN_KNOWREF_TEST):
            into.skip("the sentence is in the test part, with other names")
            continue
        right = candidates.index(answer)
        spans = [occurrences(plain, candidate, any_case=True) for candidate in candidates]
        if not all(spans) or candidates[0] == candidates[1]:
            into.skip("a candidate is not in the sentence, or both are one")
            continue
        one, other = (nearest(places, pronoun) for places in (spans[right], spans[1 - right]))
        if one.overlaps(other) or one.overlaps(pronoun) or other.overlaps(pronoun):
            into.skip("mentions overlap")
            continue
        into.add(f"{prefix}-{number}", plain, pronoun, one, other, place)


def read_map(data: Path | None, into: ExtraRows, *, rewritten: bool = False) -> None:
    """Read MAP, the Maybe Ambiguous Pronoun snippets (Cao & Daumé 2020), as they were before any rewriting.

    183 snippets from Wikipedia in GAP's form, found apart from GAP; the file has each of them ten times with
    cues of gender taken away, and those copies are skipped unless ``rewritten`` asks for them too (ids then say
    what was rewritten: ``+pro`` pronouns, ``+ent`` names, ``+lex`` nouns, ``+addr`` titles). Some copies have
    offsets that miss their words, and are skipped. The answer is 0 for A, 2 for B, 3 for neither and
    1 for both, which no row here can say.
    """
    path = file_of("gicoref-map", "map.csv", data)
    rows = _csv_rows(path)
    _, header = next(rows)
    if header[: len(_MAP_COLUMNS)] != _MAP_COLUMNS:
        raise DataError(f"the header is {header}", place=Place(path, 1), expected=", ".join(_MAP_COLUMNS))
    for line, cells in rows:
        place = Place(path, line)
        if not len(_MAP_COLUMNS) <= len(cells) <= len(header):  # the last judgements may be missing
            raise DataError(
                f"the row has {len(cells)} cells",
                place=place,
                expected=f"{len(_MAP_COLUMNS)} to {len(header)}",
            )
        row = dict(zip(_MAP_COLUMNS, cells, strict=False))
        if "+" in row["id"] and not rewritten:
            into.skip("a rewritten copy")
            continue
        if _is_in_gap(row["full-text"], into):
            continue
        if row["Answer"] not in _MAP_ANSWERS:
            raise DataError(f"the answer is {row['Answer']!r}", place=place, expected="0, 1, 2 or 3")
        label = _MAP_ANSWERS[row["Answer"]]
        if label is None:
            into.skip("the pronoun is both names")
            continue
        # the texts have line breaks, which no GAP file can hold
        text = row["full-text"].replace("\n", " ")
        try:
            spans = [_at(text, row[c], row[f"{c}-offset"], place, c) for c in ("Pronoun", "A", "B")]
        except DataError:
            if "+" not in row["id"]:
                raise
            into.skip("a rewritten copy's offsets miss its words")
            continue
        _keep(into, f"map-{row['id']}", text, spans, label, place)


def _csv_rows(path: Path) -> Iterator[tuple[int, list[str]]]:
    """Rows of a CSV whose quoted cells may run over lines, each with its last line."""
    rows = csv.reader(io.StringIO(read_text(path, windows=True)), strict=True)
    try:
        for cells in rows:
            yield rows.line_num, cells
    except csv.Error as problem:
        raise DataError(
            f"a quoted cell is broken ({problem})",
            place=Place(path, rows.line_num),
            expected="quotes that close",
        ) from None


def read_neither_attree(data: Path | None, into: ExtraRows) -> None:
    """Read the 253 NEITHER rows that the winner added (Attree 2019), in snippets of GAP test.

    Their ids are those of GAP test; here they begin with ``neither-attree-`` and carry their number. They keep
    their pages' URLs, so that folds grouped by page keep them with the rows of GAP test.
    """

    def parse(row: Row) -> None:
        place = Place(row.file, row.line)
        for column in ("a-coref", "b-coref"):
            if row[column].lower() != "false":
                raise row.error(column, f"found {row[column]!r}", expected="False: all rows are NEITHER")
        spans = [_at(row["text"], row[c], row[f"{c}-offset"], place, c) for c in ("pronoun", "a", "b")]
        name = f"neither-attree-{row.line - 1}-{row['id']}"
        _keep(into, name, row["text"], spans, Label.NEITHER, place, url=row["url"] or None)

    read_table(sources.require("neither-attree", data), (_NEITHER_COLUMNS,), parse)


def _at(text: str, words: str, offset: str, place: Place, column: str) -> Span:
    start = whole_number(offset)
    if start is None or not words or not text.startswith(words, start):
        raise DataError(
            f"at {offset[:40]!r} the text has no {words!r}",
            place=Place(place.file, place.line, f"{column}-offset"),
            expected="characters from 0 up to where the words stand",
        )
    return Span(start, start + len(words))


def _keep(
    into: ExtraRows,
    name: str,
    text: str,
    spans: list[Span],
    label: Label,
    place: Place,
    url: str | None = None,
) -> None:
    pronoun, a, b = spans
    if text[slice(*pronoun)].lower() not in GENDER_BY_FORM:
        raise DataError(f"{text[slice(*pronoun)]!r} is no pronoun", place=place, expected="a pronoun")
    if pronoun.overlaps(a) or pronoun.overlaps(b) or a.overlaps(b):
        into.skip("mentions overlap")
        return
    if b < a:
        a, b = b, a
        label = {Label.A: Label.B, Label.B: Label.A}.get(label, label)
    into.keep(Example(name, text, pronoun, a, b, url, label))
