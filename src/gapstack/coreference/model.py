"""The trained model of running text, and its files: three boosters, the scorer of pairs, and a lexicon."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from math import log, nan
from pathlib import Path

import lightgbm
import numpy as np

from gapstack.coreference.entities import Context, Entity, Features
from gapstack.coreference.lexicon import Lexicon
from gapstack.coreference.mentions import Kind, Mention
from gapstack.coreference.pairs import PairScorer
from gapstack.coreference.ranking import choose, matrix
from gapstack.coreference.reader import read
from gapstack.errors import DataNotFoundError
from gapstack.files import read_bytes, tree_digest, write_text
from gapstack.members.estimators import restore_booster

_SHOWN = 6
"""Names and nouns of an entity that are compared, besides its first."""
NAME = "gapstack-text"
"""The model that comes with gapstack, trained by ``models/people/train.py``."""
_BOOSTERS = ("pronouns", "nouns", "antecedents")
_LEAST_SHARE = 0.02
"""Entities with a smaller share are never shown."""
MOST = 0.99
"""No probability is higher."""
_DOUBT = 0.3
"""Part of the probability that an entity loses because its mention may be another's, that goes to people not shown.

The rest goes to all others in proportion. This and the next value were chosen out of fold on LitBank and GUM."""
_NOBODY = 0.4
"""Part of a new entity's probability that is nobody's; the rest is of people who were mentioned and not found."""


@dataclass(frozen=True)
class Choice:
    """An entity that a pronoun may refer to, the mention that shows it, and the probability that this is right."""

    entity: Entity
    shown: Mention
    probability: float
    features: dict[str, float]


@dataclass(frozen=True)
class Link:
    """A pronoun, the choices for it, the best first, and nobody's probability; the rest is of people not shown."""

    pronoun: Mention
    choices: Sequence[Choice]
    nobody: float = MOST


@dataclass(frozen=True)
class CoreferenceModel:
    """Boosters for links of pronouns, for those of names and nouns, and for antecedents; scorer of pairs; lexicon."""

    pronouns: lightgbm.Booster
    nouns: lightgbm.Booster
    antecedents: lightgbm.Booster
    pairs: PairScorer
    lexicon: Lexicon
    identity: str = ""

    @classmethod
    def load(cls, folder: Path) -> CoreferenceModel:
        """Read a folder; DataNotFoundError if it is missing, DamageError if a booster is damaged."""
        if not (folder / "lexicon.json").is_file():
            raise DataNotFoundError(
                f"{folder} has no lexicon.json; train the model with models/people/train.py"
            )
        files = (read_bytes(folder / f"{name}.txt").decode() for name in _BOOSTERS)
        pronouns, nouns, shown = map(restore_booster, files)
        identity = tree_digest(folder, (".md",))
        return cls(pronouns, nouns, shown, PairScorer.load(folder), Lexicon.load(folder), identity)

    def save(self, folder: Path) -> None:
        """Write the files into an existing folder."""
        for name in _BOOSTERS:
            write_text(folder / f"{name}.txt", getattr(self, name).model_to_string())
        self.pairs.save(folder)
        self.pairs.encoder.save(folder)
        self.lexicon.save(folder)

    def link(self, units: Iterable[Sequence[Mention]], context: Context) -> Iterator[list[Link]]:
        """Link the mentions of each unit, and yield those of its pronouns in the order of the text."""
        for unit in self.pairs.judge_all(units):
            links: list[Link] = []

            def decide(mention: Mention, entities: Sequence[Entity], features: Features) -> int:
                booster = self.pronouns if mention.kind is Kind.PRONOUN else self.nouns
                shares = choose(booster, features)
                best = int(shares.argmax())
                mention.certainty = float(shares[best])
                if mention.kind is Kind.PRONOUN:
                    links.append(self._link(mention, entities, features, shares.tolist()))  # noqa: B023
                return best

            read(unit, context, decide)
            yield sorted(links, key=lambda link: link.pronoun.start)
            context.forget()

    def _link(
        self, pronoun: Mention, entities: Sequence[Entity], features: Features, shares: Sequence[float]
    ) -> Link:
        """Show each probable entity by the mention that is most probably the pronoun's."""
        found = [
            (entity, mention, of_link, share, of_mention)
            for entity, of_link, share in zip(entities, features, shares, strict=False)
            if share >= _LEAST_SHARE
            for mention, of_mention in antecedents(pronoun, entity, share)
        ]
        if not found:
            return Link(pronoun, ())
        table = matrix([of_mention for *_, of_mention in found], self.antecedents.feature_name())
        trust = np.asarray(self.antecedents.predict(table, num_threads=1)).tolist()
        best: dict[int, Choice] = {}
        for (entity, mention, of_link, share, _), trusted in zip(found, trust, strict=True):
            if id(entity) not in best or best[id(entity)].probability < share * trusted:
                best[id(entity)] = Choice(entity, mention, share * trusted, of_link)
        of_entity = {id(entity): share for entity, _, _, share, _ in found}
        doubt = sum(share - best[entity].probability for entity, share in of_entity.items())
        scale = MOST / (1 - (1 - _DOUBT) * doubt)
        choices = [replace(choice, probability=scale * choice.probability) for choice in best.values()]
        nobody = scale * _NOBODY * (1 - sum(of_entity.values()))
        return Link(pronoun, sorted(choices, key=lambda choice: -choice.probability), nobody)


def named(entity: Entity, most: int | None = None) -> list[Mention]:
    """Names and nouns of an entity: all, or the first and the last ``most``."""
    found = [mention for mention in entity.mentions if mention.kind is not Kind.PRONOUN]
    return found if most is None or len(found) <= most else [found[0], *found[-most:]]


def antecedents(pronoun: Mention, entity: Entity, share: float) -> list[tuple[Mention, dict[str, float]]]:
    """Names and nouns of an entity that may show whom a pronoun refers to, with features.

    An entity may have mentions of several people, since each link may be wrong; a booster predicts from these features
    whether a mention and the pronoun are the same person. ``share`` is the probability of the pronoun's link to it.
    """
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


def shipped() -> Path:
    """Folder of the model that comes with gapstack, in the package or in a checkout's ``models``."""
    package = Path(__file__).resolve().parents[1]
    places = (package / NAME, package.parents[1] / "models" / NAME)
    return next((place for place in places if (place / "lexicon.json").is_file()), places[-1])
