"""What the words of a mention say."""

import numpy as np
import pytest

from gapstack.data import Span
from gapstack.running_text.lexicon import Lexicon
from gapstack.running_text.mentions import Mention, MentionKind, describe, full_name
from gapstack.text_model_files import shipped

LEXICON = Lexicon.load(shipped())


def described(words: str) -> Mention:
    return describe(words, Span(0, len(words)), 0, 0, LEXICON)


@pytest.mark.parametrize(
    ("words", "kind", "head", "sign"),
    [
        ("She", MentionKind.GENDERED, "", 1),
        ("himself", MentionKind.GENDERED, "", -1),
        ("they", MentionKind.THEY, "", 0),
        ("xyr", MentionKind.NEOPRONOUN, "", 0),
        ("myself", MentionKind.FIRST, "", 0),
        ("whose", MentionKind.RELATIVE, "", 0),
        ("Mrs. Bennet", MentionKind.TITLED_NAME, "bennet", 1),
        ("Elizabeth Bennet", MentionKind.NAME, "bennet", 1),
        ("Dr. Marsh", MentionKind.TITLED_NAME, "marsh", 0),
        ("my aunt Robin", MentionKind.TITLED_NAME, "robin", 1),
        ("the groom's father Kim", MentionKind.TITLED_NAME, "kim", -1),
        ("actress Kim Park", MentionKind.TITLED_NAME, "park", 1),
        ("the late King Harald", MentionKind.TITLED_NAME, "harald", -1),
        ("the United States", MentionKind.DEFINITE, "states", 0),
        ("the old man who lived there", MentionKind.DEFINITE, "man", -1),
        ("John's mother", MentionKind.POSSESSIVE, "mother", 1),
        ("my sister", MentionKind.POSSESSIVE, "sister", 1),
        ("a boy of ten", MentionKind.INDEFINITE, "boy", -1),
        ("this woman", MentionKind.DEMONSTRATIVE, "woman", 1),
        ("Ann and Bob", MentionKind.GROUP, "ann", 0),
        ("kate", MentionKind.NAME, "kate", 1),
    ],
)
def test_descriptions(words, kind, head, sign):
    mention = described(words)
    assert (mention.kind, mention.head) == (kind, head)
    assert np.sign(mention.gender) == sign


@pytest.mark.parametrize(
    ("words", "name"),
    [
        ("her husband John", "John"),
        ("the late King Harald", "King Harald"),
        ("John's Aunt Mary", "Aunt Mary"),
        ("Elizabeth Bennet", ""),
    ],
)
def test_a_name_without_the_words_before_it(words, name):
    assert described(words).full_name == name


@pytest.mark.parametrize(
    ("counts", "name"),
    [
        ({"Mary": 3, "Mary Johnson": 1, "the nurse": 9}, "Mary Johnson"),
        ({"Lizzy": 5, "Elizabeth Bennet": 1}, "Elizabeth Bennet"),
        ({"Emma": 800, "Harriet Smith": 2, "her friend": 90}, "Emma"),
        ({"the old king": 1, "a man": 5}, "the old king"),
    ],
)
def test_full_name_of_a_person(counts, name):
    mentions = [described(words) for words, count in counts.items() for _ in range(count)]
    assert full_name(mentions) == name
