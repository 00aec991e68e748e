"""The one fine-tuning loop: plans, batches by length, precision, checkpoints, early stopping.

A model is a ``torch.nn.Module`` that maps what :class:`Data` gives to logits. If it has an attribute ``encoder``,
that is its pre-trained part, with learning rates, precision and freezing of its own; all the rest is its head.
The room knows no member and no question: any classes, any inputs.

    history = train(model, data, TrainingPlan(epochs=3), validation=held)
    logits = predict(model, data)
"""

from gapstack.training.data import Data, PieceData, RowData, Targets
from gapstack.training.devices import is_bfloat16_fast, seeded, trainable_encoder
from gapstack.training.history import Evaluation, History
from gapstack.training.loop import cross_entropy, train
from gapstack.training.once import train_once
from gapstack.training.plan import Schedule, TrainingPlan
from gapstack.training.prediction import predict
from gapstack.training.validation import validation_rows
from gapstack.training.workplace import Workplace, workplace

__all__ = [
    "Data",
    "Evaluation",
    "History",
    "PieceData",
    "RowData",
    "Schedule",
    "Targets",
    "TrainingPlan",
    "Workplace",
    "cross_entropy",
    "is_bfloat16_fast",
    "predict",
    "seeded",
    "train",
    "train_once",
    "trainable_encoder",
    "validation_rows",
    "workplace",
]
