import pytest
import torch

from gapstack.errors import DataNotFoundError, MemberError
from gapstack.members import create
from gapstack.members.probert import ProBERT, ProBERTHead
from gapstack.training import validation_rows

QUICK = {"epochs": 1, "precision": "float32"}


def test_only_what_learned_is_saved(sample_train, tiny_encoder_folder, tmp_path):
    member = create("probert", encoder=str(tiny_encoder_folder), training=QUICK).fit(sample_train[:16])
    arrays = member.state().arrays
    assert not any("embeddings" in name for name in arrays)
    assert {array.dtype.name for name, array in arrays.items() if name.startswith("encoder.")} == {"float16"}
    assert {array.dtype.name for name, array in arrays.items() if name.startswith("head.")} == {"float32"}
    assert {name.partition(".")[0] for name in arrays} == {"encoder", "head"}
    frozen = create("probert", encoder=str(tiny_encoder_folder), training=QUICK | {"frozen": ["encoder"]})
    assert sorted(frozen.fit(sample_train[:16]).state().arrays) == [
        *("head.classifier.bias", "head.classifier.weight", "head.dense.bias", "head.dense.weight")
    ]


def test_early_stopping_holds_back_training_rows_only_where_it_is_asked_for(
    sample_train, tiny_encoder_folder
):
    settings = {**QUICK, "batch_size": 8}
    few, updates = sample_train[:40], []
    for training in (settings, {**settings, "patience": 1}):
        member = ProBERT(
            encoder=str(tiny_encoder_folder), training=training, validation_share=0.25, max_pieces=80
        )
        member.fit(few)
        updates.append(member.history_[0].evaluations[0].update)
    learn, _ = validation_rows(few, 0.25, seed=0)
    assert updates == [5, -(-len(learn) // 8)]
    assert member.history_[0].evaluations[0].validation is not None
    assert member.history_[0].best_updates[0] is not None


REFUSED = (
    ({"training": {"epoch": 2}}, MemberError, r"training\.epoch: no such setting; did you mean epochs"),
    ({"max_pieces": 20}, MemberError, "larger window"),
    ({"encoder": "no-such/encoder"}, DataNotFoundError, "no encoder 'no-such/encoder'"),
)


@pytest.mark.parametrize(("settings", "kind", "message"), REFUSED, ids=[str(r[0]) for r in REFUSED])
def test_what_cannot_be_done_is_refused(settings, kind, message, sample_train, tiny_encoder_folder):
    with pytest.raises(kind, match=message):
        create("probert", **{"encoder": str(tiny_encoder_folder), **settings}).fit(sample_train[:20])


@pytest.mark.parametrize(("vectors", "reads"), [("pronoun", (0,)), ("mentions", (0, 1, 2))])
def test_which_mentions_the_classifier_reads(vectors, reads):
    head = ProBERTHead(8, vectors).eval()
    hidden, mentions = torch.randn(1, 6, 8), torch.tensor([[[1, 2], [3, 4], [5, 6]]])
    before = head(hidden, mentions)
    for mention in range(3):
        changed = hidden.clone()
        changed[0, mentions[0, mention, 0]] += 1
        assert bool((head(changed, mentions) - before).abs().max() > 1e-4) is (mention in reads)
