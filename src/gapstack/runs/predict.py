"""New rows through a finished run."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Sequence

import numpy as np

from gapstack.corpus import Corpus
from gapstack.corpus.sources import SPLITS
from gapstack.ensemble import create_calibrator, create_stacker
from gapstack.errors import DataError, Place
from gapstack.members import create
from gapstack.members.base import Probabilities
from gapstack.members.store import load, read_state
from gapstack.progress import progress
from gapstack.runs.folder import RunFolder
from gapstack.runs.recipe import Part, Recipe
from gapstack.runs.stack import Stack

_IDS = {
    **{f"gap-{split}": re.compile(rf"{split}-\d+") for split in SPLITS},
    "gap-stage2": re.compile(r"[0-9a-f]{32}"),
}
"""Ids of the rows of each test set that members may have heard about."""


def predict(folder: RunFolder, rows: Corpus, say: Callable[[str], None] = lambda line: None) -> Probabilities:
    """Give (n, 3) probabilities for new rows by a finished run: every fold's members, stacked, averaged over folds.

    Raises
    ------
    DataError
        If the run is not finished.
    """
    recipe = Recipe.parse(folder.manifest()["recipe"], str(folder.manifest_path))
    stacked = bool(recipe.stackers) and len(recipe.members) > 1
    parts = recipe.members if stacked else recipe.members[-1:]
    stack = load_stack(folder, [part.label for part in parts]) if stacked else None
    warning = _known_rows(parts, rows)
    if warning:
        say(warning)
    tables: list[list[Probabilities]] = [[] for _ in range(recipe.folds)]
    with progress("predicting", len(parts) * recipe.folds) as ticker:
        for part in parts:
            say(part.label)
            for fold in range(recipe.folds):
                member = load(folder.fold(part.label, fold) / "member")
                if fold == 0:
                    member.prepare(rows)
                tables[fold].append(member.predict_proba(rows))
                ticker.advance(note=part.label)
    by_fold = [np.stack(opinions, axis=1) for opinions in tables]
    if stack is not None:
        return stack.predict_proba(by_fold, rows)
    mean: Probabilities = np.mean([opinions[:, 0] for opinions in by_fold], axis=0)
    return mean


def _known_rows(parts: Sequence[Part], rows: Corpus) -> str:
    """A warning if members have learned from other data about some of these rows, as their ids tell; or ""."""
    heard = [
        (part.label, name, sum(bool(_IDS[name].fullmatch(example.id)) for example in rows))
        for part in parts
        for name in create(part.name, **part.settings).contaminates()
        if name in _IDS
    ]
    said = [f"{label} learned from data that share rows with {name}" for label, name, hits in heard if hits]
    if not said:
        return ""
    known = max(hits for *_, hits in heard)
    soft = " (soft labels of these rows were trained on)" if any("gap-stage2" in one for one in said) else ""
    return (
        f"Warning: {'; '.join(said)}, and {known:,} of these {len(rows):,} rows have ids of it{soft}. "
        "A score on them would be worth nothing"
    )


def load_stack(folder: RunFolder, members: list[str]) -> Stack:
    """The run's stack, if it was fitted on these members in this order."""
    place = folder.member("stack")
    path = place / "stack.json"
    if not path.is_file():
        raise DataError("the run has no stack yet", place=Place(path), remedy="Finish it first: gap run")
    record = json.loads(path.read_text(encoding="utf-8"))
    if record["members"] != members:
        # a run whose recipe was changed and that was killed before it stacked anew
        raise DataError(
            f"the stack weighs {', '.join(record['members'])}",
            place=Place(path),
            expected=f"the recipe's members: {', '.join(members)}",
            remedy="Finish the run first: gap run",
        )
    stacker = create_stacker(record["stacker"], **record["settings"])
    return Stack(stacker, create_calibrator(record["calibration"])).restore(read_state(place))
