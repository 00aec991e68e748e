"""Masked LM: name substitution, training without labels, encoders with and without a head of their own."""

import shutil
from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest
import torch
from scipy.special import log_softmax
from transformers import BertConfig, BertForMaskedLM

from gapstack.corpus import Corpus, Example, Label, Span, sources
from gapstack.corpus.corpus import one_hot
from gapstack.corpus.teacher import SoftLabels
from gapstack.encoding.encoders import Encoder, load_encoder
from gapstack.errors import DataNotFoundError, MemberError
from gapstack.members import create, masked_lm, store
from gapstack.members.masked_lm import PUBLISHED, MaskedLM
from gapstack.members.masked_lm.language_model import LanguageModel, TiedHead, has_own_head, with_own_head
from gapstack.members.parts import learner
from gapstack.runs.recipe import Recipe
from gapstack.training import once

# The tiny vocabulary spells words, so letters are the only names that it has as one piece
NAMES = {"feminine": ["q", "z", "x", "j"], "masculine": ["k", "v", "w", "y"]}
QUICK = {"texts": "given", "names": NAMES, "pairs": 1, "max_pieces": 96, "training": {"precision": "float32"}}
TEXT = "Ann Lee met Beth. Ann Lee sang, and Beth heard when she left Ann Lee."
EXAMPLE = Example("x", TEXT, pronoun=Span(52, 55), a=Span(0, 7), b=Span(12, 16))  # she, Ann Lee, Beth


@pytest.fixture(scope="module")
def again(sample_train) -> Corpus:
    """Sample rows in which both names come again."""
    return Corpus(
        replace(e, text=f"{e.text} So {e.a_text} told {e.b_text}, and {e.a_text} smiled.")
        for e in sample_train[:40]
    )


def test_rows_get_every_pair_of_names_in_both_orders(tiny_encoder):
    member = MaskedLM(pairs=2, names=NAMES)
    data, owners = member._substituted(Corpus([EXAMPLE, replace(EXAMPLE, id="y")]), tiny_encoder)
    assert owners.tolist() == [0] * 4 + [1] * 4
    tokens = tiny_encoder.tokenizer.convert_ids_to_tokens
    for row, (a, b) in enumerate([("q", "z"), ("z", "q"), ("x", "j"), ("j", "x")]):
        batch = data.batch(np.array([row]))
        assert tokens(batch["words"][0].tolist()) == [a, b]
        read = tokens(batch["ids"][0].tolist())
        assert read[int(batch["at"][0])] == "[MASK]"
        assert read.count("[MASK]") == 1
        assert [word for word in read if word in "qzxj"] == [a, b, a, b, a]


def test_the_features_are_means_over_what_is_substituted(again, tiny_encoder_folder):
    member = create("masked_lm", encoder=str(tiny_encoder_folder), **{**QUICK, "pairs": 2}).fit(again)
    data, owners = member._substituted(again[:3], load_encoder(str(tiny_encoder_folder)))
    expected = np.zeros((3, 3))
    with torch.inference_mode():
        for place, row in enumerate(owners):
            batch = data.batch(np.array([place]))
            a, b = batch.pop("words")[0].tolist()
            log_p = log_softmax(member.model_(**batch)[0].double().numpy())
            rest = np.log(np.exp(np.delete(log_p, [a, b])).sum())
            expected[row] += np.array([log_p[a], log_p[b], rest]) / (owners == row).sum()
    features = member._features(again[:3])
    np.testing.assert_allclose(features[:, :3], expected, atol=1e-5)
    np.testing.assert_allclose(features[:, 3], abs(expected[:, 0] - expected[:, 1]), atol=1e-5)


def test_a_learned_model_is_saved_whole_and_treats_both_names_alike(again, tiny_encoder_folder, tmp_path):
    member = create("masked_lm", encoder=str(tiny_encoder_folder), **QUICK).fit(again)
    answers = member.predict_proba(again)
    store.save(member, "masked_lm", tmp_path / "member")
    loaded = store.load(tmp_path / "member")
    masked_lm._read.forget()
    np.testing.assert_array_equal(loaded.predict_proba(again), answers)
    swapped = again.map(lambda e: replace(e, a=e.b, b=e.a))
    assert np.abs(answers[:, 0] - answers[:, 1]).max() > 1e-3
    np.testing.assert_allclose(member.predict_proba(swapped), answers[:, [1, 0, 2]], rtol=0, atol=1e-6)


