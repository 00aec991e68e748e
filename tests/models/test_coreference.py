"""The resolver's training: what it learns from, and what its own part of the loss takes for right."""

import sys
from pathlib import Path

import numpy as np
import pytest
import spacy

from gapstack.data import Corpus, Example
from gapstack.data.teacher import SoftLabels

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(
    0, str(ROOT / "models" / "coreference")
)  # a spaCy project: its scripts import each other by name

import documents  # noqa: E402
from documents import row_text  # noqa: E402
from scores import Scores  # noqa: E402

NEEDS = "the extra 'fastcoref' is not installed"


def test_a_row_has_the_pronoun_and_all_occurrences_of_its_names():
    row = Example.from_text("Ann Lee met Beth. She saw her. Ann Lee slept.", "She", "Ann Lee", "Beth")
    tokenize = spacy.blank("en").tokenizer
    text = row_text(row, True, tokenize)
    assert [[" ".join(text.words[a : b + 1]) for a, b in cluster] for cluster in text.clusters] == [
        ["Ann Lee", "She", "Ann Lee"],
        ["Beth"],
    ]
    assert not text.whole
    other = row_text(row, False, tokenize)
    assert [len(cluster) for cluster in other.clusters] == [2, 2]
    assert (
        row_text(Example.from_text("Ann met Ann Lee. She sat.", "She", "Ann", "Ann Lee"), True, tokenize)
        is None
    )


def test_a_teacher_s_rows_are_learned_where_it_is_sure_of_a_name(monkeypatch):
    rows = Corpus(
        [Example.from_text(f"Ann met Beth. She saw {k}.", "She", "Ann", "Beth", id=str(k)) for k in range(4)]
    )
    answers = np.array([[0.9, 0.05, 0.05], [0.1, 0.85, 0.05], [0.5, 0.4, 0.1], [0.05, 0.05, 0.9]])
    monkeypatch.setattr(documents, "load_teacher", lambda *_: SoftLabels(rows, answers))
    assert [(text.name, len(text.clusters[0])) for text in documents.partly("stage2")] == [
        ("0", 2),
        ("1", 1),
    ]


def test_a_perfect_answer_scores_100_and_another_less():
    pytest.importorskip("fastcoref", reason=NEEDS)
    gold = [[(0, 1), (5, 5)], [(3, 3), (7, 7)]]
    perfect, worse = Scores(), Scores()
    perfect.add(gold, gold)
    worse.add([[(0, 1), (7, 7)], [(3, 3), (5, 5)]], gold)
    assert set(perfect.table().values()) == {100.0}
    assert worse.table()["MUC"] == 0.0
    assert worse.table()["mentions"] == 100.0
