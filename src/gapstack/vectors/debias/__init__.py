"""The debiasers, one file each, and this table by which settings and the command line find them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from gapstack.registry import Entry, Registry

if TYPE_CHECKING:
    from gapstack.vectors.debias.debiaser import Debiaser

DEBIASERS: Registry[type[Debiaser]] = Registry(
    "debiaser",
    {
        "hard": Entry("gapstack.vectors.debias.hard:HardDebias", "without the gender direction"),
        "gn_glove": Entry(
            "gapstack.vectors.debias.gn_glove:GnGlove", "vectors that were trained with a gender component"
        ),
        "ran": Entry("gapstack.vectors.debias.ran:RanDebias", "repelled, attracted and neutralised"),
        "inlp": Entry("gapstack.vectors.debias.inlp:Inlp", "without what linear classifiers find gender by"),
    },
)
"""By name."""
