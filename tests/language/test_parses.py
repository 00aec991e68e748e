"""The parse cache: one pass, nothing parsed twice, nothing half-written read, no pipeline to read it back."""

import os
import subprocess
import sys
from pathlib import Path

import pytest
import spacy
from spacy.language import Language
from spacy.tokens import Doc, DocBin

from gapstack.data import Span
from gapstack.errors import DataError, DataNotFoundError
from gapstack.files import cache_root
from gapstack.language import parses as module
from gapstack.language.grammar import empty_parse
from gapstack.language.parses import Parser, find_parser, head_span, heads_of, parses
from tests.trees import PARSER, corpus, example, keep, tree

TEXTS = ["Ann left .", "Eve slept ."]
ROOTS = "{}/p/nsubj/1 {}/v/ROOT/1 ./u/punct/1"


def parsed(text):
    first, second, _ = text.split()
    return tree(ROOTS.format(first, second), persons=[first])


def first_words(texts, parser):
    return [parse.words(0) if len(parse) else "" for parse in parses(texts, parser)]


@Language.factory("first_word_subject")
class FirstWordSubject:
    """A parser for tests: the second word is the root, everything else hangs on it."""

    calls = 0
    lost: Path | None = None
    """Made when a process is lost over a text; a folder is there already, and then all are lost."""

    def __init__(self, nlp, name):
        pass

    def __call__(self, doc: Doc) -> Doc:
        type(self).calls += 1
        if "crash" in doc.text:
            raise RuntimeError("killed")
        if "lost" in doc.text and self.lost and not self.lost.is_file():
            if not self.lost.is_dir():
                self.lost.touch()
            os._exit(1)
        root = min(1, len(doc) - 1)
        words = [t.text for t in doc]
        heads = [root] * len(doc)
        deps = ["ROOT" if i == root else "nsubj" for i in range(len(doc))]
        return Doc(doc.vocab, words=words, spaces=[bool(t.whitespace_) for t in doc], heads=heads, deps=deps)


@pytest.fixture
def pipeline(tmp_path, monkeypatch):
    """A saved pipeline whose parser is the one above; counts the texts that it parses."""
    nlp = spacy.blank("en")
    nlp.add_pipe("first_word_subject", name="parser")
    nlp.to_disk(tmp_path / "pipeline")
    monkeypatch.setattr(FirstWordSubject, "calls", 0)
    return tmp_path / "pipeline"


def shards():
    return sorted((cache_root() / "parses").rglob("*.safetensors"))


def test_texts_come_back_in_order_and_as_often_as_given():
    keep(*map(parsed, TEXTS))
    found = parses([parsed(TEXTS[i]).text for i in (1, 0, 1)], PARSER)
    assert [p.words(0) for p in found] == ["Eve", "Ann", "Eve"]
    assert found[0].persons.tolist() == [[0, 1]]


def test_each_text_is_parsed_once_by_each_pipeline(pipeline, tmp_path):
    assert first_words(["Ann left.", "Eve slept.", "Ann left.", ""], pipeline) == ["Ann", "Eve", "Ann", ""]
    assert FirstWordSubject.calls == 3
    assert first_words(["Eve slept.", "Bo ran."], pipeline) == ["Eve", "Bo"]
    assert first_words(["Bo ran.", "Ann left.", "Ann left. "], pipeline) == ["Bo", "Ann", "Ann"]
    assert FirstWordSubject.calls == 5
    other = spacy.load(pipeline)
    other.meta["version"] = "9.9"
    other.to_disk(tmp_path / "other")
    assert first_words(["Ann left."], tmp_path / "other") == ["Ann"]
    assert FirstWordSubject.calls == 6


def test_a_killed_run_keeps_its_finished_shards(pipeline, monkeypatch):
    monkeypatch.setattr(module, "_SHARD", 2)
    with pytest.raises(RuntimeError, match="killed"):
        parses(["A crash.", "Ann left it.", "Eve slept well.", "Bo ran."], pipeline)
    assert len(shards()) == 1
    FirstWordSubject.calls = 0
    parses(["Ann left it.", "Eve slept well.", "Bo ran."], pipeline)
    assert FirstWordSubject.calls == 1


@pytest.fixture
def two_processes(monkeypatch):
    monkeypatch.setenv("OMP_NUM_THREADS", "2")
    for name, value in {"_SHARD": 2, "_MIN_TEXTS_FOR_PROCESSES": 2}.items():
        monkeypatch.setattr(module, name, value)
    monkeypatch.setattr(module.os, "cpu_count", lambda: 2)


MANY = [f"{name} left {count} towns." for name in ("Ann", "Eve", "Bo") for count in range(3)]


def test_several_processes_store_what_one_does(pipeline, two_processes):
    found = parses(MANY, pipeline)
    assert [parse.text for parse in found] == MANY
    assert {parse.words(parse.head_list[0]) for parse in found} == {"left"}
    assert len(shards()) == 5
    assert FirstWordSubject.calls == 0  # here


