"""What a result of a run is known by: everything that decided it.

Rows, labels and folds; the settings; what the member reads beyond the rows, by contents; and the code that can reach
it. Together they are the key of a stored fold, so that whatever changes has just those folds done again that it
decides, and they lie beside it, so that anybody can see them (``gap show``). Versions of libraries lie there too, as
information: a new version seldom changes a digit, and would have everything done again.

Who answers new rows by a stored fit is compared with the same identity, code included: a model is half weights and
half the code that computes its inputs, and nothing tells a harmless change of that from another. The wording of code
(:mod:`gapstack.members.code`) is no change.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Mapping
from pathlib import Path
from typing import Any

from gapstack.corpus import Corpus
from gapstack.corpus.folds import Folds
from gapstack.ensemble import create_stacker
from gapstack.ensemble.fitted_stacker import EVIDENCE
from gapstack.errors import DataError, Place
from gapstack.files import fingerprint
from gapstack.members import create
from gapstack.members.code import code_behind
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
    """What decides a member's results beside rows and folds; :func:`~gapstack.members.inputs.identity_of`."""
    return identity_of(create(part.name, **part.settings), fitted=fitted)


def of_rows(train: Corpus, test: Corpus, folds: Folds) -> Identity:
    """What decides all results of a run alike."""
    return {
        "training rows": train.fingerprint,
        "labels": f"{train.label_set} {train.label_fingerprint}",
        "held-out rows": test.fingerprint,
        "folds": folds.fingerprint,
    }


def of_stack(recipe: Recipe) -> Identity:
    """What decides a stack beside the base predictions that it weighs."""
    stackers = [(part.name, part.settings) for part in recipe.stackers]
    reads = any(create_stacker(name, **settings).READS_EVIDENCE for name, settings in stackers)
    found = {"settings": fingerprint(stackers, recipe.calibrators)}
    if reads:
        found["parser"] = READS["blocks"](EVIDENCE)
    return {**found, "code": code_behind(_STACK_CODE)}


def key_of(identity: Mapping[str, str], *more: Any) -> str:
    """Hash of an identity, names left out, and of what tells the parts of one result."""
    return fingerprint(digests(identity), *more)


def again(redone: Iterable[tuple[str, Mapping[str, Any] | None, Mapping[str, str]]]) -> str:
    """Say in a line which folds are done again, and why; empty if none is.

    Each is its member's label, what is stored of it (None: nothing), and the identity that it should have.
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
    """Check that the first ``folds`` folds of these members were fitted as they would be now.

    Raises
    ------
    MismatchError
        If anything that decided them differs from what would now.
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
    """Compare what is stored of one fit with the identity that it would have now; raises as above."""
    if "identity" not in record:
        raise DataError(
            "an earlier version fitted this, without a word of what with",
            place=Place(place),
            remedy="Run the recipe again: gap run",
        )
    refuse_changed(what, record["identity"], now)
