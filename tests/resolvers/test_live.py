"""Each live resolver with a stand-in of its library, whose objects have the shapes of the real one's (see its version
in docs/lab/resolvers.md), so that no extra needs to be installed."""

import json
import sys
from types import ModuleType, SimpleNamespace
from typing import ClassVar

import numpy as np
import pytest
import spacy
from spacy.language import Language
from spacy.tokens import Doc

from gapstack.data import Corpus, Example, Span
from gapstack.data.clusters import read_clusters
from gapstack.data.gap_files import write_gap
from gapstack.errors import DataNotFoundError, ExtraError, MismatchError
from gapstack.resolvers import live
from gapstack.resolvers.live import ADAPTERS, fastcoref_model
from tests.commands import gap

TEXT = "Ann Lee  met Beth. She didn't see her."
ANN, BETH, SHE, HER = Span(0, 7), Span(13, 17), Span(19, 22), Span(34, 37)
EXPECTED = {frozenset({ANN, SHE}), frozenset({BETH, HER})}
ROWS = Corpus(
    [Example(f"row-{i}", f"{TEXT} Bo slept {i} hours.", pronoun=SHE, a=ANN, b=BETH) for i in range(40)],
    name="rows",
)
TWO = ROWS.take(np.arange(2))


class CorefResult:
    """fastcoref 2.1.6: mentions as characters, None for one that begins or ends on a special piece."""

    def __init__(self, text):
        self.text = text

    def get_clusters(self, as_strings=True):
        assert not as_strings
        return [[tuple(ANN), tuple(SHE)], [None, tuple(BETH), tuple(HER)]]


class FCoref:
    """fastcoref 2.1.6; ``asked`` counts texts, and the one in ``breaks`` breaks it."""

    asked: ClassVar[list[str]] = []
    breaks: str | None = None

    def __init__(self, model_name_or_path, device=None, nlp="en_core_web_sm", enable_progress_bar=True):
        assert isinstance(nlp, Language), "a name would be downloaded"

    def predict(self, texts, is_split_into_words=False, max_tokens_in_batch=10000, output_file=None):
        assert isinstance(texts, list)
        if type(self).breaks in texts:
            raise KeyboardInterrupt
        type(self).asked += texts
        return [CorefResult(text) for text in texts]


def module(name, **contents):
    made = ModuleType(name)
    vars(made).update(contents)
    return made


def with_fastcoref(monkeypatch, folder):
    monkeypatch.setattr(FCoref, "asked", [])
    monkeypatch.setattr(FCoref, "breaks", None)
    models = "fastcoref.coref_models"
    for made in (
        module("fastcoref", FCoref=FCoref, LingMessCoref=FCoref),
        module(models),
        module(f"{models}.modeling_fcoref", FCorefModel=type("FCorefModel", (), {})),
        module(f"{models}.modeling_lingmess", LingMessModel=type("LingMessModel", (), {})),
        module("datasets", disable_progress_bars=lambda: None),
    ):
        monkeypatch.setitem(sys.modules, made.__name__, made)
    (folder / "config.json").write_text(json.dumps({"model_type": "bert", "coref_head": {}}))


@Language.component("coreferee")
def chains(doc):
    """coreferee 1.5: a holder of chains of mentions, each with the indexes of tokens; heads alone."""
    if doc.text.endswith("1 hours."):
        return doc  # as after an error of its own
    words = {token.idx: token.i for token in doc}
    doc._.coref_chains = [
        [SimpleNamespace(root_index=words[span.start], token_indexes=[words[span.start]]) for span in cluster]
        for cluster in ((Span(4, 7), SHE), (BETH, HER))
    ]
    return doc


def with_coreferee(monkeypatch, folder):
    if not Doc.has_extension("coref_chains"):
        Doc.set_extension("coref_chains", default=None)
    monkeypatch.setitem(sys.modules, "coreferee", module("coreferee"))
    spacy.blank("en").to_disk(folder)


class Pipeline:
    """stanza 1.15: sentences of words, each with its token; chains of mentions by sentence and word, end exclusive."""

    def __init__(self, lang, dir, processors, download_method, verbose):
        assert (lang, processors, download_method) == ("en", "tokenize,coref", None), "nothing is downloaded"

    def __call__(self, text):
        sentences, at = [], 0
        for words in (["Ann", "Lee", "met", "Beth", "."], ["She", ("did", "n't"), "see", "her", "."]):
            sentence = []
            for word in words:
                parts = word if isinstance(word, tuple) else (word,)
                start = text.index("".join(parts), at)
                at = start + len("".join(parts))
                token = SimpleNamespace(start_char=start, end_char=at)
                # a contraction's words have no characters of their own
                sentence += [SimpleNamespace(text=p, parent=token, start_char=None) for p in parts]
            sentences.append(SimpleNamespace(words=sentence))
        found = (((0, 0, 2), (1, 0, 1)), ((0, 3, 4), (1, 4, 5), (1, (2, 1), (2, 1))))
        coref = [
            SimpleNamespace(
                mentions=[SimpleNamespace(sentence=s, start_word=a, end_word=b) for s, a, b in chain]
            )
            for chain in found
        ]
        return SimpleNamespace(text=text, sentences=sentences, coref=coref)


