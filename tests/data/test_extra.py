"""Extra corpora: what the real files give, and that bad ones are refused with their place."""

import json
import lzma
import re
from collections import Counter
from functools import cache

import numpy as np
import pytest

from gapstack.data import Corpus, Example, Gender, Label, Span, gap_data
from gapstack.data.contamination import shared_passages
from gapstack.data.extra import load
from gapstack.data.extra.sentences import case_of_blank
from gapstack.data.sources import data_in
from gapstack.errors import DataError, DataNotFoundError

COUNTS = {
    # rows labelled A, B, NEITHER, and items skipped
    "dpr": (447, 451, 0, 982),
    "dpr-train": (318, 320, 0, 678),
    "winogender": (240, 240, 0, 240),
    "winobias": (788, 2366, 0, 14),
    "winobias-original": (781, 2344, 0, 35),
    "knowref": (565, 646, 0, 58),
    "knowref-train": (2852, 2346, 0, 22),
    "map": (109, 57, 14, 1650),
    "wsc273": (31, 31, 0, 211),
    "winogrande": (2431, 2422, 0, 5381),
    "neither-attree": (0, 0, 253, 0),
}


@pytest.fixture(scope="module")
def loaded(gap_folder):
    return cache(load)


@pytest.mark.parametrize("name", COUNTS)
def test_real_files_give_rows_like_gaps(loaded, name):
    found = loaded(name)
    labels = np.bincount(found.corpus.labels, minlength=3)
    assert (*labels, sum(found.skipped.values())) == COUNTS[name]
    words = re.compile(r"[\w'(].*[\w'.)\u2019]|\w", re.DOTALL)
    for example in found.corpus:
        assert example.a < example.b
        assert all(words.fullmatch(example.words(span)) for span in (example.pronoun, example.a, example.b))
        assert not set("[]") & set(example.text) or name == "map"
        assert not set("\t\n\r\0") & set(example.text)
        assert example.gender in {Gender.MASCULINE, Gender.FEMININE}


KNOWN = {
    "winobias": "winobias-current-anti-type1-dev-1: "
    "A{The developer} argued with B{the designer} because {she} did not like the design.",
    "wsc273": "wsc273-7: A{Paul} tried to call B{George} on the phone, but {he} wasn't successful.",
    "winogrande": "winogrande-18: A{Megan} has a lot less money than B{Jessica} because {she} just bought the winning "
    "lottery ticket.",
}


@pytest.mark.parametrize("name", KNOWN)
def test_known_rows(loaded, name):
    row, _, marked = KNOWN[name].partition(": ")
    example = next(one for one in loaded(name).corpus if one.id == row)
    assert example.text == re.sub(r"[AB]?\{(.*?)\}", r"\1", marked)
    mentions = re.findall(r"\{(.*?)\}", marked)
    assert [example.a_text, example.b_text, example.pronoun_text] == mentions


def test_neutral_pronouns_come_when_asked_for(gap_folder):
    found = load("winogender", neutral=True)
    assert Counter(example.gender for example in found.corpus) == dict.fromkeys(Gender, 240)
    assert found.skipped == {}


def test_attrees_rows_are_in_gap_test_and_fold_with_its_pages(loaded, gap_splits):
    extra = loaded("neither-attree").corpus
    assert shared_passages(extra, gap_splits["test"]).all()
    assert set(extra.groups) <= set(gap_splits["test"].groups)


@pytest.mark.slow
def test_nothing_else_shares_passages_with_gap_or_stage_2(loaded, gap_splits, gap_folder):
    names = ("knowref", "knowref-train", "map", "dpr", "winogender", "winobias", "wsc273")
    ours = Corpus([row for name in names for row in loaded(name).corpus])
    rows = [row for other in (*gap_splits.values(), gap_data.stage2()) for row in other]
    assert not shared_passages(ours, Corpus(rows)).any()


def test_shared_passages_are_runs_of_words():
    def corpus(*texts):
        rows = [Example(str(i), text, Span(0, 1), Span(1, 2), Span(2, 3)) for i, text in enumerate(texts)]
        return Corpus(rows)

    ours = corpus("One, two THREE four. Five", "one two four three", "five")
    assert shared_passages(ours, corpus("zero one two three four"), words=4).tolist() == [True, False, False]
    # a run does not go on from one text into the next
    assert not shared_passages(ours, corpus("three four", "five one"), words=3).any()
    assert shared_passages(ours, corpus("xyz", "five"), words=1).tolist() == [True, False, True]
    assert not shared_passages(corpus(), ours).any()


@pytest.mark.parametrize(
    ("before", "after", "marked", "case"),
    [
        ("Al met Bo because ", " was late.", False, "subject"),
        ("Al met Bo, but ", " wanted tea.", False, "subject"),
        ("Al met Bo because ", " dog ran.", False, None),  # his dog
        ("Al met Bo because ", " liked tea.", True, "subject"),
        ("Al met Bo because ", " never ran.", False, "subject"),
        ("Al met Bo. ", " got tea.", True, "subject"),
        ("Al gave Bo tea, so Bo paid ", ".", False, "object"),
        ("Al met Bo, so Ed spoke to ", " because of it.", True, "object"),
        ("Al met Bo, so Ed spoke to ", " dog.", True, None),
        ("Al met Bo and took ", "'s tea.", True, "possessive"),
        ("Al met Bo because ", ".", True, None),
        ("", " went home when Al met Bo.", True, "subject"),
        ("Al met Bo and ", " of them.", True, None),
    ],
)
def test_blanks_are_filled_where_the_case_is_sure(before, after, marked, case):
    assert case_of_blank(before, after, marked=marked) == case


