"""Fitted members on disk: JSON, safetensors and plain text, never pickle."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from numpy.typing import NDArray
from safetensors import SafetensorError
from safetensors.numpy import load_file, save_file

from gapstack.errors import DamageError, DataError, Place
from gapstack.files import atomic_folder, atomic_path, fingerprint, sweep, write_json, write_text
from gapstack.members import create
from gapstack.members.identity import inputs_of, refuse_changed
from gapstack.sealed import read_sealed, seal
from gapstack.settings import FolderName, SettingError, check_settings
from gapstack.versions import versions

if TYPE_CHECKING:
    from gapstack.members.member import Member

FORMAT = 1
RECORD, STATE = "member.json", "state.json"
_REMEDY = "Fit this member and save it again"


@dataclass
class State:
    """What a fitted member has learned, in forms that are written without pickle.

    ``arrays`` go to one safetensors file, ``texts`` to text files (LightGBM models), ``values`` to JSON.
    """

    arrays: dict[str, NDArray[Any]] = field(default_factory=dict)
    texts: dict[str, str] = field(default_factory=dict)
    values: dict[str, Any] = field(default_factory=dict)

    @property
    def digest(self) -> str:
        """Hash of the contents."""
        arrays = [
            (name, str(array.dtype), array.shape, hashlib.sha256(array.tobytes()).hexdigest())
            for name, array in sorted(self.arrays.items())
        ]
        return fingerprint(arrays, self.texts, self.values)


@dataclass
class _StateFile:
    """``state.json``; ``texts`` are names of files without their suffix."""

    format: int
    texts: Sequence[FolderName]
    values: dict[str, Any]


@dataclass
class _MemberFile:
    """``member.json`` without its checksums."""

    name: str
    parameters: dict[str, Any]
    not_for: Sequence[str]
    reads: dict[str, str]
    versions: dict[str, str] | None = None


def _checked(kind: type, values: Any, path: Path) -> dict[str, Any]:
    """The fields of a file; DamageError if one is missing or invalid."""
    try:
        known = {key: value for key, value in dict(values).items() if key not in ("files", "digest")}
        check_settings(kind, known)
        kind(**known)
    except (SettingError, TypeError, ValueError) as problem:
        raise DamageError(f"not a valid file: {problem}", place=Place(path), remedy=_REMEDY) from None
    return known


def write_state(state: State, folder: Path) -> None:
    """Write learned state into ``folder``; ``state.json`` comes last."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / STATE).unlink(missing_ok=True)
    with atomic_path(folder / "arrays.safetensors") as temporary:
        # safetensors writes the buffer as stored: views must be made contiguous first
        save_file({key: array.copy(order="C") for key, array in state.arrays.items()}, temporary)
    for key, text in state.texts.items():
        write_text(folder / f"{key}.txt", text)
    write_json(folder / STATE, {"format": FORMAT, "texts": sorted(state.texts), "values": state.values})


def read_state(folder: Path) -> State:
    """Read what :func:`write_state` wrote; DataError if a file is missing, invalid or of another format."""
    path = folder / STATE
    try:
        record = _checked(_StateFile, json.loads(path.read_text(encoding="utf-8")), path)
        if record["format"] != FORMAT:
            raise DataError(f"state of format {record['format']}", place=Place(path), remedy=_REMEDY)
        texts = {key: (folder / f"{key}.txt").read_text(encoding="utf-8") for key in record["texts"]}
        return State(load_file(folder / "arrays.safetensors"), texts, record["values"])
    except (OSError, ValueError, RecursionError, SafetensorError) as problem:
        if isinstance(problem, DataError):
            raise
        raise DamageError(f"cannot be read: {problem}", place=Place(folder), remedy=_REMEDY) from None


def save(member: Member, name: str, folder: Path) -> None:
    """Write a fitted member, called ``name`` in the registry, to ``folder``, whole or not at all."""
    state = member.state()
    sweep(folder.parent)
    with atomic_folder(folder) as temporary:
        write_state(state, temporary)
        record = _MemberFile(
            name,
            member.get_params(),
            list(member.contaminated_by),
            inputs_of(member, fitted=True),
            versions(),
        )
        seal(temporary / RECORD, vars(record), beside=True)


def is_saved(folder: Path) -> bool:
    """Return True if ``folder`` has a saved member, even a damaged one."""
    return any((folder / name).exists() for name in (RECORD, STATE))


def saved_record(folder: Path) -> dict[str, Any]:
    """Read the record of a saved member: its name, parameters, inputs, and what it must not be scored on.

    Raises DataError if there is no saved member; DamageError if it is damaged.
    """
    if not is_saved(folder):
        raise DataError(
            "no saved member here", place=Place(folder / RECORD), expected="a folder that gapstack wrote"
        )
    return _checked(_MemberFile, read_sealed(folder / RECORD, remedy=_REMEDY), folder / RECORD)


def load(folder: str | Path) -> Member:
    """Read a member that :func:`save` wrote.

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
    stored = {"identity": record["reads"], "versions": record.get("versions") or {}}
    refuse_changed(f"{record['name']} in {folder}", stored, inputs_of(member, fitted=True))
    member.fitted_on_ = tuple(record["not_for"])
    return member.restore(read_state(folder))
