"""How mentions compare, the same if all genders are exchanged; and what the memory keeps."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from gapstack.data import Span
from gapstack.running_text.evidence import MENTION_FEATURES, PAIR_FEATURES, EntityMemory, mention_features
from gapstack.running_text.lexicon import Lexicon
from gapstack.running_text.mentions import Mention, describe
from gapstack.text_model_files import shipped

LEXICON = Lexicon.load(shipped())


def described(words: str, at: int = 0) -> Mention:
    return describe(words, Span(0, len(words)), at, at, LEXICON)


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
    assert all(mention_features(one).shape == (MENTION_FEATURES,) for one in mentions)
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
