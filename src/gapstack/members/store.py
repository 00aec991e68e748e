"""Fitted members on disk, and the record of what decided them: data, settings, everything read, versions and source.

Files are JSON, safetensors and plain text, never pickle. ``gap run`` recomputes results whose record differs. Commands
that use stored results refuse them if data, settings or inputs differ; for a difference in :data:`SOFT` they log a
warning.
"""

from __future__ import annotations

import json
import logging
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Self, TypeVar

import numpy as np
from numpy.typing import NDArray
from safetensors import SafetensorError
from safetensors.numpy import load_file, save_file

from gapstack.cache import array_digest
from gapstack.data import Corpus, sources
from gapstack.data.extra import EXTRA
from gapstack.data.folds import Folds
from gapstack.data.teacher import teacher_files
from gapstack.data.word_lists import lists_key
from gapstack.encoding.encoders import load_encoder
from gapstack.encoding.static_vectors import vectors_key
from gapstack.errors import DamageError, DataError, MismatchError, Place
from gapstack.features import needs_parses
from gapstack.files import (
    atomic_folder,
    atomic_path,
    digest,
    fingerprint,
    no_such_file,
    sweep,
    tree_digest,
    write_json,
    write_text,
)
from gapstack.members import MEMBERS, create
from gapstack.records import read_sealed, seal, source_digest, versions
from gapstack.resolvers.sources import input_key
from gapstack.text.parses import parser_key, parser_name

if TYPE_CHECKING:
    from gapstack.members.member import Member

_log = logging.getLogger(__name__)
T = TypeVar("T")

RECORD, STATE = "member.json", "state.json"
_REMEDY = "Fit this member and save it again"
Arrays = Mapping[str, NDArray[Any]]  # by name
Identity = dict[str, str]
"""What decided a result: digests by name, each after the name of its source if that has one."""
SOFT = frozenset({"precision", "package", "source"})
"""Differences that do not prevent the use of a stored result."""
_TRAINING_ONLY = frozenset({"teacher", "extra", "texts"})
"""Inputs that do not count for a fitted member: what was learned from them is stored."""


def _encoder(name: str | None) -> str:
    encoder = load_encoder(name)
    return f"{Path(encoder.name).name} {encoder.fingerprint}"


def _parser(name: str | None) -> str:
    return f"{parser_name(name)} {parser_key(name)}"


def _teacher(names: str | Sequence[str] | None) -> str:
    if not names:
        return ""
    files = teacher_files(names)
    for file in files:
        if not file.is_file():
            raise no_such_file(file)
    return f"{_label(names)} {fingerprint([digest(file) for file in files])}"


def _label(names: str | Sequence[str]) -> str:
    return "+".join(Path(name).name for name in ([names] if isinstance(names, str) else names))


def _language_model(name: str) -> str:
    return name if "://" in name else _encoder(name)  # of a server, nothing but the name is known


def _template(name: str) -> str:
    from gapstack.members.language_models import template_file

    return f"{Path(name).stem} {digest(template_file(name))[:16]}"


def _extra(names: Sequence[str]) -> str:
    datasets = sorted({dataset for name in names for dataset in EXTRA[name].datasets})
    digests = [tree_digest(sources.require(dataset)) for dataset in datasets]
    return f"{'+'.join(names)} {fingerprint(digests)}" if names else ""


BY_CONTENT: Mapping[str, Callable[[Any], str]] = {
    "encoder": _encoder,
    "second_encoder": lambda name: _encoder(name) if name else "",
    "parser": _parser,
    "vectors": lambda source: f"{Path(source).name} {vectors_key(source)}",
    "clusters": lambda names: f"{_label(names)} {input_key(names)}" if names else "",
    "teacher": _teacher,
    "model": _language_model,
    "template": _template,
}
"""Settings that count by the contents they lead to: the same contents under another name give the same results."""
READS: Mapping[str, Callable[[Any], str]] = {
    **BY_CONTENT,
    "extra": _extra,
    "debias": lambda name: f"wordlists {lists_key()}" if name else "",
    "texts": lambda name: f"{name} {digest(sources.require(name))[:16]}",
    "blocks": lambda names: _parser(None) if any(map(needs_parses, names)) else "",
}
"""By setting: name and digest of what it makes a member read; empty if that is nothing."""
_RECORDED_AS = {"debias": "word lists", "blocks": "parser"}


