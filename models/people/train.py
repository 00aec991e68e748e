"""Train and measure a resolver of running text: entities of people over whole documents of LitBank and GUM.

Names, nouns and pronouns are linked in the order of the text to one of the entities so far, or to a new one, each by
the distribution of ``gapstack.coreference.ranking``. A first pair of models learns from gold histories, each from half
of the training documents; the final models learn from gold histories and from those that the other half's model
predicts. The booster of antecedents learns from the latter only.

Each fold's documents are measured by models trained on the others: of all he and she pronouns that have a gold cluster,
how often the name or noun that is shown is of that cluster; nobody is right if the gold cluster has neither. Then the
model is trained on all documents and written.

    python models/people/train.py [--data ../shared/data] [--folds 5] [--only 1] [--output models/gapstack-text]
"""

from __future__ import annotations

import argparse
import json
import re
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from itertools import chain
from pathlib import Path
from typing import Any

import lightgbm
import numpy as np
import pandas as pd

from gapstack.anytext.windows import passages
from gapstack.coreference.antecedents import antecedents
from gapstack.coreference.entities import Context, Entity, Features
from gapstack.coreference.lexicon import LONGEST_ENDING, Lexicon
from gapstack.coreference.mentions import Kind, Mention, Position, sentences
from gapstack.coreference.model import CoreferenceModel
from gapstack.coreference.ranking import TREES, Choices, choose, fit, matrix
from gapstack.coreference.reader import read, units
from gapstack.data import Span
from gapstack.data.example import GENDER_BY_FORM, Example, Gender
from gapstack.data.extra import load as load_extra
from gapstack.data.extra.conll import CORPORA, read_corpus
from gapstack.data.gap_files import read_gap
from gapstack.data.sources import file_of, require, stage2
from gapstack.files import open_bytes
from gapstack.text.parses import docs, text_key

_OTHER_PRONOUNS = "i me my mine myself you your yours who whom whose which that"
WORDS = Path(__file__).parent
"""Folder of the lists of ``words.py``."""
_SEEN = 12
"""Occurrences that a dictionary's entry for a noun counts for."""
_COMMON = 5000
"""Bearers in the United States of names that are recognised in lower case."""
_ROWS = 2500  # of each collection of rows, at most
NEITHER = "neither"
_NO_NOUNS = {*GENDER_BY_FORM, *_OTHER_PRONOUNS.split()}
_SINGULAR = {form for form, gender in GENDER_BY_FORM.items() if gender is not Gender.NEUTRAL}
_FULL_NAME = re.compile(r"\b([A-Z][a-z]+) (?:[A-Z]\. )?([A-Z][a-z]+)\b")


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
    row: Example | None = None

    @property
    def is_row(self) -> bool:
        """True for a row of two names: only its pronoun and these names have a gold cluster."""
        return bool(self.row)

    @contextmanager
    def neutral(self, order: np.random.Generator) -> Iterator[None]:
        """Give two thirds of the people they or a neopronoun for a while, since hardly any text has them."""
        forms = {cluster: order.choice(["they", "xe", ""]) for cluster in sorted(set(self.gold.values()))}
        changed = []
        for mention in (mention for unit in self.units for mention in unit if mention.sign):
            form = forms.get(self.cluster[id(mention)] or "")
            if mention.kind is Kind.PRONOUN and form:
                changed.append((mention, mention.sign, mention.text))
                mention.sign, mention.text = 0, form
        yield
        for mention, sign, text in changed:
            mention.sign, mention.text = sign, text

    def find_mentions(self, lexicon: Lexicon) -> None:
        """Find mentions, and the gold cluster of each."""
        at, starting = Position(), defaultdict(list)
        for span in sorted(self.gold, key=lambda span: span.end - span.start):
            starting[span.start].append(span)
        self.units = list(units(self._sentences(at, lexicon)))
        for mention in (mention for unit in self.units for mention in unit):
            self.cluster[id(mention)] = self._cluster_of(mention, starting)
            if self.row and mention.words and self.cluster[id(mention)]:
                mention.odds = (
                    0.0  # GAP's two names always have the pronoun's gender, so theirs must not teach
                )

    def _sentences(self, at: Position, lexicon: Lexicon) -> Iterator[tuple[bool, list[Mention]]]:
        for passage, doc in self.parts:
            yield from sentences(doc, at, lexicon, passage.origin)

    def _cluster_of(self, mention: Mention, starting: dict[int, list[Span]]) -> str | None:
        if mention.kind is Kind.PRONOUN:
            return self.gold.get(mention.span)
        if self.row:
            names = (self.row.a, self.row.b)
            overlapping = (self.gold[name] for name in names if name.overlaps(mention.display))
            same = (self.gold[name] for name in names if self.text[slice(*name)] == mention.text)
            return next(chain(overlapping, same), None)
        for span in (mention.display, mention.span):
            for width in (0, 2, 1):  # with a possessive's or '
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
            readings.append(Reading(corpus, text, gold, persons))
    return parsed(readings)


