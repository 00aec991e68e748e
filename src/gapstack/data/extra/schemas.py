"""Winograd-like schemas: DPR, WSC273 and WinoGrande.

The last two have a blank in place of the pronoun. It is filled if both candidates are first names of one sex, and the
words around the blank leave one case ("because _ was", "to _.", "_'s"). Otherwise the schema is skipped.
"""

from __future__ import annotations

import re
from itertools import zip_longest
from pathlib import Path

from typing_extensions import TypedDict

from gapstack.data.cells import read_json, read_table, read_text
from gapstack.data.example import Gender, Span, occurrences
from gapstack.data.extra.extra_corpus import ExtraRows, blocks, nearest
from gapstack.data.gender import FirstNames, first_names
from gapstack.data.sources import file_of
from gapstack.errors import DataError, Place

BLANK = "\0"  # stands for the blank of all files
_FORMS = {
    Gender.MASCULINE: {"subject": "he", "object": "him", "possessive": "his"},
    Gender.FEMININE: {"subject": "she", "object": "her", "possessive": "her"},
}


def _word_set(words: str) -> frozenset[str]:
    return frozenset(words.split())


_SUBORDINATORS = _word_set(
    "because since as so but although though while when whenever until unless if after before that and"
)
_PREPOSITIONS = _word_set("to with of by from on at about toward towards against behind near beside without")
_FINITE = _word_set(
    "is was are were has had have does did do can could will would shall should may might must "
    "always never often usually really still just only already also "
    "isn't wasn't hasn't hadn't doesn't didn't can't couldn't won't wouldn't shouldn't"
)


class _WinoGrandeLine(TypedDict):
    sentence: str
    option1: str
    option2: str
    answer: str


def read_dpr(split: str, data: Path | None, into: ExtraRows) -> None:
    """Read one split of Definite Pronoun Resolution (Rahman & Ng 2012): ``train`` (1,316) or ``test`` (564).

    Blocks of four lines: sentence, pronoun, two candidates with a comma between, the right one.
    """
    path = file_of("dpr", f"{split}.c.txt", data)
    for number, (place, (text, pronoun, both, answer)) in enumerate(blocks(path, 4), start=1):
        candidates, right = _candidates(both, answer, place)
        places = occurrences(text, pronoun)
        if not places or len(candidates) != 2:
            raise DataError(
                f"the sentence has no {pronoun!r}, or there are {len(candidates)} candidates",
                place=place,
                expected="the pronoun, and two candidates with a comma between",
            )
        if len(places) > 1:
            into.skip("the pronoun occurs more than once")
            continue
        _add(into, f"dpr-{split}-{number}", text, places[0], candidates, right)


def read_wsc273(data: Path | None, into: ExtraRows) -> None:
    """Read the Winograd schemas (Levesque et al. 2012): blocks of sentence, mark, candidates, the right one."""
    path = file_of("wsc", "wsc273.txt", data)
    names = first_names(data)
    for number, (place, (sentence, _, both, answer)) in enumerate(blocks(path, 4), start=1):
        candidates, right = _candidates(both, answer, place)
        if sentence.count("[MASK]") != 1:
            raise DataError("the sentence has not one [MASK]", place=place, expected="one [MASK]")
        spaced = re.sub(r" *\[MASK\] *", f" {BLANK} ", sentence).strip()
        text = re.sub(rf"{BLANK} (?=[.,;:!?'])", BLANK, spaced)
        _fill(into, f"wsc273-{number}", text, candidates, right, names, marked=False)


def read_winogrande(data: Path | None, into: ExtraRows) -> None:
    """Read WinoGrande's training schemas (Sakaguchi et al. 2020), two lines of ``train.tsv`` each.

    A line is the sentence up to and including one candidate, the rest, and 1 if this candidate is right.
    """
    path = file_of("winogrande", "train.tsv", data)
    columns = ("index", "sentence1", "sentence2", "label", "candidate0", "candidate1")
    rows = read_table(path, (columns,), lambda row: row)
    names = first_names(data)
    for first, second in zip_longest(rows[::2], rows[1::2], fillvalue=rows[0]):
        shared = [
            (row["index"], row["sentence2"], row["candidate0"], row["candidate1"]) for row in (first, second)
        ]
        if shared[0] != shared[1] or sorted((first["label"], second["label"])) != ["0", "1"]:
            problem = "this line and its neighbour are not one schema"
            raise second.error(None, problem, expected="the same index, rest and candidates, labels 0 and 1")
        candidates = [first["candidate0"], first["candidate1"]]
        answer = (first if first["label"] == "1" else second)["sentence1"]
        ends = [candidate for candidate in candidates if answer.endswith(" " + candidate)]
        if len(ends) != 1:
            into.skip("a candidate is not in the sentence as written")
            continue
        text = answer.removesuffix(ends[0]) + BLANK + first["sentence2"]
        right = candidates.index(ends[0])
        _fill(into, f"winogrande-{first['index']}", text, candidates, right, names, marked=True)


