"""Fitted members on disk: JSON, safetensors and plain text, never pickle."""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from safetensors import SafetensorError
from safetensors.numpy import load_file, save_file

from gapstack.errors import DamageError, DataError, Place
from gapstack.files import atomic_folder, atomic_path, fingerprint, sweep, write_json, write_text
from gapstack.members import create
from gapstack.members.identity import inputs_of, refuse_changed
from gapstack.records import read_sealed, seal, versions

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


class LearnedArrays:
    """Base of an estimator that learns arrays and JSON values: ``weights`` in :attr:`LEARNED` is ``weights_``."""

    LEARNED: ClassVar[tuple[str, ...]] = ()

    def _state(self) -> State:
        learned = {name: getattr(self, f"{name}_") for name in self.LEARNED}
        arrays = {name: value for name, value in learned.items() if isinstance(value, np.ndarray)}
        return State(arrays, values={name: learned[name] for name in learned.keys() - arrays.keys()})

    def _restore(self, state: State) -> None:
        for name in self.LEARNED:
            setattr(self, f"{name}_", (state.arrays if name in state.arrays else state.values)[name])


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
    try:
        record = json.loads((folder / STATE).read_text(encoding="utf-8"))
        if record["format"] != FORMAT:
            raise DataError(
                f"state of format {record['format']}", place=Place(folder / STATE), remedy=_REMEDY
            )
        texts = {key: (folder / f"{Path(key).name}.txt").read_text("utf-8") for key in record["texts"]}
        return State(load_file(folder / "arrays.safetensors"), texts, dict(record["values"]))
    except (OSError, ValueError, LookupError, TypeError, RecursionError, SafetensorError) as problem:
        if isinstance(problem, DataError):
            raise
        raise DamageError(f"cannot be read: {problem!r}", place=Place(folder), remedy=_REMEDY) from None


def save(member: Member, name: str, folder: Path) -> None:
    """Write a fitted member, called ``name`` in the registry, to ``folder``, whole or not at all."""
    state = member.state()
    sweep(folder.parent)
    with atomic_folder(folder) as temporary:
        write_state(state, temporary)
        record = {
            "name": name,
            "parameters": member.get_params(),
            "not_for": list(member.contaminated_by),
            "reads": inputs_of(member, fitted=True),
            "versions": versions(),
        }
        seal(temporary / RECORD, record, with_files=True)


def is_saved(folder: Path) -> bool:
    """Return True if ``folder`` has a saved member, even a damaged one."""
    return any((folder / name).exists() for name in (RECORD, STATE))


def saved_record(folder: Path) -> dict[str, Any]:
    """Read the record of a saved member: its name, parameters, inputs, and what it must not be scored on.

    Raises DataError if there is no saved member; DamageError if it is damaged.
    """
    path = folder / RECORD
    if not is_saved(folder):
        raise DataError("no saved member here", place=Place(path), expected="a folder that gapstack wrote")
    record = read_sealed(path, remedy=_REMEDY)
    for key, kind in {"name": str, "parameters": dict, "not_for": list, "reads": dict}.items():
        if not isinstance(record.get(key), kind):
            raise DamageError(f"{key} is missing or invalid", place=Place(path), remedy=_REMEDY)
    return record


def load(folder: str | Path) -> Member:
    """Read a member that :func:`save` wrote.

    Raises DataError and DamageError as :func:`saved_record`; MismatchError if what it reads (encoder, parser, vectors,
    clusters, ...) is not what it was fitted with.
    """
    folder = Path(folder)
    record = saved_record(folder)
    member = create(record["name"], **record["parameters"])
    stored = {"identity": record["reads"], "versions": record.get("versions") or {}}
    refuse_changed(f"{record['name']} in {folder}", stored, inputs_of(member, fitted=True))
    member.fitted_on_ = tuple(record["not_for"])
    return member.restore(read_state(folder))
