"""What decides a result: data, settings, everything that is read, versions and source code, as digests by name.

``gap run`` recomputes results whose identity differs. Commands that use stored results refuse them if data, settings or
inputs differ; for a difference in :data:`SOFT` they log a warning. A setting names something to read if its type says
so (:class:`gapstack.settings.Reads`).
"""

from __future__ import annotations

import logging
from collections.abc import Mapping
from functools import cache
from typing import TYPE_CHECKING, Any

from gapstack.errors import MismatchError
from gapstack.files import fingerprint
from gapstack.members import MEMBERS
from gapstack.records import source_digest, versions
from gapstack.settings import read_by

if TYPE_CHECKING:
    from gapstack.members.member import Member

_log = logging.getLogger(__name__)
Identity = dict[str, str]
"""What decided a result: digests by name, each after the name of its source if that has one."""
SOFT = frozenset({"precision", "package", "source"})
"""Differences that do not prevent the use of a stored result."""
_IN_TRAINING = " (training)"
"""End of the names of inputs that do not count for a fitted member: what was learned from them is stored."""


def inputs_of(member: Member, *, fitted: bool = False) -> Identity:
    """Digests of what a member and its parts read now, in training too unless ``fitted``, and the precision."""
    inputs: Identity = {}
    for name, read in member.reads().items():
        if fitted and read.kind.in_training:
            continue
        if digest := read.digest():
            inputs[(read.kind.recorded_as or name) + _IN_TRAINING * read.kind.in_training] = digest
        if read.kind.is_encoder and digest:
            from gapstack.encoding.frozen import computes_in  # imports torch, which rules do not need

            inputs["precision"] = str(computes_in()).removeprefix("torch.")
    for label, part in member.parts().items():
        inputs |= {f"{label}.{key}": value for key, value in inputs_of(part, fitted=fitted).items()}
    return inputs


def identity_of(member: Member, *, fitted: bool = False) -> Identity:
    """Everything that decides a member's results except rows and folds; ``fitted`` and errors as :func:`inputs_of`."""
    kind: Any = type(member)
    name, parts = MEMBERS.find(kind), member.parts()
    if name is None:  # an object of the caller's own: nothing says when another one computes the same
        return {"object": member.token}
    by_content = {setting for setting, read in read_by(kind).items() if read.by_content}
    settings = {key: value for key, value in member.get_params().items() if key not in by_content}
    if parts:
        settings["members"] = list(parts)
    identity = {"settings": fingerprint(name, settings), **inputs_of(member, fitted=fitted)}
    package = kind.__module__.partition(".")[0]
    identity["package"] = MEMBERS.entry(name).package or f"gapstack {versions()['gapstack']}"
    packages = {"gapstack.members", "gapstack.ensemble"} | ({package} - {"gapstack"})
    if source := source_digest(kind, *packages):
        identity["source"] = source
    for label, part in parts.items():
        identity |= {f"{label}.{key}": value for key, value in identity_of(part, fitted=fitted).items()}
    return identity


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
    # an input that is no longer read, or was read in training only, cannot have changed the results
    differing = [key for key in changes(before, now) if key in now and not key.endswith(_IN_TRAINING)]
    hard = [key for key in differing if key.rpartition(".")[2] not in SOFT]
    if hard:
        problems = ", ".join(f"{key} changed (was {before.get(key)}, now {now.get(key)})" for key in hard)
        raise MismatchError(
            f"{what} is stale: {problems}. Restore the old inputs, or fit it again with gap run, "
            "which recomputes only what differs"
        )
    then = record.get("versions", {})
    newer = [
        f"{name} {then[name]}" for name, version in versions().items() if then.get(name, version) != version
    ]
    if differing or newer:
        _warn_of_versions(what, ", ".join([*differing, *newer]))


@cache  # once a process: a run has many folds
def _warn_of_versions(what: str, names: str) -> None:
    _log.warning("%s was fitted with another version of %s; results may differ slightly", what, names)
