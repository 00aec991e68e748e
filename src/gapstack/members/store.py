"""Fitted members on disk: JSON, safetensors and plain text, never pickle."""

from __future__ import annotations

import json
import shutil
import tempfile
from pathlib import Path

from safetensors.numpy import load_file, save_file

from gapstack.errors import DataError, Place
from gapstack.files import atomic_path, write_json, write_text
from gapstack.members import create
from gapstack.members.base import Member, State
from gapstack.members.identity import refuse_changed, what_it_reads

FORMAT = 1


def write_state(state: State, folder: Path) -> None:
    """Write learned state into ``folder``; ``state.json`` comes last and says that the rest is whole."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "state.json").unlink(missing_ok=True)
    with atomic_path(folder / "arrays.safetensors") as temporary:
        # safetensors writes the buffer as it lies: views must be made contiguous first
        save_file({key: array.copy(order="C") for key, array in state.arrays.items()}, temporary)
    for key, text in state.texts.items():
        write_text(folder / f"{key}.txt", text)
    write_json(
        folder / "state.json", {"format": FORMAT, "texts": sorted(state.texts), "values": state.values}
    )


def read_state(folder: Path) -> State:
    """Read back what :func:`write_state` wrote.

    Raises
    ------
    DataError
        If the folder holds no whole state or one of another format.
    """
    path = folder / "state.json"
    if not path.is_file():
        raise DataError("no saved state here", place=Place(path), expected="a folder that gapstack wrote")
    record = json.loads(path.read_text(encoding="utf-8"))
    if record.get("format") != FORMAT:
        raise DataError(
            f"state of format {record.get('format')}",
            place=Place(path),
            expected=f"format {FORMAT}",
            remedy="Fit again with this version",
        )
    return State(
        arrays=load_file(folder / "arrays.safetensors"),
        texts={key: (folder / f"{key}.txt").read_text(encoding="utf-8") for key in record["texts"]},
        values=record["values"],
    )


def save(member: Member, name: str, folder: Path) -> None:
    """Write a fitted member to ``folder``, whole or not at all.

    ``name`` is what the members table calls it.
    """
    state = member.state()
    folder.parent.mkdir(parents=True, exist_ok=True)
    temporary = Path(tempfile.mkdtemp(prefix=f".{folder.name}-", dir=folder.parent))
    try:
        write_state(state, temporary)
        record = {
            **{"name": name, "parameters": member.get_params(), "not_for": list(member.contaminates())},
            "reads": what_it_reads(member, fitted=True),
        }
        write_json(temporary / "member.json", record)
        temporary.chmod(0o755)  # mkdtemp makes folders private to the user
        shutil.rmtree(folder, ignore_errors=True)
        temporary.replace(folder)
    finally:
        shutil.rmtree(temporary, ignore_errors=True)


def load(folder: Path) -> Member:
    """Read back a member that :func:`save` wrote.

    Raises
    ------
    DataError
        If there is none, or an earlier version wrote it.
    MismatchError
        If what it reads (encoder, parser, vectors, clusters, ...) is not what it was fitted with.
    """
    path = folder / "member.json"
    if not path.is_file():
        raise DataError("no saved member here", place=Place(path), expected="a folder that gapstack wrote")
    record = json.loads(path.read_text(encoding="utf-8"))
    if "reads" not in record:
        raise DataError(
            "an earlier version wrote this member, without what it was fitted with",
            place=Place(path),
            remedy="Fit it again",
        )
    member = create(record["name"], **record["parameters"])
    refuse_changed(f"{record['name']} in {folder}", record["reads"], what_it_reads(member, fitted=True))
    return member.restore(read_state(folder))
