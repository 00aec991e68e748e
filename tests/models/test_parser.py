"""The shipped spaCy pipeline and the project that trains it."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest
import spacy
from spacy.tokens import Doc
from spacy.training import Example

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "models" / "parser"))  # a spaCy project: its scripts import each other by name

import convert  # noqa: E402
from tokenizer import adapt_tokenizer  # noqa: E402

MODEL = ROOT / "models" / "en_gapstack"
DATA = Path(os.environ.get("GAP_DATA") or ROOT.parent / "shared" / "data")

# President Bush did n't meet the linguist Ana de la Cruz - Lee . || She left .
GUM = """\
# newdoc id = GUM_bio_test
# newpar
# sent_id = 1
1	President	president	PROPN	NNP	_	2	nmod:desc	_	Entity=(1-person-new-cf1-2-sgl
2	Bush	Bush	PROPN	NNP	_	5	nsubj	_	Entity=1)
3-4	didn't	_	_	_	_	_	_	_	_
3	did	do	AUX	VBD	_	5	aux	_	_
4	n't	not	PART	RB	_	5	advmod	_	_
5	meet	meet	VERB	VB	_	0	root	_	_
6	the	the	DET	DT	_	7	det	_	Entity=(2-person-new-cf2-2-sgl
7	linguist	linguist	NOUN	NN	_	5	obj	_	_
8	Ana	Ana	PROPN	NNP	_	7	appos	_	Entity=(2-person-giv-cf2-1-sgl
9	de	de	ADP	IN	_	8	flat	_	_
10	la	la	DET	DT	_	8	flat	_	_
11	Cruz	Cruz	PROPN	NNP	_	8	flat	_	SpaceAfter=No
12	-	-	PUNCT	HYPH	_	13	punct	_	SpaceAfter=No
13	Lee	Lee	PROPN	NNP	_	8	flat	_	Entity=2)2)|SpaceAfter=No
14	.	.	PUNCT	.	_	5	punct	_	_

# sent_id = 2
1	She	she	PRON	PRP	_	2	nsubj	_	Entity=(3-person-new-cf1-1-coref)
2	left	leave	VERB	VBD	_	0	root	_	SpaceAfter=No
3	.	.	PUNCT	.	_	2	punct	_	_

# sent_id = 3
1	Germans	German	PROPN	NNPS	_	2	nsubj	_	Entity=(4-person-new-cf1-1-coref)
2	met	meet	VERB	VBD	_	0	root	_	_
3	Paris	Paris	PROPN	NNP	_	2	obj	_	Entity=(5-place-new-cf1-1-sgl)
"""
EWT = GUM.replace("GUM_bio_test", "weblog-test")


def sentences(text: str) -> list[convert.Sentence]:
    return list(convert.read_conllu(text.splitlines(keepends=True)))


def converted(read: list[convert.Sentence], folder: Path, name: str, n_sents: int = 1) -> Path:
    return convert.convert("".join(map(convert.prepared, read)), folder, name, n_sents)


def test_names_are_proper_nouns_without_titles_nationalities_pronouns_or_places():
    found = [[[r[1] for r in s.words[a:b]] for a, b in convert.person_names(s)] for s in sentences(GUM)]
    assert found == [[["Bush"], ["Ana", "de", "la", "Cruz", "-", "Lee"]], [], []]


def test_conversion_keeps_text_splits_contractions_and_leaves_ewt_names_missing(tmp_path: Path):
    gum = convert.load_docs(converted(sentences(GUM), tmp_path, "gum"))
    ewt = convert.load_docs(converted(sentences(EWT), tmp_path, "ewt"))
    assert gum[0].text.strip() == "President Bush didn't meet the linguist Ana de la Cruz-Lee."
    assert [t.text for t in gum[0]][2:4] == ["did", "n't"]
    assert [e.text for e in gum[0].ents] == ["Bush", "Ana de la Cruz-Lee"]
    assert gum[1].has_annotation("ENT_IOB"), "a GUM sentence without names says that there are none"
    assert not any(d.has_annotation("ENT_IOB") for d in ewt)


@pytest.mark.parametrize(
    ("text", "tokens"),
    [
        ("Ren* met Andr*s, *lvaro", ["Ren*", "met", "Andr*s", ",", "*lvaro"]),
        ("``It's,'' he said", ["``", "It", "'s", ",", "''", "he", "said"]),
        ("What?! No!!", ["What", "?!", "No", "!!"]),
        ("1995--2000", ["1995", "--", "2000"]),
        ("Aldean(who", ["Aldean", "(", "who"]),
        ("an e-mail, co-founder well-known", ["an", "e-mail", ",", "co-founder", "well", "-", "known"]),
        ("call 713-853-3989 in 1995-1999", ["call", "713-853-3989", "in", "1995", "-", "1999"]),
        ("____ and/or ----- etc.", ["____", "and", "/", "or", "-----", "etc."]),
        ("series.He", ["series", ".", "He"]),
        ("", []),
    ],
)
def test_tokenizer(text: str, tokens: list[str]):
    assert [t.text for t in adapt_tokenizer(spacy.blank("en"))(text)] == tokens


@pytest.fixture(scope="module")
def nlp() -> spacy.language.Language:
    return spacy.load(MODEL)


def roles(doc: Doc) -> dict[str, str]:
    return {t.text: t.dep_ for t in doc}


def test_subject_object_and_possessor(nlp: spacy.language.Language):
    doc = nlp("Anna Smith married John Miller in 1990. She met his mother in London.")
    found = roles(doc)
    assert (found["Anna"], found["John"], found["married"]) == ("nsubj", "obj", "ROOT")
    assert (found["She"], found["his"], found["mother"]) == ("nsubj", "nmod:poss", "obj")
    assert [s.root.text for s in doc.sents] == ["married", "met"]
    assert [t.lemma_ for t in doc if t.pos_ == "VERB"] == ["marry", "meet"]


def test_person_names_are_found(nlp: spacy.language.Language):
    doc = nlp("Anna Smith married John Miller in 1990. Mary later moved to Canada with Peter Jones.")
    names = {e.text for e in doc.ents if e.label_ == "PERSON"}
    assert {"Anna Smith", "John Miller"} <= names
    assert "Canada" not in names


@pytest.mark.parametrize("text", ["", " ", "Yes", "``", "*"])
def test_odd_texts_do_not_break_it(nlp: spacy.language.Language, text: str):
    assert nlp(text).text == text


@pytest.mark.slow
def test_development_treebank(nlp: spacy.language.Language, tmp_path: Path):
    path = DATA / "treebank" / "ud_english_dev.conllu.xz"
    if not path.exists():
        pytest.skip(f"the development treebank is not there: {path}")
    read = list(convert.read_conllu(convert.open_text(path)))
    docs = convert.load_docs(converted(read, tmp_path, "dev", n_sents=5), nlp.vocab)[::3][:150]
    scores = nlp.evaluate([Example(nlp.make_doc(d.text), d) for d in docs])
    assert scores["dep_uas"] >= 0.84
    assert scores["dep_las"] >= 0.80
