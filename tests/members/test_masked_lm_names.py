"""Texts told with other names: every row can be, A and B alike."""

import re
from dataclasses import replace

import pytest

from gapstack.corpus import Corpus, Example, Span
from gapstack.corpus.pronouns import Gender
from gapstack.encoding.encoders import load_encoder
from gapstack.members.masked_lm.name_substitution import COMMON_NAMES, repeated, single_pieces, tell, usable


def example(text: str, pronoun: str, a: str, b: str) -> Example:
    """The first place of each, B behind A."""
    at_a = text.index(a)
    at_b = text.index(b, at_a + len(a))
    at = text.index(pronoun)
    spans = [(at, at + len(pronoun)), (at_a, at_a + len(a)), (at_b, at_b + len(b))]
    return Example("x", text, *(Span(*span) for span in spans))


@pytest.mark.parametrize(
    ("row", "expected"),
    [
        (example("Ann saw Bo. she and Ann ran", "she", "Ann", "Bo"), "X saw Y. # and X ran"),
        # whole words only, and the longer name first
        (
            example("Ann met Ann Lee. she left Annual Ann Lee", "she", "Ann", "Ann Lee"),
            "X met Y. # left Annual Y",
        ),
        # nobody says whose the third is
        (example("Ann met Ann. she saw Ann", "she", "Ann", "Ann"), "X met Y. # saw Ann"),
        # three words, and a name within a word
        (example("McAnn de la Cruz met Bo's she", "she", "Ann de la Cruz", "Bo"), "McX met Y's #"),
    ],
)
def test_names_are_replaced_wherever_they_stand(row, expected):
    told = tell(row, "X", "Y", "#")
    assert told.text == expected
    assert (told.a_text, told.b_text, told.words(told.pronoun)) == ("X", "Y", "#")
    swapped = tell(replace(row, a=row.b, b=row.a), "Y", "X", "#")
    assert swapped.text == expected
    assert (swapped.a_text, swapped.b_text) == ("Y", "X")


def test_every_row_can_be_told(sample):
    for row in sample:
        told = tell(row, "X", "Y")
        assert (told.a_text, told.b_text, told.pronoun_text) == ("X", "Y", row.pronoun_text)


def test_names_in_the_text_are_left_out_unless_too_few_are_left():
    assert usable("mary saw Annual reports", ["Mary", "Ann", "Eve"]) == ["Ann", "Eve"]
    assert usable("Mary saw Ann", ["Mary", "Ann", "Eve"]) == ["Mary", "Ann", "Eve"]


def test_the_embedded_encoder_knows_a_dozen_names_of_each_gender():
    encoder = load_encoder()
    for gender, listed in COMMON_NAMES.items():
        found = single_pieces(encoder, COMMON_NAMES, gender)
        assert len(found) >= 12
        assert list(found) == [name for name in listed if name in found]
        assert encoder.tokenizer.convert_ids_to_tokens(list(found.values())) == [n.lower() for n in found]
    assert len({name for names in COMMON_NAMES.values() for name in names}) == sum(
        map(len, COMMON_NAMES.values())
    )


KNOWN = {Gender.FEMININE: {"Mary": 1, "Eve": 2, "Joan": 3}}


def test_a_riddle_masks_a_later_mention_behind_both_names():
    row = example("Ann met Bo. Ann, Bo and Ann sang when she left", "she", "Ann", "Bo")
    riddles, answers = repeated(Corpus([row]), KNOWN, "#", most=10, seed=0)
    assert len(riddles) == 2  # as many for Bo as for Ann, though Ann comes more often
    texts = []
    for riddle, answer in zip(riddles, answers, strict=True):
        assert riddle.words(riddle.pronoun) == "#"
        assert riddle.label is None
        name = {number: name for name, number in KNOWN[Gender.FEMININE].items()}[answer]
        solved = riddle.text.replace("#", name)
        assert name in riddle.text  # named elsewhere, so that it can be known
        texts.append(solved.replace(riddle.a_text, "Ann").replace(riddle.b_text, "Bo"))
        assert riddle.text.index("#") > max(riddle.a.end, riddle.b.end)
    assert texts == [row.text] * 2


def test_riddles_are_balanced_bounded_and_hang_on_the_seed(sample):
    rows = Corpus(replace(e, text=f"{e.text} {e.a_text} met {e.b_text} and {e.a_text}.") for e in sample)
    numbers = {name: place for place, name in enumerate(sum(COMMON_NAMES.values(), ()))}
    known = {gender: {name: numbers[name] for name in names} for gender, names in COMMON_NAMES.items()}
    for most in (20, 10_000):
        riddles, answers = repeated(rows, known, "#", most, seed=1)
        assert 20 <= len(riddles) == len(answers) <= most
        again, _ = repeated(rows, known, "#", most, seed=1)
        other, _ = repeated(rows, known, "#", most, seed=2)
        assert riddles.fingerprint == again.fingerprint != other.fingerprint
        asks_first = 0
        for riddle, answer in zip(riddles, answers, strict=True):
            names = next(names for names in known.values() if answer in names.values())
            first = next(word for word in re.findall(r"\w+", riddle.text) if word in names)
            asks_first += names[first] == answer
        assert 2 * asks_first == len(riddles)
