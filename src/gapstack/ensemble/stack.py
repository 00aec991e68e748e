"""Stack: members whose out-of-fold predictions a stacker pools; itself a member.

Wolpert 1992, *Stacked Generalization*. ``fit`` cross-validates the members over page-grouped folds, chooses, fits and
calibrates a stacker on their out-of-fold predictions (:mod:`gapstack.ensemble.nested`), and keeps the members of every
fold. New rows are predicted as by a run: the stacker pools each fold's members, and the mean over folds counts. What
a run does over processes and kills, on disk, this does in memory, so that a stack can be a member of a run or of
another stack.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gapstack.corpus import Corpus
from gapstack.corpus.folds import Folds as Assignment
from gapstack.corpus.folds import make_folds
from gapstack.ensemble.catalogue import create_stacker
from gapstack.ensemble.fitted_stacker import FittedStacker
from gapstack.ensemble.stacker import EVIDENCE
from gapstack.errors import DataError, MemberError
from gapstack.kinds import CalibratorName, Folds, MemberPart, Seed, StackerPart
from gapstack.members import create
from gapstack.members.member import Member, Probabilities, State, each_once
from gapstack.members.part import Part
from gapstack.settings import SettingError

_LEAST_FOLDS = 3
"""Fewer leave no inner loop to choose a stacker by."""


class Stack(Member):
    """Cross-validated members, and the stacker that suits them best.

    Parameters
    ----------
    members : sequence of str or mapping
        Names, or tables of name, label and settings; labels differ.
    stackers : sequence of str or mapping
        Stackers to choose from, the simplest first.
    calibrators : sequence of str
        Calibrators to choose from, the simplest first.
    folds : int
        Folds of the members' cross-validation; fewer where the corpus has too few pages, but at least 3.
    seed : int
        Of the assignment to folds.
    augment, average
        As for :class:`~gapstack.members.member.Member`; copies of rows to learn from are a setting of its members.

    Attributes
    ----------
    stacker_ : FittedStacker
    fits_ : list of dict of str to Member
        By fold, its fitted members by label.
    choice_ : Part
        The stacker chosen; its name and settings.
    calibration_ : str
        The calibrator chosen.
    out_of_fold_ : (n, 3) float64
        Nested out-of-fold predictions of the rows that were fitted on; not stored.

    Raises
    ------
    MemberError
        Without members, or for a corpus with too few pages or rows of each kind for 3 folds.
    """

    members: Sequence[MemberPart] = ()
    stackers: Sequence[StackerPart] = ("simplex", "conditional")
    calibrators: Sequence[CalibratorName] = ("none",)
    folds: Folds = 5
    seed: Seed = 0

    def parts(self) -> Mapping[str, Member]:
        """New, unfitted members by label; SettingError for one that cannot be made, or labels that are not unique."""
        parts = _listed("members", self.members)
        twice = [label for label, count in Counter(part.label for part in parts).items() if count > 1]
        if twice:
            raise SettingError(f"label {twice[0]} is used twice; give each member its own", ("members",))
        return {part.label: create(part.name, **part.settings) for part in parts}

    @property
    def contaminated_by(self) -> tuple[str, ...]:
        """As every member's, and as of any of its members."""
        return each_once(
            super().contaminated_by, *(member.contaminated_by for member in self.parts().values())
        )

    def reads(self) -> dict[str, Any]:
        """Add the blocks of features that stackers read."""
        kinds = self._candidates().values()
        return super().reads() | ({"blocks": EVIDENCE} if any(kind.READS_EVIDENCE for kind in kinds) else {})

    def _candidates(self) -> dict[str, Any]:
        parts = _listed("stackers", self.stackers)
        return {part.label: create_stacker(part.name, **part.settings) for part in parts}

    def _prepare(self, corpus: Corpus) -> None:
        # fitted ones need not what they learned from, such as a teacher's rows
        for member in (self.fits_[0] if hasattr(self, "fits_") else self.parts()).values():
            member.prepare(corpus)

    def _fit(self, corpus: Corpus) -> None:
        labels = list(self.parts())
        if not labels:
            raise MemberError("a stack needs members; name some")
        if self.augment:
            # a copy shares its row's label, and a page of its own would put the two into different folds
            raise SettingError("a stack's members augment their own rows; set it there", ("augment",))
        self._prepare(corpus)
        folds = self._assignment(corpus)
        out_of_fold = np.empty((len(corpus), len(labels), 3))
        splits = [folds.split(fold) for fold in range(folds.k)]
        rows = [corpus.take(fitted_rows) for fitted_rows, _ in splits]
        by_label = {label: member.fit_each(rows) for label, member in self.parts().items()}
        self.fits_: list[dict[str, Member]] = [
            {label: fits[fold] for label, fits in by_label.items()} for fold in range(folds.k)
        ]
        for fits, (_, held_rows) in zip(self.fits_, splits, strict=True):
            out_of_fold[held_rows] = _base_predictions(fits, corpus.take(held_rows))
        self.stacker_, nested = FittedStacker.fit(
            self._candidates(), self.calibrators, out_of_fold, corpus, folds.assignment
        )
        parts = _listed("stackers", self.stackers)
        self.choice_ = next(part for part in parts if part.label == nested.name)
        self.calibration_, self.out_of_fold_ = nested.calibration, nested.out_of_fold

    def _assignment(self, corpus: Corpus) -> Assignment:
        """As many folds as were asked for, or as the corpus has pages and rows of the commonest kind for."""
        strata = Counter(zip(corpus.genders.tolist(), corpus.labels.tolist(), strict=True))
        most = min(self.folds, len(set(corpus.groups)), max(strata.values()))
        for k in range(most, _LEAST_FOLDS - 1, -1):
            try:
                return make_folds(corpus, k, seed=self.seed)
            except DataError:  # a fold would be empty
                continue
        raise MemberError(
            f"{corpus.name} has too few pages or rows of each kind to stack members on: {len(corpus)} rows of "
            f"{len(set(corpus.groups))} pages cannot be cut into {_LEAST_FOLDS} folds"
        )

    def _predict_proba(self, corpus: Corpus) -> Probabilities:
        self._prepare(corpus)
        return self.stacker_.predict_proba([_base_predictions(fits, corpus) for fits in self.fits_], corpus)

    def _state(self) -> State:
        states = {"stacker.": self.stacker_.state()} | {
            f"member-{number}.fold-{fold}.": member.state()
            for fold, fits in enumerate(self.fits_)
            for number, member in enumerate(fits.values())
        }
        return State(
            {f"{at}{key}": array for at, state in states.items() for key, array in state.arrays.items()},
            {f"{at}{key}": text for at, state in states.items() for key, text in state.texts.items()},
            {
                **{"folds": len(self.fits_), "stacker": self.choice_.name, "settings": self.choice_.settings},
                **{"calibration": self.calibration_, "states": {at: s.values for at, s in states.items()}},
            },
        )

    def _restore(self, state: State) -> None:
        values = state.values
        self.choice_ = Part(values["stacker"], values["stacker"], values["settings"])
        self.calibration_ = values["calibration"]
        self.stacker_ = FittedStacker.restored(
            self.choice_.name, self.choice_.settings, self.calibration_, _at(state, "stacker.")
        )
        self.fits_ = [
            {
                label: member.restore(_at(state, f"member-{number}.fold-{fold}."))
                for number, (label, member) in enumerate(self.parts().items())
            }
            for fold in range(values["folds"])
        ]


def _listed(setting: str, parts: Sequence[str | Mapping[str, Any]]) -> list[Part]:
    for number, part in enumerate(parts, 1):
        if not isinstance(part, str) and "name" not in part:
            raise SettingError("has no name", (setting, f"item {number}"))
    return [Part.of(part) for part in parts]


def _base_predictions(fits: Mapping[str, Member], corpus: Corpus) -> NDArray[np.float64]:
    """(n, m, 3) of one fold's members."""
    return np.stack([member.predict_proba(corpus) for member in fits.values()], axis=1)


def _at(state: State, prefix: str) -> State:
    """The state that was put under ``prefix``."""
    return State(
        {key.removeprefix(prefix): array for key, array in state.arrays.items() if key.startswith(prefix)},
        {key.removeprefix(prefix): text for key, text in state.texts.items() if key.startswith(prefix)},
        state.values["states"][prefix],
    )
