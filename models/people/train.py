"""Train and measure the model of running text on LitBank, GUM, and GAP's development and validation rows.

1. The scorer of pairs (``pairs.py``) is trained on half of the folds for the documents of the other half, and on all
   for later texts.
2. Names, nouns and pronouns are linked in the order of the text to one of the entities so far, or to a new one, by the
   boosters of ``gapstack.coreference.ranking``. A first pair learns from gold histories, each from half of the training
   documents; the final boosters learn from gold histories and from those that the other half's predict. The booster of
   antecedents learns from the latter only.
3. Two published folds of LitBank at a time, and as much of the others, are measured by boosters that did not learn from
   them: of all he and she pronouns that have a gold cluster, how often the name or noun that is shown is of that
   cluster; nobody is right if the gold cluster has neither.

    python models/people/train.py [--only 2] [--output models/gapstack-text]
"""

from __future__ import annotations

import argparse
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from itertools import chain
from pathlib import Path
from typing import Any

import lightgbm
import numpy as np
import pairs
import pandas as pd
from readings import (
    FOLDS,
    NEITHER,
    NO_NOUNS,
    NOT_THIRD,
    SINGULAR,
    TEST,
    Reading,
    find_mentions,
    read_documents,
    read_rows,
    read_sentences,
)
from scores import ConllScores

from gapstack.coreference.entities import Context, Entity, Features
from gapstack.coreference.lexicon import Lexicon
from gapstack.coreference.mentions import Kind, Mention
from gapstack.coreference.model import CoreferenceModel, antecedents
from gapstack.coreference.pairs import PairScorer
from gapstack.coreference.ranking import TREES, Choices, choose, fit, matrix
from gapstack.coreference.reader import read
from gapstack.data import Span


class Teacher:
    """Collects what the boosters learn from, while documents are linked by gold or by predictions."""

    def __init__(self) -> None:
        self.links = {True: Choices(), False: Choices()}
        """Choices by whether they are those of pronouns."""
        self.antecedents: list[dict[str, float]] = []
        self.is_right: list[bool] = []

    def read(self, reading: Reading, boosters: dict[bool, lightgbm.Booster] | None = None) -> None:
        """Link a document's mentions, by gold without boosters."""
        context = Context()

        def decide(mention: Mention, entities: Sequence[Entity], features: Features) -> int:
            cluster = reading.cluster[id(mention)]
            is_pronoun = mention.kind is Kind.PRONOUN
            clusters = [_cluster(reading, one) for one in entities]
            if cluster == NEITHER:
                right = [*(one is None for one in clusters), True]
            else:
                right = [cluster is not None and one == cluster for one in clusters]
                right.append(not reading.is_row and not any(right))
            if (cluster is not None and is_pronoun) or not reading.is_row:
                self.links[is_pronoun].add(features, right)
            if boosters is None:
                mention.certainty = 1.0
                return max(i for i, is_right in enumerate(right) if is_right)
            shares = choose(boosters[is_pronoun], features)
            best = int(shares.argmax())
            mention.certainty = float(shares[best])
            if is_pronoun and cluster is not None:
                for i in shares.argsort()[::-1][:3]:
                    for shown, found in (
                        antecedents(mention, entities[i], shares[i]) if i < len(entities) else ()
                    ):
                        of_shown = reading.cluster[id(shown)]
                        if not reading.is_row or (of_shown is not None and cluster != NEITHER):
                            self.antecedents.append(found)
                            self.is_right.append(of_shown == cluster)
            return best

        for unit in reading.units:
            read(unit, context, decide)
            context.forget()

    def boosters(self, rounds: int, seed: int) -> dict[bool, lightgbm.Booster]:
        """Fit the boosters of links."""
        return {kind: fit(choices, rounds, seed) for kind, choices in self.links.items()}


def train(
    taught: Sequence[Reading], lexicon: Lexicon, scorer: PairScorer, rounds: int, seed: int
) -> CoreferenceModel:
    """Train the boosters on some documents and rows, whose mentions have been compared."""
    readings = [reading for reading in taught if not reading.is_row]
    rows = [reading for reading in taught if reading.is_row]
    # three times GUM, which has all kinds of text and a fourth of LitBank's words; both halves have its documents, so
    # that its histories are nearly gold, as those of short texts are
    readings += 2 * [reading for reading in readings if reading.corpus == "gum"]
    halves = readings[::2], readings[1::2]
    first = []
    for half in halves:
        teacher = Teacher()
        for reading in half:
            teacher.read(reading)
        first.append(teacher.boosters(rounds, seed))
    final, order = Teacher(), np.random.default_rng(seed)
    for half, boosters in zip(halves, first[::-1], strict=True):
        for reading in half:
            final.read(reading)
            final.read(reading, boosters)
            with reading.neutral(order):
                final.read(reading)
    for number, reading in enumerate(rows):
        final.read(reading, first[number % 2])
    shown = fit_shares(final.antecedents, final.is_right, rounds, seed)
    of_kind = final.boosters(rounds, seed)
    return CoreferenceModel(of_kind[True], of_kind[False], shown, scorer, lexicon)


def fit_shares(
    rows: Sequence[dict[str, float]], is_right: Sequence[bool], rounds: int, seed: int
) -> lightgbm.Booster:
    """Fit the booster of antecedents: is the mention the pronoun's person."""
    names = list(rows[0])
    data = lightgbm.Dataset(matrix(rows, names), np.array(is_right, dtype=float), feature_name=names)
    settings = TREES | {"objective": "binary", "seed": seed}
    return lightgbm.train(settings, data, num_boost_round=rounds)