def inputs_of(member: Any, *, fitted: bool = False) -> Identity:
    """Digests of what a member and its parts read now, in training too unless ``fitted``, and the precision."""
    found: Identity = {}
    read = member.reads()
    for setting, resolve in READS.items():
        if fitted and setting in _TRAINING_ONLY:
            continue
        if read.get(setting, False) is not False:
            value = resolve(read[setting])
            if value:
                found[_RECORDED_AS.get(setting, setting)] = value
    if "encoder" in found:
        from gapstack.encoding.frozen import computes_in  # imports torch, which rules do not need

        found["precision"] = str(computes_in()).removeprefix("torch.")
    for label, part in member.parts().items():
        found |= {f"{label}.{key}": value for key, value in inputs_of(part, fitted=fitted).items()}
    return found


def identity_of(member: Any, *, fitted: bool = False) -> Identity:
    """Everything that decides a member's results except rows and folds; ``fitted`` and errors as :func:`inputs_of`."""
    name, parts = MEMBERS.find(type(member)), member.parts()
    if name is None:  # an object of the caller's own: nothing says when another one computes the same
        return {"object": member.token}
    settings = {key: value for key, value in member.get_params().items() if key not in BY_CONTENT}
    if parts:
        settings["members"] = list(parts)
    identity = {"settings": fingerprint(name, settings), **inputs_of(member, fitted=fitted)}
    package = type(member).__module__.partition(".")[0]
    identity["package"] = MEMBERS.entry(name).package or f"gapstack {versions()['gapstack']}"
    own = () if package == "gapstack" else (package,)
    if source := source_digest(type(member), "gapstack.members", "gapstack.ensemble", *own):
        identity["source"] = source
    for label, part in parts.items():
        identity |= {f"{label}.{key}": value for key, value in identity_of(part, fitted=fitted).items()}
    return identity


def of_rows(train: Corpus, test: Corpus, folds: Folds) -> Identity:
    """Identity that all results of a run share."""
    return {
        "training rows": train.fingerprint,
        "labels": f"{train.label_set} {train.label_fingerprint}",
        "held-out rows": test.fingerprint,
        "folds": folds.fingerprint,
    }


def _digests(identity: Mapping[str, str]) -> Identity:
    return {key: value.rpartition(" ")[2] for key, value in identity.items()}


def key_of(identity: Mapping[str, str], *more: Any) -> str:
    """Hash of the digests of an identity, and of ``more``."""
    return fingerprint(_digests(identity), *more)


def changes(before: Mapping[str, str], now: Mapping[str, str]) -> list[str]:
    """Names of what differs between two identities."""
    old, new = _digests(before), _digests(now)
    return [key for key in {**new, **old} if old.get(key) != new.get(key)]


def refuse_changed(what: str, record: Mapping[str, Any], now: Mapping[str, str]) -> None:
    """Raise MismatchError if data, settings or inputs changed; warn once of other versions or precision."""
    before = record["identity"]
    differing = [key for key in changes(before, now) if key.rpartition(".")[2] not in _TRAINING_ONLY]
    hard = [key for key in differing if key.rpartition(".")[2] not in SOFT]
    if hard:
        found = ", ".join(f"{key} changed (was {before.get(key)}, now {now.get(key)})" for key in hard)
        raise MismatchError(
            f"{what} is stale: {found}. Restore the old inputs, or fit it again with gap run, "
            "which recomputes only what differs"
        )
    then = record.get("versions", {})
    newer = [f"{name} {then[name]}" for name, one in versions().items() if then.get(name, one) != one]
    if differing or newer:
        _warn_of_versions(what, ", ".join([*differing, *newer]))


