"""Identity of a run's results: everything that decides them.

Rows, labels and folds; settings; contents of files that the member reads; and the code that it can reach. They are the
key of a stored fold, so that a change repeats only the folds that it affects, and are stored beside it (``gap show``).
Versions of libraries are stored for information only: a new version seldom changes a digit.

Before a stored fit predicts new rows its identity is compared with the current one, code included, since code computes
its inputs. Comments and docstrings do not count (:mod:`gapstack.code`).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Mapping
from pathlib import Path
from typing import Any

from gapstack.code import code_behind
from gapstack.corpus import Corpus
from gapstack.corpus.folds import Folds
from gapstack.ensemble import create_stacker
from gapstack.ensemble.stacker import EVIDENCE
from gapstack.errors import DataError, Place
from gapstack.files import fingerprint
from gapstack.members import create
from gapstack.members.inputs import (
    READS,
    Identity,
    changes,
    digests,
    identity_of,
    refuse_changed,
)
from gapstack.runs.folder import RunFolder
from gapstack.runs.recipe import Part, Recipe

_STACK_CODE = "gapstack.ensemble.fitted_stacker"


def of_part(part: Part, *, fitted: bool = False) -> Identity:
    """Identity of a member's results, rows and folds aside; see :func:`~gapstack.members.inputs.identity_of`."""
    return identity_of(create(part.name, **part.settings), fitted=fitted)


def of_rows(train: Corpus, test: Corpus, folds: Folds) -> Identity:
    """Identity that all results of a run share."""
    return {
        "training rows": train.fingerprint,
        "labels": f"{train.label_set} {train.label_fingerprint}",
        "held-out rows": test.fingerprint,
        "folds": folds.fingerprint,
    }


def of_stack(recipe: Recipe) -> Identity:
    """Identity of a stack, its base predictions aside."""
    stackers = [(part.name, part.settings) for part in recipe.stackers]
    reads = any(create_stacker(name, **settings).READS_EVIDENCE for name, settings in stackers)
    identity = {"settings": fingerprint(stackers, recipe.calibrators)}
    if reads:
        identity["parser"] = READS["blocks"](EVIDENCE)
    return {**identity, "code": code_behind(_STACK_CODE)}


def key_of(identity: Mapping[str, str], *more: Any) -> str:
    """Hash of an identity, names left out, and of ``more``."""
    return fingerprint(digests(identity), *more)


def again(redone: Iterable[tuple[str, Mapping[str, Any] | None, Mapping[str, str]]]) -> str:
    """Describe in a line which folds are repeated, and why; empty if none is.

    Each is its member's label, its stored record (None: nothing), and its current identity.
    """
    reasons = Counter((_why(record, now), label) for label, record, now in redone if record is not None)
    return "; ".join(
        f"{why}: {count} fold{'s' if count > 1 else ''} of {label} again"
        for (why, label), count in reasons.items()
    )


def _why(record: Mapping[str, Any], now: Mapping[str, str]) -> str:
    if "identity" not in record:
        return "done by an earlier version"
    changed = changes(record["identity"], now)
    return f"{' and '.join(changed)} changed" if changed else "damaged"


def refuse_changed_members(folder: RunFolder, recipe: Recipe, labels: Collection[str], folds: int) -> None:
    """Check that the identity of the first ``folds`` folds of these members is the current one.

    Raises
    ------
    MismatchError
        If it is not.
    DataError
        If an earlier version fitted them.
    """
    rows = folder.manifest()["identity"]
    for part in recipe.members:
        if part.label in labels:
            now = rows | of_part(part, fitted=True)
            for fold in range(folds):
                what = f"{recipe.name}:{part.label}"
                place = folder.fold(part.label, fold) / "job.json"
                refuse_stored(what, folder.job(part.label, fold) or {}, now, place)


def refuse_stored(what: str, record: Mapping[str, Any], now: Mapping[str, str], place: Path) -> None:
    """Compare the stored identity of one fit with its current one; raises as above."""
    if "identity" not in record:
        raise DataError(
            "an earlier version fitted this, without a word of what with",
            place=Place(place),
            remedy="Run the recipe again: gap run",
        )
    refuse_changed(what, record["identity"], now)
