"""GREP's evidence: clusters, their pieces, and what they change."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch

from gapstack.data import Corpus, Example, Span
from gapstack.data.clusters import Clusters, Document, text_sha256, write_clusters
from gapstack.encoding.pieces import align
from gapstack.errors import DataNotFoundError, MemberError, MismatchError
from gapstack.language.cues import Cue, decide
from gapstack.language.parses import parses
from gapstack.members import create, saved
from gapstack.members.grep import (
    HEURISTICS,
    EvidenceHead,
    cluster_pieces,
    heuristic_clusters,
    pronoun_clusters,
)
from gapstack.training.data import loader


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
    with pytest.warns(UserWarning, match="none of the 16 rows"):
        member.predict_proba(others)


def test_a_loaded_member_answers_the_same_and_refuses_other_files(member, rows, tmp_path):
    expected = member.fit(rows).predict_proba(rows)
    saved.save(member, "grep", tmp_path / "member")
    np.testing.assert_array_equal(saved.load(tmp_path / "member").predict_proba(rows), expected)
    write_oracle(tmp_path / "rows.jsonl", rows, version="2")
    with pytest.raises(MismatchError, match="clusters changed"):
        saved.load(tmp_path / "member")
    with pytest.raises(MismatchError, match=r"fitted with oracle@1, and is set to oracle@2"):
        member.predict_proba(rows)
    (tmp_path / "rows.jsonl").unlink()
    with pytest.raises(DataNotFoundError, match=r"no such file: .*rows\.jsonl"):
        saved.load(tmp_path / "member")


def test_what_gives_no_evidence_is_refused(member, rows, sample_test):
    with pytest.raises(MemberError, match="none of the 8 rows"):
        member.fit(sample_test[:8])
    with pytest.raises(MemberError, match="no source of evidence"):
        member.set_params(clusters=[]).fit(rows)


def test_weights_of_sources_sum_to_one_where_one_has_a_cluster(member, rows, tmp_path):
    silent = write_oracle(tmp_path / "silent.jsonl", rows, version="2", known=False)
    member.set_params(clusters=[*member.clusters, silent]).fit(rows)
    assert member.sources_ == ["oracle@1", "oracle@2"]
    expected = np.outer(rows.labels < 2, [1.0, 0.0])  # the second source has no clusters
    np.testing.assert_allclose(member.resolver_weights(rows), expected, atol=1e-6)


def test_padding_of_clusters_changes_nothing():
    head = EvidenceHead(8, 2).eval()
    hidden, mentions = torch.randn(1, 6, 8), torch.tensor([[[1, 2], [3, 4], [5, 6]]])
    places, kept = torch.tensor([[[[1], [3]]]]), torch.ones(1, 1, 2, 1, dtype=torch.bool)
    expected = head(hidden, mentions, places, kept)
    # two more mentions and a second source, all padding
    padded = torch.zeros(1, 2, 4, 1, dtype=torch.int64), torch.zeros(1, 2, 4, 1, dtype=torch.bool)
    padded[0][:, :1, :2], padded[1][:, :1, :2] = places, kept
    torch.testing.assert_close(head(hidden, mentions, *padded), expected)


TEXT = "Ann met Beth when she sang to her sister"
#       0123456789012345678901234567890123456789
ANN, BETH, SHE, HER, HER_SISTER = Span(0, 3), Span(8, 12), Span(18, 21), Span(30, 33), Span(30, 40)
EXAMPLE = Example("x", TEXT, pronoun=SHE, a=ANN, b=BETH)
CORPUS = Corpus([EXAMPLE])


def read(view, encoder, places, keep):
    """The words at some places of the first text."""
    ids = view.ids[view.row(0)][places[keep]]
    return encoder.tokenizer.decode(ids).replace(" ", "")


@pytest.fixture(scope="module")
def with_parses(sample_test) -> Corpus:
    try:
        parses(sample_test)
    except DataNotFoundError as missing:
        pytest.skip(f"heuristics need parses: {missing}")
    return sample_test


@pytest.mark.parametrize("heuristic", HEURISTICS)
def test_a_heuristics_cluster_is_the_pronoun_and_the_name_it_decides_for(heuristic, with_parses):
    answers = decide(with_parses, HEURISTICS[heuristic]).answers
    for example, (a, b), cluster in zip(
        with_parses, answers, heuristic_clusters(with_parses, heuristic), strict=True
    ):
        expected = {example.pronoun} | ({example.a} if a else set()) | ({example.b} if b else set())
        assert set(cluster) == expected
        assert list(cluster) == sorted(cluster)


def test_the_title_backs_off_to_parallelism_where_it_says_nothing(with_parses):
    untitled = with_parses.map(lambda e: replace(e, url=None))
    found = heuristic_clusters(untitled, "parallelism+url")
    assert all(len(cluster) == 2 for cluster in found), "the released code leaves these rows without evidence"
    assert found == heuristic_clusters(untitled, "parallelism")
    titled = heuristic_clusters(with_parses, "parallelism+url")
    assert titled != found, "where it says something, the title decides"
    assert decide(with_parses, Cue.URL).levels.min() == 0


def test_a_source_without_the_text_gives_an_empty_cluster():
    resolver = Clusters("r", "1", [Document("x", text_sha256(TEXT), ((ANN, SHE, HER),))])
    other = replace(EXAMPLE, id="y", text=TEXT + ".")
    assert pronoun_clusters(Corpus([EXAMPLE, other]), [resolver, "token_distance"]) == [
        [(ANN, SHE, HER), (BETH, SHE)],
        [(), (BETH, SHE)],
    ]


def test_pieces_are_the_mentions_own(tiny_encoder):
    view = align(CORPUS, tiny_encoder)
    found = cluster_pieces(view, [[(BETH, SHE), ()]])
    assert found["places"].shape == found["kept"].shape == (1, 2, 2, 4)
    words = [read(view, tiny_encoder, found["places"][0, 0, m], found["kept"][0, 0, m]) for m in range(2)]
    assert words == ["beth", "she"]
    assert not found["kept"][0, 1].any()
    assert not found["places"][~found["kept"]].any()
    assert cluster_pieces(view, [[(), ()]])["kept"].tolist() == [[[[False]], [[False]]]]


def test_long_mentions_are_left_out_and_then_the_first_stay(tiny_encoder):
    view = align(CORPUS, tiny_encoder)
    cluster = (ANN, SHE, HER_SISTER)  # of 3, 1 and more than 4 pieces
    for most, limit, words in ((20, 4, ["ann", "she"]), (20, 2, ["she"]), (1, 4, ["ann"]), (2, 2, ["she"])):
        found = cluster_pieces(view, [[cluster]], max_mentions=most, max_pieces=limit)
        kept = [
            read(view, tiny_encoder, p, k)
            for p, k in zip(found["places"][0, 0], found["kept"][0, 0], strict=True)
        ]
        assert kept == words


def test_without_evidence_it_is_probert(member, rows):
    probert = create("probert", encoder=member.encoder, max_pieces=96)
    encoder, network = member._network(member.plans())
    plain = probert._network(probert.plans())[1].head.eval()
    network.head.eval()
    data, every = member._build_data(rows, encoder, rows.labels), np.arange(len(rows))
    inputs, _ = loader(data, every, torch.device("cpu"))(every)
    hidden = network.hidden(inputs.pop("ids"), inputs.get("keep"))
    differs = (network.head(hidden, **inputs) - plain(hidden, **inputs)).abs().amax(dim=1) > 1e-6
    np.testing.assert_array_equal(differs, rows.labels < 2)
