"""Documents and rows that the model of running text learns from: texts, parses, mentions, and gold clusters.

LitBank has its published ten folds (Bamman et al. 2020). GUM's published test documents are kept apart; the others,
and GAP's rows, are dealt out to ten folds in their order.
"""

from __future__ import annotations

import json
import re
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from itertools import chain
from pathlib import Path

import numpy as np
import pandas as pd

from gapstack.anytext.windows import Window, passages
from gapstack.coreference.detection import Position, sentences
from gapstack.coreference.lexicon import LONGEST_ENDING, Lexicon
from gapstack.coreference.mentions import Kind, Mention
from gapstack.coreference.pairs import PairScorer
from gapstack.coreference.reader import units
from gapstack.data import Span
from gapstack.data.example import GENDER_BY_FORM, Example, Gender
from gapstack.data.extra import load as load_extra
from gapstack.data.extra.conll import CORPORA, read_corpus
from gapstack.data.gap_files import read_gap
from gapstack.data.sources import file_of, require, stage2
from gapstack.files import open_bytes
from gapstack.text.parses import docs, text_key

WORDS = Path(__file__).parent
"""Folder of the lists of ``words.py``."""
_SEEN = 12
"""Occurrences that a dictionary's entry for a noun counts for."""
_COMMON = 5000
"""Bearers in the United States of names that are recognised in lower case."""
TEST = -1
"""Fold of GUM's published test documents."""
FOLDS = 10
_LITBANK = """
6593 271 730 16357 2807 1023 1155 238 1661 711
2489 209 805 233 76 4276 1245 829 33 2095
145 62 36 11 2641 3268 1260 541 514 18581
11231 110 217 41 766 113 73 5230 8867 472
434 521 160 3457 120 543 1064 2084 4051 2891
2005 969 1342 174 155 78 599 2775 550 876
105 1400 74 432 84 974 32 345 45 95
171 4300 1206 215 932 41286 77 2852 4217 502
2166 219 367 12677 1695 9830 5348 24 1327 27
940 60 208 351 2814 158 44 6053 15265 768
"""
LITBANK_FOLD = {
    number: fold for fold, line in enumerate(_LITBANK.split("\n")[1:-1]) for number in line.split()
}
"""Test fold of each novel by its number in Project Gutenberg."""
_GUM_TEST = """
academic_discrimination academic_eegimaa bio_dvorak bio_jespersen court_insanity court_mitigation interview_hill
interview_libertarian news_nasa news_sensitive voyage_oakland voyage_vavau
"""
GUM_TEST = frozenset(_GUM_TEST.split())
_OTHER_PRONOUNS = "i me my mine myself you your yours who whom whose which that"
_LONGEST_START = 40  # characters before a mention that its gold span may have
NEITHER = "neither"
NO_NOUNS = {*GENDER_BY_FORM, *_OTHER_PRONOUNS.split()}
SINGULAR = {form for form, gender in GENDER_BY_FORM.items() if gender is not Gender.NEUTRAL}
NOT_THIRD = frozenset(["i", "me", "my", "mine", "myself", "you", "your", "yours", "yourself"])
_FULL_NAME = re.compile(r"\b([A-Z][a-z]+) (?:[A-Z]\. )?([A-Z][a-z]+)\b")


@dataclass
class Reading:
    """A document: its text, gold clusters by span, parsed parts with their first characters, units of mentions."""

    name: str
    corpus: str
    fold: int
    text: str
    gold: dict[Span, str]
    persons: set[str]
    parts: list = field(default_factory=list)
    passages: list[tuple[Window, list[Mention]]] = field(default_factory=list)
    units: list[list[Mention]] = field(default_factory=list)
    cluster: dict[int, str | None] = field(default_factory=dict)
    row: Example | None = None
    scorer: PairScorer | None = None

    @property
    def is_row(self) -> bool:
        """True for a row of two names: only its pronoun and these names have a gold cluster."""
        return bool(self.row)

    def form(self, span: Span) -> str:
        """Text of a mention in lower case."""
        return self.text[slice(*span)].lower()

    def people(self) -> dict[str, list[Span]]:
        """Gold mentions of people: clusters with a personal pronoun or, on average, names and nouns of people."""
        kinds = defaultdict(list)
        for mention in (mention for unit in self.units for mention in unit):
            if mention.kind is not Kind.PRONOUN:
                kinds[self.cluster[id(mention)]].append(mention.personhood)
        clusters = {cluster for cluster, found in kinds.items() if np.mean(found) > 0.5}
        clusters |= {
            cluster for span, cluster in self.gold.items() if self.form(span) in SINGULAR | NOT_THIRD
        }
        mentions = defaultdict(list)
        for span, cluster in self.gold.items():
            if cluster in clusters:
                mentions[cluster].append(span)
        return mentions

    @contextmanager
    def neutral(self, order: np.random.Generator) -> Iterator[None]:
        """Give two thirds of the people they or a neopronoun for a while, since hardly any text has them."""
        forms = {cluster: order.choice(["they", "xe", ""]) for cluster in sorted(set(self.gold.values()))}
        changed = []
        for mention in (mention for unit in self.units for mention in unit if mention.sign):
            form = forms.get(self.cluster[id(mention)] or "")
            if mention.kind is Kind.PRONOUN and form:
                changed.append((mention, mention.sign, mention.text, mention.neural))
                mention.sign, mention.text, mention.neural = 0, form, None
        yield
        for mention, sign, text, neural in changed:
            mention.sign, mention.text, mention.neural = sign, text, neural

    def find_mentions(self, lexicon: Lexicon) -> None:
        """Find mentions, and the gold cluster of each."""
        at, starting = Position(), defaultdict(list)
        self.passages = []
        for span in sorted(self.gold, key=lambda span: span.end - span.start):
            starting[span.start].append(span)
        self.units = list(units(self._sentences(at, lexicon)))
        for mention in (mention for unit in self.units for mention in unit):
            self.cluster[id(mention)] = self._cluster_of(mention, starting)
            if self.row and mention.words and self.cluster[id(mention)]:
                mention.odds = 0.0  # a row's two names always have the pronoun's gender, which must not teach

    def _sentences(self, at: Position, lexicon: Lexicon) -> Iterator[tuple[bool, list[Mention]]]:
        for passage, doc in self.parts:
            found = list(sentences(doc, at, lexicon, passage.origin))
            self.passages.append((passage, [mention for _, mentions in found for mention in mentions]))
            yield from found

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
        longer = chain(
            # "the mother" of "the mother of two", then "Roche" of "Nasty Roche"
            (
                s
                for at in (mention.display.start, mention.span.start)
                for s in starting[at]
                if s.end > mention.span.end
            ),
            (
                s
                for at in range(mention.display.start - 1, mention.display.start - _LONGEST_START, -1)
                for s in starting[at]
                if s.end - mention.span.end in (0, 1, 2) and s.end >= mention.span.end
            ),
        )
        return self.gold.get(next(longer, Span(-1, -1)))


