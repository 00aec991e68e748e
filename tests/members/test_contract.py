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
from gapstack.data.gender import swap_gender
from gapstack.errors import DataError, DataNotFoundError, MemberError, NotFittedError
from gapstack.evaluation.metrics import log_loss
from gapstack.members import MEMBERS, create, store
from gapstack.resolvers.clusters import Clusters, Document, text_sha256, write_clusters
from gapstack.text.parses import ENVIRONMENT as PARSER_VARIABLE
from gapstack.text.parses import parses

ENCODER = "the tiny random encoder"
LANGUAGE_MODEL = "the tiny random encoder with a masked-LM head"
CLUSTERS = "clusters of the sample's rows"
FOLDERS = {ENCODER: "tiny_encoder_folder", LANGUAGE_MODEL: "tiny_language_model_folder"}
"""Fixtures that give their folders."""
MEMORISE = {
    **{"epochs": 100, "batch_size": 16, "encoder_lr": 2e-3, "head_lr": 1e-2, "label_smoothing": 0.0},
    **{"schedule": {"shape": "linear", "warmup": 0.1}, "weight_decay": 0.0, "frozen": []},
    **{"precision": "float32"},
}
"""Training that makes a fine-tuned member over the tiny encoder memorise 32 rows."""
MEMORISE_WITH_HEAD = {
    **{"epochs": 40, "batch_size": 16, "head_lr": 1e-2, "weight_decay": 0.0, "label_smoothing": 0.0}
}
"""The same for a head on frozen features."""

TUNED = {"encoder": ENCODER, "max_pieces": 96, "training": {"epochs": 1, "precision": "float32"}}
"""Settings of a quick fine-tuned member."""
QUICK_TREES = {"rounds": 10, "bags": 1, "min_leaf": 5}