def measure(reading: Reading, model: CoreferenceModel, context: Context) -> list[dict[str, Any]]:
    """Whether the antecedent of each he and she with a gold cluster is right, and its probability."""
    with_noun = {
        cluster
        for span, cluster in reading.gold.items()
        if reading.text[slice(*span)].lower() not in NO_NOUNS
    }
    answers = []
    own = replace(model, pairs=reading.scorer)
    for link in chain.from_iterable(own.link(reading.units, context)):
        cluster = reading.cluster[id(link.pronoun)]
        if cluster is None or link.pronoun.text.lower() not in SINGULAR:
            continue
        best = link.choices[0] if link.choices else None
        if cluster == NEITHER:
            is_right = best is None or reading.cluster[id(best.shown)] is None
            probability = 1 - sum(c.probability for c in link.choices if reading.cluster[id(c.shown)])
        elif best is None or best.probability < link.nobody:
            is_right, probability = cluster not in with_noun, link.nobody
        else:
            is_right, probability = reading.cluster[id(best.shown)] == cluster, best.probability
        answers.append({"corpus": reading.corpus, "right": is_right, "probability": probability})
    return answers


def _cluster(reading: Reading, entity: Entity) -> str | None:
    """The most frequent gold cluster of an entity's mentions."""
    clusters = (reading.cluster[id(mention)] for mention in entity.mentions)
    counts = Counter(cluster for cluster in clusters if cluster is not None)
    return counts.most_common(1)[0][0] if counts else None


def summary(answers: pd.DataFrame) -> pd.DataFrame:
    """Pronouns, share of right antecedents, calibration error, and right ones above .8, by corpus."""
    bins = (answers["probability"] * 10).astype(int)
    gap = (
        answers.assign(gap=answers["right"] - answers["probability"])
        .groupby(["corpus", bins])["gap"]
        .sum()
        .abs()
    )
    by_corpus = answers.groupby("corpus")
    return pd.DataFrame(
        {
            "pronouns": by_corpus.size(),
            "right": by_corpus["right"].mean(),
            "calibration error": gap.groupby("corpus").sum() / by_corpus.size(),
            "above .8": by_corpus["probability"].agg(lambda one: (one > 0.8).mean()),
            "right above .8": answers[answers["probability"] > 0.8].groupby("corpus")["right"].mean(),
        }
    ).round(4)


def measure_all(
    readings: Sequence[Reading], model: CoreferenceModel, scores: tuple[ConllScores, ConllScores]
) -> list[dict[str, Any]]:
    """Answers of documents; adds LitBank's people to CoNLL scores, all of them and without first and second persons."""
    answers = []
    for reading in readings:
        context = Context()
        answers += measure(reading, model, context)
        if reading.corpus == "litbank":
            entities = [one for one in (*context.past, *context.entities) if one.personhood >= 0.5]
            found = [{_gold_span(reading, mention) for mention in one.mentions} for one in entities]
            gold = list(reading.people().values())
            scores[0].add(found, gold)
            scores[1].add(found, [[one for one in own if reading.form(one) not in NOT_THIRD] for own in gold])
    return answers


def _gold_span(reading: Reading, mention: Mention) -> Span:
    """A mention with or without its title and description, whichever is annotated."""
    return (
        mention.span
        if mention.display not in reading.gold and mention.span in reading.gold
        else mention.display
    )


def main(argv: list[str] | None = None) -> None:
    """Command line."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "--work", type=Path, default=Path(__file__).parent / "work", help="keeps scorers of pairs"
    )
    parser.add_argument("--rounds", type=int, default=200)
    parser.add_argument("--epochs", type=int, default=3, help="of the scorer of pairs")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--only", type=int, default=FOLDS // 2, help="measure only so many pairs of folds")
    parser.add_argument("--output", type=Path, help="train on all documents and write this folder")
    args = parser.parse_args(argv)
    readings, rows, sentences = read_documents(), read_rows(), read_sentences()
    training = [reading for reading in readings if reading.fold != TEST]
    lexicon = find_mentions(training)
    for reading in (*rows, *sentences, *(reading for reading in readings if reading.fold == TEST)):
        reading.find_mentions(lexicon)
    every = [*training, *rows]
    scorer = pairs.train_scorers(every, args.work, args.epochs, args.seed)
    pairs.describe(sentences, scorer)
    every += sentences
    answers, scores = [], (ConllScores(), ConllScores())
    for first in range(0, 2 * args.only, 2):
        taught = [reading for reading in every if reading.fold not in (first, first + 1)]
        model = train(taught, lexicon, scorer, args.rounds, args.seed)
        answers += measure_all([one for one in every if one.fold in (first, first + 1)], model, scores)
        print(
            f"folds {first} and {first + 1}", summary(pd.DataFrame(answers)).to_string(), sep="\n", flush=True
        )
    for name, score in zip(("all people", "third person"), scores, strict=True):
        print(
            f"LitBank, {name}:", {kind: round(value, 1) for kind, value in score.table().items()}, flush=True
        )
    if args.output:
        args.output.mkdir(parents=True, exist_ok=True)
        model = train(every, lexicon, scorer, args.rounds, args.seed)
        model.save(args.output)
        tests = [reading for reading in readings if reading.fold == TEST]
        pairs.describe(tests, scorer)
        print("GUM test", summary(pd.DataFrame(measure_all(tests, model, scores))).to_string(), sep="\n")


if __name__ == "__main__":
    main()
