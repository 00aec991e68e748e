"""The table of titles and gendered nouns, and the sets that are read from it."""

from gapstack.data.person_words import GENDER_BY_FORM, WORDS, Gender, words_of
from gapstack.files import fingerprint
from gapstack.running_text import lexicon

USES = {"title", "abbreviation", "member", "noun", "cue"}


def test_words_are_listed_once_and_have_a_use_or_a_partner():
    assert len({one.word for one in WORDS}) == len(WORDS)
    assert all(one.uses <= USES and (one.uses or one.other_gender) for one in WORDS)


def test_partners_have_the_other_gender():
    genders = {one.word: one.gender for one in WORDS}
    for one in WORDS:
        for partner in filter(None, (one.other_gender, one.other_title)):
            assert {one.gender, genders[partner]} == {Gender.MASCULINE, Gender.FEMININE}


def test_gendered_uses_have_a_gender():
    assert all(one.gender for one in WORDS if one.uses & {"noun", "cue"})
    assert words_of("title", Gender.FEMININE) < words_of("title")


def test_titles_are_no_pronouns():
    assert not words_of("title") & GENDER_BY_FORM.keys()


def test_running_text_reads_what_its_model_was_trained_with():
    """Words that are added for members must not change the inputs of the trained model."""
    found = fingerprint(sorted(lexicon.NOUN_GENDER.items()), sorted(lexicon.TITLES))
    assert found == "3c9b31630375b19c"