@cache  # once a process: a run has many folds
def _warn_of_versions(what: str, names: str) -> None:
    _log.warning("%s was fitted with another version of %s; results may differ slightly", what, names)


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
    return {key.removeprefix(prefix): one for key, one in every.items() if key.startswith(prefix)}


class Learned:
    """Base of what learns arrays, JSON values and boosters: ``weights`` in :attr:`LEARNED` is ``weights_``.

    A class learns what its bases do as well; ``arrays_``, where it exists, has further arrays by name.
    """

    LEARNED: ClassVar[tuple[str, ...]] = ()

    def state(self) -> State:
        """Return the learned state, for :func:`save`."""
        return self._state()

    def restore(self, state: State) -> Self:
        """Inverse of :meth:`state`; returns self."""
        self._restore(state)
        return self

    @classmethod
    def _learned(cls) -> list[str]:
        return [name for kind in cls.__mro__ for name in vars(kind).get("LEARNED", ())]

    def _state(self) -> State:
        state = State(dict(getattr(self, "arrays_", {})))
        for name in self._learned():
            value = getattr(self, f"{name}_")
            if hasattr(value, "model_to_string"):
                state.texts[name] = value.model_to_string()
            else:
                (state.arrays if isinstance(value, np.ndarray) else state.values)[name] = value
        return state

    def _restore(self, state: State) -> None:
        arrays = dict(state.arrays)
        for name in self._learned():
            if name in state.texts:
                from gapstack.members.estimators import restore_booster  # imports LightGBM

                value: Any = restore_booster(state.texts[name])
            else:
                value = arrays.pop(name) if name in arrays else state.values[name]
            setattr(self, f"{name}_", value)
        self._use(arrays)

    def _use(self, arrays: Arrays) -> None:
        """Take the further arrays; override to make networks of them."""
        self.arrays_ = arrays


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
        raise DamageError(f"cannot be read: {problem!r}", place=Place(folder), remedy=_REMEDY) from None


def save(member: Member, name: str, folder: str | Path) -> None:
    """Write a fitted member, called ``name`` in the registry, to ``folder``, whole or not at all."""
    state, folder = member.state(), Path(folder)
    sweep(folder.parent)
    with atomic_folder(folder) as temporary:
        write_state(state, temporary)
        record = {
            "name": name,
            "parameters": member.stored_settings(),
            "not_for": list(member.contaminated_by),
            "reads": inputs_of(member, fitted=True),
            "versions": versions(),
        }
        seal(temporary / RECORD, record, with_files=True)


def is_saved(folder: Path) -> bool:
    """Return True if ``folder`` has a saved member, even a damaged one."""
    return any((folder / name).exists() for name in (RECORD, STATE))


def saved_record(folder: Path) -> dict[str, Any]:
    """Read the record of a saved member; DataError if there is none, DamageError if it is damaged."""
    path = folder / RECORD
    if not is_saved(folder):
        raise DataError("no saved member here", place=Place(path), expected="a folder that gapstack wrote")
    record = read_sealed(path, remedy=_REMEDY)
    for key, kind in {"name": str, "parameters": dict, "not_for": list, "reads": dict}.items():
        if not isinstance(record.get(key), kind):
            raise DamageError(f"{key} is missing or invalid", place=Place(path), remedy=_REMEDY)
    return record


def load(folder: str | Path) -> Member:
    """Read a member that :func:`save` wrote; MismatchError if what it reads is not what it was fitted with."""
    folder = Path(folder)
    record = saved_record(folder)
    member = create(record["name"], **record["parameters"])
    stored = {"identity": record["reads"], "versions": record.get("versions") or {}}
    refuse_changed(f"{record['name']} in {folder}", stored, inputs_of(member, fitted=True))
    member.fitted_on_ = tuple(record["not_for"])
    return member.restore(read_state(folder))