def parsed(readings: list[Reading]) -> list[Reading]:
    """Parse the passages of documents."""
    cut = [list(passages(reading.text)) for reading in readings]
    found = dict(docs(passage.text for own in cut for passage in own))
    for reading, own in zip(readings, cut, strict=True):
        reading.parts = [(passage, found[text_key(passage.text)]) for passage in own]
    return readings


def read_rows(data: Path | None, seed: int) -> list[Reading]:
    """Read and parse rows of two names: GAP development and validation, DPR's training part, some of KnowRef's."""
    rows = [
        ("gap", row)
        for name in ("gap-development", "gap-validation")
        for row in read_gap(require(name, data))
    ]
    order = np.random.default_rng(seed)
    for name in ():
        found = list(load_extra(name, data).corpus)
        chosen = order.permutation(len(found))[:_ROWS]
        rows += [(name, found[i]) for i in chosen]
    readings = []
    for corpus, row in rows:
        gold = {row.a: "a", row.b: "b", row.pronoun: ("a", "b", NEITHER)[row.label]}
        readings.append(Reading(corpus, row.text, gold, set(), row=row))
    return parsed(readings)


def count_people(reading: Reading) -> dict[str, tuple[int, int]]:
    """How often each noun denotes a person in a document, and how often it occurs."""
    starting: dict[int, list[Span]] = defaultdict(list)
    for span in sorted(reading.gold, key=lambda span: span.end - span.start):
        starting[span.start].append(span)
    found, total = Counter[str](), Counter[str]()
    for passage, doc in reading.parts:
        for token in (token for token in doc if token.pos_ == "NOUN"):
            lefts = [c for c in token.lefts if c.dep_ in ("det", "amod", "compound", "nummod", "nmod:poss")]
            first = doc[min([token.i, *(child.left_edge.i for child in lefts)])].idx
            start, end = passage.origin(Span(first, token.idx + len(token)))
            span = next((span for span in starting[start] if span.end >= end), None)
            lemma = token.lemma_.lower()
            total[lemma] += 1
            found[lemma] += span is not None and reading.gold[span] in reading.persons
    return {lemma: (found[lemma], number) for lemma, number in total.items()}


def american_names(data: Path | None) -> pd.DataFrame:
    """Numbers of women and men with each first name in the United States, at least 10 together."""
    with open_bytes(file_of("names", "ssa_first_names_by_gender.csv", data)) as stream:
        table = pd.read_csv(stream, usecols=[0, 1, 2], keep_default_na=False)
    table.columns = pd.Index(["name", "women", "men"])
    table["name"] = table["name"].str.lower()
    return table[table["women"] + table["men"] >= 10].set_index("name")


