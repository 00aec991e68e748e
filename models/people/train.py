"""Train and measure a resolver of running text: entities of people over whole documents of LitBank and GUM.

Names, nouns and pronouns are linked in the order of the text to one of the entities so far, or to a new one, each by
the distribution of ``ranking.py``. A first pair of models learns from gold histories, each from half of the training
documents; the final models learn from gold histories and from those that the other half's model predicts. A fifth of
the documents is held out and measured once: of all he and she pronouns, how often the last name or noun of the chosen
entity is of the pronoun's gold cluster; nobody is right if the gold cluster has neither.

    python models/people/train.py [--data ../shared/data] [--rounds 150] [--seed 0] [--output FOLDER]
"""

from __future__ import annotations

import argparse
import json
import re
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
from entities import Context, Entity
from lexicon import Lexicon
from mentions import Kind, Mention, Position, sentences
from ranking import Choices, choose, fit
from reader import read, units

from gapstack.data import Span
from gapstack.data.example import GENDER_BY_FORM, Gender
from gapstack.data.extra.conll import CORPORA, read_corpus
from gapstack.data.gap_files import read_gap
from gapstack.data.sources import file_of, require
from gapstack.files import open_bytes, write_json
from gapstack.text.parses import docs, text_key

_PART = 2500  # characters that are parsed together
_OTHER_PRONOUNS = "i me my mine myself you your yours who whom whose which that"
_NO_NOUNS = {*GENDER_BY_FORM, *_OTHER_PRONOUNS.split()}
_SINGULAR = {form for form, gender in GENDER_BY_FORM.items() if gender is not Gender.NEUTRAL}
_FULL_NAME = re.compile(r"\b([A-Z][a-z]+) (?:[A-Z]\. )?([A-Z][a-z]+)\b")
Predict = Callable[[Kind, np.ndarray], np.ndarray]


@dataclass
class Reading:
    """A document: its text, gold clusters by span, parsed parts with their first characters, units of mentions."""

    corpus: str
    text: str
    gold: dict[Span, str]
    persons: set[str]
    parts: list = field(default_factory=list)
    units: list[list[Mention]] = field(default_factory=list)
    cluster: dict[int, str | None] = field(default_factory=dict)

    def find_mentions(self, lexicon: Lexicon) -> None:
        """Find mentions, and the gold cluster of each."""
        at, starting = Position(), defaultdict(list)
        for span in sorted(self.gold, key=lambda span: span.end - span.start):
            starting[span.start].append(span)
        self.units = list(units(self._sentences(at, lexicon)))
        for mention in (mention for unit in self.units for mention in unit):
            self.cluster[id(mention)] = self._cluster_of(mention, starting)

    def _sentences(self, at: Position, lexicon: Lexicon) -> Iterator[tuple[bool, list[Mention]]]:
        for offset, doc in self.parts:
            yield from sentences(
                doc, at, lexicon, lambda span, by=offset: Span(span.start + by, span.end + by)
            )

    def _cluster_of(self, mention: Mention, starting: dict[int, list[Span]]) -> str | None:
        if mention.kind is Kind.PRONOUN:
            return self.gold.get(mention.span)
        for span in (mention.display, mention.span):
            for width in (0, 2):  # with a possessive's
                if Span(span.start, span.end + width) in self.gold:
                    return self.gold[Span(span.start, span.end + width)]
        if self.text[mention.span.end : mention.span.end + 1] in ("'", "\u2019"):
            return None
        longer = (
            span
            for start in (mention.display.start, mention.span.start)
            for span in starting[start]
            if span.end > mention.span.end
        )
        return self.gold.get(next(longer, Span(-1, -1)))


