from itertools import combinations

import numpy as np
import pytest
from sklearn.svm import SVC

from gapstack.corpus import Corpus, Example, Label, Span
from gapstack.encoding.activations import span_activations
from gapstack.errors import MemberError
from gapstack.members import create, store
from gapstack.members.kernel_svm import PUBLISHED, scalars
from gapstack.scoring.metrics import log_loss

TEXT = "Long ago Ann Lee lived here. Then Bob met her."
WIKI = "http://en.wikipedia.org/wiki/"


def at(word: str) -> Span:
    return Span(TEXT.rindex(word), TEXT.rindex(word) + len(word))


SCALARS = (
    ("Lee_family", [1, 0]),
    ("Robert_Bob_(singer)", [0, 1]),
    ("Bobby_Annan", [0, 0]),
    (None, [0, 0]),
)


@pytest.mark.parametrize(("page", "topics"), SCALARS)
def test_the_seven_scalars(page, topics):
    row = Example("r", TEXT, at("her"), at("Ann Lee"), at("Bob"), page and WIKI + page)
    # words: Long ago Ann Lee lived here . | Then Bob met her.
    expected = [(2 - 10) / 500, (8 - 10) / 500, 2 / 7, 1 / 5, 3 / 5, *topics]
    np.testing.assert_allclose(scalars(Corpus([row])), [expected])


@pytest.fixture
def settings(tiny_encoder_folder):
    return {"encoder": str(tiny_encoder_folder)}


def test_inputs_are_scalars_means_and_products_of_the_mentions(sample_train, settings, tiny_encoder):
    rows = sample_train[:40]
    member = create("kernel_svm", **settings).fit(rows)
    inputs = member._inputs(member._vectors(rows), scalars(rows))
    found = span_activations(rows, tiny_encoder, (1,))
    at = 0
    for row in range(len(rows)):
        p, a, b = (
            part.mean(axis=0)
            for part in np.split(
                found.vectors[at : at + found.counts[row].sum(), 0].astype(float),
                found.counts[row].cumsum()[:-1],
            )
        )
        np.testing.assert_allclose(inputs[row, 7:], np.concatenate([a, b, p, a * p, b * p]), atol=1e-9)
        at += found.counts[row].sum()


def test_the_machine_is_the_published_one_and_separates_its_rows(sample_train, settings):
    rows = sample_train[:60]
    member = create("kernel_svm", c=1000.0, **settings).fit(rows)
    inputs = member._inputs(member._vectors(rows), scalars(rows))
    expected = SVC(C=1000.0, gamma="auto", class_weight="balanced", decision_function_shape="ovo")
    decided = expected.fit(inputs, rows.labels).decision_function(inputs)
    np.testing.assert_allclose(member.machine_.decide(inputs), decided, atol=1e-6)
    # a row's class wins both of its pairs
    for (first, second), values in zip(combinations(range(3), 2), decided.T, strict=True):
        assert (values[rows.labels == first] > 0).all()
        assert (values[rows.labels == second] < 0).all()


def test_probabilities_are_fitted_on_rows_that_the_machine_had_not_seen(sample_train, settings):
    # 60 rows of a random encoder: the machine separates what it has seen and knows nothing of the rest
    rows = sample_train[:60]
    member = create("kernel_svm", c=1000.0, **settings).fit(rows)
    answers = member.predict_proba(rows)
    assert 0.5 < log_loss(rows.labels, answers) < 1.1


@pytest.mark.parametrize(("gamma", "factor"), [("scale", None), (0.5, 0.5)])
def test_the_kernels_width_may_be_chosen(gamma, factor, sample_train, settings):
    member = create("kernel_svm", gamma=gamma, **settings).fit(sample_train[:40])
    inputs = member._inputs(member._vectors(sample_train[:40]), scalars(sample_train[:40]))
    assert member.machine_.gamma == pytest.approx(factor or 1 / inputs.shape[1] / inputs.var())
    with pytest.raises(
        MemberError, match='gamma: found "wide", expected one of "auto", "scale", or a number, more than 0'
    ):
        create("kernel_svm", gamma="wide", **settings).fit(sample_train[:40])


def test_the_seed_decides_the_probabilities(sample_train, sample_test, settings):
    one, same, other = (
        create("kernel_svm", seed=seed, **settings).fit(sample_train[:60]).predict_proba(sample_test)
        for seed in (1, 1, 2)
    )
    np.testing.assert_array_equal(one, same)
    assert np.abs(one - other).max() > 1e-4


def test_a_reduced_member_is_stored_with_its_reduction(sample_train, sample_test, settings, tmp_path):
    member = create("kernel_svm", components=16, removed=2, classifier="logistic", **settings).fit(
        sample_train[:60]
    )
    assert member.weights_.shape == (3, 7 + 5 * 16)
    store.save(member, "kernel_svm", tmp_path / "member")
    np.testing.assert_array_equal(
        store.load(tmp_path / "member").predict_proba(sample_test), member.predict_proba(sample_test)
    )


def test_an_unknown_classifier_and_a_class_without_rows_are_refused(sample_train, settings):
    with pytest.raises(MemberError, match='classifier: found "forest", expected one of "svm", "logistic"'):
        create("kernel_svm", classifier="forest", **settings).fit(sample_train[:40])
    named = Corpus([e for e in sample_train if e.label is not Label.NEITHER])
    with pytest.raises(MemberError, match=r"needs two rows of each class; A, B and Neither have .* 0"):
        create("kernel_svm", **settings).fit(named)


def test_the_papers_settings_are_settings_of_the_member():
    assert create("kernel_svm", **PUBLISHED).get_params()["components"] == 256
