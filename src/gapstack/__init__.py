"""Reference system for gendered ambiguous pronouns (GAP).

Given a snippet, a pronoun and two names: how probable are A, B and neither? Everything that answers is a member
(:mod:`gapstack.members`), cross-validated and stacked by :mod:`gapstack.runs`, scored by :mod:`gapstack.evaluation`.

The names below are the public surface. Each is imported when it is first used, so that ``import gapstack`` is quick and
brings no numpy, torch or spaCy along.
"""

import logging
import os
from typing import TYPE_CHECKING

from gapstack.registry import lazy

__version__ = "0.1.0"

# Threads of OpenMP (torch, LightGBM, scikit-learn) and of OpenBLAS (numpy) sleep while they wait: on a busy machine,
# spinning takes the core from the thread that is waited for. The libraries read this when they are loaded.
for _variable, _value in (
    ("OMP_WAIT_POLICY", "PASSIVE"),
    ("GOMP_SPINCOUNT", "0"),
    ("KMP_BLOCKTIME", "0"),
    ("OPENBLAS_THREAD_TIMEOUT", "4"),  # in powers of two of clock cycles; 4 is the least
):
    os.environ.setdefault(_variable, _value)
# onnxruntime would send statistics of its use to its makers
os.environ.setdefault("ORT_DISABLE_TELEMETRY", "1")

logging.getLogger(__name__).addHandler(logging.NullHandler())  # a program that wants the log configures it

if TYPE_CHECKING:
    from gapstack.audits import audit
    from gapstack.comparison.analysis import compare
    from gapstack.data import Corpus, Example, Label, Span, read
    from gapstack.data.gap_data import load_gap
    from gapstack.data.gender import swap_gender
    from gapstack.evaluation import score
    from gapstack.members import create
    from gapstack.runs.cross_validation import cross_validate, stack
    from gapstack.runs.predictors import load, save
    from gapstack.runs.recipe import Recipe
    from gapstack.runs.runner import run
else:
    __getattr__ = lazy(
        __name__,
        {
            **{name: f"gapstack.data:{name}" for name in ("Corpus", "Example", "Label", "Span", "read")},
            "Recipe": "gapstack.runs.recipe:Recipe",
            "audit": "gapstack.audits:audit",
            "compare": "gapstack.comparison.analysis:compare",
            "create": "gapstack.members:create",
            "cross_validate": "gapstack.runs.cross_validation:cross_validate",
            "load": "gapstack.runs.predictors:load",
            "load_gap": "gapstack.data.gap_data:load_gap",
            "run": "gapstack.runs.runner:run",
            "save": "gapstack.runs.predictors:save",
            "score": "gapstack.evaluation:score",
            "stack": "gapstack.runs.cross_validation:stack",
            "swap_gender": "gapstack.data.gender:swap_gender",
        },
    )

__all__ = [
    "Corpus",
    "Example",
    "Label",
    "Recipe",
    "Span",
    "__version__",
    "audit",
    "compare",
    "create",
    "cross_validate",
    "load",
    "load_gap",
    "read",
    "run",
    "save",
    "score",
    "stack",
    "swap_gender",
]


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