def read_documents(data: Path | None) -> list[Reading]:
    """Read and parse both corpora."""
    readings = []
    for corpus in CORPORA:
        for document in read_corpus(corpus, data):
            text, places = document.text_of(range(len(document.tokens)))
            gold = {mention.characters(places): mention.cluster for mention in document.mentions}
            persons = {mention.cluster for mention in document.mentions if mention.kind == "person"}
            persons |= {cluster for span, cluster in gold.items() if text[slice(*span)].lower() in _SINGULAR}
            readings.append(Reading(corpus, text, gold, persons, list(_parts(text))))
    parsed = dict(docs(part for reading in readings for _, part in reading.parts))
    for reading in readings:
        reading.parts = [(start, parsed[text_key(part)]) for start, part in reading.parts]
    return readings


def _parts(text: str) -> Iterator[tuple[int, str]]:
    at = 0
    while at < len(text):
        ends = [match.end() for match in re.finditer(r"[.?!]\"? ", text[at : at + _PART])]
        end = at + (ends[-1] if ends and at + _PART < len(text) else _PART)
        yield at, text[at:end]
        at = end


def count_people(reading: Reading) -> dict[str, tuple[int, int]]:
    """How often each noun denotes a person in a document, and how often it occurs."""
    starting: dict[int, list[Span]] = defaultdict(list)
    for span in sorted(reading.gold, key=lambda span: span.end - span.start):
        starting[span.start].append(span)
    found, total = Counter[str](), Counter[str]()
    for offset, doc in reading.parts:
        for token in (token for token in doc if token.pos_ == "NOUN"):
            lefts = [c for c in token.lefts if c.dep_ in ("det", "amod", "compound", "nummod", "nmod:poss")]
            start = doc[min([token.i, *(child.left_edge.i for child in lefts)])].idx + offset
            end = token.idx + len(token) + offset
            span = next((span for span in starting[start] if span.end >= end), None)
            lemma = token.lemma_.lower()
            total[lemma] += 1
            found[lemma] += span is not None and reading.gold[span] in reading.persons
    return {lemma: (found[lemma], number) for lemma, number in total.items()}


def first_names(data: Path | None) -> dict[str, float]:
    """Signed log-odds of the gender of first names with at least 30 bearers."""
    odds = {}
    with open_bytes(file_of("names", "ssa_first_names_by_gender.csv", data)) as stream:
        for line in stream.read().decode().splitlines()[1:]:
            name, feminine, masculine = line.split(",")[:3]
            if int(feminine) + int(masculine) >= 30:
                odds[name.lower()] = round(float(np.log((int(feminine) + 1) / (int(masculine) + 1))), 1)
    return odds


def surnames(data: Path | None) -> dict[str, float]:
    """Share of each word's uses in full names of GAP development's texts in which it comes last."""
    first, last = Counter[str](), Counter[str]()
    for text in set(read_gap(require("gap-development", data)).texts):
        for match in _FULL_NAME.finditer(text):
            first[match[1].lower()] += 1
            last[match[2].lower()] += 1
    return {
        word: round(number / (number + first[word] + 1), 2) for word, number in last.items() if number > 1
    }


def resolve(
    reading: Reading, predict: Predict | None, choices: dict[Kind, Choices] | None = None
) -> list[tuple[str, bool, float]]:
    """Link a document's mentions by gold or by predictions, and collect choices to learn from.

    Returns the corpus, whether the antecedent is right, and the probability of each he and she.
    """
    context, chosen = Context(), []

    def decide(mention: Mention, entities: list[Entity], features: np.ndarray) -> int:
        cluster = reading.cluster[id(mention)]
        kind = Kind.PRONOUN if mention.kind is Kind.PRONOUN else Kind.NOUN
        right = [cluster is not None and _cluster(reading, one) == cluster for one in entities]
        right.append(not any(right))
        if choices is not None and (cluster is not None or kind is Kind.NOUN):
            choices[kind].features.append(features)
            choices[kind].right.append(np.array(right, dtype=np.float64))
        if predict is None:
            return max(i for i, is_right in enumerate(right) if is_right)
        shares = predict(kind, features)
        best = int(shares.argmax())
        if cluster is not None and mention.text.lower() in _SINGULAR:
            chosen.append((mention, entities[best] if best < len(entities) else None, float(shares.max())))
        return best

    for unit in reading.units:
        read(unit, context, decide)
    with_noun = {
        cluster
        for span, cluster in reading.gold.items()
        if reading.text[slice(*span)].lower() not in _NO_NOUNS
    }
    answers = []
    for mention, entity, share in chosen:
        cluster = reading.cluster[id(mention)]
        others = [
            one for one in (entity or context.by_head[mention.head]).mentions if one.kind is not Kind.PRONOUN
        ]
        before = [one for one in others if one.start < mention.start]
        shown = before[-1] if before else others[0] if others else None
        is_right = cluster not in with_noun if shown is None else reading.cluster[id(shown)] == cluster
        answers.append((reading.corpus, is_right, share))
    return answers


