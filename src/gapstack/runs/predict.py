"""New rows through a finished run."""

from __future__ import annotations

import hashlib
import logging
import re
import shutil
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from gapstack.corpus import Corpus
from gapstack.corpus.cells import Quarantine
from gapstack.corpus.readers import read_gap_chunks
from gapstack.corpus.sources import SPLITS
from gapstack.corpus.writers import submission_text
from gapstack.files import fingerprint, sweep, write_text
from gapstack.members.member import Probabilities
from gapstack.progress import progress
from gapstack.runs.fitted import FittedRun
from gapstack.runs.folder import RunFolder, locked
from gapstack.runs.recipe import Recipe

_log = logging.getLogger(__name__)

CHUNK = 4096
"""Rows of a file that are in memory at once, and that a kill costs at most. Other chunks, other batches: members that
compute in batches may answer otherwise in their last digits."""

_IDS = {
    **{f"gap-{split}": re.compile(rf"{split}-\d+") for split in SPLITS},
    "gap-stage2": re.compile(r"[0-9a-f]{32}"),
}
"""Ids of the rows of each test set that members may have heard about."""


def predict(folder: RunFolder, rows: Corpus, label: str = "") -> Probabilities:
    """Give (n, 3) probabilities for new rows by a finished run: every fold's members, stacked, averaged over folds.

    Rows that members were trained on are logged as a warning.

    Parameters
    ----------
    folder : RunFolder
    rows : Corpus
    label : str
        One member that shall answer alone; by default the stack, or the last member of a run without.

    Raises
    ------
    DataError
        If the run is not finished.
    MemberError
        If it has no such member.
    """
    fitted = _fitted(folder, label)
    _warn(fitted, rows.ids)
    return fitted.predict_proba(rows)


def predict_file(
    folder: RunFolder,
    source: Path,
    output: Path,
    label: str = "",
    *,
    quarantine: Quarantine | None = None,
) -> int:
    """Answer the rows of a file of any length by a finished run, and write a submission in their order.

    The whole file is checked first (a pipe's rows are kept in memory). Then :data:`CHUNK` rows at a time are read,
    answered and stored in the folder ``OUTPUT.partial``, each chunk under a hash of its rows and of the run, so that a
    killed call goes on where it was and nothing of other rows or of another run is taken up. The output appears whole,
    at the end.

    Parameters
    ----------
    folder, label
        As for :func:`predict`.
    source : Path
        GAP or Kaggle TSV.
    output : Path
        Submission CSV.
    quarantine : Quarantine, optional
        Takes bad rows; without one the first of them is raised, before any work.

    Returns
    -------
    int: how many rows were answered.

    Raises
    ------
    DataError, MemberError
        As :func:`predict`, and :func:`~gapstack.corpus.readers.read_gap` of the file.
    MismatchError
        If another process is writing the same output.
    """
    fitted = _fitted(folder, label, keep=True)
    checked = read_gap_chunks(source, CHUNK, quarantine=quarantine)
    kept = None if Path(source).is_file() else list(checked)  # a pipe can be read once
    ids = [example.id for chunk in kept or checked for example in chunk]
    _warn(fitted, ids)
    output, identity = Path(output), fitted.identity
    parts = output.with_name(f"{output.name}.partial")
    with locked(parts), progress("predicting", len(ids)) as bar:
        sweep(output.parent)
        made: list[str] = []
        again = None if quarantine is None else replace(quarantine, problems=[], paths=[])
        for rows in kept or read_gap_chunks(source, CHUNK, quarantine=again):
            key = fingerprint(dict(identity), fitted.best.label, rows.fingerprint)
            text = _stored(parts, key)
            if text is None:
                text = submission_text(rows.ids, fitted.predict_proba(rows))
                write_text(parts / f"{key}-{_digest(text)}.csv", text)
            # every chunk has a header
            made.append(text if not made else text.partition("\n")[2])
            bar.advance(len(rows))
        write_text(output, "".join(made))
    shutil.rmtree(parts)
    return len(ids)


def _stored(parts: Path, key: str) -> str | None:
    """A chunk's answers, if they were stored and are what was stored."""
    for path in parts.glob(f"{key}-*.csv"):
        text = path.read_bytes().decode("utf-8", "replace")
        if path.stem == f"{key}-{_digest(text)}":
            return text
    return None


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8")).hexdigest()


def _fitted(folder: RunFolder, label: str, *, keep: bool = False) -> FittedRun:
    """The run's fits that are needed for one member, or for the best system."""
    return FittedRun(folder, [label or Recipe.of_run(folder).best], keep=keep)


def _warn(fitted: FittedRun, ids: Sequence[str]) -> None:
    contaminated_by = fitted.recipe.contaminated_by()
    warning = _known_rows({member: contaminated_by[member] for member in fitted.members}, ids)
    if warning:
        _log.warning(warning)


def _known_rows(contaminated_by: Mapping[str, Sequence[str]], ids: Sequence[str]) -> str:
    """A warning if members have learned from other data about some of these rows, as their ids tell; or ""."""
    heard = [
        (label, name, sum(bool(_IDS[name].fullmatch(one)) for one in ids))
        for label, names in contaminated_by.items()
        for name in names
        if name in _IDS
    ]
    said = [f"{label} learned from data that share rows with {name}" for label, name, hits in heard if hits]
    if not said:
        return ""
    known = max(hits for *_, hits in heard)
    soft = " (soft labels of these rows were trained on)" if any("gap-stage2" in one for one in said) else ""
    return (
        f"{'; '.join(said)}, and {known:,} of these {len(ids):,} rows have ids of it{soft}. "
        "A score on them would be worth nothing"
    )
