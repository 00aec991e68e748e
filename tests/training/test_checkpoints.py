"""Kills, resumptions, stored files, and the identity of a training."""

import random
from dataclasses import replace
from pathlib import Path

import pytest
import torch
from safetensors.torch import save_file

from gapstack.training import TrainingPlan, checkpoint_context, cross_entropy, train
from gapstack.training.checkpoints import identity
from tests.damage import apply_damage
from tests.training.toys import Toy, ToyData

# an encoder in bfloat16, dropout, batch norms, two phases, and early stopping: all the state there is
PHASES = (
    TrainingPlan(epochs=2, batch_size=8, head_lr=0.02, frozen=("encoder",), precision="bf16"),
    TrainingPlan(
        epochs=8,
        batch_size=8,
        encoder_lr=0.01,
        head_lr=0.02,
        precision="bf16",
        patience=30,
        evaluate_every=3,
    ),
)


def whole(phases=PHASES):
    model = Toy()
    return model, train(model, ToyData(), phases, ToyData(12, seed=4))


def checkpoint(folder: Path) -> Path | None:
    return next(folder.glob("*/checkpoint.safetensors"), None)


@pytest.mark.slow
@pytest.mark.parametrize("dropout_rng", ["by_update", "running"])
def test_every_single_stop_leads_to_the_same_result(tmp_path, dropout_rng):
    class StopError(Exception):
        pass

    class Stopping(ToyData):
        left = 0

        def batch(self, rows):
            self.left -= 1
            if self.left < 0:
                raise StopError
            return super().batch(rows)

    phases = (replace(PHASES[0], epochs=1), replace(PHASES[1], epochs=2, evaluate_every=2))
    phases = tuple(replace(plan, dropout_rng=dropout_rng) for plan in phases)
    torch.manual_seed(3)
    model, history = whole(phases=phases)
    for batches in (2, 7, 12):
        data = Stopping()
        data.left = batches + 1  # the first look only asks for targets
        torch.manual_seed(3)
        with checkpoint_context(tmp_path / str(batches), seconds=0):
            with pytest.raises(StopError):
                train(Toy(), data, phases, ToyData(12, seed=4))
            resumed, again = whole(phases)
        for name, tensor in model.state_dict().items():
            assert torch.equal(tensor, resumed.state_dict()[name]), (batches, name)
        assert history == again


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["flip", "delete", "no record"])
def test_a_damaged_checkpoint_is_named_and_the_training_starts_again(tmp_path, kind, capsys):
    with checkpoint_context(tmp_path):
        sound, history = whole()
    path = checkpoint(tmp_path)
    if kind == "no record":
        save_file({"weights/head.bias": torch.zeros(3)}, path)
    else:
        apply_damage(path, kind, random.Random(0))
    with checkpoint_context(tmp_path):
        model, again = whole()
    said = "".join(capsys.readouterr().err.split("\n"))
    assert ("checkpoint.safetensors is damaged" in said) == (kind != "delete")
    assert again == history
    for name, tensor in sound.state_dict().items():
        assert torch.equal(tensor, model.state_dict()[name]), name


PLAN = TrainingPlan(epochs=1, batch_size=8, precision="float32")


def halved(logits: torch.Tensor, target: torch.Tensor, smoothing: float) -> torch.Tensor:
    return cross_entropy(logits, target, smoothing) / 2


OTHERS = {
    "weights": (Toy(seed=1), ToyData(), [PLAN]),
    "rows": (Toy(), ToyData(seed=1), [PLAN]),
    "a setting of the plan": (Toy(), ToyData(), [replace(PLAN, seed=1)]),
    "precision": (Toy(), ToyData(), [replace(PLAN, precision="bf16")]),
    "phases": (Toy(), ToyData(), [PLAN, PLAN]),
    "validation rows": (Toy(), ToyData(), [PLAN], ToyData(seed=1)),
    "loss": (Toy(), ToyData(), [PLAN], None, halved),
}


@pytest.mark.parametrize("what", OTHERS)
def test_the_identity_depends_on_everything_that_decides_the_result(what):
    assert identity(*OTHERS[what]) != identity(Toy(), ToyData(), [PLAN])


def test_the_identity_depends_on_the_generator_only_if_dropout_draws_from_it_and_never_on_the_folder():
    with torch.random.fork_rng():
        for plan, differs in ((replace(PLAN, dropout_rng="running"), True), (PLAN, False)):
            torch.manual_seed(0)
            first = identity(Toy(), ToyData(), [plan])
            torch.rand(1)
            assert (identity(Toy(), ToyData(), [plan]) != first) == differs
    moved = Toy()
    moved.encoder.name_or_path = "elsewhere"
    assert identity(moved, ToyData(), [PLAN]) == first
