"""The audit of a space as a whole, and its report."""

import json

import numpy as np
import pytest

from gapstack.data.sources import paper
from gapstack.display.render import text_of
from gapstack.encoding.word_vectors import Vectors
from gapstack.errors import DataError, MismatchError
from gapstack.papers.embeddings import (
    EMBEDDING_MEASURES,
    ORIGINAL,
    audit_embeddings,
    embeddings_report,
)
from tests.planted_spaces import GENDERED, LISTS, planted


@pytest.fixture(scope="module")
def found():
    return audit_embeddings(planted()[0], LISTS, ["hard", "inlp", "hard"], seed=1)


def test_every_measure_is_taken_before_and_after_each_debiaser(found):
    assert list(found.figures) == [ORIGINAL, "hard", "inlp"]
    assert list(found.measures) == list(EMBEDDING_MEASURES)
    keys = {measure.key for yardstick in found.measures.values() for measure in yardstick.columns}
    for figures in found.figures.values():
        assert set(figures) == keys
        assert all(np.isfinite(value) for value in figures.values())
    before, hard, inlp = (found.figures[space] for space in found.figures)
    assert hard["direct_bias"] < 1e-6 < before["direct_bias"]
    assert inlp["linear_svm"] < before["linear_svm"]


def test_missing_words_are_listed_and_measures_that_lack_too_many_are_refused():
    space, _ = planted(1200)
    gone = {"zzzz", "aae", "aaf"}
    keep = [row for row, word in enumerate(space.words) if word not in gone]
    less = Vectors("less", tuple(space.words[row] for row in keep), space.matrix[keep])
    found = audit_embeddings(less, LISTS)
    assert set(found.refused) == {"single_weat", "sembias"}
    assert "adj_positive and adj_negative: 0 of 2 (0%)" in found.refused["single_weat"]
    text = text_of(embeddings_report(found).parts)
    assert "neutral professions: 3 of 4 (75%); missing: zzzz." in text
    assert "Not measured: single_weat" in text
    assert "Gender in less" in text


def test_a_vocabulary_for_which_nothing_can_be_measured_is_refused_with_the_coverage():
    with pytest.raises(DataError, match=r"no measure is possible.*definitional pairs: 0 of 4 \(0%\)"):
        audit_embeddings(Vectors("tiny", ("a", "b"), np.eye(2)), LISTS)


def test_a_further_space_must_have_the_same_words(found):
    space, _ = planted()
    audited = audit_embeddings(
        space, LISTS, debiased={"trained": space.changed(space.matrix, "trained")}, seed=1
    )
    assert list(audited.figures) == [ORIGINAL, "trained"]
    assert audited.figures["trained"] == audited.figures[ORIGINAL] == found.figures[ORIGINAL]
    with pytest.raises(MismatchError, match="has other words"):
        audit_embeddings(space, LISTS, debiased={"other": planted(1100)[0]})


def test_the_report_has_the_papers_figures_if_available_and_every_missing_word(
    found, gap_folder, tmp_path, monkeypatch
):
    text = text_of(embeddings_report(found).parts)
    row = next(line for line in text.splitlines() if line.startswith("k-means accuracy"))
    theirs = [paper("dawkins2021")["table3"][space][0] for space in ("GloVe", "Hard-GloVe", "INLP-GloVe")]
    assert row.split()[-5::2] == [f"{figure:.1f}" for figure in theirs]
    paths = embeddings_report(found, details=True).write(tmp_path)
    record = json.loads(paths[1].read_text())
    assert record["figures"]["hard"] == found.figures["hard"]
    assert {c["list"]: c["missing"] for c in record["coverage"]}["neutral professions"] == ["zzzz"]
    assert record["words"] == 1200 + len(GENDERED)
