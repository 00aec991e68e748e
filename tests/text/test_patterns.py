"""A context is what the GAP paper's section 3.1 says, and nothing else."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gapstack.data import Gender, Label, Span
from gapstack.data.example import Example
from gapstack.text.grammar import parse_of
from gapstack.text.mining import Pattern, contexts, pattern_of, person_names
from tests.trees import tree

ANN_MET_BO = "Ann/p/nsubj/1 met/v/root/1 Bo/p/obj/1 ././punct/1"
SHE_LEFT = "She/r/nsubj/1 left/v/root/1 ././punct/1"
IT_RAINED = "It/o/expl/1 rained/v/root/1 ././punct/1"
# "After her death , Bo met Eve ."
BO_MET_EVE = "Bo/p/nsubj/5 met/v/root/5 Eve/p/obj/5 ././punct/5"
AFTER_HER_DEATH = f"After/a/case/2 her/r/nmod:poss/2 death/n/obl/5 ,/u/punct/2 {BO_MET_EVE}"
# "When she left , Bo met Eve ."
WHEN_SHE_LEFT = f"When/o/mark/2 she/r/nsubj/2 left/v/advcl/5 ,/u/punct/2 {BO_MET_EVE}"


def found(spec, persons, gender_of=lambda span: None, words=100):
    parse = parse_of(tree(spec, persons))
    return [
        (c.pattern, *(parse.text[slice(*span)] for span in (c.pronoun, c.a, c.b)))
        for c in contexts(parse, gender_of, words)
    ]


CASES = {
    "both names before, in the sentence before": (
        f"{ANN_MET_BO}|{SHE_LEFT}", ["Ann", "Bo"], [("FinalPro", "She", "Ann", "Bo")],
    ),
    "names two sentences before": (f"{ANN_MET_BO}|{IT_RAINED}|{SHE_LEFT}", ["Ann", "Bo"], []),
    "names in two sentences": (
        f"Ann/p/nsubj/1 left/v/root/1|Bo/p/nsubj/1 left/v/root/1|{SHE_LEFT}", ["Ann", "Bo"], [],
    ),
    "a third name between makes the nearest two the pair": (
        f"Ann/p/nsubj/1 met/v/root/1 Bo/p/obj/1 and/c/cc/4 Eve/p/conj/2|{SHE_LEFT}", ["Ann", "Bo", "Eve"],
        [("FinalPro", "She", "Bo", "Eve")],
    ),
    "one person twice": (f"{ANN_MET_BO.replace('Bo', 'Ann')}|{SHE_LEFT}", ["Ann", "Ann"], []),
    "reflexive": (f"{ANN_MET_BO}|{SHE_LEFT.replace('She', 'Herself')}", ["Ann", "Bo"], []),
    "plural": (f"{ANN_MET_BO}|{SHE_LEFT.replace('She', 'They')}", ["Ann", "Bo"], []),
    "initial phrase with a possessive": (AFTER_HER_DEATH, ["Bo", "Eve"], [("InitialPro", "her", "Bo", "Eve")]),
    "initial clause": (WHEN_SHE_LEFT, ["Bo", "Eve"], [("InitialPro", "she", "Bo", "Eve")]),
    "a name in the sentence before": (
        f"Ann/p/nsubj/1 left/v/root/1 ././punct/1|{WHEN_SHE_LEFT}", ["Ann", "Bo", "Eve"],
        [("MedialPro", "she", "Ann", "Bo"), ("InitialPro", "she", "Bo", "Eve")],
    ),
    "a main clause is not initial": (
        "She/r/nsubj/1 met/v/root/1 Bo/p/obj/1 and/c/cc/4 Eve/p/conj/2", ["Bo", "Eve"], [],
    ),
    "an object in an initial phrase is no possessive": (
        AFTER_HER_DEATH.replace("her/r/nmod:poss/2 death/n/obl/5", "her/r/obl/5 ,/u/punct/1"),
        ["Bo", "Eve"], [],
    ),
    "a family": (
        f"{ANN_MET_BO.replace('Bo/p/obj/1', 'the/o/det/3 Bos/p/obj/1')}|{SHE_LEFT}", ["Ann", "Bos"], [],
    ),
}  # fmt: skip


@pytest.mark.parametrize(("spec", "persons", "expected"), CASES.values(), ids=CASES)
def test_a_pattern_is_found_where_its_conditions_hold(spec, persons, expected):
    assert found(spec, persons) == [(Pattern(p), *rest) for p, *rest in expected]


def test_names_of_the_other_gender_neither_count_nor_intrude():
    spec = f"Ann/p/nsubj/1 met/v/root/1 Eve/p/obj/1 with/a/case/4 Bo/p/obl/1|{SHE_LEFT}"
    text = parse_of(tree(spec)).text

    def gender(span):
        return Gender.MASCULINE if text[slice(*span)] == "Bo" else None

    assert found(spec, ["Ann", "Eve", "Bo"], gender) == [(Pattern.FINAL, "She", "Ann", "Eve")]
    assert found(spec, ["Ann", "Eve", "Bo"], lambda span: Gender.MASCULINE) == []


def test_a_snippet_ends_with_the_last_mention_and_begins_where_words_allow():
    parse = parse_of(tree(f"{IT_RAINED}|{ANN_MET_BO}|{SHE_LEFT}|{IT_RAINED}", ["Ann", "Bo"]))
    for words, expected in ((10, (0, 10)), (9, (3, 10)), (7, (3, 10))):
        (context,) = contexts(parse, lambda span: None, words)
        assert (context.first, context.last) == expected
    assert list(contexts(parse, lambda span: None, 6)) == []


def test_possessive_marks_do_not_belong_to_a_name():
    parse = parse_of(tree("Ann/p/nmod:poss/2 's/o/case/0 dog/n/nsubj/3 ran/v/root/3", ["Ann 's"]))
    assert person_names(parse) == [range(0, 1)]


@given(st.permutations([Span(0, 1), Span(2, 3), Span(4, 5)]))
def test_the_order_of_the_mentions_names_the_pattern(spans):
    pronoun, a, b = spans
    example = Example("x", "a b c", pronoun, a, b, label=Label.A)
    order = sorted([(pronoun, "p"), (a, "n"), (b, "n")])
    expected = {"nnp": Pattern.FINAL, "npn": Pattern.MEDIAL, "pnn": Pattern.INITIAL}
    assert pattern_of(example) == expected["".join(kind for _, kind in order)]
