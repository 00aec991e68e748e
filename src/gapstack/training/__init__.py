"""The fine-tuning loop: plans, batches by length, precision, checkpoints, early stopping.

A model is a ``torch.nn.Module`` that maps batches of :class:`RowData` to logits, of any classes and inputs. Its
``encoder``, if any, is the pre-trained part, with its own learning rate, precision and freezing; the rest is the head.
"""

from gapstack.training.checkpoints import History, checkpoint_context
from gapstack.training.data import PieceData, RowData, Targets, cross_entropy, predict, validation_rows
from gapstack.training.devices import seeded, trainable_encoder
from gapstack.training.loop import train, train_once
from gapstack.training.plan import PLAIN, Schedule, TrainingPlan

__all__ = [
    "PLAIN",
    "History",
    "PieceData",
    "RowData",
    "Schedule",
    "Targets",
    "TrainingPlan",
    "checkpoint_context",
    "cross_entropy",
    "predict",
    "seeded",
    "train",
    "train_once",
    "trainable_encoder",
    "validation_rows",
]
