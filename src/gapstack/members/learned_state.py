"""What a member, stacker or calibrator has learned: arrays, texts and values, on disk without pickle."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, ClassVar, Self, TypeVar

import numpy as np
from numpy.typing import NDArray
from safetensors import SafetensorError
from safetensors.numpy import load_file, save_file

from gapstack.cache import array_digest
from gapstack.errors import DamageError, Place
from gapstack.files import atomic_path, fingerprint, write_json, write_text

T = TypeVar("T")
STATE = "state.json"
REMEDY = "Fit this member and save it again"
Arrays = Mapping[str, NDArray[Any]]  # by name


@dataclass
class State:
    """What a fitted member has learned: arrays (safetensors), texts (LightGBM models) and values (JSON)."""

    arrays: dict[str, NDArray[Any]] = field(default_factory=dict)
    texts: dict[str, str] = field(default_factory=dict)
    values: dict[str, Any] = field(default_factory=dict)

    @property
    def digest(self) -> str:
        """Hash of the contents."""
        return fingerprint(array_digest(self.arrays), self.texts, self.values)

    @classmethod
    def joined(cls, parts: Mapping[str, State], **values: Any) -> State:
        """One state of several, whose keys begin with their prefixes, and further ``values``."""
        arrays = {f"{prefix}{key}": a for prefix, part in parts.items() for key, a in part.arrays.items()}
        texts = {f"{prefix}{key}": t for prefix, part in parts.items() for key, t in part.texts.items()}
        return cls(arrays, texts, {"states": {key: part.values for key, part in parts.items()}} | values)

    def part(self, prefix: str) -> State:
        """The part of a joined state with this prefix."""
        values = self.values.get("states", {}).get(prefix, {})
        return State(below(prefix, self.arrays), below(prefix, self.texts), values)


def below(prefix: str, every: Mapping[str, T]) -> dict[str, T]:
    """The entries whose keys begin with a prefix, without it."""
    return {key.removeprefix(prefix): value for key, value in every.items() if key.startswith(prefix)}


class Learned:
    """Base of stackers and calibrators, whose learned state :attr:`LEARNED` names."""

    LEARNED: ClassVar[tuple[str, ...]] = ()

    def state(self) -> State:
        """Return the learned state."""
        return state_of(self)

    def restore(self, state: State) -> Self:
        """Restore what :meth:`state` returned; returns self."""
        restore_state(self, state)
        return self


def learned_names(kind: type) -> list[str]:
    """Names in ``LEARNED`` of a class and of its bases."""
    return [name for base in kind.__mro__ for name in vars(base).get("LEARNED", ())]


def state_of(fitted: object) -> State:
    """Return the learned attributes of an object: ``weights`` in its ``LEARNED`` is ``weights_``.

    They are arrays, JSON values and boosters; ``arrays_``, where it exists, has further arrays by name.
    """
    state = State(dict(getattr(fitted, "arrays_", {})))
    for name in learned_names(type(fitted)):
        value = getattr(fitted, f"{name}_")
        if hasattr(value, "model_to_string"):
            state.texts[name] = value.model_to_string()
        else:
            (state.arrays if isinstance(value, np.ndarray) else state.values)[name] = value
    return state


def restore_state(unfitted: object, state: State) -> None:
    """Set the learned attributes of an object to what :func:`state_of` returned."""
    arrays = dict(state.arrays)
    for name in learned_names(type(unfitted)):
        if name in state.texts:
            from gapstack.boosters import restore_booster  # imports LightGBM

            value: Any = restore_booster(state.texts[name])
        else:
            value = arrays.pop(name) if name in arrays else state.values[name]
        setattr(unfitted, f"{name}_", value)
    unfitted.arrays_ = arrays  # type: ignore[attr-defined]


def write_state(state: State, folder: Path) -> None:
    """Write learned state into ``folder``; ``state.json`` comes last."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / STATE).unlink(missing_ok=True)
    with atomic_path(folder / "arrays.safetensors") as temporary:
        # safetensors writes the buffer as stored: views must be made contiguous first
        save_file({key: array.copy(order="C") for key, array in state.arrays.items()}, temporary)
    for key, text in state.texts.items():
        write_text(folder / f"{key}.txt", text)
    write_json(folder / STATE, {"texts": sorted(state.texts), "values": state.values})


def read_state(folder: Path) -> State:
    """Read what :func:`write_state` wrote; DamageError if a file is missing or invalid."""
    try:
        record = json.loads((folder / STATE).read_text(encoding="utf-8"))
        texts = {key: (folder / f"{Path(key).name}.txt").read_text("utf-8") for key in record["texts"]}
        return State(load_file(folder / "arrays.safetensors"), texts, dict(record["values"]))
    except (OSError, ValueError, LookupError, TypeError, RecursionError, SafetensorError) as problem:
        raise DamageError(f"cannot be read: {problem!r}", place=Place(folder), remedy=REMEDY) from None
