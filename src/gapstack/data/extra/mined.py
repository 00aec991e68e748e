"""Rows like GAP's from documents with coreference: a pronoun, its antecedent's name, and a compatible distractor."""

import re
from collections.abc import Container, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from itertools import combinations

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

from gapstack.data.example import GAP_FORMS, GENDER_BY_FORM, Example, Gender, Label
from gapstack.data.extra.conll import ConllDocument, GoldMention, read_corpus
from gapstack.data.extra.rows import ExtraRows, ExtraSource
from gapstack.data.person_words import MEMBER_TITLES

GAP_PRIOR = (0.44, 0.46, 0.10)  # shares of A, B and NEITHER in GAP development, rounded

_PARTICLES = {"of", "de", "la", "le", "van", "von", "der", "den", "di", "da", "du", "the"}
# What may stand in a name's mention and is none of its words.
_NO_NAMES = _PARTICLES | MEMBER_TITLES.keys() | {"old", "young", "'s", "\u2019s", "_"}
_NAME_TOKEN = re.compile(r"[^\W\d_](?:[\w.'\u2019-]*)")


@dataclass
class Cluster:
    """One entity of a document: the genders of its pronouns and titles, and its mentions by name."""

    genders: set[Gender]
    is_person: bool
    names: list[GoldMention]

    def compatible(self, gender: Gender) -> bool:
        """True if the entity is a person without evidence of another gender; neutral pronouns fit any person."""
        return self.is_person and (gender == Gender.NEUTRAL or self.genders <= {gender})


class ClusteredDocument:
    """A document with its clusters of mentions by name."""

    def __init__(self, document: ConllDocument):
        self.document = document
        self.sentence_of = {i: s for s, tokens in enumerate(document.sentences) for i in tokens}
        self.clusters: dict[str, Cluster] = {}
        for mention in document.mentions:
            cluster = self.clusters.setdefault(mention.cluster, Cluster(set(), False, []))
            words = document.tokens[mention.start : mention.end]
            form = words[0].lower()
            gender = GENDER_BY_FORM.get(form) if len(words) == 1 else MEMBER_TITLES.get(form)
            if gender in (Gender.MASCULINE, Gender.FEMININE):
                cluster.genders.add(gender)
            cluster.is_person |= gender is not None or mention.kind == "person"
            if self._is_name(words):
                is_possessive = words[-1] in {"'s", "\u2019s", "_"}
                cluster.names.append(mention._replace(end=mention.end - is_possessive))

    @cached_property
    def _small(self) -> set[str]:
        return {token for token in self.document.tokens if token.islower()}

    @cached_property
    def _inner(self) -> set[str]:
        """Words that occur inside sentences: there, unlike at the beginning, a capital means a name."""
        tokens = self.document.tokens
        return {
            tokens[i]
            for sentence in self.document.sentences
            for i in sentence[1:]
            if tokens[i - 1][-1].isalnum() or tokens[i - 1] == ","
        }

    def _is_name(self, words: list[str]) -> bool:
        """True if a mention is a proper name: capitalised words, one of which never occurs in lower case."""
        core = [word for word in words if word.lower() not in _NO_NAMES]
        return (
            0 < len(core) <= 3
            and len(words) <= 5
            and words[0][0].isupper()
            and all(_NAME_TOKEN.fullmatch(word) and word[0].isupper() for word in core)
            and not any(len(word) > 3 and word.isupper() for word in core)
            and any(
                word in self._inner and word.lower() not in self._small and word.lower() not in GENDER_BY_FORM
                for word in core
            )
            and core != ["I"]
        )

    def window(self, at: int, words: int) -> range | None:
        """Tokens of the sentence of ``at`` and of its neighbours, at most ``words``; None if the sentence is longer."""
        last = first = self.sentence_of[at]
        sentences = self.document.sentences
        if len(sentences[last]) > words:
            return None
        if last + 1 < len(sentences) and sentences[last + 1].stop - sentences[last].start <= words:
            last += 1
        while first > 0 and sentences[last].stop - sentences[first - 1].start <= words:
            first -= 1
        return range(sentences[first].start, sentences[last].stop)


Pair = tuple[GoldMention, GoldMention]  # two name mentions, the first before the second


def mine(
    documents: Iterable[ConllDocument],
    into: ExtraRows,
    *,
    prefix: str,
    prior: tuple[float, float, float] = GAP_PRIOR,
    words: int = 150,
) -> None:
    """Add at most one row to ``into`` for each of GAP's pronouns in the documents.

    The antecedent is the nearest name mention of the pronoun's cluster before it, or else after it. The distractor is
    the nearest name mention of another person without evidence of another gender, which shares no word with the
    antecedent. NEITHER rows have two distractors. No two rows have the same two name mentions. Windows have at most
    ``words`` tokens. Rows are dropped at random until the shares of A, B and NEITHER are those of ``prior``.
    """
    shares, rng = np.asarray(prior, dtype=np.float64), np.random.default_rng(0)
    examples: list[Example] = []
    counts = np.zeros(3)
    used: set[tuple[str, int, int]] = set()
    for source, mention, window, options in _pronouns(documents, GAP_FORMS, words, into):
        document = source.document.name
        fresh = {
            label: [pair for pair in pairs if (document, pair[0].start, pair[1].start) not in used]
            for label, pairs in options.items()
            if shares[label] > 0
        }
        # the label that lacks most rows takes this one
        lacks = {label: counts[label] - shares[label] * (counts.sum() + 1) for label in fresh if fresh[label]}
        if lacks:
            label = min(lacks, key=lacks.__getitem__)
            a, b = fresh[label][int(rng.integers(len(fresh[label])))]
            used.add((document, a.start, b.start))
            counts[label] += 1
            examples.append(_example(prefix, source, window, (mention, a, b), label))
        elif any(options.values()):
            into.skip("another row has its names")
    labels = np.array([example.label for example in examples], dtype=np.int64)
    rows = with_shares(labels, shares, rng)
    into.skipped["dropped to keep the label prior"] += len(examples) - len(rows)
    into.examples += [examples[row] for row in rows]


