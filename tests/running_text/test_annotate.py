"""Documents become clusters in every format, with the same bytes after an interruption."""

import json

import pytest

from gapstack.data import Span
from gapstack.data.clusters import read_clusters
from gapstack.data.documents import DocumentFiles
from gapstack.errors import DataError, DataNotFoundError
from gapstack.members.pairs_resolver import PairsResolver
from gapstack.resolvers.formats import FORMATS
from gapstack.running_text import annotate
from gapstack.running_text.annotate import annotating, write_annotations
from gapstack.running_text.entities import AnnotatedPerson, Annotation

FIRST = 'Kate Winslet told Mary that she should leave.\n\nWinslet laughed; "her" hat was old.\n'
SECOND = "Bo left. He slept. " * 60
EXPECTED = [["Kate Winslet", "she", "Winslet"], ["Mary", "her"]]


@pytest.fixture
def files(tmp_path):
    (tmp_path / "first.txt").write_text(FIRST, encoding="utf-8")
    rows = [{"id": "second", "text": SECOND}, {"id": "third", "text": "It rained. é"}]
    (tmp_path / "more.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return [tmp_path / "first.txt", tmp_path / "more.jsonl"]


@pytest.fixture
def write(alphabet):
    resolver = PairsResolver(alphabet)

    def written(files, output, **options):
        with annotating(DocumentFiles(files), output, lambda: resolver, **options) as annotations:
            return write_annotations(annotations, output)

    return written


def words(text, clusters):
    return [[text[slice(*mention)] for mention in cluster] for cluster in clusters]


@pytest.mark.parametrize("suffix", ["", ".gz", ".xz"])
def test_the_exchange_format(files, tmp_path, suffix, write):
    counts = write(files, tmp_path / f"out.jsonl{suffix}")
    assert (counts.documents, counts.pronouns, counts.linked) == (3, 62, 62)
    first, second, third = read_clusters(tmp_path / f"out.jsonl{suffix}").documents
    assert words(FIRST, first.clusters) == EXPECTED
    assert len(second.clusters) == 1
    assert len(second.clusters[0]) == 120
    assert third.clusters == ()
    she = (28, 31)
    shares = [score for (pronoun, _), score in first.link_scores.items() if pronoun == she]
    assert sum(shares) == pytest.approx(first.mention_scores[she], abs=2e-4)


def test_conll_columns_are_read_back(files, tmp_path, write):
    write(files, tmp_path / "out.conll")
    first, second, third = FORMATS["conll2012"].read(tmp_path / "out.conll")
    assert words(first.text, first.clusters) == EXPECTED
    assert [len(cluster) for cluster in second.clusters] == [120]
    assert (third.id, third.clusters) == ("third", ())


def test_mentions_that_nest_and_end_together_are_read_back(tmp_path):
    text = "Ann Lee left Bo"
    people = (
        AnnotatedPerson("Ann Lee", (Span(0, 7), Span(13, 15)), ()),
        AnnotatedPerson("Ann", (Span(0, 3), Span(4, 7)), ()),
    )
    write_annotations([Annotation("#a b", text, people, {}, {}, {})], tmp_path / "out.conll")
    (found,) = FORMATS["conll2012"].read(tmp_path / "out.conll")
    assert sorted(map(sorted, words(found.text, found.clusters))) == [["Ann", "Lee"], ["Ann Lee", "Bo"]]


class Killed(BaseException):
    pass


def test_a_killed_command_resumes_with_the_same_bytes(files, tmp_path, monkeypatch, alphabet, write):
    monkeypatch.setattr(annotate, "BATCH", 1)
    write(files, tmp_path / "whole.jsonl")
    rows = sum(map(len, alphabet.calls))
    alphabet.calls.clear()
    read, left = annotate._read, iter(range(1))

    def dying(*arguments):
        if next(left, None) is None:
            raise Killed
        return read(*arguments)

    with monkeypatch.context() as patch:
        patch.setattr(annotate, "_read", dying)
        with pytest.raises(Killed):
            write(files, tmp_path / "out.jsonl")
    assert not (tmp_path / "out.jsonl").exists()
    write(files, tmp_path / "out.jsonl")
    assert (tmp_path / "out.jsonl").read_bytes() == (tmp_path / "whole.jsonl").read_bytes()
    assert sum(map(len, alphabet.calls)) == rows
    assert not (tmp_path / "out.jsonl.partial").exists()


def test_stored_answers_are_used_for_the_same_text_only(files, tmp_path, monkeypatch, write):
    monkeypatch.setattr(annotate, "BATCH", 2)

    def die(*_):
        raise Killed

    with monkeypatch.context() as patch:
        patch.setattr(Annotation, "of", die)
        with pytest.raises(Killed):
            write(files, tmp_path / "out.jsonl")
    files[0].write_text("Bo told Mary that she should leave.", encoding="utf-8")
    write(files, tmp_path / "out.jsonl")
    first, *_ = read_clusters(tmp_path / "out.jsonl").documents
    assert words("Bo told Mary that she should leave.", first.clusters) == [["Bo", "she"]]


def test_they_is_looked_up_on_demand(tmp_path, write):
    (tmp_path / "they.txt").write_text("Kate slept when they came.", encoding="utf-8")
    assert write([tmp_path / "they.txt"], tmp_path / "out.jsonl").pronouns == 0
    assert write([tmp_path / "they.txt"], tmp_path / "out.jsonl", neutral=True).pronouns == 1


@pytest.mark.parametrize(
    ("content", "problem"),
    [(b" \n", "is empty"), (b"she\0", "NUL")],
)
def test_bad_files_are_refused(content, problem, files, tmp_path, write):
    (tmp_path / "bad.txt").write_bytes(content)
    with pytest.raises(DataError, match=problem):
        write([tmp_path / "bad.txt"], tmp_path / "out.jsonl")
    with pytest.raises(DataNotFoundError, match="no such file"):
        write([tmp_path / "none.txt"], tmp_path / "out.jsonl")
    with pytest.raises(DataError, match="a document 'first' was read before"):
        write([files[0], files[0]], tmp_path / "out.jsonl")
    with pytest.raises(DataError, match="unknown suffix"):
        write(files, tmp_path / "out.docx")


def test_a_name_and_its_pronouns_are_one_person_across_windows(alphabet):
    rain = "It rained on the hills for days and days. " * 30
    text = f"Kate met Mary. She left. {rain}Kate met Zoe. She left."
    found = Annotation.of(alphabet.ask(text), "x")
    assert words(text, found.clusters) == [["Kate", "She", "Kate", "She"]]
