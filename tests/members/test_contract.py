"""What every member promises, tested for every member: one row of ``ROWS`` each."""

from copy import copy
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sklearn.base import clone

from gapstack.data import Corpus, Label
from gapstack.data.augment import augmented
from gapstack.data.clusters import Clusters, Document, text_sha256, write_clusters
from gapstack.data.gender import swap_gender
from gapstack.errors import DataError, DataNotFoundError, MemberError, NotFittedError
from gapstack.evaluation.metrics import log_loss
from gapstack.language.parses import ENVIRONMENT as PARSER_VARIABLE
from gapstack.language.parses import parses
from gapstack.members import MEMBERS, create, saved
from gapstack.resolvers import shares
from tests.resolvers.test_shares import NearestWord

ENCODER = "the tiny random encoder"
LANGUAGE_MODEL = "the tiny random encoder with a masked-LM head"
DECODER = "the tiny random decoder"
CLUSTERS = "clusters of the sample's rows"
FOLDERS = {ENCODER: "tiny_encoder_folder", LANGUAGE_MODEL: "tiny_language_model_folder"}
"""Fixtures that give their folders."""
SMALL = {"encoder": ENCODER, "max_pieces": 96}
TUNED = SMALL | {"training": {"epochs": 1, "precision": "float32"}}
"""Settings of a quick fine-tuned member."""
ONE, TWO = {"training": {"epochs": 1}}, {"training": {"epochs": 2}}
SPANS = {"encoder": ENCODER, "seeds": 2, "epochs": 3}
QUICK_TREES = {"rounds": 10, "bags": 1, "min_leaf": 5}
LETTERS = {"feminine": ["q", "z", "x", "j"], "masculine": ["k", "v", "w", "y"]}
"""Names that are one piece of the tiny encoder's vocabulary."""
HEAD_PLAN = {"epochs": 40, "batch_size": 16, "head_lr": 1e-2, "weight_decay": 0.0, "label_smoothing": 0.0}
"""Training that makes a head on frozen features memorise 32 rows."""
PLAN = HEAD_PLAN | {"epochs": 100, "encoder_lr": 2e-3, "frozen": [], "precision": "float32"}
"""The same for a fine-tuned member over the tiny encoder."""


def tuned(**changes: Any) -> dict[str, Any]:
    return {"training": PLAN | {"schedule": {"shape": "linear", "warmup": 0.1}} | changes}


def head(**changes: Any) -> dict[str, Any]:
    return {"training": HEAD_PLAN | changes}


@dataclass(frozen=True)
class Row:
    """How to test one member: settings that make it quick, what it needs, and what it promises beyond the rest."""

    name: str
    settings: dict[str, Any] = field(default_factory=dict)
    needs_parses: bool = False
    equivariant: bool = True
    """True if exchanging A and B exchanges the answers for A and B, to rounding."""
    overfit: dict[str, Any] | None = None
    """Changes of the settings under which it memorises 32 rows, in addition to no dropout; None: it has no way to."""
    overfit_to: float = 0.05
    """Logloss that it then reaches on those rows."""

    def __str__(self) -> str:
        return "-".join([self.name, *self.settings.get("blocks", ())])