def first_names(data: Path | None) -> dict[str, float]:
    """Signed log-odds of the gender of first names."""
    bearers = american_names(data)
    odds = np.log((bearers["women"] + 1) / (bearers["men"] + 1)).round(1).to_dict()
    # people of Wikipedia, all over the world: both names of a row of GAP have the pronoun's gender
    counts: dict[str, list[int]] = defaultdict(lambda: [0, 0])
    for row in (*read_gap(require("gap-development", data)), *stage2(data)):
        for words in {
            row.a_text.split()[0]: row.a_text.split(),
            row.b_text.split()[0]: row.b_text.split(),
        }.values():
            if len(words) > 1 and words[0].isalpha():
                counts[words[0].lower()][row.gender is Gender.FEMININE] += 1
    for name, (masculine, feminine) in counts.items():
        if name not in odds:
            odds[name] = round(float(np.log((feminine + 0.5) / (masculine + 0.5))), 1)
    for name, row in world_names().iterrows():
        if row["men"] or row["women"]:
            own, world = odds.get(name, 0.0), 2 * np.log((row["women"] + 0.5) / (row["men"] + 0.5))
            odds[name] = round(float(max(own, world, key=abs) if own * world >= 0 else (own + world) / 2), 1)
    return odds


def world_names() -> pd.DataFrame:
    """Numbers of a country's lists of names that have each name; see ``words.py``."""
    columns = ["name", "men", "women", "surnames", "is_word"]
    return pd.read_csv(WORDS / "names.tsv", sep="\t", names=columns, index_col="name", keep_default_na=False)


def surnames(data: Path | None, names: Mapping[str, float]) -> dict[str, float]:
    """Share of each word's uses in full names of GAP development's texts, or in lists, in which it comes last."""
    first, last = Counter[str](), Counter[str]()
    for text in set(read_gap(require("gap-development", data)).texts):
        for match in _FULL_NAME.finditer(text):
            if match[1].lower() in names:  # not "San Diego"
                first[match[1].lower()] += 1
                last[match[2].lower()] += 1
    shares = {word: number / (number + first[word] + 1) for word, number in last.items() if number > 1}
    for name, row in world_names().iterrows():
        as_first = row["men"] + row["women"]
        share = row["surnames"] / (row["surnames"] + as_first + 0.5)
        # the first names of a text's full names are no sample of the world's: "San Diego"
        shares[name] = share if as_first > 3 * row["surnames"] else max(share, shares.get(name, 0.0))
    return {word: round(float(share), 2) for word, share in shares.items() if share}


def endings(names: Mapping[str, float]) -> dict[str, float]:
    """Signed log-odds of the gender of first names with an ending, smoothed by the next shorter one."""
    counts: dict[str, list[int]] = defaultdict(lambda: [0, 0])
    for name, odds in names.items():
        for length in range(1, LONGEST_ENDING + 1):
            if abs(odds) > 1 and length < len(name):
                counts[name[-length:]][odds > 0] += 1
    result: dict[str, float] = {}
    for ending in sorted(counts, key=len):
        masculine, feminine = counts[ending]
        if masculine + feminine >= 10:
            before = 1 / (1 + np.exp(-result.get(ending[1:], 0.0)))
            share = (feminine + 5 * before) / (masculine + feminine + 5)
            result[ending] = float(np.log(share / (1 - share)))
    return {ending: round(float(np.clip(odds, -1.5, 1.5)), 1) for ending, odds in result.items()}


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
    readings: Sequence[Reading], rows: Sequence[Reading], lexicon: Lexicon, rounds: int, seed: int
) -> CoreferenceModel:
    """Train a model on some documents and rows."""
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
    return CoreferenceModel(of_kind[True], of_kind[False], shown, lexicon)


def fit_shares(
    rows: Sequence[dict[str, float]], is_right: Sequence[bool], rounds: int, seed: int
) -> lightgbm.Booster:
    """Fit the booster of antecedents: is the mention the pronoun's person."""
    names = list(rows[0])
    data = lightgbm.Dataset(matrix(rows, names), np.array(is_right, dtype=float), feature_name=names)
    settings = TREES | {"objective": "binary", "seed": seed}
    return lightgbm.train(settings, data, num_boost_round=rounds)


def measure(reading: Reading, model: CoreferenceModel) -> list[dict[str, Any]]:
    """Whether the antecedent of each he and she with a gold cluster is right, and its probability."""
    with_noun = {
        cluster
        for span, cluster in reading.gold.items()
        if reading.text[slice(*span)].lower() not in _NO_NOUNS
    }
    answers = []
    for link in chain.from_iterable(model.link(reading.units, Context())):
        cluster = reading.cluster[id(link.pronoun)]
        if cluster is None or link.pronoun.text.lower() not in _SINGULAR:
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


