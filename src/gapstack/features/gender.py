"""The feature block ``gender``: whether the pronoun is feminine, alone.

Abzaliev 2019 has it among its 17 features and reports no effect (Webster et al. 2019); by itself, it can be measured
beside any other block. 0.5 for a pronoun without gender.
"""

from __future__ import annotations

import numpy as np

from gapstack.corpus import Corpus, Gender
from gapstack.features.blocks import Features

_VALUES = {Gender.FEMININE: 1.0, Gender.MASCULINE: 0.0}


def gender_features(corpus: Corpus) -> Features:
    """Give one feature of the row and none of the names."""
    shared = np.array([[_VALUES.get(example.gender, 0.5)] for example in corpus]).reshape(-1, 1)
    return Features((), ("gender_feminine",), np.empty((len(corpus), 2, 0)), shared)
