import json

import numpy as np
import pytest
import torch

from gapstack.errors import DataNotFoundError, MemberError, MismatchError
from gapstack.members import create, store
from gapstack.members.parts.tags import tagged
from gapstack.members.probert import PUBLISHED, ProBERT, PronounHead
from gapstack.scoring import log_loss
from gapstack.training import checkpoint_context, validation_rows
from tests.fixtures_encoder import build_tiny_encoder

QUICK = {"epochs": 1, "precision": "float32"}
# The tiny encoder spells most words, so its texts are long: the tests cut them where that does not matter
OVERFIT = {
    **{"epochs": 60, "batch_size": 8, "precision": "float32", "label_smoothing": 0.0},
    **{"encoder_lr": 5e-3, "head_lr": 5e-3, "frozen": []},
}


def test_it_can_memorise_32_examples(sample_train, tiny_encoder_folder):
    few = sample_train[:32]
    member = create("probert", encoder=str(tiny_encoder_folder), max_pieces=96, training=OVERFIT).fit(few)
    assert log_loss(few.labels, member.predict_proba(few)) < 0.05


def test_the_head_reads_the_pronouns_vector_alone():
    head = PronounHead(4).eval()
    hidden = torch.randn(2, 5, 4, generator=torch.Generator().manual_seed(0))
    other = torch.zeros_like(hidden)
    other[0, 3], other[1, 1] = hidden[0, 3], hidden[1, 1]
    at = torch.tensor([3, 1])
    assert torch.equal(head(hidden, at), head(other, at))
    dense = np.tanh(hidden[0, 3].numpy() @ head.dense.weight.detach().numpy().T)
    np.testing.assert_allclose(
        head(hidden, at)[0].detach(), dense @ head.classifier.weight.detach().numpy().T, rtol=1e-5
    )


def test_the_input_names_the_pronouns_first_piece(sample_test, tiny_encoder_folder, tiny_encoder):
    member = create("probert", encoder=str(tiny_encoder_folder))
    batch = member._data(sample_test, tiny_encoder, None).batch(np.arange(len(sample_test)))
    for place, example in enumerate(sample_test):
        piece = tiny_encoder.tokenizer.convert_ids_to_tokens(
            int(batch["ids"][place, batch["pronoun"][place]])
        )
        assert example.pronoun_text.lower().startswith(piece)
    assert tagged(sample_test, tiny_encoder).view.lengths.max() == batch["ids"].shape[1]


def test_only_what_learned_is_saved(sample_train, tiny_encoder_folder, tmp_path):
    member = create("probert", encoder=str(tiny_encoder_folder), training=QUICK).fit(sample_train[:40])
    arrays = member.state().arrays
    assert not any("embeddings" in name for name in arrays)
    assert {array.dtype.name for name, array in arrays.items() if name.startswith("encoder.")} == {"float16"}
    assert {array.dtype.name for name, array in arrays.items() if name.startswith("head.")} == {"float32"}
    assert {name.partition(".")[0] for name in arrays} == {"encoder", "head"}
    frozen = create("probert", encoder=str(tiny_encoder_folder), training=QUICK | {"frozen": ["encoder"]})
    assert sorted(frozen.fit(sample_train[:40]).state().arrays) == [
        *("head.classifier.bias", "head.classifier.weight", "head.dense.bias", "head.dense.weight")
    ]


def test_another_encoder_is_refused_on_loading(sample_train, tmp_path):
    folder = build_tiny_encoder(tmp_path / "encoder")
    member = create("probert", encoder=str(folder), training=QUICK).fit(sample_train[:40])
    store.save(member, "probert", tmp_path / "saved")
    build_tiny_encoder(tmp_path / "other", seed=1)
    record = tmp_path / "saved" / "member.json"
    values = json.loads(record.read_text(encoding="utf-8"))
    values["parameters"]["encoder"] = str(tmp_path / "other")
    record.write_text(json.dumps(values), encoding="utf-8")
    with pytest.raises(MismatchError, match="since it was fitted encoder changed"):
        store.load(tmp_path / "saved")


def test_early_stopping_holds_back_training_rows_only_where_it_is_asked_for(
    sample_train, tiny_encoder_folder
):
    settings = {**QUICK, "epochs": 2, "batch_size": 1}
    few, updates = sample_train[:40], []
    for training in (settings, {**settings, "patience": 1}):
        member = ProBERT(
            encoder=str(tiny_encoder_folder), training=training, validation_share=0.25, max_pieces=80
        )
        member.fit(few)
        updates.append(member.history_[0].evaluations[0].update)
    learn, _ = validation_rows(few, 0.25, seed=0)
    assert updates == [40, len(learn)]
    assert member.history_[0].evaluations[0].validation is not None
    assert member.history_[0].best_updates[0] is not None


def test_a_fit_leaves_its_log_where_it_is_told(sample_train, tiny_encoder_folder, tmp_path):
    with checkpoint_context(tmp_path):
        create("probert", encoder=str(tiny_encoder_folder), training=QUICK).fit(sample_train[:40])
    assert len(list(tmp_path.glob("*/history.jsonl"))) == 1
    assert len(list(tmp_path.glob("*/checkpoint.safetensors"))) == 1


REFUSED = (
    ({"training": {"epoch": 2}}, MemberError, r"training\.epoch: no such setting; did you mean epochs"),
    ({"training": {"frozen": ["encoder.embedding"]}}, MemberError, "no such parameters"),
    ({"training": {"seed": 3}}, MemberError, r"training\.seed: no such setting"),
    ({"max_pieces": 20}, MemberError, "larger window"),
    ({"encoder": "no-such/encoder"}, DataNotFoundError, "no encoder 'no-such/encoder'"),
)


@pytest.mark.parametrize(("settings", "kind", "message"), REFUSED, ids=[str(r[0]) for r in REFUSED])
def test_what_cannot_be_done_is_refused(settings, kind, message, sample_train, tiny_encoder_folder):
    with pytest.raises(kind, match=message):
        create("probert", **{"encoder": str(tiny_encoder_folder), **settings}).fit(sample_train[:20])


def test_the_papers_settings_are_settings_of_the_member():
    plan = create("probert", **PUBLISHED)._plans()[0]
    assert (plan.encoder_lr, plan.schedule.shape, plan.patience, plan.frozen) == (4e-6, "constant", 3, ())