def read_documents() -> list[Reading]:
    """Read and parse both corpora."""
    readings = []
    for corpus in CORPORA:
        others = 0
        for document in read_corpus(corpus):
            text, places = document.text_of(range(len(document.tokens)))
            gold = {mention.characters(places): mention.cluster for mention in document.mentions}
            persons = {mention.cluster for mention in document.mentions if mention.kind == "person"}
            persons |= {cluster for span, cluster in gold.items() if text[slice(*span)].lower() in SINGULAR}
            if corpus == "litbank":
                fold = LITBANK_FOLD[document.name.split("_")[0]]
            elif document.name.removeprefix("GUM_") in GUM_TEST:
                fold = TEST
            else:
                fold, others = others % FOLDS, others + 1
            readings.append(Reading(document.name, corpus, fold, text, gold, persons))
    return parsed(readings)


def parsed(readings: list[Reading]) -> list[Reading]:
    """Parse the passages of documents."""
    cut = [list(passages(reading.text)) for reading in readings]
    found = dict(docs(passage.text for own in cut for passage in own))
    for reading, own in zip(readings, cut, strict=True):
        reading.parts = [(passage, found[text_key(passage.text)]) for passage in own]
    return readings


def read_rows() -> list[Reading]:
    """Read and parse GAP's development and validation rows."""
    parts = [read_gap(require(name)) for name in ("gap-development", "gap-validation")]
    return _of_rows("gap", [row for part in parts for row in part])


def read_sentences() -> list[Reading]:
    """Read and parse sentences of which only the meaning tells who is who: DPR's and a third of Winogrande's."""
    dpr, winogrande = (load_extra(name).corpus for name in ("dpr-train", "winogrande"))
    return _of_rows("sentences", [*dpr, *list(winogrande)[::3]])


def _of_rows(corpus: str, rows: Sequence[Example]) -> list[Reading]:
    readings = []
    for number, row in enumerate(rows):
        gold = {row.a: "a", row.b: "b", row.pronoun: ("a", "b", NEITHER)[row.label]}
        readings.append(Reading(row.id, corpus, number % FOLDS, row.text, gold, set(), row=row))
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


def american_names() -> pd.DataFrame:
    """Numbers of women and men with each first name in the United States, at least 10 together."""
    with open_bytes(file_of("names", "ssa_first_names_by_gender.csv")) as stream:
        table = pd.read_csv(stream, usecols=[0, 1, 2], keep_default_na=False)
    table.columns = pd.Index(["name", "women", "men"])
    table["name"] = table["name"].str.lower()
    return table[table["women"] + table["men"] >= 10].set_index("name")


def first_names() -> dict[str, float]:
    """Signed log-odds of the gender of first names."""
    bearers = american_names()
    odds = np.log((bearers["women"] + 1) / (bearers["men"] + 1)).round(1).to_dict()
    # people of Wikipedia, all over the world: both names of a row of GAP have the pronoun's gender
    counts: dict[str, list[int]] = defaultdict(lambda: [0, 0])
    for row in (*read_gap(require("gap-development")), *stage2()):
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


def surnames(names: Mapping[str, float]) -> dict[str, float]:
    """Share of each word's uses in full names of GAP development's texts, or in lists, in which it comes last."""
    first, last = Counter[str](), Counter[str]()
    for text in set(read_gap(require("gap-development")).texts):
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


def find_mentions(readings: Sequence[Reading]) -> Lexicon:
    """Find the mentions of all documents, each without its own nouns in the lexicon, which is returned whole."""
    names = first_names()
    last_words = surnames(names)
    counts = [count_people(reading) for reading in readings]
    total, genders = dictionary_nouns()
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
    bearers, world = american_names().sum(axis=1), world_names()
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


def dictionary_nouns() -> tuple[dict[str, tuple[int, int]], dict[str, int]]:
    """Counts for nouns of a dictionary and of a list of occupations, as if seen a few times; signed genders."""
    counts, genders = {}, {}
    for line in (WORDS / "nouns.tsv").read_text(encoding="utf-8").splitlines():
        lemma, share, gender = line.split("\t")
        counts[lemma] = round(_SEEN * float(share)), _SEEN
        if int(gender) and float(share) > 0.8:
            genders[lemma] = int(gender)
    with open_bytes(file_of("wordlists", "professions.json")) as stream:
        return counts | {name: (8, 8) for name, *_ in json.load(stream) if "_" not in name}, genders
