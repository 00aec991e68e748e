"""The debiasers, one file each, and this table by which the command line finds them."""

from gapstack.vectors.debias.debiaser import Debiaser
from gapstack.vectors.debias.gn_glove import GnGlove
from gapstack.vectors.debias.hard import HardDebias
from gapstack.vectors.debias.inlp import Inlp
from gapstack.vectors.debias.ran import RanDebias

DEBIASERS: dict[str, type[Debiaser]] = {
    debiaser.name: debiaser for debiaser in (HardDebias, GnGlove, RanDebias, Inlp)
}
"""By name."""

__all__ = ["DEBIASERS", "Debiaser", "GnGlove", "HardDebias", "Inlp", "RanDebias"]
