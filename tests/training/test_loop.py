import json
from dataclasses import replace

import numpy as np
import pytest
import torch
from torch import nn

from gapstack.encoding.encoders import load_encoder
from gapstack.errors import MemberError
from gapstack.training import (
    PLAIN,
    Schedule,
    TrainingPlan,
    checkpoint_context,
    predict,
    train,
)
from gapstack.training.devices import trainable_encoder
from tests.training.toys import Toy, ToyData

PLAN = TrainingPlan(epochs=4, batch_size=8, encoder_lr=0.01, head_lr=0.02, precision="float32")


def weights(model):
    return {name: tensor.clone() for name, tensor in model.state_dict().items()}


def assert_equal(first, second, **tolerance):
    assert first.keys() == second.keys()
    for name, tensor in first.items():
        torch.testing.assert_close(
            tensor, second[name], msg=lambda m, n=name: f"{n}: {m}", **tolerance or {"rtol": 0, "atol": 0}
        )


def fitted(plan=PLAN, data=None, validation=None, **options):
    model = Toy()
    history = train(model, data or ToyData(), plan, validation, **options)
    return model, history


@pytest.mark.parametrize(
    ("precision", "soft"), [("float32", False), ("bf16", True), ("fp16", False), ("tf32", False)]
)
def test_it_learns(precision, soft):
    data = ToyData(soft=soft)
    model, history = fitted(replace(PLAN, epochs=12, encoder_lr=0.05, head_lr=0.1, precision=precision), data)
    answers = predict(model, data, precision=precision)
    assert answers.dtype == np.float64
    assert history.evaluations[-1].loss < history.evaluations[0].loss / 2
    assert (answers.argmax(1) == data.ids[:, 0] % 3).mean() > 0.95


def test_bfloat16_weights_take_updates_too_small_for_bfloat16():
    """1 + 2^-10 is 1 in bfloat16: without float32 copies nothing would be learned."""
    model, _ = fitted(replace(PLAN, epochs=1, encoder_lr=1e-6, precision="bf16", weight_decay=0.0))
    before, after = (weights(each)["encoder.layer.0.weight"] for each in (Toy(), model))
    assert after.dtype == torch.float32
    assert 0 < (after - before).abs().max() < 1e-5


def test_a_seed_fixes_the_result_and_the_callers_generator_does_not_change():
    torch.manual_seed(5)
    expected = torch.rand(3)
    torch.manual_seed(5)
    (first, history), (second, again), (other, _) = fitted(), fitted(), fitted(replace(PLAN, seed=1))
    torch.testing.assert_close(torch.rand(3), expected)
    assert_equal(weights(first), weights(second))
    assert history == again
    assert not torch.equal(other.head.weight, first.head.weight)


class Plain(nn.Module):
    """No dropout, no batch norm: passes are independent of each other."""

    def __init__(self):
        super().__init__()
        self.encoder = Toy().encoder
        self.encoder.dropout.p = 0.0
        self.head = nn.Linear(8, 3)
        nn.init.constant_(self.head.weight, 0.1)
        nn.init.zeros_(self.head.bias)

    def forward(self, ids):
        return self.head(self.encoder(ids)[:, 0].float())


@pytest.mark.parametrize("precision", ["float32", "bf16"])
def test_the_token_budget_changes_memory_and_nothing_else(precision):
    models = []
    for budget in (6, 13, 1000):
        models.append(Plain())
        train(models[-1], ToyData(), replace(PLAN, token_budget=budget, precision=precision, epsilon=1e-3))
    close = {"rtol": 1e-4, "atol": 1e-5} if precision == "float32" else {"rtol": 0.05, "atol": 0.02}
    for other in models[1:]:
        assert_equal(weights(models[0]), weights(other), **close)


class Small(Plain):
    """Runs out of memory above ``most`` pieces in a pass, half of the time in the backward pass."""

    def __init__(self, most: int):
        super().__init__()
        self.most, self.passes = most, []

    def forward(self, ids):
        self.passes.append(ids.numel())
        output = super().forward(ids)
        if ids.numel() > self.most:
            if len(self.passes) % 2 or not output.requires_grad:
                raise torch.OutOfMemoryError("CUDA out of memory")
            output.register_hook(self.run_out)
        return output

    def run_out(self, gradient):
        raise torch.OutOfMemoryError("CUDA out of memory")


def test_an_update_that_ran_out_of_memory_is_repeated_in_smaller_passes(caplog):
    free, tight = Plain(), Small(most=20)
    for model in (free, tight):
        train(model, ToyData(), replace(PLAN, epsilon=1e-3))
    assert_equal(weights(free), weights(tight), rtol=1e-4, atol=1e-5)
    too_large = [size > 20 for size in tight.passes]
    assert 2 <= sum(too_large) < len(too_large) / 4, "the smaller budget is kept"
    assert "1,024 pieces" in caplog.text
    with pytest.raises(MemberError, match="checkpointing = true"):
        train(Small(most=5), ToyData(), PLAN)


def test_prediction_and_validation_halve_their_passes_too(caplog):
    tight = Small(most=20)
    answers = predict(tight, ToyData(), precision="float32")
    np.testing.assert_allclose(answers, predict(Plain(), ToyData(), precision="float32"), atol=1e-6)
    assert max(tight.passes[-3:]) <= 20
    assert "out of memory" in caplog.text
    train(Small(most=20), ToyData(), replace(PLAN, patience=1, token_budget=20), ToyData())