@pytest.mark.parametrize(
    ("name", "problem"), [("winogender", "all_sentences.tsv"), ("winobias", "0 WinoBias files; expected 8")]
)
def test_missing_files_are_named(tmp_path, name, problem):
    (tmp_path / name).mkdir()
    with data_in(tmp_path), pytest.raises(DataNotFoundError, match=problem):
        load(name)


def knowref(*names):
    keys = ("candidate0", "candidate1", "correct_candidate")
    return json.dumps(
        [{"sentence_with_pronoun": "Al met Bo , and [he] ran .", **dict(zip(keys, names, strict=True))}]
    )


GOOD = {
    "dpr": ("dpr/train.c.txt", "Al met Bo when he ran.\nhe\nAl,Bo\nAl\n\n", "he Al Bo A"),
    "winogender": (
        "winogender/all_sentences.tsv",
        "sentid\tsentence\ncook.guest.1.male.txt\tCook fed guest he met.\n",
        "he Cook guest B",
    ),
    "knowref": ("knowref/knowref_test.json", knowref(["Al"], ["Bo"], ["Bo"]), "he Al Bo B"),
    "knowref-train": ("knowref/knowref_train.json", knowref("Al", "Bo", "Bo"), "he Al Bo B"),
    "map": (
        "gicoref_map/map.csv",
        "id,full-text,A,A-offset,B,B-offset,Pronoun,Pronoun-offset,Answer,Human1\r\n"
        '1,"Al met\nBo, he ran",Bo,7,Al,0,he,11,0,\r\n1+pro,x,x,0,x,0,x,0,0,\r\n',
        "he Al Bo B",
    ),
    "neither-attree": (
        "gap/neither_attree.tsv",
        "id\ttext\tpronoun\tpronoun_offset\ta\ta_offset\ta_coref\tb\tb_offset\tb_coref\turl\n"
        "test-1\tAl met Bo, he ran\the\t11\tAl\t0\tFalse\tBo\t7\tFalse\thttp://x/Al\n",
        "he Al Bo NEITHER",
    ),
}


def written(folder, name, old="", new=""):
    relative, text, _ = GOOD[name]
    assert old in text
    path = folder / relative
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(text.replace(old, new, 1).encode() if old else text.encode())
    with data_in(folder):
        return load("dpr-train" if name == "dpr" else name)


@pytest.mark.parametrize("name", GOOD)
def test_small_files_are_read(tmp_path, name):
    (example,) = written(tmp_path, name).corpus
    mentions = (example.pronoun_text, example.a_text, example.b_text, example.label.name)
    assert " ".join(mentions) == GOOD[name][2]


@pytest.mark.parametrize(
    ("name", "old", "new", "problem"),
    [
        ("dpr", "Al\n\n", "Ed\n\n", "dpr-train, item 1: .*'Ed'"),
        ("dpr", "Al,Bo\n", "", "dpr-train, item 1"),
        ("winogender", "Cook", "Baker", "winogender, item 1"),
        ("winogender", "he met", "we met", "winogender, item 1"),
        ("knowref", "[he]", "he", "knowref, item 1"),
        ("knowref", '"candidate1": ["Bo"], ', "", "knowref, item 1: .*candidate1"),
        ("map", "he,11,0", "he,11,7", "map, item 1: .*'7'"),
        ("neither-attree", "\t7\t", "\t8\t", "neither_attree.tsv, line 2, column B-offset"),
    ],
)
def test_bad_files_are_refused_with_their_place(tmp_path, name, old, new, problem):
    with pytest.raises(DataError, match=problem):
        written(tmp_path, name, old, new)


WINOGRANDE = "index\tsentence1\tsentence2\tlabel\tcandidate0\tcandidate1\n" + "".join(
    f"0\tAda met Eve since {name}\t called.\t{label}\tAda\tEve\n" for name, label in (("Ada", 0), ("Eve", 1))
)


def test_a_pair_of_lines_is_one_schema(tmp_path):
    rows = "name,count_F,count_M,pct_F,first_year,last_year\nAda,5000,0,1,1880,2018\nEve,5000,9,1,1880,2018\n"
    (tmp_path / "names").mkdir()
    (tmp_path / "names" / "ssa_first_names_by_gender.csv.xz").write_bytes(lzma.compress(rows.encode()))
    (tmp_path / "winogrande").mkdir()
    (tmp_path / "winogrande" / "train.tsv").write_text(WINOGRANDE, newline="\n")
    with data_in(tmp_path):
        (example,) = load("winogrande").corpus
    assert example.text == "Ada met Eve since she called."
    assert (example.a_text, example.b_text, example.label) == ("Ada", "Eve", Label.B)
