"""New rows through a finished run."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence

from gapstack.corpus import Corpus
from gapstack.corpus.sources import SPLITS
from gapstack.members.member import Probabilities
from gapstack.runs.fitted import FittedRun
from gapstack.runs.folder import RunFolder
from gapstack.runs.recipe import Recipe

_IDS = {
    **{f"gap-{split}": re.compile(rf"{split}-\d+") for split in SPLITS},
    "gap-stage2": re.compile(r"[0-9a-f]{32}"),
}
"""Ids of the rows of each test set that members may have heard about."""


def predict(
    folder: RunFolder, rows: Corpus, label: str = "", *, say: Callable[[str], None] = lambda line: None
) -> Probabilities:
    """Give (n, 3) probabilities for new rows by a finished run: every fold's members, stacked, averaged over folds.

    Parameters
    ----------
    folder : RunFolder
    rows : Corpus
    label : str
        One member that shall answer alone; by default the stack, or the last member of a run without.
    say : callable
        Told who is asked, and of rows that members have learned from.

    Raises
    ------
    DataError
        If the run is not finished.
    MemberError
        If it has no such member.
    """
    recipe = Recipe.of_run(folder)
    label = label or recipe.best
    fitted = FittedRun(folder, [label])
    not_for = recipe.not_for()
    warning = _known_rows({member: not_for[member] for member in fitted.members}, rows)
    if warning:
        say(warning)
    return fitted.ask(rows, say=say)[label]


def _known_rows(not_for: Mapping[str, Sequence[str]], rows: Corpus) -> str:
    """A warning if members have learned from other data about some of these rows, as their ids tell; or ""."""
    heard = [
        (label, name, sum(bool(_IDS[name].fullmatch(example.id)) for example in rows))
        for label, names in not_for.items()
        for name in names
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
