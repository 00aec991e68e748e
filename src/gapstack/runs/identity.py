"""Identity of a run's stored results; see :mod:`gapstack.members.identity`."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Mapping
from typing import Any

from gapstack.ensemble import STACKERS, create_stacker
from gapstack.ensemble.stacker import EVIDENCE
from gapstack.files import fingerprint
from gapstack.members import create
from gapstack.members.identity import READS, Identity, changes, identity_of, refuse_changed
from gapstack.runs.folder import RunFolder
from gapstack.runs.recipe import Part, Recipe
from gapstack.versions import source_digest, versions


def of_part(part: Part, *, fitted: bool = False) -> Identity:
    """Identity of a member's results except rows and folds."""
    return identity_of(create(part.name, **part.settings), fitted=fitted)


def of_stack(recipe: Recipe) -> Identity:
    """Identity of a stack except its base predictions."""
    stackers = [(part.name, part.settings) for part in recipe.stackers]
    identity = {"settings": fingerprint(stackers, recipe.calibrators)}
    if any(create_stacker(name, **settings).READS_EVIDENCE for name, settings in stackers):
        identity["parser"] = READS["blocks"](EVIDENCE)
    identity["package"] = f"gapstack {versions()['gapstack']}"
    if sources := [source_digest(STACKERS[name], "gapstack.ensemble") for name, _ in stackers]:
        identity["source"] = fingerprint(sources)
    return identity


def again(redone: Iterable[tuple[str, Mapping[str, Any] | None, Mapping[str, str]]]) -> str:
    """Describe in a line which folds are recomputed and why, from labels, stored records and current identities."""
    reasons = Counter(
        (" and ".join(changes(record["identity"], now)) or "files", label)
        for label, record, now in redone
        if record is not None
    )
    return "; ".join(
        f"{why} changed: {count} fold{'s' if count > 1 else ''} of {label} again"
        for (why, label), count in reasons.items()
    )


def refuse_changed_members(folder: RunFolder, recipe: Recipe, labels: Collection[str], folds: int) -> None:
    """Check the first ``folds`` folds of these members; raises MismatchError as :func:`refuse_changed`."""
    rows = folder.manifest()["identity"]
    for part in recipe.members:
        if part.label in labels:
            now = rows | of_part(part, fitted=True)
            for fold in range(folds):
                refuse_changed(f"{recipe.name}:{part.label}", folder.job(part.label, fold) or {}, now)
