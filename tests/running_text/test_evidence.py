"""What the words of a mention say, and how mentions compare: the same if all genders are exchanged."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gapstack.data import Span
from gapstack.running_text.evidence import (
    MENTION_FEATURES,
    PAIR_FEATURES,
    EntityMemory,
    Mention,
    MentionKind,
    describe,
    mention_features,
)
from gapstack.running_text.lexicon import Lexicon
from gapstack.text_model_files import shipped

LEXICON = Lexicon.load(shipped())


def described(words: str, at: int = 0) -> Mention:
    return describe(words, Span(0, len(words)), at, at, LEXICON)


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
    assert mention_features(mention).shape == (MENTION_FEATURES,)


WORDS = st.sampled_from(
    ["she", "he", "they", "Ann", "Tom Lee", "the king", "her aunt", "Mr. Hall", "I", "a doctor"]
)


def features_of(mentions: list[Mention]) -> np.ndarray:
    memory = EntityMemory()
    for mention in mentions[:-1]:
        # each pronoun joins the mention before it
        last = memory.entity[-1] if memory.entity and mention.is_pronoun else None
        memory.add(mention, last)
    return memory.features(mentions[-1], memory.candidates(mentions[-1]))


@given(st.lists(WORDS, min_size=2, max_size=12))
def test_no_feature_changes_when_all_genders_are_exchanged(words):
    mentions = [described(one, 3 * i) for i, one in enumerate(words)]
    before = features_of(mentions)
    assert before.shape == (len(words) - 1, PAIR_FEATURES)
    for mention in mentions:
        mention.pronoun, mention.noun, mention.name = -mention.pronoun, -mention.noun, -mention.name
    assert np.array_equal(before, features_of(mentions))


def test_memory_is_bounded_and_keeps_names_of_long_ago():
    memory = EntityMemory()
    first = described("Anna Karenina")
    memory.add(first, None)
    for number in range(3000):
        memory.add(described("Tom", number), memory.entities[1] if number else None)
    assert len(memory.candidates(described("she", 4000))) <= EntityMemory.NEAR + EntityMemory.OLD
    assert 0 in memory.candidates(described("Anna", 4000))


def test_an_entity_counts_pronouns_by_the_probability_of_their_links():
    memory = EntityMemory()
    entity = memory.add(described("Gabriel"), None)
    memory.add(described("She"), entity, 0.5)
    assert entity.pronouns.tolist() == [0.5, 0.5, 0.0]
    memory.add(described("they"), entity, 0.25)
    assert entity.pronouns[2] == 0.25
