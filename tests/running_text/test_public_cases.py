"""Pronouns of public reports about resolvers, and minimal variations of them, with the right answers."""

import json
from collections import Counter

import pytest

from gapstack.running_text.answer import Answer
from gapstack.running_text.any_text_resolver import Text
from gapstack.running_text.text_resolver import TextResolver
from gapstack.running_text.windows import pronouns

LEAST = 157
"""Pronouns of 174 that are right, less five that processors may round differently."""


@pytest.fixture(scope="module")
def cases(gap_folder) -> list[dict]:
    """The cases, which are in the folder next to the data."""
    path = gap_folder.parent / "cases" / "running_text.json"
    if not path.is_file():
        pytest.skip(f"{path.name} is not on this machine")
    return json.loads(path.read_text(encoding="utf-8"))


def is_right(right: str, answer: Answer) -> bool:
    """True if an answer is one of ``A|B``; ``A+B`` are people together, ``=A`` is the whole name, NOBODY is nobody."""
    best = answer.antecedent
    if best is None:
        return "NOBODY" in right.split("|")
    shown = f"{best.name} / {best.full_name}".lower()
    for option in right.split("|"):
        if option.startswith("="):
            if best.name == option[1:]:
                return True
            continue
        names = option.lower().split("+")
        group = len(names) > 1 or " and " in option
        if all(name in shown for name in names) and (group or " and " not in best.full_name):
            return True
    return False


def test_public_cases(cases):
    texts = list(dict.fromkeys(case["text"] for case in cases))
    answers = dict(zip(texts, TextResolver().stream(map(Text, texts)), strict=True))
    wrong = Counter()
    for case in cases:
        of_pronoun = {answer.pronoun.start: answer for answer in answers[case["text"]]}
        if case["start"] not in of_pronoun or not is_right(case["right"], of_pronoun[case["start"]]):
            wrong[case["kind"]] += 1
    assert len(cases) - wrong.total() >= LEAST, dict(wrong)


def test_every_pronoun_of_the_cases_is_found(cases):
    found = {case["text"]: {span.start for span in pronouns(case["text"])} for case in cases}
    assert [case["text"] for case in cases if case["start"] not in found[case["text"]]] == []