def test_labels_do_not_reach_the_language_model(again, tiny_encoder_folder):
    settings = {"encoder": str(tiny_encoder_folder), **QUICK}
    one = create("masked_lm", **settings).fit(again)
    other = create("masked_lm", **settings).fit(
        again.map(lambda e: replace(e, label=Label((e.label + 1) % 3)))
    )
    for name, array in one.model_arrays_.items():
        np.testing.assert_array_equal(array, other.model_arrays_[name])
    assert not np.array_equal(one.regression_.bias, other.regression_.bias)


def test_stage_2_is_learned_from_once_and_recorded(again, tiny_encoder_folder, monkeypatch):
    trained = []
    monkeypatch.setattr(once, "train", lambda *a, f=once.train, **k: trained.append(1) or f(*a, **k))
    monkeypatch.setattr(sources, "stage2", lambda data=None: again.unlabelled())
    settings = {"encoder": str(tiny_encoder_folder), **QUICK}
    members = [
        create("masked_lm", **{**settings, "texts": "stage2"}).fit(part) for part in (again[:20], again[20:])
    ]
    assert len(trained) == 1
    assert members[0].contaminated_by == ("gap-stage2",)
    assert create("masked_lm", **settings).contaminated_by == ()
    assert "40 texts without labels" in members[0].state().values["learned_from"]


def test_a_head_can_learn_the_names_that_a_teacher_has_for_pronouns(again, tiny_encoder_folder, monkeypatch):
    rows, answers = again[20:].unlabelled(), one_hot(again[20:].labels)
    settings = {"encoder": str(tiny_encoder_folder), **QUICK, "texts": "taught", "teacher": "any"}

    def taught(answers, corpus):
        monkeypatch.setattr(learner, "load_teacher", lambda name: SoftLabels(rows, answers, ("any",)))
        return create("masked_lm", **settings).fit(corpus)

    one = taught(answers, again[:20])
    answered = int((again[20:].labels < Label.NEITHER).sum())
    assert (
        one.state().values["learned_from"]
        == f"{answered} masked names in extra and teacher, 20 texts with answers"
    )
    assert one.contaminated_by == ("gap-stage2",)
    fold, other = taught(answers, again[5:15]), taught(answers[:, [1, 0, 2]], again[:20])
    assert one.model_key_ == fold.model_key_ != other.model_key_


def test_an_encoder_with_its_own_head_learns_nothing_and_keeps_its_probabilities(
    again, tiny_language_model_folder, monkeypatch
):
    monkeypatch.setattr(once, "train", lambda *a, **k: pytest.fail("there is nothing to train"))
    encoder = load_encoder(str(tiny_language_model_folder))
    assert has_own_head(encoder)
    member = create(
        "masked_lm", **{"encoder": str(tiny_language_model_folder), **QUICK, "texts": "stage2"}
    ).fit(again)
    assert member.contaminated_by == ()
    assert member.model_arrays_ == {}
    assert "own" in member.state().values["learned_from"]
    data, _ = member._substituted(again[:2], encoder)
    batch = data.batch(np.arange(4))
    words, at = batch.pop("words"), batch["at"]
    model = BertForMaskedLM.from_pretrained(tiny_language_model_folder).eval()
    mask = batch["keep"].long() if "keep" in batch else None
    with torch.inference_mode():
        found = member.model_(**batch, words=words)
        logits = model(input_ids=batch["ids"], attention_mask=mask).logits[torch.arange(4), at]
    log_p = log_softmax(logits.double().numpy(), axis=1)
    np.testing.assert_allclose(found[:, :2], np.take_along_axis(log_p, words.numpy(), 1), atol=1e-5)
    np.testing.assert_allclose(np.exp(found.numpy()).sum(1), 1)


def test_a_head_that_is_promised_and_not_there_is_refused(tiny_encoder_folder, tmp_path):
    folder = shutil.copytree(tiny_encoder_folder, tmp_path / "broken")
    config = (folder / "config.json").read_text()
    (folder / "config.json").write_text(config.replace('"BertModel"', '"BertForMaskedLM"'))
    with pytest.raises(MemberError, match="says that it is a BertForMaskedLM, and its weights lack cls"):
        with_own_head(Encoder("broken", folder))


