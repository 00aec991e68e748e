"""Fitted members on disk: JSON, safetensors and plain text, never pickle."""

from __future__ import annotations

import json
import shutil
import tempfile
from pathlib import Path

from safetensors.numpy import load_file, save_file

from gapstack.errors import DataError, Place
from gapstack.files import write_json, write_text
from gapstack.members import create
from gapstack.members.base import Member, State

FORMAT = 1


def save(member: Member, name: str, folder: Path) -> None:
    """Write a fitted member to ``folder``, whole or not at all.

    ``name`` is what the members table calls it.
    """
    state = member.state()
    folder = Path(folder)
    folder.parent.mkdir(parents=True, exist_ok=True)
    temporary = Path(tempfile.mkdtemp(prefix=f".{folder.name}-", dir=folder.parent))
    try:
        if state.arrays:
            save_file(
                {key: array.copy() for key, array in state.arrays.items()}, temporary / "arrays.safetensors"
            )
        for key, text in state.texts.items():
            write_text(temporary / f"{key}.txt", text)
        # written last: its presence says that the rest is whole
        write_json(
            temporary / "member.json",
            {
                "format": FORMAT,
                "name": name,
                "parameters": member.get_params(),
                "texts": sorted(state.texts),
                "values": state.values,
            },
        )
        shutil.rmtree(folder, ignore_errors=True)
        temporary.replace(folder)
    finally:
        shutil.rmtree(temporary, ignore_errors=True)


def load(folder: Path) -> Member:
    """Read back a member that :func:`save` wrote.

    Raises
    ------
    DataError
        If the folder holds no whole member or one of another format.
    """
    manifest_path = Path(folder) / "member.json"
    if not manifest_path.is_file():
        raise DataError(
            "no saved member here", place=Place(manifest_path), expected="a folder that gapstack wrote"
        )
    manifest = json.loads(manifest_path.read_text(encoding="utf-8"))
    if manifest.get("format") != FORMAT:
        raise DataError(
            f"member format {manifest.get('format')}",
            place=Place(manifest_path),
            expected=str(FORMAT),
            remedy="Fit the member again with this version",
        )
    arrays_path = Path(folder) / "arrays.safetensors"
    state = State(
        arrays=load_file(arrays_path) if arrays_path.exists() else {},
        texts={key: (Path(folder) / f"{key}.txt").read_text(encoding="utf-8") for key in manifest["texts"]},
        values=manifest["values"],
    )
    return create(manifest["name"], **manifest["parameters"]).restore(state)
