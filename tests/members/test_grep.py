from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from gapstack.data import Corpus
from gapstack.errors import DataNotFoundError, MemberError, MismatchError
from gapstack.members import create, store
from gapstack.resolvers.clusters import Clusters, Document, text_sha256, write_clusters


def write_oracle(path: Path, corpus: Corpus, version: str = "1", known: bool = True) -> str:
    """Clusters of a resolver that knows the pronoun's antecedent, or of one that finds nothing."""
    documents = {
        e.text: Document(
            e.id, text_sha256(e.text), ((e.pronoun, (e.a, e.b)[e.label]),) if known and e.label < 2 else ()
        )
        for e in corpus
    }
    write_clusters(path, Clusters("oracle", version, documents.values()))
    return str(path)


@pytest.fixture(scope="module")
def rows(sample_train) -> Corpus:
    return sample_train[:16]


@pytest.fixture
def member(tiny_encoder_folder, rows, tmp_path):
    """A GREP without heuristics, which therefore needs no parse."""
    training = {"epochs": 1, "precision": "float32"}
    clusters = [write_oracle(tmp_path / "rows.jsonl", rows)]
    encoder = str(tiny_encoder_folder)
    return create("grep", encoder=encoder, sources=[], max_pieces=96, training=training, clusters=clusters)


def test_evidence_reaches_the_answers_where_a_file_has_the_text(member, rows, tmp_path):
    expected = member.fit(rows).predict_proba(rows)
    member.set_params(clusters=[write_oracle(tmp_path / "nothing.jsonl", rows, known=False)])
    changed = np.abs(member.predict_proba(rows) - expected).max(axis=1)
    assert (changed[rows.labels < 2] > 1e-6).all()
    np.testing.assert_allclose(changed[rows.labels == 2], 0, atol=1e-6)
    others = rows.map(lambda e: replace(e, text=f"{e.text} So it was."))
    with pytest.warns(UserWarning, match="has clusters for none of the 16 rows"):
        member.predict_proba(others)


def test_a_loaded_member_answers_the_same_and_refuses_other_files(member, rows, tmp_path):
    expected = member.fit(rows).predict_proba(rows)
    store.save(member, "grep", tmp_path / "member")
    np.testing.assert_array_equal(store.load(tmp_path / "member").predict_proba(rows), expected)
    write_oracle(tmp_path / "rows.jsonl", rows, version="2")
    with pytest.raises(MismatchError, match="clusters changed"):
        store.load(tmp_path / "member")
    with pytest.raises(MismatchError, match=r"fitted with oracle@1, and is set to oracle@2"):
        member.predict_proba(rows)
    (tmp_path / "rows.jsonl").unlink()
    with pytest.raises(DataNotFoundError, match=r"there is no file .*rows\.jsonl"):
        store.load(tmp_path / "member")


def test_what_gives_no_evidence_is_refused(member, rows, sample_test):
    with pytest.raises(MemberError, match="have none of the 8 texts"):
        member.fit(sample_test[:8])
    with pytest.raises(MemberError, match="no source of evidence"):
        member.set_params(clusters=[]).fit(rows)
