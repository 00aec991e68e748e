"""The debiasers, one file each, and this table by which settings and the command line find them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from gapstack.registry import Entry, Registry, lazy

if TYPE_CHECKING:
    from gapstack.views.debias.base import Debiaser
    from gapstack.views.debias.gn_glove import GnGlove
    from gapstack.views.debias.hard import HardDebias
    from gapstack.views.debias.inlp import Inlp
    from gapstack.views.debias.ran import RanDebias
else:
    __getattr__ = lazy(
        __name__,
        {
            "Debiaser": "gapstack.views.debias.base:Debiaser",
            "GnGlove": "gapstack.views.debias.gn_glove:GnGlove",
            "HardDebias": "gapstack.views.debias.hard:HardDebias",
            "Inlp": "gapstack.views.debias.inlp:Inlp",
            "RanDebias": "gapstack.views.debias.ran:RanDebias",
        },
    )

DEBIASERS: Registry[type[Debiaser]] = Registry(
    "debiaser",
    {
        "hard": Entry("gapstack.views.debias.hard:HardDebias", "without the gender direction"),
        "gn_glove": Entry(
            "gapstack.views.debias.gn_glove:GnGlove", "vectors that were trained with a gender component"
        ),
        "ran": Entry("gapstack.views.debias.ran:RanDebias", "repelled, attracted and neutralised"),
        "inlp": Entry("gapstack.views.debias.inlp:Inlp", "without what linear classifiers find gender by"),
    },
)
"""By name."""

__all__ = ["DEBIASERS", "Debiaser", "GnGlove", "HardDebias", "Inlp", "RanDebias"]
