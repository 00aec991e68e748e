"""Training and evaluation data of the resolver: documents of LitBank and GUM, whole or in parts, and GAP-style rows."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import groupby
from typing import Any

import numpy as np
import spacy
import torch
from spacy.tokenizer import Tokenizer

from gapstack.data import Example, Label
from gapstack.data.augment import mentions
from gapstack.data.extra import load
from gapstack.data.extra.conll import CORPORA, ConllDocument, read_corpus
from gapstack.data.teacher import STAGE2, load_teacher
from gapstack.files import fingerprint
from gapstack.training.data import TARGET
from gapstack.types import Rows

Clusters = list[list[tuple[int, int]]]
"""Mentions as first and last word (or piece), both included."""


CONFIDENT = 0.8
"""Minimum probability of a teacher's label to learn from it."""


@dataclass(frozen=True)
class Text:
    """Words and clusters (singletons included) of a document or a part of one.

    If not ``whole``, only some mentions are annotated.
    """

    name: str
    words: list[str]
    clusters: Clusters
    whole: bool = True


def split(documents: Sequence[ConllDocument], seed: int) -> dict[str, list[ConllDocument]]:
    """Split the documents of a corpus: a tenth for development, a tenth held out, the rest for training."""
    order = np.random.default_rng(seed).permutation(len(documents))
    tenth = len(documents) // 10
    cuts = {"development": order[:tenth], "held out": order[tenth : 2 * tenth], "train": order[2 * tenth :]}
    return {part: [documents[i] for i in sorted(places)] for part, places in cuts.items()}


def read(seed: int, first: int | None) -> dict[str, dict[str, list[ConllDocument]]]:
    """Read the corpora, at most ``first`` documents of each; returns documents by part and corpus."""
    found: dict[str, dict[str, list[ConllDocument]]] = defaultdict(dict)
    for name in CORPORA:
        documents = list(read_corpus(name))[:first]
        for part, chosen in split(documents, seed).items():
            found[part][name] = chosen
    return found


def text_of(document: ConllDocument, words: range) -> Text:
    """Part of a document; mentions that reach out of it are left out."""
    found: dict[str, set[tuple[int, int]]] = defaultdict(set)
    for mention in document.mentions:
        if words.start <= mention.start and mention.end <= words.stop:
            found[mention.cluster].add((mention.start - words.start, mention.end - 1 - words.start))
    tokens = document.tokens[words.start : words.stop]
    return Text(document.name, tokens, [sorted(cluster) for cluster in found.values()])


def parts(document: ConllDocument, tokenizer: Any, most: int) -> Iterator[Text]:
    """Cut a document at the ends of sentences into parts of at most ``most`` pieces; longer sentences are cut too."""
    encoded = tokenizer(document.tokens, is_split_into_words=True, add_special_tokens=False, verbose=False)
    pieces = defaultdict[int, int](int, {word: len(list(of)) for word, of in groupby(encoded.word_ids())})
    begin = size = 0
    for sentence in document.sentences:
        length = sum(pieces[word] for word in sentence)
        if size and size + length > most:
            yield text_of(document, range(begin, sentence.start))
            begin, size = sentence.start, 0
        for word in sentence:
            if size + pieces[word] > most:
                yield text_of(document, range(begin, word))
                begin, size = word, 0
            size += pieces[word]
    yield text_of(document, range(begin, len(document.tokens)))


def partly(name: str) -> list[Text]:
    """Texts from rows: the pronoun, the name it refers to and the other name, with all occurrences of both names.

    ``stage2`` takes the teacher's rows of which a name has at least :data:`CONFIDENT`; other names are corpora of
    :mod:`gapstack.data.extra`. Rows in which one name is a part of the other are left out.
    """
    if name == STAGE2:
        soft = load_teacher(name)
        answers = np.where(
            soft.probabilities.max(axis=1) >= CONFIDENT, soft.probabilities.argmax(axis=1), Label.NEITHER
        )
        rows = zip(soft.corpus, answers, strict=True)
    else:
        corpus = load(name).corpus
        rows = zip(corpus, corpus.labels, strict=True)
    tokenize = spacy.blank("en").tokenizer
    return [
        text
        for row, answer in rows
        if answer != Label.NEITHER and (text := row_text(row, answer == Label.A, tokenize)) is not None
    ]


def row_text(row: Example, is_a: bool, tokenize: Tokenizer) -> Text | None:
    """Text of a row whose pronoun refers to ``a`` (or to ``b``); None if one name is a part of the other."""
    if row.a_text in row.b_text or row.b_text in row.a_text:
        return None
    doc = tokenize(row.text)
    one, other = mentions(row, row.a), mentions(row, row.b)
    (one if is_a else other).append(row.pronoun)
    # a span inside a token of the tokenizer is not a mention
    clusters = [
        sorted({(words.start, words.end - 1) for span in spans if (words := doc.char_span(*span))})
        for spans in (one, other)
    ]
    return Text(row.id, [word.text for word in doc], clusters, whole=False)


class CorefData:
    """Texts as data of the training loop (:class:`gapstack.training.Data`), with mentions in word pieces."""

    def __init__(self, texts: Sequence[Text], tokenizer: Any):
        encoded = tokenizer([text.words for text in texts], is_split_into_words=True)
        self._ids = encoded["input_ids"]
        self._whole = np.array([text.whole for text in texts], dtype=bool)
        self._mentions: list[list[tuple[int, int, int]]] = []
        for row, text in enumerate(texts):
            first: dict[int, int] = {}
            last: dict[int, int] = {}
            for piece, word in enumerate(encoded.word_ids(row)):
                if word is not None:
                    first.setdefault(word, piece)
                    last[word] = piece
            # words without pieces (marks that the tokenizer strips) have no mention
            self._mentions.append(
                [
                    (first[begin], last[end], number)
                    for number, cluster in enumerate(text.clusters, start=1)
                    for begin, end in cluster
                    if begin in first and end in last
                ]
            )

    @property
    def sizes(self) -> np.ndarray:
        """Pieces of each text."""
        return np.array([len(ids) for ids in self._ids], dtype=np.int64)

    @cached_property
    def fingerprint(self) -> str:
        """Hash of the texts."""
        return fingerprint(self._ids, self._mentions, self._whole.tolist())

    def batch(self, rows: Rows) -> dict[str, torch.Tensor]:
        """Pieces (b, L), mask (b, L), entity of each span by first and last piece (b, L, L; 0 for none), whole (b,)."""
        width = max(len(self._ids[row]) for row in rows)
        ids = np.zeros((len(rows), width), dtype=np.int64)
        keep = np.zeros((len(rows), width), dtype=bool)
        entities = np.zeros((len(rows), width, width), dtype=np.int64)
        for place, row in enumerate(rows):
            ids[place, : len(self._ids[row])] = self._ids[row]
            keep[place, : len(self._ids[row])] = True
            for first, last, number in self._mentions[row]:
                entities[place, first, last] = number
        arrays = {
            "ids": ids,
            "keep": keep,
            "entities": entities,
            "whole": self._whole[rows],
            TARGET: np.zeros(len(rows)),
        }
        return {name: torch.from_numpy(array) for name, array in arrays.items()}
