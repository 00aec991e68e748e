"""Debiasers of word vectors, one file each."""

from gapstack.views.debias.base import Debiaser
from gapstack.views.debias.gn_glove import GnGlove
from gapstack.views.debias.hard import HardDebias
from gapstack.views.debias.inlp import Inlp
from gapstack.views.debias.ran import RanDebias

DEBIASERS: dict[str, type[Debiaser]] = {
    debiaser.name: debiaser for debiaser in (HardDebias, GnGlove, RanDebias, Inlp)
}
"""By their names on the command line."""

__all__ = ["DEBIASERS", "Debiaser", "GnGlove", "HardDebias", "Inlp", "RanDebias"]
