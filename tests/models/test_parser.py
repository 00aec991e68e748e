"""The shipped spaCy pipeline and the project that trains it."""

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


def converted(read: list[convert.Sentence], folder: Path, name: str, n_sents: int = 1) -> Path:
    return convert.convert("".join(map(convert.prepared, read)), folder, name, n_sents)


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