def test_a_lost_process_is_an_error_and_finished_parses_are_kept(
    pipeline, two_processes, monkeypatch, tmp_path
):
    monkeypatch.setattr(FirstWordSubject, "lost", tmp_path)
    with pytest.raises(DataError, match="parsing process"):
        parses([*MANY, "Ann lost it."], pipeline)
    assert len(shards()) > 1
    monkeypatch.setattr(FirstWordSubject, "lost", None)
    assert [parse.text for parse in parses(MANY, pipeline)] == MANY


@pytest.mark.parametrize("damage", [lambda b: b[:-9] + b"x" + b[-8:], lambda b: b[:60], lambda b: b""])
def test_a_damaged_shard_is_deleted_with_one_line_and_parsed_again(damage, pipeline, capsys):
    parses(["Ann left.", "Eve slept."], pipeline)
    parses(["Bo ran."], pipeline)
    for shard in shards():
        if len(module._keys(shard)) == 2:
            shard.write_bytes(damage(shard.read_bytes()))
    FirstWordSubject.calls = 0
    assert first_words(["Eve slept.", "Bo ran.", "Ann left."], pipeline) == ["Eve", "Bo", "Ann"]
    assert FirstWordSubject.calls == 2
    (line,) = capsys.readouterr().err.splitlines()
    assert "computed again" in line


def test_shipped_parses_answer_only_where_no_parser_is_named(tmp_path, monkeypatch):
    monkeypatch.delenv(module.ENVIRONMENT, raising=False)
    monkeypatch.setattr(module, "_PROJECT_PARSERS", ())
    monkeypatch.setattr(module, "SHIPPED_PARSES", tmp_path / "parses.spacy")
    module._shipped_keys.cache_clear()
    shipped = parsed(TEXTS[0])
    DocBin(docs=[shipped]).to_disk(tmp_path / "parses.spacy")
    assert parses([shipped.text])[0].words(0) == "Ann"
    with pytest.raises(DataNotFoundError, match="no dependency parser"):
        parses([shipped.text, "Bo ran ."])
    with pytest.raises(DataNotFoundError, match="'nowhere'"):
        parses([shipped.text], "nowhere")
    spacy.blank("en").to_disk(tmp_path / "blank")
    with pytest.raises(DataError, match="dependency parser"):
        parses([shipped.text], tmp_path / "blank")
    module._shipped_keys.cache_clear()


def test_the_parser_named_comes_before_the_environment_and_that_before_the_project(tmp_path, monkeypatch):
    (tmp_path / "en_gapstack").mkdir()
    (tmp_path / "en_gapstack" / "config.cfg").write_text("")
    monkeypatch.setattr(module, "_PROJECT_PARSERS", (tmp_path / "none", tmp_path / "en_gapstack"))
    monkeypatch.delenv(module.ENVIRONMENT, raising=False)
    assert find_parser() == Parser(str(tmp_path / "en_gapstack"))
    monkeypatch.setenv(module.ENVIRONMENT, "from_environment")
    assert find_parser() == Parser("from_environment")
    assert find_parser("named") == Parser("named")


def test_the_sample_ships_with_its_parses(sample, monkeypatch):
    monkeypatch.delenv(module.ENVIRONMENT, raising=False)
    monkeypatch.setattr(module, "_PROJECT_PARSERS", ())
    found = parses(sample)
    assert [parse.text for parse in found] == sample.texts
    for one, parse in zip(sample, found, strict=True):
        for span in (one.pronoun, one.a, one.b):
            assert parse.head_of(parse.tokens_in(span)) >= 0


def test_a_first_answer_imports_nothing_that_it_does_not_use_and_all_of_it_can_be_imported_afterwards():
    script = (
        "import sys; from gapstack.language.parses import spare_imports; spare_imports(); "
        "import lightgbm, sklearn.base, spacy; import gapstack.runs.predictors; "
        "print({'torch', 'pandas', 'scipy.stats'} & set(sys.modules)); "
        "import pandas, sklearn.linear_model; from sklearn.utils.fixes import _mode; print(_mode([1, 2, 2]).mode)"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert done.stdout == "set()\n[2]\n"


SPEC = "Her/r/nmod:poss/1 friend/n/nsubj/4 Bo/p/appos/1 Lee/p/flat/2 met/v/root/4 Ann/p/obj/4 ././punct/4"


def test_heads_fall_back_to_the_mention():
    doc = tree(SPEC)
    keep(doc)
    one = example(doc, "Her", "Bo Lee", "Ann")
    heads = heads_of(corpus(one), PARSER)
    assert one.words(heads(one, one.a)) == "Bo"
    other = example(tree(SPEC.replace("Ann", "Eve")), "Her", "Bo Lee", "Eve")
    assert heads(other, other.a) == other.a
    assert head_span(empty_parse("Ann met Bo"), Span(0, 3)) == Span(0, 3)
