"""Documents with coreference, and the rows that are mined from them."""

import io
import tarfile
from collections import Counter
from pathlib import Path

import numpy as np
import pytest

from gapstack.data.contamination import shared_passages
from gapstack.data.extra import load
from gapstack.data.extra.conll import ConllDocument, GoldMention, parse, read_corpus
from gapstack.data.extra.mined import GAP_PRIOR, mine
from gapstack.data.extra.rows import ExtraRows
from gapstack.errors import DataError

PATH = Path("books.conll")


def document(*lines):
    """Three columns from "token mentions" words; an empty line parts sentences."""
    rows = [
        f"{i}\t{line.split()[0]}\t{[*line.split(), '_'][1]}" if line else "" for i, line in enumerate(lines)
    ]
    return "\n".join(["#begin document (a_book); part 0", *rows, "#end document", ""])


def read(*lines):
    (found,) = parse(document(*lines), PATH, 3, 1)
    return found


def test_mentions_nest_and_kinds_are_split_off():
    found = read(
        "the (1(person-2-Al_Bo", "old", "king person-2-Al_Bo)", "'s", "men 1)", "ran", "(3)"[:3] + " (3)|(4)"
    )
    assert found.name == "a_book"
    assert found.mentions == [
        GoldMention(0, 5, "1"),
        GoldMention(0, 3, "2", "person"),
        GoldMention(6, 7, "3"),
        GoldMention(6, 7, "4"),
    ]


@pytest.mark.parametrize(
    ("lines", "sentences"),
    [
        (["He", "ran", ".", "", "She", "left", "."], [range(0, 3), range(3, 6)]),
        (["He", "ran", ".", "She", "left", "!", "And"], [range(0, 3), range(3, 6), range(6, 7)]),
        (["He"], [range(0, 1)]),
    ],
)
def test_sentences_end_at_empty_lines_or_else_at_marks(lines, sentences):
    assert read(*lines).sentences == sentences


@pytest.mark.parametrize(
    ("tokens", "text"),
    [
        ("Al 's dog , ( a pug ) , ran .", "Al's dog, (a pug), ran."),
        ("He did n't say “ no ” .", "He didn't say “no”."),
        ('" Go , " he said . " Now ! "', '"Go," he said. "Now!"'),
        ('he said . " And she said : " No . "', 'he said." And she said: "No."'),  # begins inside quotes
        ("a well - known _ King _ ; $ 5", "a well-known King; $5"),
        ("`` Yes '' -- she said", "``Yes'' -- she said"),
    ],
)
def test_tokens_become_text_as_it_is_written(tokens, text):
    words = tokens.split()
    found, places = ConllDocument("d", words).text_of(range(len(words)))
    assert found == text
    assert all(found[slice(*places[i])] == ("" if word == "_" else word) for i, word in enumerate(words))


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        (document("Al (1"), r"books.conll, line 3: the document ends with \['1'\] open"),
        (document("Al 1)"), r"line 2: '1' is closed and was not open"),
        (document("Al (1)x("), r"line 2: cannot read '\(1\)x\('"),
        (document("Al (1)").replace("0\tAl", "Al"), r"line 2: the line has 2 columns; expected 3"),
        (document("Al (1)").replace("#end document", ""), r"document a_book has no end"),
        (document("Al (1)").replace("#begin", "##begin"), r"line 1: .* outside a document"),
        (document("Al") .replace("#end", "#begin"), r"line 3: a document begins"),
    ],
)  # fmt: skip
def test_broken_documents_are_refused_with_their_place(text, problem):
    with pytest.raises(DataError, match=problem):
        list(parse(text, PATH, 3, 1))


def test_a_damaged_archive_is_refused(tmp_path, monkeypatch):
    monkeypatch.setenv("GAP_DATA", str(tmp_path))
    path = tmp_path / "corpora" / "gum_open_genres_coref_conll.tar.xz"
    path.parent.mkdir()
    with tarfile.open(path, "w:xz") as made:
        blob = document("Al (1)").encode()
        about = tarfile.TarInfo("./coref/gum/books.conll")
        about.size = len(blob)
        made.addfile(about, io.BytesIO(blob))
    assert [one.tokens for one in read_corpus("gum")] == [["Al"]]
    path.write_bytes(path.read_bytes()[:-40])
    with pytest.raises(DataError):
        list(read_corpus("gum"))


STORY = [
    *("So", "Ada (1)", "met", "Eve (2)", "and", "Bob (3)", ".", ""),
    *("Then", "she (1)", "ran", "and", "Eve (2)", "lost", "her (2)", "hat", ".", ""),
    *("Bob (3)", "saw", "his (3)", "dog", "Rex (4)", "and", "London (5)", "."),
]


def rows(*lines, prior=(0.5, 0.5, 0.0), words=150):
    into = ExtraRows()
    mine([read(*lines)], into, prefix="t", prior=prior, words=words)
    return [(e.pronoun_text, e.a_text, e.b_text, e.label.name, e.text) for e in into.examples], into.skipped


def test_antecedent_is_the_nearest_name_of_the_cluster_and_the_distractor_another_woman():
    found, skipped = rows(*STORY, prior=(1.0, 0.0, 0.0))
    text = "So Ada met Eve and Bob. Then she ran and Eve lost her hat. Bob saw his dog Rex and London."
    # Bob is no woman; Rex and London are not known to be persons, so "his" has no distractor
    assert found == [("she", "Ada", "Eve", "A", text)]
    assert skipped["no other person is named nearby"] == 1
    found, _ = rows(*STORY, prior=(0.0, 1.0, 0.0))
    assert [row[:4] for row in found] == [("her", "Ada", "Eve", "B")]


def test_neither_has_two_distractors_and_is_no_row_of_the_antecedent():
    sisters = ["Ida (6)", "and", "her (6)", "aunt", "saw", "Ada (1)", ";", "she (1)", "left", ".", "", *STORY]
    found, _ = rows(*sisters, prior=(0.0, 0.0, 1.0))
    assert found
    for pronoun, a, b, label, _ in found:
        assert label == "NEITHER"
        assert pronoun in {"she", "her"}
        assert len({a, b} & {"Ada", "Eve", "Ida"}) == 2


def test_windows_end_where_the_words_do():
    found, _ = rows(*STORY, prior=(0.0, 1.0, 0.0), words=14)
    assert [row[4] for row in found] == ["So Ada met Eve and Bob. Then she ran and Eve lost her hat."] * len(
        found
    )
    _, skipped = rows(*STORY, words=4)
    assert skipped["the sentence is too long"] == 3


@pytest.mark.slow
@pytest.mark.parametrize("name", ["litbank", "gum"])
def test_real_documents_give_rows_like_gaps(gap_folder, gap_splits, name):
    corpus = load(name).corpus
    assert len(corpus) >= 350
    np.testing.assert_allclose(np.bincount(corpus.labels) / len(corpus), GAP_PRIOR, atol=0.003)
    assert min(Counter(example.gender for example in corpus).values()) > 50
    asked = Counter((e.id.rsplit("-", 1)[0], e.text, e.a, e.b) for e in corpus)
    assert max(asked.values()) == 1, "two rows about the same names in one window"
    for example in corpus:
        assert example.pronoun_text.lower() in {"he", "him", "his", "she", "her"}
        assert example.a < example.b
        assert all(name == name.strip() and name[0].isupper() for name in (example.a_text, example.b_text))
        assert not set("\t\n\r\0") & set(example.text)
    dev, val, test = gap_splits.values()
    assert not shared_passages(corpus, dev + val + test).any()