FIRST_COPY = {"copies": [], "weights": [1, 0, 0, 0, 0]}
INNER = {"name": "stack", "settings": {"members": ["token_distance"], "stackers": ["simplex"]}}
NO_BLOCKS = {"blocks": [], "tune_layer": False}
BIDAF = SMALL | {"training": {"epochs": 2, "precision": "float32"}}
CHOICE = {"epochs": 40, "batch_size": 4, "encoder_lr": 3e-3, "head_lr": 3e-3}
GRAPH = {"training": {"epochs": 40, "head_lr": 1e-2, "label_smoothing": 0.0}}
MSNET = {"training": [HEAD_PLAN | {"epochs": 5}, tuned(epochs=40, head_lr=3e-2)["training"]]}
ROWS = (
    Row("prior", equivariant=False),
    Row("random"),
    Row("token_distance"),
    Row("topical_entity"),
    Row("topical_entity", {"counted": "detected"}, needs_parses=True),
    Row("syntactic_distance", needs_parses=True),
    Row("parallelism", needs_parses=True),
    Row("parallelism", {"closeness": "token", "candidates": "detected"}, needs_parses=True),
    Row("url", needs_parses=True),
    Row("transformer_single", {"encoder": ENCODER}),
    Row("transformer_multi", {"encoder": ENCODER, "trees": 10}),
    Row("frozen_spans", SPANS),
    Row("frozen_spans", SPANS | {"blocks": ["surface", "cues"]}, needs_parses=True),
    Row(
        "tuned_spans",
        {"encoder": ENCODER, "blocks": ["surface"], "training": TUNED["training"]},
        overfit=tuned(epochs=40) | {"name_variants": 0, "prediction_variants": 0},
    ),
    Row("probert", TUNED, equivariant=False, overfit=tuned()),
    Row("grep", TUNED, needs_parses=True, equivariant=False, overfit=tuned()),
    Row("msnet", TUNED, equivariant=False, overfit=MSNET),
    Row("span_head", TUNED, True, equivariant=False, overfit=head(epochs=30) | {"tune_layer": False}),
    Row("span_head", TUNED | NO_BLOCKS, equivariant=False, overfit=head(epochs=30)),
    Row("pair_product", TUNED, overfit=tuned(epochs=80, head_lr=3e-2)),
    Row("sequence", TUNED, equivariant=False, overfit=tuned(epochs=40)),
    Row("kernel_svm", SMALL, equivariant=False, overfit={"classifier": "logistic", "c": 1e4}),
    Row("anonymised", SMALL | ONE, overfit=head() | FIRST_COPY),
    Row("anonymised", SMALL | ONE | {"head": "pure"}, overfit=head() | FIRST_COPY),
    # the batch norm behind its last layer is slow to let it be sure
    Row("frozen_mlp", {"encoder": ENCODER, "window": 48} | TWO, True, overfit=head(epochs=80, head_lr=3e-2)),
    Row("siamese", SMALL | TWO, needs_parses=True, overfit=head()),
    Row("siamese", SMALL | TWO | {"blocks": [], "naive": True}, overfit=head()),
    Row("mention_network", SMALL | TWO, equivariant=False, overfit=head()),
    Row("token_scores", TUNED, overfit=tuned(epochs=80, head_lr=3e-2)),
    Row("bidaf", BIDAF, needs_parses=True, overfit=tuned(frozen=["encoder"], epochs=50)),
    Row("question_answering", TUNED, overfit=tuned(epochs=70) | {"calibration_share": 0.0, "strength": 1e3}),
    Row("multiple_choice", TUNED, overfit=tuned(**CHOICE) | {"max_pieces": 72, "clip": 0.0}, overfit_to=0.7),
    Row("rgcn", SMALL | TWO | {"widths": [8, 8]}, needs_parses=True, equivariant=False, overfit=GRAPH),
    Row("prompted", {"model": DECODER, "precision": "float32"}),
    Row("masked_lm", {"encoder": LANGUAGE_MODEL, "pairs": 1, "max_pieces": 96, "names": LETTERS}),
    Row("resolver", {"clusters": CLUSTERS}),
    Row("running_text"),
    Row("static_vectors", {"vectors": f"encoder:{ENCODER}", "seeds": 2} | TWO, overfit=head()),
    Row("surface", {"rounds": 20, "bags": 2, "min_leaf": 5}),
    Row("surface", {"blocks": ["surface", "cues"], "rounds": 20, "bags": 1}, needs_parses=True),
    Row("stack", {"members": ["token_distance", {"name": "surface", "settings": QUICK_TREES}]}),
    Row("stack", {"members": ["topical_entity", INNER], "calibrators": ["none", "temperature"]}),
)


def test_every_member_has_a_row():
    assert {row.name for row in ROWS} == set(MEMBERS)


@pytest.fixture(scope="module")
def train(sample_train) -> Corpus:
    return sample_train[:80]


@pytest.fixture(scope="module")
def held(sample_test) -> Corpus:
    return sample_test[:24]


