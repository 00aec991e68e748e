"""Kinds of settings: types with ranges, as constructors annotate them; :mod:`gapstack.settings` checks values."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from pkgutil import resolve_name
from typing import Annotated, Any, Literal

LARGEST = 2**31 - 1
"""The largest whole number that all libraries beneath take."""


@dataclass(frozen=True, slots=True)
class Range:
    """Numbers from ``low`` to ``high``, without them where ``above`` or ``below`` is set; never NaN or infinity."""

    low: float
    high: float = math.inf
    above: bool = False
    below: bool = False

    def admits(self, value: float) -> bool:
        """Whether a number lies within."""
        over = value > self.low if self.above else value >= self.low
        under = value < self.high if self.below else value <= self.high
        return over and under

    def __str__(self) -> str:
        low = f"more than {self.low:g}" if self.above else f"at least {self.low:g}"
        high = f"less than {self.high:g}" if self.below else f"at most {self.high:g}"
        return low if self.high >= LARGEST else f"{low}, {high}"


@dataclass(frozen=True, slots=True)
class FolderName:
    """Text that names a folder on every file system: one part of a path, not hidden, short, nothing unprintable."""

    longest: int = 100

    def admits(self, value: str) -> bool:
        """Whether a text can be such a name."""
        if not value.isprintable() or value.startswith(".") or value.endswith((".", " ")):
            return False
        return 0 < len(value.encode()) <= self.longest and not set(value) & set('/\\:*?"<>|')

    def __str__(self) -> str:
        return f"that can name a folder (at most {self.longest} bytes, no / or \\, no dot in front)"


@dataclass(frozen=True, slots=True)
class OneOf:
    """Names in a table; ``where`` is the table, as ``module:object``, imported when first needed."""

    where: str
    files: tuple[str, ...] = ()
    """Suffixes of files that may be named as well."""

    def names(self) -> list[str]:
        """All names."""
        return list(resolve_name(self.where))

    def admits(self, value: str) -> bool:
        """Whether a text is one of the names, or may name a file."""
        return value in self.names() or value.endswith(self.files)

    def __str__(self) -> str:
        return ", ".join(self.names()) + (f", or a file ({', '.join(self.files)})" if self.files else "")


@dataclass(frozen=True, slots=True)
class Table:
    """A mapping that gives some of a dataclass's fields; ``where`` is the class, as ``module:object``."""

    where: str
    but: tuple[str, ...] = ()
    """Fields that are not to be given."""


Natural = Annotated[int, Range(0, LARGEST)]
Count = Annotated[int, Range(1, LARGEST)]
Leaves = Annotated[int, Range(2, LARGEST)]
AnyLayer = Annotated[int, Range(-1000, 1000)]
"""A layer of an encoder, from 0 (embeddings) up or from -1 (the last) down."""
Seed = Annotated[int, Range(0, LARGEST)]
Share = Annotated[float, Range(0, 1)]
SomeShare = Annotated[float, Range(0, 1, above=True)]
"""A share that takes something."""
NotAll = Annotated[float, Range(0, 1, below=True)]
"""A share that leaves something: of dropout, of held-out rows."""
Positive = Annotated[float, Range(0, above=True)]
NotNegative = Annotated[float, Range(0)]
BelowThird = Annotated[float, Range(0, 1 / 3, below=True)]
Floor = Annotated[float, Range(0, 1 / 3, above=True, below=True)]
"""A floor under three probabilities that are taken logarithms of."""
Held = Annotated[float, Range(0, 0.5, above=True)]
"""A share of the rows to hold back; see :func:`gapstack.training.validation_rows`."""
UpToHalf = Annotated[float, Range(0, 0.5)]
Confidence = Annotated[float, Range(0.5, 1, above=True, below=True)]

BlockName = Annotated[str, OneOf("gapstack.features.blocks:BLOCKS")]
HeuristicName = Annotated[str, OneOf("gapstack.encoding.cluster_pieces:HEURISTICS")]
AugmentationName = Annotated[str, OneOf("gapstack.corpus.augment.variants:AUGMENTATIONS")]
ExtraName = Annotated[str, OneOf("gapstack.corpus.extra.registry:EXTRA")]
DebiaserName = Annotated[str, OneOf("gapstack.vectors.debias:DEBIASERS")]
CalibratorName = Annotated[str, OneOf("gapstack.ensemble:CALIBRATORS")]
MetaFeatureName = Annotated[str, OneOf("gapstack.ensemble.meta_features:NAMES")]
_TABLES = (".tsv", ".tsv.gz", ".tsv.xz")
SplitName = Annotated[str, OneOf("gapstack.corpus.sources:SPLITS", files=_TABLES)]
HeldOutName = Annotated[str, OneOf("gapstack.corpus.sources:HELD_OUT", files=_TABLES)]
"""Splits of GAP, or files of rows like GAP's."""
LabelSetName = Annotated[str, OneOf("gapstack.corpus.labels:LABEL_SETS")]
Label = Annotated[str, FolderName()]
Folds = Annotated[int, Range(3, 1000)]
_PartTable = Annotated[Mapping[str, Any], Table("gapstack.members.part:Part")]
MemberPart = Annotated[str, OneOf("gapstack.members:MEMBERS")] | _PartTable
"""A member by its name, or by a table of name, label and settings."""
StackerPart = Annotated[str, OneOf("gapstack.ensemble.catalogue:STACKERS")] | _PartTable
"""A stacker, likewise."""
Inputs = Literal["logs", "probabilities"]
"""What a stacker reads of its members: log-probabilities or probabilities."""
CandidatesName = Literal["gold-two-mention", "detected"]
"""Values of :class:`gapstack.text.scenes.Candidates`."""
ContextName = Literal["snippet-context", "page-context"]
"""Values of :class:`gapstack.text.scenes.Context`."""
Plan = Annotated[Mapping[str, Any], Table("gapstack.training.plan:TrainingPlan", but=("seed",))]
"""Some fields of a :class:`~gapstack.training.TrainingPlan`, as a mapping; the seed is the member's."""