@dataclass(frozen=True)
class Row:
    """How to test one member: settings that make it quick, what it needs, and what it promises beyond the rest."""

    name: str
    settings: dict[str, Any] = field(default_factory=dict)
    needs_parses: bool = False
    equivariant: bool = True
    """Whether exchanging A and B exchanges the answers for A and B, to rounding."""
    overfit: dict[str, Any] | None = None
    """Settings, beside or in the place of the others, under which it memorises 32 rows; None: it has no way
    to, and its module says why."""
    overfit_to: float = 0.05
    """Logloss that it then reaches on those rows."""

    def __str__(self) -> str:
        return "-".join([self.name, *self.settings.get("blocks", ())])


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
    Row("frozen_spans", {"encoder": ENCODER, "seeds": 2, "epochs": 3}),
    Row(
        "frozen_spans",
        {"encoder": ENCODER, "seeds": 2, "epochs": 3, "blocks": ["surface", "cues"]},
        needs_parses=True,
    ),
    Row(
        "tuned_spans",
        {"encoder": ENCODER, "blocks": ["surface"], "training": {"epochs": 1, "precision": "float32"}},
        overfit={
            "training": MEMORISE | {"epochs": 40},
            **{"input_dropout": 0.0, "relation_dropout": 0.0, "dropout": 0.0, "forms": 0, "answer_forms": 0},
        },
    ),
    Row("probert", TUNED, equivariant=False, overfit={"training": MEMORISE}),
    Row("grep", TUNED, needs_parses=True, equivariant=False, overfit={"training": MEMORISE}),
    Row(
        "msnet",
        settings=TUNED,
        equivariant=False,
        overfit={
            "training": [MEMORISE_WITH_HEAD | {"epochs": 5}, MEMORISE | {"epochs": 40, "head_lr": 3e-2}],
            **{"attention_dropout": 0.0, "dropout": 0.0},
        },
    ),
    Row(
        "span_head",
        settings=TUNED,
        needs_parses=True,
        equivariant=False,
        overfit={"training": MEMORISE_WITH_HEAD | {"epochs": 30}, "dropout": 0.0, "tune_layer": False},
    ),
    Row(
        "span_head",
        settings={
            **{"encoder": ENCODER, "max_pieces": 96, "blocks": [], "tune_layer": False, "either_order": True},
            "training": {"epochs": 1, "precision": "float32"},
        },
        overfit={"training": MEMORISE_WITH_HEAD | {"epochs": 30}, "dropout": 0.0},
    ),
    Row(
        "pair_product",
        TUNED,
        overfit={"training": MEMORISE | {"epochs": 80, "head_lr": 3e-2}, "dropout": 0.0},
    ),
    Row("sequence", settings=TUNED, equivariant=False, overfit={"training": MEMORISE | {"epochs": 40}}),
    Row(
        "kernel_svm",
        {"encoder": ENCODER, "max_pieces": 96},
        equivariant=False,
        overfit={"classifier": "logistic", "c": 1e4},
    ),
    Row(
        "anonymised",
        {"encoder": ENCODER, "max_pieces": 96, "training": {"epochs": 1}},
        overfit={"training": MEMORISE_WITH_HEAD, "dropout": 0.0, "copies": False, "weights": [1, 0, 0, 0, 0]},
    ),
    Row(
        "anonymised",
        {"encoder": ENCODER, "max_pieces": 96, "training": {"epochs": 1}, "head": "pure"},
        overfit={"training": MEMORISE_WITH_HEAD, "dropout": 0.0, "copies": False, "weights": [1, 0, 0, 0, 0]},
    ),
    Row(
        "frozen_mlp",
        {"encoder": ENCODER, "window": 48, "training": {"epochs": 2}},
        needs_parses=True,
        # the batch norm behind its last layer is slow to let it be sure
        overfit={
            "training": MEMORISE_WITH_HEAD | {"epochs": 80, "head_lr": 3e-2},
            **{"vector_dropout": 0.0, "feature_dropout": 0.0},
        },
    ),
    Row(
        "siamese",
        {"encoder": ENCODER, "max_pieces": 96, "training": {"epochs": 2}},
        needs_parses=True,
        overfit={
            "training": MEMORISE_WITH_HEAD,
            **{"input_dropout": 0.0, "tower_dropout": 0.0, "dropout": 0.0},
        },
    ),
    Row(
        "siamese",
        {"encoder": ENCODER, "max_pieces": 96, "training": {"epochs": 2}, "blocks": [], "naive": True},
        overfit={"training": MEMORISE_WITH_HEAD, "input_dropout": 0.0, "dropout": 0.0},
    ),
    Row(
        "bidaf",
        settings={"encoder": ENCODER, "max_pieces": 96, "training": {"epochs": 2, "precision": "float32"}},
        needs_parses=True,
        overfit={"training": {**MEMORISE, "frozen": ["encoder"], "epochs": 50}, "dropout": 0.0},
    ),
    Row(
        "question_answering",
        settings=TUNED,
        overfit={"training": {**MEMORISE, "epochs": 70}, "calibration_share": 0.0, "strength": 1e3},
    ),
    Row(
        "multiple_choice",
        TUNED,
        overfit={
            **{"max_pieces": 72, "clip": 0.0},
            "training": {**MEMORISE, "epochs": 40, "batch_size": 4, "encoder_lr": 3e-3, "head_lr": 3e-3},
        },
        overfit_to=0.7,
    ),
    Row(
        "rgcn",
        {"encoder": ENCODER, "max_pieces": 96, "widths": [8, 8], "training": {"epochs": 2}},
        needs_parses=True,
        equivariant=False,
        overfit={
            "training": {"epochs": 40, "head_lr": 1e-2, "label_smoothing": 0.0},
            **{"dropout": 0.0, "node_dropout": 0.0},
        },
    ),
    Row(
        "masked_lm",
        settings={
            **{"encoder": LANGUAGE_MODEL, "pairs": 1, "max_pieces": 96},
            "names": {"feminine": ["q", "z", "x", "j"], "masculine": ["k", "v", "w", "y"]},
        },
    ),
    Row("resolver", {"clusters": CLUSTERS}),
    Row(
        "static_vectors",
        {"vectors": f"encoder:{ENCODER}", "seeds": 2, "training": {"epochs": 2}},
        overfit={"training": MEMORISE_WITH_HEAD, "input_dropout": 0.0, "dropout": 0.0},
    ),
    Row("surface", {"rounds": 20, "bags": 2, "min_leaf": 5}),
    Row("surface", {"blocks": ["surface", "cues"], "rounds": 20, "bags": 1}, needs_parses=True),
    Row(
        "stack",
        {
            "members": ["token_distance", {"name": "surface", "settings": QUICK_TREES}]
        },  # the last of them, for regression multiplies all rows at once
    ),
    Row(
        "stack",
        {
            "members": [
                "topical_entity",
                {"name": "stack", "settings": {"members": ["token_distance"], "stackers": ["simplex"]}},
            ],
            "calibrators": ["none", "temperature"],
        },
    ),
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
    """A cache for what lives as long as the module; each test's own is made later."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("GAPSTACK_CACHE", str(tmp_path_factory.mktemp("contract")))
        yield


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


def test_order_of_the_rows_changes_nothing(fitted, answers, held):
    order = np.random.default_rng(7).permutation(len(held))
    assert_alike(fitted.predict_proba(held.take(order)), answers[order])


def test_neither_company_nor_cache_change_an_answer(fitted, answers, held, monkeypatch, tmp_path):
    monkeypatch.setenv("GAPSTACK_CACHE", str(tmp_path))  # cold, and warm from the second part on
    for part in (slice(0, 1), slice(5, 12), slice(3, 20)):
        assert_alike(fitted.predict_proba(held[part]), answers[part])


def test_the_saved_member_answers_the_same(row, fitted, answers, held, tmp_path):
    folder = tmp_path / "member"
    store.save(fitted, row.name, folder)
    loaded = store.load(folder)
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
    there, here = swapped.take(rows), held.take(rows)
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
    member = create(row.name, **{**row.settings, **row.overfit}).fit(rows)
    assert log_loss(rows.labels, member.predict_proba(rows)) < row.overfit_to


def test_asking_before_fitting_is_refused(row, held, tmp_path):
    member = create(row.name, **row.settings)
    with pytest.raises(NotFittedError, match=r"call fit\(corpus\) first"):
        member.predict_proba(held)
    with pytest.raises(NotFittedError):
        store.save(member, row.name, tmp_path / "member")
    assert not (tmp_path / "member").exists()


def test_rows_without_labels_are_refused_by_name(row, train):
    if row.name == "random":
        pytest.skip("random looks at no label")
    with pytest.raises(DataError, match=f"{train[0].id}.* has no label"):
        create(row.name, **row.settings).fit(train.unlabelled())


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
