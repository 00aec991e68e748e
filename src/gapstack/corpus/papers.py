"""Figures of the papers that this project reproduces: the data set ``papers``, a JSON file for each.

Every figure there was compared with its paper's text. Where a file is not at hand, tables show our figures alone and
:func:`papers_note` says so.
"""

from __future__ import annotations

from copy import deepcopy
from functools import lru_cache
from pathlib import Path
from typing import Any

from gapstack.corpus import strict_json
from gapstack.corpus.sources import find

PAPERS = ("webster2018", "webster2019", "rudinger2018", "dawkins2021")


def paper(name: str, data: Path | None = None) -> dict[str, Any]:
    """Figures of one of the :data:`PAPERS`, as its file holds them; empty where the data set is not at hand.

    Raises
    ------
    DataError
        If the file is no JSON object.
    """
    folder = find("papers", data)
    path = folder / f"{name}.json" if folder else None
    return deepcopy(_read(path)) if path and path.is_file() else {}


def papers_note(*names: str, data: Path | None = None) -> str:
    """What a table says where papers' figures are missing; "" where all are at hand."""
    missing = [name for name in names if not paper(name, data)]
    if not missing:
        return ""
    return (
        f"The papers' figures are not at hand ({', '.join(missing)}.json of the data set papers), so columns of "
        "theirs are empty."
    )


@lru_cache(maxsize=16)
def _read(path: Path) -> dict[str, Any]:
    found: dict[str, Any] = strict_json.read(path.read_bytes(), path, shape={"paper": str})
    return found
