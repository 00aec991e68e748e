"""A training is known by all that decides its result, and by nothing else (other code: ``test_once.py``)."""

from dataclasses import replace

import pytest
import torch

from gapstack.training import TrainingPlan, cross_entropy
from gapstack.training.fingerprint import identity
from tests.training.toys import Toy, ToyData

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
def test_what_decides_the_result_is_told_apart(what):
    assert identity(*OTHERS[what]) != identity(Toy(), ToyData(), [PLAN])


def test_the_state_of_the_generator_counts_where_dropout_draws_from_it():
    running = [replace(PLAN, dropout_rng="running")]
    with torch.random.fork_rng():
        for plans, told_apart in ((running, True), ([PLAN], False)):
            torch.manual_seed(0)
            first = identity(Toy(), ToyData(), plans)
            torch.rand(1)
            assert (identity(Toy(), ToyData(), plans) != first) == told_apart


def test_where_an_encoder_came_from_decides_nothing():
    here, there = Toy(), Toy()
    here.encoder.name_or_path, there.encoder.name_or_path = "here", "there"
    assert identity(here, ToyData(), [PLAN]) == identity(there, ToyData(), [PLAN])