def with_stanza(monkeypatch, folder):
    monkeypatch.setitem(sys.modules, "stanza", module("stanza", Pipeline=Pipeline))
    monkeypatch.setitem(sys.modules, "peft", module("peft"))
    (folder / "resources.json").write_text("{}")


STAND_INS = {
    "fastcoref": with_fastcoref,
    "lingmess": with_fastcoref,
    "coreferee": with_coreferee,
    "stanza": with_stanza,
}


@pytest.fixture
def prepared(monkeypatch, tmp_path):
    """A function that puts a resolver's stand-in in its library's place and gives a model folder for it."""
    monkeypatch.setattr(live.importlib.metadata, "version", lambda package: "9.9")

    def prepare(name):
        folder = tmp_path / "tiny"
        folder.mkdir(exist_ok=True)
        STAND_INS[name](monkeypatch, folder)
        return folder

    return prepare


def resolve(name, *arguments):
    return live.resolve(ADAPTERS[name], *arguments)


@pytest.mark.parametrize("name", STAND_INS)
def test_output_of_a_library_becomes_spans_of_the_text(name, prepared, tmp_path):
    found = resolve(name, prepared(name), TWO, tmp_path / "out.jsonl.xz")
    written = read_clusters(tmp_path / "out.jsonl.xz", TWO)
    assert written.documents == found.clusters.documents
    assert (written.resolver, written.version.rpartition("-")[0]) == (name, "9.9+tiny")
    heads = {frozenset({Span(4, 7), SHE}), frozenset({BETH, HER})}
    expected = heads if name == "coreferee" else EXPECTED
    assert {frozenset(cluster) for cluster in written.documents[0].clusters} == expected
    assert written.decide(TWO)[0].tolist() == [True, False]
    # coreferee fails silently
    assert found.failed == (["row-1"] if name == "coreferee" else [])
    assert not (tmp_path / "out.part.jsonl").exists()


@pytest.mark.parametrize("name", STAND_INS)
def test_a_missing_package_or_model_is_an_error(name, prepared, monkeypatch, tmp_path):
    folder = prepared(name)
    (tmp_path / "empty").mkdir()
    for place in ("nowhere", "empty"):
        with pytest.raises(DataNotFoundError, match=rf"{place} has no \w+\.(json|cfg); expected the folder"):
            resolve(name, tmp_path / place, TWO, tmp_path / "out.jsonl")
    package = ADAPTERS[name].package
    for loaded in [one for one in sys.modules if one.partition(".")[0] == package]:
        monkeypatch.setitem(sys.modules, loaded, None)
    with pytest.raises(ExtraError, match=rf"pip install .*'\.\[{package}\]'"):
        resolve(name, folder, TWO, tmp_path / "out.jsonl")


def test_an_interrupted_resolver_resumes_unless_the_model_changed(prepared, monkeypatch, tmp_path):
    folder, target = prepared("fastcoref"), tmp_path / "out.jsonl.xz"
    monkeypatch.setattr(FCoref, "breaks", ROWS[20].text)
    with pytest.raises(KeyboardInterrupt):
        resolve("fastcoref", folder, ROWS, target)
    assert not target.exists()
    assert len(FCoref.asked) == len(read_clusters(tmp_path / "out.part.jsonl", ROWS)) == 16
    (folder / "weights").write_text("others")
    with pytest.raises(MismatchError, match="delete it"):
        resolve("fastcoref", folder, ROWS, target)
    (folder / "weights").unlink()
    monkeypatch.setattr(FCoref, "breaks", None)
    found = resolve("fastcoref", folder, ROWS, target)
    assert FCoref.asked == [example.text for example in ROWS], "each text is resolved once"
    assert [document.id for document in found.clusters.documents] == list(ROWS.ids)


def test_the_command_s_file_goes_into_clusters_to_gap(prepared, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    write_gap(tmp_path / "rows.tsv", TWO)
    printed = gap(
        "resolve", "fastcoref", "out.jsonl.xz", "--model", prepared("fastcoref"), "--input", "rows.tsv"
    )
    assert "2 of 2 rows covered" in printed
    gap("clusters-to-gap", "out.jsonl.xz", "--gold", "rows.tsv", "--output", "scorer.tsv")
    assert (tmp_path / "scorer.tsv").read_text() == "row-0\tTRUE\tFALSE\nrow-1\tTRUE\tFALSE\n"


@pytest.mark.parametrize(("kind", "name"), [("fcoref", "fastcoref"), ("lingmess", "lingmess")])
def test_fastcoref_s_classes_are_adapted_to_transformers_5(kind, name, prepared):
    prepared(name)
    found = fastcoref_model(kind)
    assert found.all_tied_weights_keys == {}
    assert getattr(found, "_supports_sdpa", True) is (kind == "fcoref")


def test_other_resolvers_need_a_model(tmp_path):
    pytest.importorskip("fastcoref", reason="the extra 'fastcoref' is not installed")
    rows = Corpus([Example.from_text(TEXT, "she", "Kate", "Mary")])
    with pytest.raises(DataNotFoundError, match="model="):
        resolve(ADAPTERS["fastcoref"], None, rows, tmp_path / "out.jsonl")
