import numpy as np
import pytest
from sklearn.metrics.pairwise import rbf_kernel

from gapstack.corpus import Corpus, Example, Label, Span
from gapstack.errors import MemberError
from gapstack.members import create, store
from gapstack.members.kernel_svm import PUBLISHED, scalars
from gapstack.views.activations import span_activations

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
    inputs = member._inputs(rows, member._vectors(rows))
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
    (part,) = member.classifier_.calibrated_classifiers_
    machine, inputs = part.estimator, member._inputs(rows, member._vectors(rows))
    assert (machine.predict(inputs) == rows.labels).all()
    # dual form of the first pair of classes, with gamma 1 over the number of inputs
    machine.decision_function_shape = "ovo"
    kernel = rbf_kernel(inputs, machine.support_vectors_, gamma=1 / inputs.shape[1])
    ends = machine.n_support_.cumsum()
    of_a, of_b = slice(0, ends[0]), slice(ends[0], ends[1])
    expected = kernel[:, of_a] @ machine.dual_coef_[0, of_a] + kernel[:, of_b] @ machine.dual_coef_[0, of_b]
    np.testing.assert_allclose(
        machine.decision_function(inputs)[:, 0], expected + machine.intercept_[0], atol=1e-6
    )


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
    assert member.classifier_.coef_.shape == (3, 7 + 5 * 16)
    store.save(member, "kernel_svm", tmp_path / "member")
    np.testing.assert_array_equal(
        store.load(tmp_path / "member").predict_proba(sample_test), member.predict_proba(sample_test)
    )


def test_an_unknown_classifier_and_a_class_without_rows_are_refused(sample_train, settings):
    with pytest.raises(MemberError, match="no classifier is called 'forest'; there are: svm, logistic"):
        create("kernel_svm", classifier="forest", **settings).fit(sample_train[:40])
    named = Corpus([e for e in sample_train if e.label is not Label.NEITHER])
    with pytest.raises(MemberError, match=r"needs two rows of each class; A, B and Neither have .* 0"):
        create("kernel_svm", **settings).fit(named)


def test_the_papers_settings_are_settings_of_the_member():
    assert create("kernel_svm", **PUBLISHED).get_params()["components"] == 256