def find_mentions(readings: Sequence[Reading], data: Path | None) -> Lexicon:
    """Find the mentions of all documents, each without its own nouns in the lexicon, which is returned whole."""
    names = first_names(data)
    last_words = surnames(data, names)
    counts = [count_people(reading) for reading in readings]
    total, genders = dictionary_nouns(data)
    for lemma, (found, number) in (pair for one in counts for pair in one.items()):
        before = total.get(lemma, (0, 0))
        total[lemma] = before[0] + found, before[1] + number
    words = Counter(
        token.text
        for reading in readings
        for _, doc in reading.parts
        for token in doc
        if token.text.islower()
    )
    bearers, world = american_names(data).sum(axis=1), world_names()
    listed = world.index[(world["men"] + world["women"] > 0) & (world["is_word"] == 0)]
    common = {*bearers.index[bearers >= _COMMON], *listed}
    common = frozenset(name for name in common if words[name] < 2)
    people = {lemma: (found, number) for lemma, (found, number) in total.items() if found or number > 1}
    lexicon = Lexicon(names, last_words, people, common, genders, endings(names))
    for reading, own in zip(readings, counts, strict=True):
        others = {
            lemma: (a - own.get(lemma, (0, 0))[0], b - own.get(lemma, (0, 0))[1])
            for lemma, (a, b) in total.items()
        }
        reading.find_mentions(replace(lexicon, people=others))
    return lexicon


def dictionary_nouns(data: Path | None) -> tuple[dict[str, tuple[int, int]], dict[str, int]]:
    """Counts for nouns of a dictionary and of a list of occupations, as if seen a few times; signed genders."""
    counts, genders = {}, {}
    for line in (WORDS / "nouns.tsv").read_text(encoding="utf-8").splitlines():
        lemma, share, gender = line.split("\t")
        counts[lemma] = round(_SEEN * float(share)), _SEEN
        if int(gender) and float(share) > 0.8:
            genders[lemma] = int(gender)
    with open_bytes(file_of("wordlists", "professions.json", data)) as stream:
        return counts | {name: (8, 8) for name, *_ in json.load(stream) if "_" not in name}, genders


def main(argv: list[str] | None = None) -> None:
    """Command line."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--data", type=Path, help="data folder (default: the usual search)")
    parser.add_argument("--rounds", type=int, default=200)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--folds", type=int, default=5)
    parser.add_argument("--only", type=int, help="measure only so many folds")
    parser.add_argument("--output", type=Path, help="train on all documents and write this folder")
    args = parser.parse_args(argv)
    readings, rows = read_documents(args.data), read_rows(args.data, args.seed)
    lexicon = find_mentions(readings, args.data)
    for row in rows:
        row.find_mentions(lexicon)
    of_row = np.random.default_rng(args.seed).permutation(len(rows))
    order = np.random.default_rng(args.seed).permutation(len(readings))
    answers = []
    for fold in range(args.folds if args.only is None else args.only):
        training = [readings[i] for place, i in enumerate(order) if place % args.folds != fold]
        taught = [rows[i] for place, i in enumerate(of_row) if place % args.folds != fold]
        model = train(training, taught, lexicon, args.rounds, args.seed)
        held_out = [readings[i] for i in order[fold :: args.folds]] + [
            rows[i] for i in of_row[fold :: args.folds]
        ]
        found = pd.DataFrame([one for reading in held_out for one in measure(reading, model)])
        print(f"fold {fold + 1}", summary(found).to_string(), sep="\n", flush=True)
        answers.append(found)
    if answers:
        print("all", summary(pd.concat(answers)).to_string(), sep="\n", flush=True)
    if args.output:
        args.output.mkdir(parents=True, exist_ok=True)
        train([readings[i] for i in order], [rows[i] for i in of_row], lexicon, args.rounds, args.seed).save(
            args.output
        )


if __name__ == "__main__":
    main()