def read_winogrande_development(data: Path | None, into: ExtraRows) -> None:
    """Read WinoGrande's 1,267 development schemas, a JSON object a line; blanks are filled as for the training ones."""
    path = file_of("winogrande", "dev.jsonl", data)
    names = first_names(data)
    for number, line in enumerate(read_text(path).removesuffix("\n").split("\n"), start=1):
        item: _WinoGrandeLine = read_json(line.encode(), path, number, _WinoGrandeLine)
        if item["answer"] not in {"1", "2"} or item["sentence"].count("_") != 1:
            problem = f"the answer is {item['answer']!r}, or the sentence has not one blank"
            raise DataError(problem, place=Place(path, number), expected="1 or 2, and one _")
        text, right = item["sentence"].replace("_", BLANK), int(item["answer"]) - 1
        candidates = [item["option1"], item["option2"]]
        _fill(into, f"winogrande-dev-{number}", text, candidates, right, names, marked=True)


def _candidates(both: str, answer: str, place: Place) -> tuple[list[str], int]:
    """The candidates of a block, and the position of the right one."""
    candidates = [one.strip() for one in both.split(",")]
    if answer.strip() not in candidates:
        raise DataError(
            f"the answer {answer.strip()!r} is not one of {candidates}",
            place=Place(place.file, (place.line or 1) + 3),
            expected="one of the candidates",
        )
    return candidates, candidates.index(answer.strip())


def _fill(
    into: ExtraRows,
    name: str,
    text: str,
    candidates: list[str],
    right: int,
    names: FirstNames,
    *,
    marked: bool,
) -> None:
    """Add a schema with its blank filled, or skip it; ``marked``: possessive blanks have "'s" after them."""
    before, _, after = text.partition(BLANK)
    case = case_of_blank(before, after, marked=marked)
    genders = {names.genders.get(candidate) for candidate in candidates}
    gender = next(iter(genders))
    if len(candidates) != 2 or None in genders:
        into.skip("the candidates are not two first names")
    elif len(genders) > 1:
        into.skip("the candidates have two genders")
    elif case is None or gender is None:
        into.skip("the case of the blank is not sure")
    else:
        form = _FORMS[gender][case]
        if not before.strip() or before.rstrip()[-1] in ".!?":
            form = form.capitalize()
        if case == "possessive":
            after = re.sub(r"\A['\u2019]s\b", "", after)
        pronoun = Span(len(before), len(before) + len(form))
        _add(into, name, before + form + after, pronoun, candidates, right)


def case_of_blank(before: str, after: str, *, marked: bool) -> str | None:
    """``subject``, ``object`` or ``possessive`` for a blank between two parts of a sentence, None if unsure.

    Possessive before "'s". Subject before a finite auxiliary or an -ed form, and, if ``marked`` (no other blank is
    possessive), after a subordinator. Object at the end of a clause, and after a preposition if ``marked``.
    """
    if re.match(r"['\u2019]s\b", after):
        return "possessive"
    following = re.match(r" ?([\w'\u2019]+)", after)
    preceding = re.search(r"([\w'\u2019]+)(,?) ?\Z", before)
    word = preceding[1].lower() if preceding else ""
    opens = not before.strip() or before.rstrip()[-1] in ".!?;" or (word in _SUBORDINATORS)
    if following is None:  # a mark, or the end
        return "object" if preceding and not preceding[2] and not opens else None
    next_word = following[1].lower()
    if opens or (preceding and preceding[2]):
        sure = next_word in _FINITE or next_word.endswith("ed")
        return "subject" if sure or (marked and opens and next_word not in _PREPOSITIONS) else None
    return "object" if marked and word in _PREPOSITIONS and next_word in _SUBORDINATORS else None


def _add(into: ExtraRows, name: str, text: str, pronoun: Span, candidates: list[str], right: int) -> None:
    """Add a row with the candidates' mentions nearest to the pronoun, preceding ones first."""
    spans = []
    for candidate in candidates:
        places = [span for span in occurrences(text, candidate, any_case=True) if not span.overlaps(pronoun)]
        before = [span for span in places if span.end <= pronoun.start]
        if places:
            spans.append(nearest(before or places, pronoun))
    if len(spans) < 2 or spans[0].overlaps(spans[1]):
        into.skip("a candidate is not in the sentence as written")
    else:
        into.add(name, text, pronoun, spans[right], spans[1 - right])
