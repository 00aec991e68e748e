"""Patterns are those of the GAP paper, section 3.1; mined rows have their labels and the shares asked for."""

from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gapstack.data import Example, Gender, Label, Span, read_gap, write_gap
from gapstack.data.gender import first_names
from gapstack.data.page_files import GoldClusters, Page, corpus_pages
from gapstack.language.grammar import parse_of
from gapstack.language.mining import RATIO, Mined, Pattern, balanced, contexts, mine, pattern_of, person_names
from tests.trees import PARSER, keep, tree

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


MET = "{}/p/nsubj/1 met/v/root/1 {}/p/obj/1 ././punct/1"
LEFT = "{}/r/nsubj/1 left/v/root/1 ././punct/1"
F, M = Gender.FEMININE, Gender.MASCULINE
NAMES = {"Ann": F, "Eve": F, "Al": M, "Bo": M}


def page(*specs, name="p", url=None, gold=None):
    """A page whose paragraphs have hand-made parses: each a tree and its names."""
    documents = [tree(spec, persons) for spec, persons in specs]
    keep(*documents)
    return Page(name, tuple(doc.text for doc in documents), url, gold)


def story(one, other, pronoun):
    return f"{MET.format(one, other)}|{LEFT.format(pronoun)}", [one, other]


def mined(*pages, **settings):
    return mine(pages, NAMES, PARSER, **settings)


def asked(found):
    return [(row.id, row.pronoun_text, row.a_text, row.b_text) for row in found.rows]


def test_rows_are_gaps_and_can_be_written_and_read(tmp_path):
    found = mined(page(story("Ann", "Eve", "She"), story("Al", "Bo", "He"), url="http://w/wiki/Eve"))
    assert asked(found) == [("p-1", "She", "Ann", "Eve"), ("p-2", "He", "Al", "Bo")]
    assert {row.url for row in found.rows} == {"http://w/wiki/Eve"}
    assert {pattern_of(row) for row in found.rows} == {Pattern.FINAL}
    write_gap(tmp_path / "mined.tsv", found.corpus)
    again = read_gap(tmp_path / "mined.tsv")
    assert list(again) == list(found.corpus)
    assert all(row.label is None for row in again)


def test_gender_and_repeated_mentions_exclude_rows_and_ids_are_unique():
    assert asked(mined(page(story("Ann", "Bo", "She")))) == []
    assert asked(mined(page(story("Ann", "Lee", "She")))) != []  # Lee may have any gender
    twice = f"{MET.format('Ann', 'Eve')}|She/r/nsubj/1 left/v/root/1 her/r/obj/1 ././punct/1"
    assert asked(mined(page((twice, ["Ann", "Eve"])))) == [("p-1", "She", "Ann", "Eve")]


def test_a_page_gives_so_many_rows_of_a_form_the_rarer_patterns_first():
    initial = (
        "When/o/mark/2 she/r/nsubj/2 left/v/advcl/5 ,/u/punct/2 Ann/p/nsubj/5 met/v/root/5 Ida/p/obj/5 ././punct/5",
        ["Ann", "Ida"],
    )
    some = page(
        *(story("Ann", other, "She") for other in ("Eve", "Lee", "Kay")), story("Al", "Bo", "He"), initial
    )
    assert asked(mined(some)) == [("p-1", "He", "Al", "Bo"), ("p-2", "she", "Ann", "Ida")]
    found = mined(some, per_page=2)
    assert asked(found) == [
        ("p-1", "She", "Ann", "Eve"),
        ("p-2", "He", "Al", "Bo"),
        ("p-3", "she", "Ann", "Ida"),
    ]
    assert found.left_out["the page has enough rows of the pronoun form"] == 2
    assert len(mined(some, per_page=0).rows) == 5


@pytest.mark.parametrize(
    ("clusters", "label"),
    list(
        zip(
            ("1 2 1", "1 2 2", "1 2 3", "1 1 1", "1 2 -", "- 2 2"),
            (Label.A, Label.B, Label.NEITHER, None, None, None),
            strict=True,
        )
    ),
)
def test_gold_clusters_give_labels_or_no_row(clusters, label):
    spans = (Span(0, 3), Span(8, 11), Span(14, 17))
    mentions = tuple((span, key) for span, key in zip(spans, clusters.split(), strict=True) if key != "-")
    found = mined(page(story("Ann", "Eve", "She"), gold=GoldClusters(mentions, {})))
    assert [row.label for row in found.rows] == ([label] if label is not None else [])
    assert sum(found.left_out.values()) == (label is None)


ORDERS = {Pattern.FINAL: "{0} {1} {2}", Pattern.MEDIAL: "{0} {2} {1}", Pattern.INITIAL: "{2} {0} {1}"}


def rows_of(counts):
    kinds = [kind for kind, count in counts.items() for _ in range(count)]
    rows = []
    for number, (pattern, gender) in enumerate(kinds):
        form = "she" if gender is F else "he"
        text = ORDERS[pattern].format("Ann", "Eve", form)
        rows.append(Example.from_text(text, form, "Ann", "Eve", id=f"r{number}"))
    return Mined(rows, 5)


def test_balanced_rows_have_the_papers_ratio_and_as_many_of_each_gender():
    before = rows_of(
        {(p, g): 18 if p is Pattern.FINAL else 4 for p in Pattern for g in (F, M)} | {(Pattern.FINAL, M): 90}
    )
    after = balanced(before)
    unit = after.counts()[Pattern.MEDIAL][F]
    assert unit == 3  # eighteen feminine rows of FinalPro are three times six
    assert after.counts() == {pattern: {F: share * unit, M: share * unit} for pattern, share in RATIO.items()}
    assert after.left_out["dropped to balance genders and patterns"] == len(before.rows) - len(after.rows)
    assert [row.id for row in after.rows] == [row.id for row in balanced(before).rows]
    assert {row.id for row in after.rows} != {row.id for row in balanced(before, seed=1).rows}


def test_gold_documents_give_labelled_rows(gap_folder):
    pages = [page for page in corpus_pages("gum") if page.id.startswith("gum-GUM_bio_")][:4]
    found = mine(pages, first_names().genders, per_page=0)
    assert found.pages == len(pages) == 4
    labels = Counter(row.label for row in found.rows)
    assert labels
    assert None not in labels