def every_pronoun(
    documents: Iterable[ConllDocument], into: ExtraRows, *, prefix: str, words: int = 150
) -> None:
    """Add a row to ``into`` for every pronoun, with its antecedent and the nearest other name, for scoring."""
    for source, mention, window, options in _pronouns(documents, GENDER_BY_FORM, words, into):
        pairs = [
            (max(abs(a.start - mention.start), abs(b.start - mention.start)), label, a, b)
            for label in (Label.A, Label.B)
            for a, b in options.get(label, [])
        ]
        if pairs:
            _, label, a, b = min(pairs)
            into.keep(_example(prefix, source, window, (mention, a, b), label))
        elif options.get(Label.NEITHER):
            into.skip("its antecedent is not named nearby")


def _pronouns(
    documents: Iterable[ConllDocument], forms: Container[str], words: int, into: ExtraRows
) -> Iterator[tuple[ClusteredDocument, GoldMention, range, dict[Label, list[Pair]]]]:
    """Every mention that is one of the pronoun ``forms``, with its window and pairs of names by label."""
    for document in documents:
        source = ClusteredDocument(document)
        for mention in document.mentions:
            if mention.end == mention.start + 1 and document.tokens[mention.start].lower() in forms:
                window = source.window(mention.start, words)
                if window is None:
                    into.skip("the sentence is too long")
                else:
                    yield source, mention, window, _options(source, mention, window, into)


def _options(
    source: ClusteredDocument, pronoun: GoldMention, window: range, into: ExtraRows
) -> dict[Label, list[Pair]]:
    """Pairs of name mentions by the label of the row that they would make."""
    gender = GENDER_BY_FORM[source.document.tokens[pronoun.start].lower()]

    def nearest_in_window(cluster: Cluster) -> GoldMention | None:
        inside = [
            m
            for m in cluster.names
            if window.start <= m.start and m.end <= window.stop and not m.start <= pronoun.start < m.end
        ]
        before = [m for m in inside if m.end <= pronoun.start]
        return before[-1] if before else min(inside, default=None)

    referent = source.clusters[pronoun.cluster]
    antecedent = nearest_in_window(referent)
    referent_words = {word for name in referent.names for word in _words(source, name)}
    others = [
        cluster
        for cluster in source.clusters.values()
        if cluster is not referent and cluster.compatible(gender)
    ]
    names = sorted(filter(None, map(nearest_in_window, others)))
    distractors = [name for name in names if not _words(source, name) & referent_words]
    if not distractors:
        into.skip("no other person is named nearby")
        return {}
    pairs = [
        (first, second)
        for first, second in combinations(distractors, 2)
        if first.end <= second.start and not _words(source, first) & _words(source, second)
    ]
    options = {Label.NEITHER: pairs}
    if antecedent is not None:
        options[Label.A] = [(antecedent, other) for other in distractors if antecedent.end <= other.start]
        options[Label.B] = [(other, antecedent) for other in distractors if other.end <= antecedent.start]
    elif not pairs:
        into.skip("its antecedent is not named nearby, and only one other person is")
    return options


def _words(source: ClusteredDocument, mention: GoldMention) -> set[str]:
    return {word.lower() for word in source.document.tokens[mention.start : mention.end]} - _NO_NAMES


def _example(
    prefix: str, source: ClusteredDocument, window: range, mentions: Sequence[GoldMention], label: Label
) -> Example:
    text, places = source.document.text_of(window)
    pronoun, a, b = (mention.characters(places) for mention in mentions)
    name = f"{prefix}-{source.document.name}-{mentions[0].start}"
    return Example(name, text, pronoun, a, b, None, label)


def with_shares(classes: NDArray[np.int64], shares: NDArray[np.float64], rng: Generator) -> list[int]:
    """Choose as many random rows as possible so that their ``classes`` (n,) have ``shares`` (k,), which sum to 1."""
    counts = np.bincount(classes, minlength=len(shares))
    total = min((count / share for count, share in zip(counts, shares, strict=True) if share > 0), default=0)
    keep: set[int] = set()
    for label, share in enumerate(shares):
        rows = rng.permutation(np.flatnonzero(classes == label))
        keep |= set(rows[: int(round(total * share, 6))].tolist())
    return sorted(keep)


def _mine_corpus(name: str, into: ExtraRows) -> None:
    mine(read_corpus(name), into, prefix=name)


LITBANK = ExtraSource(partial(_mine_corpus, "litbank"), ("corpora",), ("litbank",))
GUM = ExtraSource(partial(_mine_corpus, "gum"), ("corpora",), ("gum", "ontogum"))
