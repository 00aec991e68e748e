"""Systems whose figures are known without running anything: what the audit's arithmetic is held against."""

import numpy as np

from gapstack.audits import Items
from gapstack.data import Gender


def certain(columns) -> np.ndarray:
    """Probabilities (n, 3) that are 1 for these columns."""
    return np.eye(3)[np.asarray(columns, dtype=int)]


def oracle(items: Items) -> np.ndarray:
    """Always right."""
    return certain(items.corpus.labels)


def always_occupation(items: Items) -> np.ndarray:
    """The occupation, whatever the pronoun."""
    return certain(items.facts["column"])


def always_male_occupation(items: Items) -> np.ndarray:
    """The occupation where the pronoun is masculine, else the participant."""
    column = items.facts["column"]
    return certain(np.where(items.corpus.genders == Gender.MASCULINE.value, column, 1 - column))


def stereotype(items: Items) -> np.ndarray:
    """The occupation where most of its workers (BLS) have the pronoun's gender; neither for a neutral pronoun."""
    genders, column = items.corpus.genders, items.facts["column"]
    fits = (genders == Gender.FEMININE.value) == (items.facts["bls"] >= 50)
    return certain(np.where(genders == Gender.NEUTRAL.value, 2, np.where(fits, column, 1 - column)))


def right_unless_feminine(items: Items) -> np.ndarray:
    """Right, but for every second feminine pronoun."""
    labels, feminine = items.corpus.labels, items.corpus.genders == Gender.FEMININE.value
    return certain(np.where(feminine & (np.arange(len(labels)) % 4 < 2), 1 - labels, labels))
