"""Stackers: estimators whose input is other members' probabilities.

``stackers`` holds the kinds, ``nested`` chooses between them without ever scoring one on rows it was fitted on.
"""

from gapstack.ensemble.nested import NestedStack, fit_nested
from gapstack.ensemble.stackers import STACKERS, Stacker, create_stacker

__all__ = ["STACKERS", "NestedStack", "Stacker", "create_stacker", "fit_nested"]
