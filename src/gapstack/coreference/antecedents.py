"""The name or noun that shows whom a pronoun refers to, out of those of its entity, and how far it can be trusted.

An entity may have mentions of several people, since each link may be wrong. A binary booster predicts whether a name
or noun of the entity and the pronoun are the same person, from the links between the two.
"""

from __future__ import annotations

from math import log, nan

from gapstack.coreference.entities import Entity
from gapstack.coreference.mentions import Kind, Mention

_SHOWN = 6
"""Names and nouns of an entity that are compared, besides its first."""


def named(entity: Entity, most: int | None = None) -> list[Mention]:
    """Names and nouns of an entity: all, or the first and the last ``most``."""
    found = [mention for mention in entity.mentions if mention.kind is not Kind.PRONOUN]
    return found if most is None or len(found) <= most else [found[0], *found[-most:]]


def antecedents(pronoun: Mention, entity: Entity, share: float) -> list[tuple[Mention, dict[str, float]]]:
    """Names and nouns of an entity with features; ``share`` is the probability of the pronoun's link to it."""
    found = named(entity, _SHOWN)
    words = [frozenset(mention.words or (mention.lemma,)) for mention in found]
    neural = pronoun.neural
    total = sum(neural.people.get(mention, 0.0) for mention in named(entity)) if neural else nan
    result = []
    for mention, own in zip(found, words, strict=True):
        low, high = sorted((mention.start, pronoun.start))
        between = [one for one in entity.mentions if low < one.start < high]
        links = [one.certainty for one in (*between, mention)]
        features = {
            "share": share,
            "certainty": mention.certainty,
            "weakest": min(links),
            "product": sum(map(log, links)),
            "kind": float(mention.kind),
            "personhood": mention.personhood,
            "determiner": float(mention.determiner),
            "role": float(mention.role),
            "later": float(mention.start > pronoun.start),
            "tokens": log(1 + high - low),
            "sentences": float(abs(pronoun.sentence - mention.sentence)),
            "between": float(len(between)),
            "names_between": float(sum(one.kind is not Kind.PRONOUN for one in between)),
            "first": float(mention is found[0]),
            "others_like_it": sum(bool(own & other) for other in words) / len(words),
            "named": float(len(found)),
            "title_agrees": float(mention.sign * pronoun.sign),
            "name_agrees": mention.odds * pronoun.sign,
            "pronouns_agree": float(entity.pronouns[pronoun.sign + 1] / max(1, sum(entity.pronouns))),
            "plural": float(mention.plural),
            "quoted": float(mention.quote >= 0),
            "pronoun_quoted": float(pronoun.quote >= 0),
            "neural_link": neural.links.get(mention, 0.0) if neural else nan,
            "neural_person": neural.people.get(mention, 0.0) if neural else nan,
            "neural_entity": total,
            "validity": mention.neural.validity if mention.neural else nan,
        }
        result.append((mention, features))
    return result
