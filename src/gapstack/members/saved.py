"""Fitted members on disk: JSON, safetensors and plain text, never pickle."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from gapstack.errors import DamageError, DataError, Place
from gapstack.files import atomic_folder, sweep
from gapstack.members import MEMBERS, create
from gapstack.members.identity import inputs_of, refuse_changed
from gapstack.members.learned_state import REMEDY, STATE, read_state, write_state
from gapstack.records import read_sealed, seal, versions

if TYPE_CHECKING:
    from gapstack.members.member import Member

RECORD = "member.json"
_SETTINGS_BEFORE = {"pretraining": "first", "name_variants": "forms", "prediction_variants": "answer_forms"}
"""Names that settings had in records of earlier versions."""


def stored_settings(member: Member) -> dict[str, Any]:
    """Settings as JSON-able values; MemberError if the class of one of its parts is not registered."""
    parts = [
        {"name": MEMBERS.name_of(type(part)), "label": label, "settings": stored_settings(part)}
        for label, part in member.parts().items()
    ]
    return {**member.get_params(), "members": parts} if parts else member.get_params()


def save(member: Member, name: str, folder: str | Path) -> None:
    """Write a fitted member, called ``name`` in the registry, to ``folder``, whole or not at all."""
    state, folder = member.state(), Path(folder)
    sweep(folder.parent)
    with atomic_folder(folder) as temporary:
        write_state(state, temporary)
        record = {
            "name": name,
            "parameters": stored_settings(member),
            "contaminated_by": list(member.contaminated_by),
            "reads": inputs_of(member, fitted=True),
            "versions": versions(),
        }
        seal(temporary / RECORD, record, with_files=True)


def is_saved(folder: Path) -> bool:
    """Return True if ``folder`` has a saved member, even a damaged one."""
    return any((folder / name).exists() for name in (RECORD, STATE))


def saved_record(folder: Path) -> dict[str, Any]:
    """Read the record of a saved member, with today's names; DataError if there is none, DamageError if damaged."""
    path = folder / RECORD
    if not is_saved(folder):
        raise DataError("no saved member here", place=Place(path), expected="a folder that gapstack wrote")
    record = read_sealed(path, remedy=REMEDY)
    if "not_for" in record:  # its name in earlier versions
        record.setdefault("contaminated_by", record.pop("not_for"))
    for key, kind in {"name": str, "parameters": dict, "contaminated_by": list, "reads": dict}.items():
        if not isinstance(record.get(key), kind):
            raise DamageError(f"{key} is missing or invalid", place=Place(path), remedy=REMEDY)
    _rename_settings(record["name"], record["parameters"])
    return record


def _rename_settings(name: str, settings: dict[str, Any]) -> None:
    """Rename settings of a member and its parts that had another name in earlier versions."""
    for setting, before in _SETTINGS_BEFORE.items():
        if before in settings and name in MEMBERS and hasattr(MEMBERS[name], setting):
            settings.setdefault(setting, settings.pop(before))
    parts = settings.get("members")
    for part in parts if isinstance(parts, list) else ():
        if isinstance(part, dict) and isinstance(part.get("settings"), dict):
            _rename_settings(part.get("name", ""), part["settings"])


def load(folder: str | Path) -> Member:
    """Read a member that :func:`save` wrote; MismatchError if what it reads is not what it was fitted with."""
    folder = Path(folder)
    record = saved_record(folder)
    member = create(record["name"], **record["parameters"])
    stored = {"identity": record["reads"], "versions": record.get("versions") or {}}
    refuse_changed(f"{record['name']} in {folder}", stored, inputs_of(member, fitted=True))
    member.fitted_on_ = tuple(record["contaminated_by"])
    return member.restore(read_state(folder))