@pytest.fixture(scope="module", params=ROWS, ids=str)
def row(request, train, held, cache) -> Row:
    """Each row in turn, its encoder put in; skipped where texts must be parsed and nothing can parse them."""
    asked: Row = request.param
    if asked.needs_parses:
        try:
            parses(train + held)
        except DataNotFoundError as missing:
            pytest.skip(f"{asked.name} needs parses: {missing}")
    settings = dict(asked.settings)
    if settings.get("encoder") in FOLDERS:
        settings["encoder"] = str(request.getfixturevalue(FOLDERS[settings["encoder"]]))
    if settings.get("vectors") == f"encoder:{ENCODER}":
        settings["vectors"] = str(request.getfixturevalue(FOLDERS[ENCODER]))
    if settings.get("model") == DECODER:
        settings["model"] = str(request.getfixturevalue("tiny_decoder_folder"))
    if settings.get("clusters") == CLUSTERS:
        settings["clusters"] = [str(request.getfixturevalue("clusters_file"))]
    return replace(asked, settings=settings)


@pytest.fixture(scope="module")
def clusters_file(sample, tmp_path_factory) -> Path:
    """What a resolver that always takes the name nearest before the pronoun says of the sample."""
    path = tmp_path_factory.mktemp("clusters") / "nearest.jsonl"
    documents = {
        e.text: Document(
            e.id,
            text_sha256(e.text),
            ((min((e.a, e.b), key=lambda name, e=e: abs(e.pronoun.start - name.start)), e.pronoun),),
        )
        for e in sample
    }
    write_clusters(path, Clusters("nearest", "1", documents.values()))
    return path


@pytest.fixture(scope="module")
def cache(tmp_path_factory):
    """Folder of one cache for all tests here."""
    folder = tmp_path_factory.mktemp("contract")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("GAPSTACK_CACHE", str(folder))
        yield folder


