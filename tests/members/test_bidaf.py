from dataclasses import replace

import numpy as np

from gapstack.data import Corpus, Example, Span
from gapstack.encoding.pieces import align
from gapstack.members import bidaf, create
from gapstack.members.bidaf import other_names
from gapstack.text.grammar import empty_parse
from gapstack.text.parses import ENVIRONMENT as PARSER_VARIABLE

QUICK = {"epochs": 1, "precision": "float32"}


def test_other_names_are_persons_who_are_neither_a_nor_b(tiny_encoder, monkeypatch):
    text = "Ann Lee met Bob. She thanked Cy and Ann."
    row = Example("r", text, Span(17, 20), Span(0, 7), Span(12, 15))
    parse = empty_parse(text)
    parse.spans = np.array([[0, 3], [4, 7], [12, 15], [17, 20], [29, 31], [36, 39]])
    parse.heads, parse.sentence = np.zeros(6, dtype=np.int32), np.zeros(6, dtype=np.int32)
    parse.roles = parse.pos = np.zeros(6, dtype=np.int8)
    parse.persons = np.array([[0, 2], [2, 3], [4, 5], [5, 6]])
    monkeypatch.setattr(bidaf, "parses", lambda corpus: [parse for _ in corpus])
    view = align(Corpus([row]), tiny_encoder)
    mask = other_names(Corpus([row]), view)
    # the second "Ann" is part of A
    assert "".join(text[slice(*span)] for span in view.chars[mask[0]]) == "Cy"


def test_without_other_names_no_parse_is_needed(sample_train, tiny_encoder_folder, monkeypatch):
    monkeypatch.setenv(PARSER_VARIABLE, "no_such_pipeline")
    rows = sample_train[:20].map(lambda e: replace(e, text=f"{e.text} So it was."))
    member = create(
        "bidaf", encoder=str(tiny_encoder_folder), neither="slot", max_pieces=96, training=QUICK
    ).fit(rows)
    assert member.predict_proba(rows).shape == (20, 3)
