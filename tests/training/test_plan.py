import json

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gapstack.errors import MemberError
from gapstack.training import Schedule, TrainingPlan

# shape, warm-up, floor, cycles: factor in the first update, at a quarter, in the middle, in the last, of 100
CURVES = (
    (Schedule(shape="constant"), (1, 1, 1, 1)),
    (Schedule(shape="constant", warmup=0.5), (0.01, 0.51, 1, 1)),
    (Schedule(shape="linear"), (0.995, 0.745, 0.495, 0.005)),
    (Schedule(shape="linear", floor=0.5), (0.9975, 0.8725, 0.7475, 0.5025)),
    (Schedule(shape="linear", warmup=0.2), (0.025, 0.93125, 0.61875, 0.00625)),
    (Schedule(shape="cosine"), (0.99994, 0.84796, 0.49215, 0.00006)),
    (Schedule(shape="triangular"), (0.01, 0.51, 0.99, 0.01)),
    (Schedule(shape="inverse", decay=0.03), (1, 1 / 1.75, 0.4, 1 / 3.97)),
    (Schedule(shape="triangular", cycles=2, floor=0.05), (0.069, 0.981, 0.069, 0.069)),
)


@pytest.mark.parametrize(
    ("schedule", "factors"), CURVES, ids=[str(s.shape) + str(i) for i, (s, _) in enumerate(CURVES)]
)
def test_rates_follow_the_shape(schedule, factors):
    found = [schedule.factor(update, 100) for update in (0, 25, 50, 99)]
    np.testing.assert_allclose(found, factors, atol=5e-6)


@given(
    st.sampled_from(["constant", "linear", "cosine", "inverse"]),
    st.floats(0, 0.9),
    st.floats(0, 1),
    st.integers(1, 60),
)
def test_no_update_of_a_plan_runs_at_no_rate_or_above_the_peak(shape, warmup, floor, total):
    schedule = Schedule(shape=shape, warmup=warmup, floor=floor)
    factors = [schedule.factor(update, total) for update in range(total)]
    assert all(0 < factor <= 1 for factor in factors)


BAD = (
    ({"epochs": 0}, "epochs: found 0, expected a whole number, at least 1"),
    ({"batch_size": None}, "batch_size"),
    ({"head_lr": float("nan")}, "head_lr"),
    ({"layer_decay": 0.0}, "layer_decay"),
    ({"precision": "fp8"}, 'expected one of "auto", "bf16", "fp16", "tf32", "float32"'),
    ({"frozen": "encoder"}, "frozen"),
    ({"frozen": [True]}, "frozen"),
    ({"schedule": "linear"}, "schedule"),
    ({"schedule": {"shape": "square"}}, 'expected one of "constant"'),
    ({"schedule": {"shape": "triangular", "warmup": 0.1}}, "warmup"),
    ({"epoch": 3}, "epoch: no such setting; did you mean epochs"),
    ({"schedule": {"warm_up": 0.1}}, "schedule.warm_up: no such setting; did you mean warmup"),
)


@pytest.mark.parametrize(("settings", "message"), BAD, ids=[str(b[0]) for b in BAD])
def test_a_wrong_setting_is_refused_by_name(settings, message):
    with pytest.raises(MemberError, match=message):
        TrainingPlan().changed(settings)


def test_a_plan_survives_json():
    plan = TrainingPlan(
        epochs=7,
        frozen=(0, "head"),
        max_norm=None,
        schedule=Schedule(shape="triangular", cycles=3, floor=0.05),
    )
    assert TrainingPlan().changed(json.loads(json.dumps(plan.as_dict()))) == plan