def test_the_tied_head_is_berts():
    with torch.random.fork_rng():
        torch.manual_seed(2)
        theirs = BertForMaskedLM(
            BertConfig(
                vocab_size=50,
                hidden_size=16,
                num_hidden_layers=1,
                num_attention_heads=2,
                intermediate_size=32,
            )
        ).eval()
    ours = TiedHead(16, 50)
    transform = theirs.cls.predictions.transform
    ours.dense.load_state_dict(transform.dense.state_dict())
    ours.norm.load_state_dict(transform.LayerNorm.state_dict())
    ours.norm.eps = transform.LayerNorm.eps
    torch.nn.init.normal_(theirs.cls.predictions.bias)
    ours.bias.data = theirs.cls.predictions.bias.data
    ids, at = torch.randint(0, 50, (3, 7)), torch.tensor([1, 6, 0])
    with torch.inference_mode():
        expected = theirs(input_ids=ids).logits[torch.arange(3), at]
        torch.testing.assert_close(LanguageModel(theirs.bert, ours)(ids, at), expected)


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"names": None}, "has 0 of the .* names .* as one word piece; expected two at least"),
        (
            {"names": {"feminine": ["q", "Mary"], "masculine": ["k", "v"]}},
            "has 1 of the feminine names q, Mary",
        ),
        ({"pairs": 0}, "pairs: found 0, expected a whole number, at least 1"),
        ({"texts": "test"}, 'texts: found "test", expected one of "given", "stage2"'),
        ({"texts": "taught"}, "no text of extra and teacher has A or B for an answer, so encoder"),
        ({"training": {"seed": 1}}, r"training\.seed: no such setting"),
    ],
)
def test_what_cannot_be_is_refused(settings, message, again, tiny_encoder_folder):
    with pytest.raises(MemberError, match=message):
        create("masked_lm", **{"encoder": str(tiny_encoder_folder), **QUICK, **settings}).fit(again)


def test_texts_that_name_nobody_twice_are_refused(tiny_encoder_folder):
    text = "Ann met Beth when she sang"
    rows = Corpus(
        Example(f"{k}", text, Span(18, 21), Span(0, 3), Span(8, 12), label=Label(k % 3)) for k in range(6)
    )
    with pytest.raises(MemberError, match="no text of corpus names A and B and then either again"):
        create("masked_lm", encoder=str(tiny_encoder_folder), **QUICK).fit(rows)


def test_an_encoder_without_a_mask_is_refused(tiny_encoder, sample_train):
    unmasked = SimpleNamespace(name="gpt", tokenizer=SimpleNamespace(mask_token=None))
    with pytest.raises(MemberError, match="encoder gpt has no mask among its pieces"):
        MaskedLM(names=NAMES)._substituted(sample_train, unmasked)


def test_stage_2_that_is_nowhere_is_refused(again, tiny_encoder_folder, monkeypatch):
    def nowhere(data=None):
        raise DataNotFoundError("stage2 is at none of the places searched")

    monkeypatch.setattr(sources, "stage2", nowhere)
    with pytest.raises(DataNotFoundError, match="stage2"):
        create("masked_lm", **{"encoder": str(tiny_encoder_folder), **QUICK, "texts": "stage2"}).fit(again)


def test_the_published_settings_are_settings():
    assert create("masked_lm", **PUBLISHED).encoder == "bert-base-uncased"


def test_the_former_name_of_a_setting_works_with_one_note():
    recipe = {"name": "old", "members": [{"name": "masked_lm", "settings": {"riddles": 8}}]}
    (part,) = Recipe.parse(recipe, "old").members
    with pytest.warns(FutureWarning) as notes:
        member = create(part.name, **part.settings)
    assert [str(note.message) for note in notes] == [
        "member masked_lm: riddles is now masked_examples; rename it"
    ]
    assert member.get_params() == create("masked_lm", masked_examples=8).get_params()
    with pytest.raises(
        MemberError, match="member masked_lm: riddles and masked_examples are the same setting"
    ):
        create("masked_lm", riddles=8, masked_examples=8)
    with pytest.raises(MemberError, match="riddles: found 1, expected a whole number, at least 2"):
        create("masked_lm", riddles=1)
    with pytest.raises(MemberError, match="no such setting"):
        create("prior", riddles=8)
