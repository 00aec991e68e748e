from dataclasses import replace

import numpy as np
import pytest

from gapstack.data import Corpus, Example, Label, Span
from gapstack.data.clusters import Clusters, Document, text_sha256, write_clusters
from gapstack.errors import MemberError, MismatchError
from gapstack.members import create

TEXT = "Ann met Beth when she sang"
ANN, BETH, SHE = Span(0, 3), Span(8, 12), Span(18, 21)
SAYS = {"one": ((ANN, SHE),), "other": ((BETH, SHE),), "both": ((ANN, BETH, SHE),), "nobody": ((ANN, BETH),)}


def rows_of(*said_and_label) -> tuple[Corpus, list[Document]]:
    """Rows with a label each, and what the resolver says of them; None where it was not asked."""
    rows, documents = [], []
    for number, (said, label) in enumerate(said_and_label):
        text = TEXT + "." * number
        rows.append(Example(f"r{number}", text, pronoun=SHE, a=ANN, b=BETH, label=Label(label)))
        if said is not None:
            documents.append(Document(f"r{number}", text_sha256(text), SAYS[said]))
    return Corpus(rows, name="rows"), documents


@pytest.fixture
def member(tmp_path):
    """Make a member from what the resolver said."""

    def make(documents, name="oracle", **settings):
        path = tmp_path / f"{name}.jsonl"
        write_clusters(path, Clusters(name, "1", documents))
        return create("resolver", clusters=[str(path)], **settings)

    return make


def test_probabilities_are_what_each_kind_of_answer_was_worth(member):
    rows, documents = rows_of(
        *[("one", 0)] * 3, ("one", 1), ("other", 1), ("other", 2), ("both", 0), ("nobody", 2), (None, 1)
    )
    found = member(documents, smoothing=0.0 + 1e-12)
    answers = found.fit(rows).predict_proba(rows)
    assert found.coverage_ == pytest.approx(8 / 9)
    # chosen 4, other 1, neither 1 of six rows in which it chose one
    np.testing.assert_allclose(answers[0], [4 / 6, 1 / 6, 1 / 6], atol=1e-9)
    np.testing.assert_allclose(answers[4], [1 / 6, 4 / 6, 1 / 6], atol=1e-9)
    np.testing.assert_allclose(answers[6], [0.5, 0.5, 0.0], atol=1e-9)
    np.testing.assert_allclose(answers[7], [0.0, 0.0, 1.0], atol=1e-9)
    np.testing.assert_allclose(answers[8], [0.5, 0.5, 0.0], atol=1e-9)
    decided = [[True, False], [False, True], [True, True], [False, False], [False, False]]
    assert found.decide(rows)[[0, 4, 6, 7, 8]].tolist() == decided


def test_files_that_do_not_fit_are_refused(member, tmp_path):
    rows, documents = rows_of(("one", 0), ("other", 1))
    with pytest.raises(MemberError, match="one resolver's clusters; given: none"):
        create("resolver").fit(rows)
    two = member(documents).clusters + member(documents, name="another").clusters
    with pytest.raises(MemberError, match="given: oracle@1, another@1"):
        create("resolver", clusters=two).fit(rows)
    elsewhere = Corpus([replace(rows[0], text=rows[0].text + " again")], name="elsewhere")
    with pytest.raises(MemberError, match="none of the 2 rows"):
        member(documents).fit(rows.map(lambda row: replace(row, text=row.text + " again")))
    fitted = member(documents).fit(rows)
    with pytest.warns(UserWarning, match="none of the 1 rows"):
        found = fitted.predict_proba(elsewhere)
    assert found[0, 0] == found[0, 1], "without an output, what was seen in training decides"
    fitted.set_params(clusters=member(documents, name="another").clusters)
    with pytest.raises(MismatchError, match="given clusters of another@1; expected those of oracle@1"):
        fitted.predict_proba(rows)
