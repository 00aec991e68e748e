"""Measure a model of running text on the development documents, or on others of the four corpora.

Of all he and she with an annotated person it is counted how often the mention that is shown is that person's; nobody
is right if the person has neither name nor noun. Also printed: how many of the answers above .8 are right, and CoNLL F1
of people: clusters of at least two mentions, each more probable than not. What may be a person or not in a corpus
counts neither as found nor as gold.

    python models/running_text/measure.py [--model models/gapstack-text] [--corpus litbank] [--all] [--joined]

With ``--joined``, the documents of a corpus are one text: what is read before or after a document should not change
its answers.
"""

from __future__ import annotations

import argparse
from collections import Counter, defaultdict
from collections.abc import Hashable, Iterable, Sequence
from itertools import chain, groupby
from pathlib import Path

import numpy as np
import pandas as pd
from corpora import CORPORA, SINGULAR, AnnotatedDocument, read_documents
from scipy.optimize import linear_sum_assignment

from gapstack.data import Span
from gapstack.data.conversations import transcript_turns
from gapstack.running_text.answer import Answers
from gapstack.running_text.any_text_resolver import Text
from gapstack.running_text.lexicon import Lexicon
from gapstack.running_text.mentions import describe
from gapstack.running_text.text_model import TextModel
from gapstack.running_text.text_resolver import LISTED, TextResolver
from gapstack.text_model_files import shipped

Clusters = Sequence[frozenset[Hashable]]


def rows_of(document: AnnotatedDocument, answers: Answers, lexicon: Lexicon) -> list[dict[str, object]]:
    """Whether each answer for he and she is right, and its probability."""
    nominal = defaultdict(list)
    for span, cluster in document.mentions.items():
        if not describe(document.text, span, 0, 0, lexicon).is_pronoun:
            nominal[cluster].append(span)
    rows = []
    for answer in answers:
        cluster = document.mentions.get(answer.pronoun)
        if cluster is None or document.form(answer.pronoun) not in SINGULAR:
            continue
        best = answer.antecedent
        right = not nominal[cluster] if best is None else _is_of(document, best.span, cluster)
        probability = best.probability if best else answer.nobody
        rows.append({"corpus": document.corpus, "right": right, "probability": probability})
    return rows


def _is_of(document: AnnotatedDocument, shown: Span, cluster: str) -> bool:
    """True if the annotated mention that a span fits best is of a cluster."""
    overlaps = {span: _overlap(span, shown) for span in document.mentions if span.overlaps(shown)}
    best = max(overlaps, key=lambda span: overlaps[span], default=None)
    return best is not None and document.mentions[best] == cluster


def _overlap(one: Span, other: Span) -> float:
    return (min(one.end, other.end) - max(one.start, other.start)) / (
        max(one.end, other.end) - min(one.start, other.start)
    )


def joined(documents: Sequence[AnnotatedDocument]) -> AnnotatedDocument:
    """Documents one after the other, each with its own people."""
    text, mentions, ignored = "", dict[Span, str](), set[Span]()
    for document in documents:
        at = len(text)
        for span, cluster in document.mentions.items():
            mentions[Span(at + span.start, at + span.end)] = f"{document.name} {cluster}"
        ignored |= {Span(at + span.start, at + span.end) for span in document.ignored}
        text += f"{document.text}\n\n"
    return AnnotatedDocument("joined", documents[0].corpus, text, mentions, ignored)


