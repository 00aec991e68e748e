"""Fitted members on disk: JSON, safetensors and plain text, never pickle."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from safetensors.numpy import load_file, save_file

from gapstack.errors import DataError, Place
from gapstack.files import atomic_folder, atomic_path, sweep, write_json, write_text
from gapstack.members import create
from gapstack.members.inputs import refuse_changed, what_it_reads
from gapstack.members.member import Member, State
from gapstack.sealed import read_sealed, seal

FORMAT = 1
RECORD, STATE = "member.json", "state.json"


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
    sweep(folder.parent)
    with atomic_folder(folder) as temporary:
        write_state(state, temporary)
        record = {
            **{"name": name, "parameters": member.get_params(), "not_for": list(member.contaminated_by)},
            "reads": what_it_reads(member, fitted=True),
        }
        seal(temporary / RECORD, record, beside=True)


def is_saved(folder: Path) -> bool:
    """Whether there is a saved member in ``folder``, be it damaged."""
    return any((folder / name).exists() for name in (RECORD, STATE))


def saved_record(folder: Path) -> dict[str, Any]:
    """What is recorded of a saved member: its name, parameters, what it reads, and what it must not be scored on.

    Raises
    ------
    DataError
        If there is no saved member, or an earlier version wrote it.
    DamageError
        If it is damaged; no file of it has been read then.
    """
    path = folder / RECORD
    if not is_saved(folder):
        raise DataError("no saved member here", place=Place(path), expected="a folder that gapstack wrote")
    record = read_sealed(path, remedy="Fit this member and save it again")
    if "reads" not in record:
        raise DataError(
            "an earlier version wrote this member, without what it was fitted with",
            place=Place(path),
            remedy="Fit it again",
        )
    return record


def load(folder: str | Path) -> Member:
    """Read back a member that :func:`save` wrote.

    Raises
    ------
    DataError, DamageError
        As :func:`saved_record`.
    MismatchError
        If what it reads (encoder, parser, vectors, clusters, ...) is not what it was fitted with.
    """
    folder = Path(folder)
    record = saved_record(folder)
    member = create(record["name"], **record["parameters"])
    refuse_changed(f"{record['name']} in {folder}", record["reads"], what_it_reads(member, fitted=True))
    member.fitted_on_ = tuple(record["not_for"])
    return member.restore(read_state(folder))
