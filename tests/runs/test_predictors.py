"""Whatever answers is read by one function and predicts by one method."""

import numpy as np
import pytest

from gapstack.data.gap_files import write_submission
from gapstack.errors import DataError, DataNotFoundError
from gapstack.members import create
from gapstack.resolvers.clusters import Clusters, Document, text_sha256, write_clusters
from gapstack.runs.predictors import load


def test_a_saved_member_is_a_predictor(sample_train, sample_test, tmp_path):
    prior = create("prior").fit(sample_train)
    prior.save(tmp_path / "prior")
    loaded = load(tmp_path / "prior")
    assert (loaded.identity, loaded.stored) == (prior.identity, False)
    assert loaded.contaminated_by == prior.contaminated_by == ()
    np.testing.assert_array_equal(loaded.predict_proba(sample_test), prior.predict_proba(sample_test))


def test_a_file_of_probabilities_predicts_its_own_rows_alone(sample_train, sample_test, tmp_path):
    probabilities = create("prior").fit(sample_train).predict_proba(sample_test)
    write_submission(tmp_path / "answers.csv", sample_test.ids, probabilities)
    predictor = load(tmp_path / "answers.csv")
    assert predictor.stored
    np.testing.assert_allclose(predictor.predict_proba(sample_test), probabilities, rtol=0, atol=1e-15)
    with pytest.raises(DataError):
        predictor.predict_proba(sample_train)
    predictor.save(tmp_path / "copy")
    assert load(tmp_path / "copy" / "answers.csv").identity == predictor.identity
    (tmp_path / "answers.csv").write_text("ID,A,B,NEITHER\n")
    assert load(tmp_path / "answers.csv").identity != load(tmp_path / "copy" / "answers.csv").identity


def test_a_file_of_clusters_predicts_with_certainty(sample_test, tmp_path):
    documents = [Document(e.id, text_sha256(e.text), ((e.a, e.pronoun),)) for e in sample_test[:1]]
    write_clusters(tmp_path / "answers.jsonl", Clusters("one", "1", documents))
    predictor = load(tmp_path / "answers.jsonl")
    assert predictor.predict_proba(sample_test[:2]).tolist() == [[1.0, 0.0, 0.0], [0.0, 0.0, 1.0]]
    assert predictor.remark(sample_test).startswith("is what one@1 decided: clusters of 1 of ")


def test_what_is_no_predictor_is_refused_by_name(tmp_path):
    with pytest.raises(DataNotFoundError, match="nothing is not a run"):
        load(tmp_path / "nothing")
    (tmp_path / "notes.txt").write_text("")
    with pytest.raises(DataError, match=r"extension; expected \.csv"):
        load(tmp_path / "notes.txt")