class ConllScores:
    """MUC, B-cubed and CEAF-e over documents (Pradhan et al. 2014), of clusters with at least two mentions."""

    def __init__(self) -> None:
        self._counts = {name: np.zeros(4) for name in ("MUC", "B3", "CEAF-e", "mentions")}

    def add(self, found: Iterable[Iterable[Hashable]], gold: Iterable[Iterable[Hashable]]) -> None:
        """Add a document's clusters; no mention is in two clusters of a side."""
        ours, theirs = ([frozenset(one) for one in side] for side in (found, gold))
        ours, theirs = ([one for one in side if len(one) > 1] for side in (ours, theirs))
        both = [(theirs, ours), (ours, theirs)]
        self._counts["MUC"] += list(chain.from_iterable(_muc(*sides) for sides in both))
        self._counts["B3"] += list(chain.from_iterable(_b_cubed(*sides) for sides in both))
        shared = len(frozenset().union(*ours) & frozenset().union(*theirs))
        self._counts["mentions"] += [shared, sum(map(len, theirs)), shared, sum(map(len, ours))]
        self._counts["CEAF-e"] += _ceaf_e(ours, theirs)

    def table(self) -> dict[str, float]:
        """F1 in per cent by name, and ``CoNLL``, the mean of the first three."""
        scores = {}
        for name, (right, of_gold, also_right, of_found) in self._counts.items():
            recall, precision = right / max(of_gold, 1), also_right / max(of_found, 1)
            scores[name] = 100 * 2 * recall * precision / max(recall + precision, 1e-9)
        scores["CoNLL"] = float(np.mean([scores[name] for name in ("MUC", "B3", "CEAF-e")]))
        return scores


def _muc(of: Clusters, by: Clusters) -> tuple[float, float]:
    number = {mention: i for i, cluster in enumerate(by) for mention in cluster}
    kept = sum(len(one) - len({number.get(mention, mention) for mention in one}) for one in of)
    return kept, sum(len(one) - 1 for one in of)


def _b_cubed(of: Clusters, by: Clusters) -> tuple[float, float]:
    number = {mention: i for i, cluster in enumerate(by) for mention in cluster}
    right = 0.0
    for one in of:
        shared = Counter(number[mention] for mention in one if mention in number)
        right += sum(count**2 for count in shared.values()) / len(one)
    return right, sum(map(len, of))


def _ceaf_e(found: Clusters, gold: Clusters) -> tuple[float, float, float, float]:
    if not found or not gold:
        return 0.0, len(gold), 0.0, len(found)
    similar = np.array([[2 * len(a & b) / (len(a) + len(b)) for b in gold] for a in found])
    total = float(similar[linear_sum_assignment(-similar)].sum())
    return total, len(gold), total, len(found)


def main() -> None:
    """Command line."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--model", type=Path, default=shipped())
    parser.add_argument("--corpus", choices=CORPORA, help="only this one")
    parser.add_argument("--all", action="store_true", help="all documents, those of training too")
    parser.add_argument("--joined", action="store_true", help="the documents of a corpus as one text")
    args = parser.parse_args()
    resolver = TextResolver(TextModel.load(args.model))
    documents = [
        one
        for one in read_documents(resolver.model.lexicon)
        if (one.development or args.all) and args.corpus in (None, one.corpus)
    ]
    if args.joined:
        documents = [joined(list(of_corpus)) for _, of_corpus in groupby(documents, lambda one: one.corpus)]
    rows: list[dict[str, object]] = []
    scores = {corpus: ConllScores() for corpus in CORPORA}
    for document in documents:
        text = Text(document.text, turns=transcript_turns(document.text))
        results = resolver.read([(text, window) for window in resolver.pieces(text)])
        rows += rows_of(document, resolver.link(text, results), resolver.model.lexicon)
        gold = defaultdict(set)
        for span, cluster in document.mentions.items():
            gold[cluster].add(span)
        memory = resolver.linked(text, results).memory
        found = [
            [
                one.span
                for one in (memory.mentions[number] for number in entity.mentions)
                if one.validity >= LISTED and one.span not in document.ignored
            ]
            for entity in memory.entities
        ]
        scores[document.corpus].add(found, gold.values())
    table = pd.DataFrame(rows)
    sure = table[table["probability"] > 0.8]
    by_corpus = table.groupby("corpus")["right"].agg(pronouns="count", right="mean")
    by_corpus["above .8"] = sure.groupby("corpus")["right"].mean()
    by_corpus["share above .8"] = sure.groupby("corpus").size() / by_corpus["pronouns"]
    for name in ("CoNLL", "mentions"):
        by_corpus[name] = {corpus: one.table()[name] for corpus, one in scores.items()}
    print(by_corpus.to_string(float_format="{:.3f}".format))


if __name__ == "__main__":
    main()