@pytest.fixture(scope="module", autouse=True)
def _nearest_name():
    """Put a quick resolver in the place of the resolver of running text."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(shares, "text_resolver", NearestWord)
        yield


@pytest.fixture(autouse=True)
def _one_cache(cache, _no_network_and_a_cache_of_its_own, monkeypatch):
    monkeypatch.setenv("GAPSTACK_CACHE", str(cache))


@pytest.fixture(scope="module")
def fitted(row, train):
    member = create(row.name, **row.settings)
    assert member.fit(train) is member, "fit must return the member"
    return member


@pytest.fixture(scope="module")
def answers(fitted, held):
    return fitted.predict_proba(held)


def swap(corpus: Corpus) -> Corpus:
    """Call A what was called B and the other way round; the texts stay."""
    return corpus.map(lambda e: replace(e, a=e.b, b=e.a))


def test_answers_are_probabilities_of_three_classes(answers, held):
    assert answers.shape == (len(held), 3)
    assert answers.dtype == np.float64
    assert np.isfinite(answers).all()
    assert (answers > 0).all()
    np.testing.assert_allclose(answers.sum(axis=1), 1, rtol=0, atol=1e-12)


def test_labels_of_the_rows_asked_about_change_nothing(fitted, answers, held):
    false = held.map(lambda e: replace(e, label=Label((e.label + 1) % 3)))
    np.testing.assert_array_equal(fitted.predict_proba(held.unlabelled()), answers)
    np.testing.assert_array_equal(fitted.predict_proba(false), answers)


def assert_alike(found: np.ndarray, expected: np.ndarray) -> None:
    np.testing.assert_allclose(found, expected, rtol=0, atol=1e-6)


def test_neither_order_nor_company_nor_cache_change_an_answer(fitted, answers, held, monkeypatch, tmp_path):
    order = np.random.default_rng(7).permutation(len(held))
    assert_alike(fitted.predict_proba(held.take(order)), answers[order])
    monkeypatch.setenv("GAPSTACK_CACHE", str(tmp_path))  # cold, and warm from the second part on
    for part in (slice(0, 1), slice(5, 12), slice(3, 20)):
        assert_alike(fitted.predict_proba(held[part]), answers[part])


def test_the_saved_member_answers_the_same(row, fitted, answers, held, tmp_path):
    folder = tmp_path / "member"
    saved.save(fitted, row.name, folder)
    loaded = saved.load(folder)
    assert type(loaded) is type(fitted)
    np.testing.assert_array_equal(loaded.predict_proba(held), answers)


def test_swapping_the_names_swaps_the_probabilities(row, fitted, answers, held):
    if not row.equivariant:
        pytest.skip(f"{row.name} does not promise it")
    np.testing.assert_allclose(fitted.predict_proba(swap(held)), answers[:, [1, 0, 2]], rtol=0, atol=1e-6)


def test_averaged_over_gender_a_row_and_its_counterpart_get_the_same_probabilities(row, fitted, held):
    if row.name in ("random", "resolver"):
        pytest.skip(f"{row.name} knows rows by their ids, or the texts of its files alone")
    swapped = augmented(held, swap_gender)
    back = augmented(swapped, swap_gender)
    rows = [k for k in range(len(held)) if back[k] == held[k] != swapped[k]]
    assert len(rows) > len(held) / 3
    there, here = swapped.take(rows[:6]), held.take(rows[:6])
    member = copy(fitted)
    try:
        plain = member.predict_proba(here), member.predict_proba(there)
    except DataNotFoundError as missing:
        pytest.skip(f"the swapped texts have no stored parse: {missing}")
    member.average = ["original", "swap_gender"]
    for rows in (here, there):
        np.testing.assert_allclose(member.predict_proba(rows), np.mean(plain, axis=0), rtol=0, atol=1e-6)


def test_the_same_seed_learns_the_same_and_forgets_an_earlier_fit(row, train, held, answers):
    np.random.seed(12345)  # the global state must not matter
    member = create(row.name, **row.settings).fit(train[40:]).fit(train)
    np.testing.assert_allclose(member.predict_proba(held), answers, rtol=0, atol=1e-6)


def test_settings_survive_get_params_and_clone(row, fitted):
    copy = clone(fitted)
    assert copy.get_params() == fitted.get_params()
    assert {key: copy.get_params()[key] for key in row.settings} == row.settings
    with pytest.raises(NotFittedError, match="fit"):
        copy.state()


@pytest.mark.slow
def test_it_can_memorise_32_rows(row, train):
    if row.overfit is None:
        pytest.skip(f"{row.name} has too few parameters to")
    rows = train[:32]
    still = {name: 0.0 for name in create(row.name).get_params() if "dropout" in name}
    member = create(row.name, **row.settings | still | row.overfit).fit(rows)
    assert log_loss(rows.labels, member.predict_proba(rows)) < row.overfit_to


def test_asking_before_fitting_is_refused(row, held, tmp_path):
    member = create(row.name, **row.settings)
    with pytest.raises(NotFittedError, match=r"call fit\(corpus\) first"):
        member.predict_proba(held)
    with pytest.raises(NotFittedError):
        saved.save(member, row.name, tmp_path / "member")
    assert not (tmp_path / "member").exists()


def test_rows_without_labels_are_refused_by_name(row, train):
    if row.name == "random":
        pytest.skip("random looks at no label")
    with pytest.raises(DataError, match=f"{train[0].id}.* has no label"):
        create(row.name, **row.settings).fit(train[:8].unlabelled())


def test_a_text_that_nothing_can_parse_is_refused(row, fitted, held, monkeypatch):
    if not row.needs_parses:
        pytest.skip(f"{row.name} needs no parse")
    monkeypatch.setenv(PARSER_VARIABLE, "no_such_pipeline")
    new = held[:2].map(lambda e: replace(e, text=f"{e.text} So it was."))
    with pytest.raises(DataNotFoundError, match="no_such_pipeline"):
        fitted.predict_proba(new)


def test_mentions_that_do_not_fit_into_the_window_are_refused(row, held):
    if "max_pieces" not in create(row.name).get_params():
        pytest.skip(f"{row.name} has no window of its own")
    with pytest.raises(MemberError, match=f"{held[0].id}.* 4 pieces"):
        create(row.name, **{**row.settings, "max_pieces": 4}).fit(held)


def test_no_rows_teach_nothing_and_get_no_answers(row, fitted, train):
    with pytest.raises(MemberError, match="empty corpus"):
        create(row.name, **row.settings).fit(train[:0])
    assert fitted.predict_proba(train[:0]).shape == (0, 3)