def _cluster(reading: Reading, entity: Entity) -> str | None:
    """The most frequent gold cluster of an entity's mentions."""
    clusters = (reading.cluster[id(mention)] for mention in entity.mentions)
    counts = Counter(cluster for cluster in clusters if cluster is not None)
    return counts.most_common(1)[0][0] if counts else None


def main(argv: list[str] | None = None) -> None:
    """Command line."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--data", type=Path, help="data folder (default: the usual search)")
    parser.add_argument("--rounds", type=int, default=150)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--output", type=Path, help="folder for the models")
    args = parser.parse_args(argv)
    readings = read_documents(args.data)
    names, last_words = first_names(args.data), surnames(args.data)
    counts = [count_people(reading) for reading in readings]
    total = {lemma: [0, 0] for one in counts for lemma in one}
    for lemma, numbers in (pair for one in counts for pair in one.items()):
        total[lemma] = [a + b for a, b in zip(total[lemma], numbers, strict=True)]
    for reading, own in zip(readings, counts, strict=True):
        # a document's own nouns say nothing about themselves
        others = {
            lemma: (a - own.get(lemma, (0, 0))[0], b - own.get(lemma, (0, 0))[1])
            for lemma, (a, b) in total.items()
        }
        reading.find_mentions(Lexicon(names, last_words, others))
    order = np.random.default_rng(args.seed).permutation(len(readings))
    held_out = [readings[i] for i in order[::5]]
    training = [readings[i] for place, i in enumerate(order) if place % 5]

    def learn(choices: dict[Kind, Choices]) -> dict[Kind, object]:
        return {kind: fit(of_kind, args.rounds, args.seed) for kind, of_kind in choices.items()}

    def collect(part: list[Reading], models: dict | None, into: dict[Kind, Choices]) -> dict[Kind, Choices]:
        predict = None if models is None else lambda kind, features: choose(models[kind], features)
        for reading in part:
            resolve(reading, predict, into)
        return into

    halves = training[::2], training[1::2]
    gold = [collect(half, None, _no_choices()) for half in halves]
    models = [learn(choices) for choices in gold]
    every = _no_choices()
    for half, other in zip(halves, models[::-1], strict=True):
        collect(half, None, every)
        collect(half, other, every)
    final = learn(every)
    answers = [
        answer
        for reading in held_out
        for answer in resolve(reading, lambda kind, features: choose(final[kind], features))
    ]
    scores = {}
    for corpus in CORPORA:
        right = np.array([is_right for name, is_right, _ in answers if name == corpus])
        share = np.array([share for name, _, share in answers if name == corpus])
        scores[corpus] = {
            "pronouns": len(right),
            "right": round(float(right.mean()), 4),
            "mean confidence": round(float(share.mean()), 4),
            "right above .8": round(float(right[share > 0.8].mean()), 4),
        }
        print(corpus, json.dumps(scores[corpus]))
    if args.output:
        args.output.mkdir(parents=True, exist_ok=True)
        for kind, model in final.items():
            model.save_model(args.output / f"{kind.name.lower()}.txt")
        lexicon = {"names": names, "surnames": last_words, "people": total}
        write_json(args.output / "lexicon.json", lexicon)
        write_json(args.output / "scores.json", scores)


def _no_choices() -> dict[Kind, Choices]:
    return {kind: Choices([], []) for kind in (Kind.PRONOUN, Kind.NOUN)}


if __name__ == "__main__":
    main()
