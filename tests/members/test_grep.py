from dataclasses import replace

import numpy as np
import pytest

from gapstack.data import Corpus
from gapstack.errors import DataNotFoundError, MemberError, MismatchError
from gapstack.members import create, store
from gapstack.resolvers.clusters import Clusters, Document, text_sha256, write_clusters

QUICK = {"epochs": 1, "precision": "float32"}


def oracle(corpus: Corpus, resolver="oracle", version="1") -> Clusters:
    """A resolver that knows: the pronoun and its antecedent."""
    documents = [
        Document(e.id, text_sha256(e.text), ((e.pronoun, (e.a, e.b)[e.label]),) if e.label < 2 else ())
        for e in corpus
    ]
    # rows that share a text share a document
    return Clusters(resolver, version, {d.text_sha256: d for d in documents}.values())


@pytest.fixture
def settings(tiny_encoder_folder):
    """Settings of a quick GREP without heuristics, which therefore needs no parse."""
    return {"encoder": str(tiny_encoder_folder), "sources": [], "max_pieces": 96, "training": QUICK}


@pytest.fixture
def files(tmp_path, sample_train, sample_test):
    """Clusters for the rows fitted on, and for others, by one resolver."""
    paths = {"train": tmp_path / "train.jsonl", "test": tmp_path / "test.jsonl.xz"}
    write_clusters(paths["train"], oracle(sample_train[:40]))
    write_clusters(paths["test"], oracle(sample_test[:10]))
    return {name: str(path) for name, path in paths.items()}


def test_evidence_reaches_the_answers(sample_train, settings, files, tmp_path):
    rows = sample_train[:40]
    member = create("grep", clusters=[files["train"]], **settings).fit(rows)
    expected = member.predict_proba(rows)
    nothing = Clusters("oracle", "1", [Document(e.id, text_sha256(e.text), ()) for e in rows])
    write_clusters(tmp_path / "nothing.jsonl", nothing)
    member.set_params(clusters=[str(tmp_path / "nothing.jsonl")])
    changed = np.abs(member.predict_proba(rows) - expected).max(axis=1)
    assert (changed[rows.labels < 2] > 1e-6).all()
    np.testing.assert_allclose(changed[rows.labels == 2], 0, atol=1e-6)


def test_rows_told_in_other_words_get_no_evidence_of_a_file(sample_train, settings, files):
    rows = sample_train[:40]
    member = create("grep", clusters=[files["train"]], **settings).fit(rows)
    told = rows.map(lambda e: replace(e, text=f"{e.text} So it was."))
    with pytest.warns(UserWarning, match="oracle@1 has clusters for none of the 40 rows"):
        member.predict_proba(told)


def test_a_loaded_member_answers_the_same_and_refuses_other_files(sample_train, settings, files, tmp_path):
    rows = sample_train[:40]
    member = create("grep", clusters=[files["train"]], **settings).fit(rows)
    store.save(member, "grep", tmp_path / "member")
    np.testing.assert_array_equal(
        store.load(tmp_path / "member").predict_proba(rows), member.predict_proba(rows)
    )
    write_clusters(tmp_path / "train.jsonl", oracle(rows, version="2"))
    with pytest.raises(MismatchError, match="clusters changed"):
        store.load(tmp_path / "member")
    with pytest.raises(MismatchError, match=r"fitted with oracle@1, and is set to oracle@2"):
        member.predict_proba(rows)
    (tmp_path / "train.jsonl").unlink()
    with pytest.raises(DataNotFoundError, match=r"there is no file .*train\.jsonl"):
        store.load(tmp_path / "member")


REFUSED = (
    ({}, "no source of evidence"),
    ({"sources": ["url"]}, 'sources.item 1: found "url", expected one of parallelism'),
    ({"clusters": ["test"]}, "the clusters of oracle@1 have none of the 40 texts"),
)


@pytest.mark.parametrize(("changes", "message"), REFUSED, ids=[message for _, message in REFUSED])
def test_what_gives_no_evidence_is_refused(changes, message, sample_train, settings, files):
    named = {"clusters": [files[name] for name in changes.get("clusters", ())]}
    with pytest.raises(MemberError, match=message):
        create("grep", **{**settings, **changes, **named}).fit(sample_train[:40])
