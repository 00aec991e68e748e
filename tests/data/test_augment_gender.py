"""Words of the other gender, first names, and the rule that tells "his" from "him"."""

import lzma

import pytest

from gapstack.data import Example, Gender, Label, Span
from gapstack.data.gender import (
    PAIRS,
    FirstNames,
    feminise,
    first_names,
    gender_of_name,
    swap_gender,
)
from gapstack.errors import DataError


def changed_text(text, change=swap_gender, **options):
    """Change a text that ends in an example's three mentions."""
    start = len(text) + 1
    example = Example(
        "x", f"{text} A B he", Span(start + 4, start + 6), Span(start, start + 1), Span(start + 2, start + 3)
    )
    return change(example, **options).text[: -len(" A B he") - 1].rstrip()


@pytest.mark.parametrize(
    ("text", "swapped"),
    [
        ("He saw himself.", "She saw herself."),
        ("Her mother knew her.", "His father knew him."),
        ("They gave her the key.", "They gave him the key."),
        ("They gave him HIS key.", "They gave her HER key."),
        ("It was hers, a friend of his.", "It was his, a friend of hers."),
        ("She took her 1990 album.", "He took his 1990 album."),
        ("He sang his ``Ave'' song.", "She sang her ``Ave'' song."),
        ("the king's sons and daughters-in-law", "the queen's daughters and daughters-in-law"),
        ("Mrs. Poe and Mr Poe, Miss Poe and Ms. Poe", "Mr. Poe and Mrs Poe, Mr Poe and Mr. Poe"),
        ("They miss the lady. A Miss.", "They miss the gentleman. A Miss."),
        ("Lord Byron, Sir Walter; Lady Ada", "Lady Byron, Dame Walter; Lord Ada"),
        ("Martin Luther King met Stephen King.", "Martin Luther King met Stephen King."),
        ("Then Queen Ann, Duke of York. J. King", "Then King Ann, Duchess of York. J. King"),
        ("Men left. Brothers came! Mr. King", "Women left. Sisters came! Mrs. King"),
        ("manly actors' heroes", "manly actresses' heroines"),
        ("Yes, sir. Madam is here.", "Yes, madam. Sir is here."),
        ("Herman, theirs, shed, hermit", "Herman, theirs, shed, hermit"),
    ],
)
def test_words_change_gender_in_their_case_and_names_do_not(text, swapped):
    assert changed_text(text) == swapped


def test_every_listed_word_has_one_partner_whose_partner_it_is():
    assert all(PAIRS[PAIRS[word]] == word != PAIRS[word] for word in PAIRS)
    text = " / ".join(PAIRS)
    assert changed_text(changed_text(text)) == text
    assert changed_text(text) == " / ".join(PAIRS.values())


@pytest.mark.parametrize(
    ("text", "feminine"),
    [
        ("He said his book is his.", "She said her book is her."),
        ("HIM, Himself and hers", "HER, Herself and her"),
        ("his father", "her father"),
    ],
)
def test_feminise_changes_pronouns_alone(text, feminine):
    assert changed_text(text, feminise) == feminine


NAMES = FirstNames.of(["James", "John", "Paul"], ["Mary", "Ruth", "Taylor"])


@pytest.mark.parametrize(
    ("text", "a", "swapped"),
    [
        ("John Poe met Zed; John's dog saw he ran.", "John Poe", "Ruth Poe met Zed; Ruth's dog saw she ran."),
        ("Mr. James Poe met Zed; he fled John.", "Mr. James Poe", "Mrs. Mary Poe met Zed; she fled John."),
        ("Mary Paul met Zed; Paul knew he ran.", "Paul", "Mary Paul met Zed; Paul knew she ran."),
        ("Johnson met Zed; he ran.", "Johnson", "Johnson met Zed; she ran."),
    ],
)
def test_first_names_of_the_mentions_get_their_partners(text, a, swapped):
    example = Example.from_text(text, "he", a, "Zed", label=Label.A)
    changed = swap_gender(example, names=NAMES)
    assert changed.text == swapped
    assert changed.pronoun_text == "she"
    assert swap_gender(changed, names=NAMES) == example


def test_real_names_are_paired_and_keep_spans_on_development(gap_splits, gap_folder):
    names = first_names()
    assert (names.genders["Mary"], names.genders["James"]) == (Gender.FEMININE, Gender.MASCULINE)
    assert "Taylor" not in names.genders  # borne by both
    assert all(names.genders[one] != names.genders[other] for one, other in names.partners.items())
    corpus = gap_splits["development"][:60]
    changed = corpus.map(lambda example: swap_gender(example, names=names))
    for old, new in zip(corpus, changed, strict=True):
        assert old.gender != new.gender
        assert len(old.a_text.split()) == len(new.a_text.split())
    assert sum(old.a_text != new.a_text for old, new in zip(corpus, changed, strict=True)) > 15


def test_bad_name_lists_are_refused_with_their_place(tmp_path, monkeypatch):
    monkeypatch.setenv("GAP_DATA", str(tmp_path))
    (tmp_path / "names").mkdir()
    file = tmp_path / "names" / "ssa_first_names_by_gender.csv.xz"
    file.write_bytes(
        lzma.compress(b"name,count_F,count_M,pct_F,first_year,last_year\nAda,many,0,1.0,1880,2018\n")
    )
    with pytest.raises(DataError, match="line 2"):
        first_names()


@pytest.mark.parametrize(
    ("name", "before", "gender"),
    [
        ("Mary Lee", "", Gender.FEMININE),
        ("MARY", "", Gender.FEMININE),
        ("Lee", "Then Mrs. ", Gender.FEMININE),
        ("Mary", "Lord ", Gender.MASCULINE),  # the title comes first
        ("Sir Mary", "", Gender.MASCULINE),
        ("Lee Mary", "", None),
        ("Lee", "mistress ", None),
        ("Paul", "Mrs. Lee and ", Gender.MASCULINE),
    ],
)
def test_titles_come_before_first_names(name, before, gender):
    assert gender_of_name(name, before, NAMES.genders) == gender