# transformers' warnings of old names would stand between our lines
@pytest.mark.filterwarnings("error::FutureWarning")
def test_checkpointing_changes_memory_and_nothing_else(tiny_encoder_folder):
    encoder = load_encoder(str(tiny_encoder_folder))

    class Whole(nn.Module):
        def __init__(self):
            super().__init__()
            torch.manual_seed(0)
            self.encoder = trainable_encoder(encoder, TrainingPlan())
            self.head = nn.Linear(encoder.hidden_size, 3)
            self.recomputed = 0
            self.encoder.encoder.layer[0].attention.register_forward_hook(self.count)

        def count(self, *_):
            self.recomputed += 1

        def forward(self, ids):
            return self.head(self.encoder(input_ids=ids).last_hidden_state[:, 0].float())

    plain, checkpointed = Whole(), Whole()
    plan = replace(PLAN, frozen=("encoder.embeddings",))
    train(plain, ToyData(), plan)
    train(checkpointed, ToyData(), replace(plan, checkpointing=True))
    assert_equal(weights(plain), weights(checkpointed))
    assert checkpointed.recomputed == 2 * plain.recomputed
    assert not any(getattr(part, "gradient_checkpointing", False) for part in checkpointed.modules())
    with pytest.raises(MemberError, match="checkpointing"):
        train(Plain(), ToyData(), replace(PLAN, checkpointing=True))


def by_hand(model, data, batches, adam, factor):
    """The plain loop."""
    peaks = [group["lr"] for group in adam.param_groups]
    for update, batch in enumerate(batches):
        inputs = data.batch(batch)
        target = inputs.pop("target")
        adam.zero_grad()
        nn.functional.cross_entropy(model(**inputs), target).backward()
        for group, peak in zip(adam.param_groups, peaks, strict=True):
            group["lr"] = peak * factor(update)
        adam.step()


def test_the_plain_plan_is_torchs_adamw_and_its_cosine():
    falling = Schedule(shape="cosine", offset=0)
    rates = {"encoder_lr": 0.01, "head_lr": 0.01, "weight_decay": 0.3, "schedule": falling}
    data, model, twin = ToyData(), Toy(), Toy()
    torch.manual_seed(7)
    train(model, data, replace(PLAIN, epochs=3, batch_size=8, **rates))
    order = np.random.default_rng(PLAIN.seed)
    batches = [part for _ in range(3) for part in np.split(order.permutation(40), range(8, 40, 8))]
    torch.manual_seed(7)
    adam = torch.optim.AdamW(twin.parameters(), lr=0.01, weight_decay=0.3)
    by_hand(twin, data, batches, adam, lambda update: (1 + np.cos(np.pi * update / 15)) / 2)
    assert_equal(weights(model), weights(twin), rtol=1e-4, atol=1e-6)


def test_phases_follow_each_other_and_freeze_what_they_say():
    start = weights(Toy())
    head_only = replace(PLAN, epochs=2, frozen=("encoder",), precision="bf16")
    model, history = fitted(head_only)
    for name, tensor in weights(model).items():
        assert torch.equal(tensor, start[name]) == name.startswith("encoder."), name
    both, history = fitted((head_only, replace(PLAN, frozen=("head", "norm"))))
    assert [e.phase for e in history.evaluations] == [0, 0, 1, 1, 1, 1]
    assert torch.equal(both.head.weight, model.head.weight)
    assert not torch.equal(both.encoder.layer[0].weight, model.encoder.layer[0].weight)


def test_later_phases_keep_float32_digits_and_a_frozen_encoder_has_no_dropout():
    teach = replace(PLAN, precision="bf16")
    one, _ = fitted(teach)
    two, _ = fitted((teach, replace(teach, frozen=("encoder",))))
    assert_equal(weights(one.encoder), weights(two.encoder))
    seen = []
    two.encoder.register_forward_pre_hook(lambda module, _: seen.append(module.training))
    for frozen in ("encoder", 0):
        train(two, ToyData(), replace(PLAN, epochs=1, frozen=(frozen,)))
    assert seen == [False] * 5 + [True] * 5


def test_early_stopping_goes_back_to_the_best_weights():
    held = ToyData(30, seed=9)
    plan = replace(PLAN, epochs=60, patience=3, evaluate_every=2, head_lr=0.2, encoder_lr=0.1)
    model, history = fitted(plan, validation=held)
    losses = [e.validation for e in history.evaluations]
    best = int(np.argmin(losses))
    assert len(losses) == best + 4 < 60 * 5 / 2, "three evaluations without improvement, then no more"
    assert history.best_updates == (history.evaluations[best].update,)
    logits = predict(model, held, precision="float32")
    loss = nn.functional.cross_entropy(torch.from_numpy(logits), torch.from_numpy(held.ids[:, 0] % 3))
    assert loss.item() == pytest.approx(losses[best], abs=1e-6)


def test_each_evaluation_is_a_json_line(tmp_path):
    with checkpoint_context(tmp_path):
        _, history = fitted(validation=ToyData(10, seed=3))
    (log,) = tmp_path.glob("*/history.jsonl")
    lines = [json.loads(line) for line in log.read_text(encoding="utf-8").splitlines()]
    assert [line["update"] for line in lines] == [5, 10, 15, 20]
    assert [line["validation"] for line in lines] == [e.validation for e in history.evaluations]
    assert all(line["examples_per_second"] > 0 for line in lines)


REFUSED = (
    ({"data": ToyData(0)}, "at least one row"),
    ({"plan": ()}, "needs a plan"),
    ({"data": ToyData(labels=False)}, "no target"),
    ({"plan": replace(PLAN, patience=2)}, "patience needs validation rows"),
    ({"plan": replace(PLAN, head_lr=1e30, encoder_lr=1e30, max_norm=None)}, "not finite"),
)


@pytest.mark.parametrize(("options", "message"), REFUSED, ids=[message for _, message in REFUSED])
def test_what_cannot_be_done_is_refused(options, message):
    with pytest.raises(MemberError, match=message):
        fitted(**options)
